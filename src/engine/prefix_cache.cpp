#include "src/engine/prefix_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "src/plan/kv_groups.h"

namespace inlay {
namespace {

constexpr auto kTokens = static_cast<size_t>(kKvBlockTokens);

std::span<const int32_t> block_of(std::span<const int32_t> tokens, size_t i) { return tokens.subspan(i * kTokens, kTokens); }

}  // namespace

PrefixCache::PrefixCache(KvPool& pool, BlockStore* store, uint64_t root) : pool_(pool), store_(store), root_(root) {
  const auto n = static_cast<size_t>(pool.n_blocks() + (store != nullptr ? store->n_slots() : 0));
  entries_.resize(n);
  tokens_.resize(n * kTokens);
  heads_.assign(std::bit_ceil(2 * n + 1), kNone);
  heads_of_first_ = heads_;
  chain_.reserve(n);
}

std::span<int32_t> PrefixCache::tokens_of(int32_t block) { return std::span(tokens_).subspan(static_cast<size_t>(block) * kTokens, kTokens); }
std::span<const int32_t> PrefixCache::tokens_of(int32_t block) const { return std::span(tokens_).subspan(static_cast<size_t>(block) * kTokens, kTokens); }

uint64_t PrefixCache::hash_of(uint64_t before, std::span<const int32_t> tokens) {
  uint64_t hash = before;
  for (const int32_t token : tokens) {
    hash = (hash ^ static_cast<uint32_t>(token)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

PrefixCache::Before PrefixCache::behind(int32_t parent, uint64_t salt) const {
  if (parent != kNone) return {entry(parent).hash, entry(parent).number, salt};
  return {root_ ^ (salt * 0x9fb21c651e98df25u), 0, salt};
}

// Equal hashes are told apart by the tokens, the parent's number and the salt.
int32_t PrefixCache::find(const Before& before, std::span<const int32_t> tokens) const {
  const uint64_t hash = hash_of(before.hash, tokens);
  for (int32_t block = heads_[hash & (heads_.size() - 1)]; block != kNone; block = entry(block).next_of_hash) {
    const Entry& found = entry(block);
    if (found.hash == hash && found.parent == before.number && found.salt == before.salt && std::ranges::equal(tokens_of(block), tokens)) return block;
  }
  return kNone;
}

size_t PrefixCache::n_found(const Prefix& prefix) const {
  int32_t parent = kNone;
  for (size_t i = 0;; ++i) {
    if ((i + 1) * kTokens > prefix.tokens.size()) return i;
    parent = find(behind(parent, prefix.salt), block_of(prefix.tokens, i));
    if (parent == kNone) return i;
  }
}

void PrefixCache::find_all(const Prefix& prefix, std::vector<int32_t>& places) const {
  places.clear();
  int32_t parent = kNone;
  for (size_t i = 0; (i + 1) * kTokens <= prefix.tokens.size(); ++i) {
    parent = find(behind(parent, prefix.salt), block_of(prefix.tokens, i));
    if (parent == kNone) return;
    places.push_back(parent);
  }
}

PrefixCache::Part PrefixCache::find_part(const Prefix& prefix, std::span<const int32_t> chain) const {
  const std::span<const int32_t> tokens = prefix.tokens.subspan(chain.size() * kTokens);
  if (tokens.size() < kLeastPart) return {};
  const Before before = behind(chain.empty() ? kNone : chain.back(), prefix.salt);
  const uint64_t hash = hash_of(before.hash, tokens.first(kLeastPart));
  Part out;
  for (int32_t place = heads_of_first_[hash & (heads_of_first_.size() - 1)]; place != kNone; place = entry(place).next_of_first) {
    const std::span<const int32_t> own = tokens_of(place);
    if (entry(place).hash_of_first != hash || entry(place).parent != before.number || entry(place).salt != before.salt) continue;
    const auto n_same = static_cast<int32_t>(std::ranges::mismatch(own, tokens).in1 - own.begin());
    if (n_same > out.n) out = {place, n_same};
  }
  return out.n < static_cast<int32_t>(kLeastPart) ? Part() : out;
}

void PrefixCache::take(const Prefix& prefix, std::vector<int32_t>& blocks) {
  find_all(prefix, blocks);
  bring_back(blocks);
}

// Nothing that it needs gives way to the rest of it. What has no room after all stays in the store.
void PrefixCache::bring_back(std::vector<int32_t>& chain) {
  for (const int32_t place : chain) hold(place);
  size_t n = 0;
  while (n < chain.size() && (!is_stored(chain[n]) || move_back(chain[n]))) ++n;
  for (size_t i = chain.size(); i-- > n;) let_go(chain[i]);
  chain.resize(n);
  use(chain);
}

void PrefixCache::take_same(const Prefix& prefix, std::span<const uint64_t> numbers, std::vector<int32_t>& blocks) {
  blocks.clear();
  int32_t parent = kNone;
  for (size_t i = 0; (i + 1) * kTokens <= prefix.tokens.size() && i < numbers.size(); ++i) {
    parent = find(behind(parent, prefix.salt), block_of(prefix.tokens, i));
    if (parent == kNone || entry(parent).number != numbers[i]) break;
    blocks.push_back(parent);
  }
  bring_back(blocks);
}

void PrefixCache::keep(const Prefix& prefix, std::span<const int32_t> blocks) {
  chain_.clear();
  int32_t parent = kNone;
  for (size_t i = 0; i < blocks.size() && (i + 1) * kTokens <= prefix.tokens.size(); ++i) {
    const Before before = behind(parent, prefix.salt);
    int32_t known = find(before, block_of(prefix.tokens, i));
    if (known == kNone && entry(blocks[i]).is_kept) break;  // the block holds something else: of a sequence that was cut
    if (known == kNone) add(known = blocks[i], before, block_of(prefix.tokens, i));
    chain_.push_back(parent = known);
  }
  use(chain_);
}

void PrefixCache::add(int32_t block, const Before& before, std::span<const int32_t> tokens) {
  Entry& own = entry(block);
  own = {.hash = hash_of(before.hash, tokens), .number = ++n_made_, .parent = before.number, .salt = before.salt, .is_kept = true};
  own.hash_of_first = hash_of(before.hash, tokens.first(kLeastPart));
  std::ranges::copy(tokens, tokens_of(block).begin());
  own.next_of_hash = std::exchange(heads_[own.hash & (heads_.size() - 1)], block);
  own.next_of_first = std::exchange(heads_of_first_[own.hash_of_first & (heads_of_first_.size() - 1)], block);
  put_first(block);
  pool_.keep(block);
  ++n_kept_;
}

void PrefixCache::drop(int32_t block) {
  unlink(block);
  forget(block);
  --n_kept_;
  pool_.drop(block);
}

int32_t& PrefixCache::link_by_hash(int32_t place) {
  int32_t* at = &heads_[entry(place).hash & (heads_.size() - 1)];
  while (*at != place) at = &entry(*at).next_of_hash;
  return *at;
}

int32_t& PrefixCache::link_by_first(int32_t place) {
  int32_t* at = &heads_of_first_[entry(place).hash_of_first & (heads_of_first_.size() - 1)];
  while (*at != place) at = &entry(*at).next_of_first;
  return *at;
}

void PrefixCache::forget(int32_t place) {
  link_by_hash(place) = entry(place).next_of_hash;
  link_by_first(place) = entry(place).next_of_first;
  entry(place) = {};
}

// What continues it names it by its number, which stays.
void PrefixCache::move_entry(int32_t from, int32_t to) {
  link_by_hash(from) = link_by_first(from) = to;
  entry(to) = std::exchange(entry(from), {});
  std::ranges::copy(tokens_of(from), tokens_of(to).begin());
}

// False: there is no room for it, and it is where it was.
bool PrefixCache::move_out(int32_t block) {
  if (store_ == nullptr) return false;
  int32_t slot = store_->take();
  if (slot == kNone) {
    const int32_t oldest = used_[1].oldest;
    if (oldest == kNone) return false;
    slot = oldest - pool_.n_blocks();
    unlink(oldest);
    forget(oldest);
    --counts_.n_stored;
    ++counts_.n_given_up;
  }
  if (!store_->copy_out(block, slot).ok()) return store_->give_back(slot), false;
  const int32_t place = pool_.n_blocks() + slot;
  unlink(block);
  move_entry(block, place);
  put_first(place);
  --n_kept_;
  pool_.drop(block);
  ++counts_.n_stored;
  ++counts_.n_moved_out;
  return true;
}

// One that is held, to a block that the caller has then. False: there is none for it.
bool PrefixCache::move_back(int32_t& place) {
  if (pool_.n_free() == 0 && give_back(1) == 0) return false;
  const int32_t block = pool_.take(), slot = place - pool_.n_blocks();
  if (!store_->copy_in(slot, block).ok()) return pool_.release(block), false;
  move_entry(place, block);
  put_first(block);
  pool_.keep(block);
  ++n_kept_;
  store_->give_back(slot);
  --counts_.n_stored;
  ++counts_.n_moved_back;
  place = block;
  return true;
}

// In the store by being in no list by use.
void PrefixCache::hold(int32_t place) { is_stored(place) ? unlink(place) : pool_.share(place); }
void PrefixCache::let_go(int32_t place) { is_stored(place) ? put_first(place) : pool_.release(place); }

void PrefixCache::put_first(int32_t place) {
  Entry& own = entry(place);
  Used& ends = used(place);
  own.newer = kNone;
  own.older = ends.newest;
  (ends.newest == kNone ? ends.oldest : entry(ends.newest).newer) = place;
  ends.newest = place;
}

void PrefixCache::unlink(int32_t place) {
  const Entry& own = entry(place);
  Used& ends = used(place);
  (own.newer == kNone ? ends.newest : entry(own.newer).older) = own.older;
  (own.older == kNone ? ends.oldest : entry(own.older).newer) = own.newer;
}

// The last of the chain becomes the oldest of those that are used now.
void PrefixCache::use(std::span<const int32_t> chain) {
  for (size_t i = chain.size(); i-- > 0;) {
    unlink(chain[i]);
    put_first(chain[i]);
  }
}

}  // namespace inlay
