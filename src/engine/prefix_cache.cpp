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

PrefixCache::PrefixCache(KvPool& pool) : pool_(pool) {
  const auto n = static_cast<size_t>(pool.n_blocks());
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

// Equal hashes are told apart by the tokens and the parent's number.
int32_t PrefixCache::find(int32_t parent, std::span<const int32_t> tokens) const {
  const uint64_t hash = hash_of(hash_behind(parent), tokens), number = parent == kNone ? 0 : entry(parent).number;
  for (int32_t block = heads_[hash & (heads_.size() - 1)]; block != kNone; block = entry(block).next_of_hash) {
    const Entry& found = entry(block);
    if (found.hash == hash && found.parent == number && std::ranges::equal(tokens_of(block), tokens)) return block;
  }
  return kNone;
}

size_t PrefixCache::n_found(std::span<const int32_t> tokens) const {
  int32_t parent = kNone;
  for (size_t i = 0;; ++i) {
    if ((i + 1) * kTokens > tokens.size()) return i;
    parent = find(parent, block_of(tokens, i));
    if (parent == kNone) return i;
  }
}

void PrefixCache::find_all(std::span<const int32_t> tokens, std::vector<int32_t>& blocks) const {
  blocks.clear();
  int32_t parent = kNone;
  for (size_t i = 0; (i + 1) * kTokens <= tokens.size(); ++i) {
    parent = find(parent, block_of(tokens, i));
    if (parent == kNone) return;
    blocks.push_back(parent);
  }
}

PrefixCache::Part PrefixCache::find_part(std::span<const int32_t> chain, std::span<const int32_t> tokens) const {
  if (tokens.size() < kLeastPart) return {};
  const int32_t parent = chain.empty() ? kNone : chain.back();
  const uint64_t hash = hash_of(hash_behind(parent), tokens.first(kLeastPart));
  const uint64_t number = parent == kNone ? 0 : entry(parent).number;
  Part out;
  for (int32_t block = heads_of_first_[hash & (heads_of_first_.size() - 1)]; block != kNone; block = entry(block).next_of_first) {
    const std::span<const int32_t> own = tokens_of(block);
    if (entry(block).hash_of_first != hash || entry(block).parent != number) continue;
    const auto n_same = static_cast<int32_t>(std::ranges::mismatch(own, tokens).in1 - own.begin());
    if (n_same > out.n) out = {block, n_same};
  }
  return out.n < static_cast<int32_t>(kLeastPart) ? Part() : out;
}

void PrefixCache::take(std::span<const int32_t> tokens, std::vector<int32_t>& blocks) {
  find_all(tokens, blocks);
  for (const int32_t block : blocks) pool_.share(block);
  use(blocks);
}

void PrefixCache::take_same(std::span<const int32_t> tokens, std::span<const uint64_t> numbers, std::vector<int32_t>& blocks) {
  blocks.clear();
  int32_t parent = kNone;
  for (size_t i = 0; (i + 1) * kTokens <= tokens.size() && i < numbers.size(); ++i) {
    parent = find(parent, block_of(tokens, i));
    if (parent == kNone || entry(parent).number != numbers[i]) break;
    blocks.push_back(parent);
  }
  for (const int32_t block : blocks) pool_.share(block);
  use(blocks);
}

void PrefixCache::keep(std::span<const int32_t> tokens, std::span<const int32_t> blocks) {
  chain_.clear();
  int32_t parent = kNone;
  for (size_t i = 0; i < blocks.size() && (i + 1) * kTokens <= tokens.size(); ++i) {
    int32_t known = find(parent, block_of(tokens, i));
    if (known == kNone && entry(blocks[i]).is_kept) break;  // the block holds something else: of a sequence that was cut
    if (known == kNone) add(known = blocks[i], parent, block_of(tokens, i));
    chain_.push_back(parent = known);
  }
  use(chain_);
}

void PrefixCache::add(int32_t block, int32_t parent, std::span<const int32_t> tokens) {
  Entry& own = entry(block);
  own = {.hash = hash_of(hash_behind(parent), tokens), .number = ++n_made_, .parent = parent == kNone ? 0 : entry(parent).number, .is_kept = true};
  own.hash_of_first = hash_of(hash_behind(parent), tokens.first(kLeastPart));
  std::ranges::copy(tokens, tokens_of(block).begin());
  own.next_of_hash = std::exchange(heads_[own.hash & (heads_.size() - 1)], block);
  own.next_of_first = std::exchange(heads_of_first_[own.hash_of_first & (heads_of_first_.size() - 1)], block);
  put_first(block);
  pool_.keep(block);
  ++n_kept_;
}

void PrefixCache::drop(int32_t block) {
  Entry& own = entry(block);
  int32_t* at = &heads_[own.hash & (heads_.size() - 1)];
  while (*at != block) at = &entry(*at).next_of_hash;
  *at = own.next_of_hash;
  at = &heads_of_first_[own.hash_of_first & (heads_of_first_.size() - 1)];
  while (*at != block) at = &entry(*at).next_of_first;
  *at = own.next_of_first;
  unlink(block);
  own = {};
  --n_kept_;
  pool_.drop(block);
}

void PrefixCache::put_first(int32_t block) {
  Entry& own = entry(block);
  own.newer = kNone;
  own.older = newest_;
  (newest_ == kNone ? oldest_ : entry(newest_).newer) = block;
  newest_ = block;
}

void PrefixCache::unlink(int32_t block) {
  const Entry& own = entry(block);
  (own.newer == kNone ? newest_ : entry(own.newer).older) = own.older;
  (own.older == kNone ? oldest_ : entry(own.older).newer) = own.newer;
}

// The last of the chain becomes the oldest of those that are used now.
void PrefixCache::use(std::span<const int32_t> chain) {
  for (size_t i = chain.size(); i-- > 0;) {
    unlink(chain[i]);
    put_first(chain[i]);
  }
}

}  // namespace inlay
