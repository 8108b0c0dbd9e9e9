#include "src/engine/kv_pools.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "src/base/format.h"
#include "src/base/hash.h"

namespace inlay {
namespace {

// Another one for each engine. Who only sends prompts does not know it, so cannot make many of one hash.
uint64_t unforeseen_number(const void* object) {
  Hash64 hash;
  hash.add_value(reinterpret_cast<uintptr_t>(object));
  hash.add_value(std::chrono::steady_clock::now().time_since_epoch().count());
  return hash.value();
}

}  // namespace

KvPools::KvPools(std::span<const KvGroup> groups, const BackendConfig& config, BlockStore* store)
    : groups_(groups.begin(), groups.end()), max_table_(kv_blocks_for(config.n_context)) {
  for (size_t g = 0; g < groups_.size(); ++g) pools_.emplace_back(config.n_kv_blocks[g]);
  chain_.reserve(static_cast<size_t>(max_table_) + 1);  // keeping blocks takes no memory
  if (groups_.empty() || groups_[0].window > 0) return;
  cache_ = std::make_unique<PrefixCache>(pools_[0], groups_.size() == 1 ? store : nullptr, unforeseen_number(this));
  if (groups_.size() == 1) return;
  windows_.resize(groups_.size());
  for (size_t g = 1; g < groups_.size(); ++g) windows_[g] = std::make_unique<WindowCache>(pools_[g], groups_[g].window, pools_[0].n_blocks());
}

// What the cache gives up, the windows give up with it.
int32_t KvPools::give_back(size_t group, int32_t n) {
  if (!cache_) return 0;
  if (group > 0) return windows_[group]->give_back(n, *cache_);
  return cache_->give_back(n, [&](int32_t block) {
    for (size_t g = 1; g < windows_.size(); ++g) windows_[g]->drop(block);
  });
}

bool KvPools::make_room(size_t group, int32_t n) {
  KvPool& pool = pools_[group];
  const int32_t n_lacking = n - pool.n_free();
  return n_lacking <= 0 || (n_lacking <= pool.n_idle() && give_back(group, n_lacking) == n_lacking);
}

void KvPools::find(const Prefix& prefix, std::vector<int32_t>& chain) const {
  chain.clear();
  if (!cache_) return;
  cache_->find_all(prefix, chain);
  size_t n = chain.size();
  // What one window can go on behind, another one may not.
  for (bool changed = has_windows(); changed;) {
    const size_t n_before = n;
    for (size_t g = 1; g < windows_.size(); ++g) n = windows_[g]->n_usable(chain, n);
    changed = n < n_before;
  }
  chain.resize(n);
}

int32_t KvPools::find(const Prefix& prefix) const {
  find(prefix, chain_);
  return static_cast<int32_t>(chain_.size()) * kKvBlockTokens;
}

int32_t KvPools::n_found_of(const KvHoldings& holdings, const Prefix& prefix) const {
  find(prefix, chain_);
  return static_cast<int32_t>(std::ranges::mismatch(chain_, holdings[kCountedGroup].table).in1 - chain_.begin());
}

int32_t KvPools::n_same(const KvHoldings& a, const KvHoldings& b) {
  const std::vector<int32_t>& of_a = a[kCountedGroup].table;
  return static_cast<int32_t>(std::ranges::mismatch(of_a, b[kCountedGroup].table).in1 - of_a.begin());
}

int32_t KvPools::take(const Prefix& prefix, KvHoldings& holdings, const CopyBlock& copy) {
  find(prefix, chain_);
  size_t n = chain_.size() * kKvBlockTokens;
  for (size_t g = 0; g < groups_.size() && n > 0; ++g) {
    KvHolding& h = holdings[g];
    if (g == 0) {
      cache_->take(prefix.first(n), h.table);
      n = h.table.size() * kKvBlockTokens;  // fewer, where what is in the store found no room
      chain_.assign(h.table.begin(), h.table.end());
    } else {
      windows_[g]->take(chain_, h.table, h.first);
      h.first_row = h.first * kKvBlockTokens;
    }
  }
  return static_cast<int32_t>(n) + take_part(prefix, holdings, copy);
}

// What holds other tokens behind the first ones is copied, since the rest will be written.
int32_t KvPools::take_part(const Prefix& prefix, KvHoldings& holdings, const CopyBlock& copy) {
  if (!cache_) return 0;
  const PrefixCache::Part part = cache_->find_part(prefix, chain_);
  if (part.n == 0 || std::ranges::any_of(windows_, [&](const auto& window) { return window && window->block_of(part.place) == WindowCache::kNone; })) return 0;
  const auto source = [&](size_t g) { return g == 0 ? part.place : windows_[g]->block_of(part.place); };
  cache_->hold(part.place);  // room for the copy is not made by it
  for (size_t g = 1; g < groups_.size(); ++g) pools_[g].share(source(g));
  bool is_copied = true;
  for (size_t g = 0; g < groups_.size(); ++g) is_copied = make_room(g, 1) && is_copied;
  for (size_t g = 0; g < groups_.size() && is_copied; ++g) {
    const int32_t own = pools_[g].take();
    holdings[g].table.push_back(own);
    is_copied = (cache_->is_stored(part.place) ? cache_->copy_from_store(part.place, own) : copy(static_cast<int32_t>(g), source(g), own)).ok();
  }
  for (size_t g = 1; g < groups_.size(); ++g) pools_[g].release(source(g));
  cache_->let_go(part.place);
  if (!is_copied) {
    cut(holdings, static_cast<int32_t>(chain_.size()) * kKvBlockTokens);
    return 0;
  }
  chain_.push_back(part.place);
  cache_->use(chain_);
  return part.n;
}

void KvPools::keep(const Prefix& prefix, const KvHoldings& holdings) {
  if (!cache_) return;
  cache_->keep(prefix, holdings[0].table);
  if (!has_windows()) return;
  cache_->find_all(prefix, chain_);
  for (size_t g = 1; g < windows_.size(); ++g) {
    const KvHolding& h = holdings[g];
    const auto first = static_cast<size_t>((h.first_row + kKvBlockTokens - 1) / kKvBlockTokens);
    for (size_t i = std::max(first, static_cast<size_t>(h.first)); i < std::min(chain_.size(), h.table.size()); ++i) windows_[g]->keep(chain_[i], h.table[i]);
  }
}

// Of models with windows nothing is looked for: their blocks come back by copy.
KvPools::Former KvPools::former(const KvHolding& h) const {
  Former out{.first = h.first, .first_row = h.first_row, .numbers = {}};
  if (!has_cache() || has_windows()) return out;
  out.numbers.reserve(h.table.size());
  for (const int32_t block : h.table) out.numbers.push_back(cache_->number_of(block));
  return out;
}

void KvPools::lay_out(std::span<const int32_t> first_rows, KvHoldings& holdings) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    KvHolding& h = holdings[g];
    h.first_row = first_rows[g];
    h.first = h.first_row / kKvBlockTokens;
    h.table.assign(static_cast<size_t>(h.first), kNoKvBlock);
  }
}

int32_t KvPools::take_again(const Prefix& prefix, std::span<const Former> formers, KvHoldings& holdings) {
  int32_t n_found = static_cast<int32_t>(prefix.tokens.size()) / kKvBlockTokens;
  for (size_t g = 0; g < groups_.size(); ++g) {
    KvHolding& h = holdings[g];
    h.first = formers[g].first;
    h.first_row = formers[g].first_row;
    h.table.assign(static_cast<size_t>(h.first), kNoKvBlock);
    const bool looks = has_cache() && !has_windows();
    if (looks) cache_->take_same(prefix, formers[g].numbers, h.table);
    n_found = looks ? std::min(n_found, static_cast<int32_t>(h.table.size())) : 0;
  }
  return n_found * kKvBlockTokens;
}

KvHoldings KvPools::no_blocks() const {
  KvHoldings out(groups_.size());
  for (KvHolding& h : out) {
    h.table.reserve(static_cast<size_t>(max_table_));
    h.spare.reserve(static_cast<size_t>(max_table_));
  }
  return out;
}

// Blocks to be taken: copies of shared blocks that will be written, and the new entries of the table; but no more than
// keep the session's own blocks at what a window needs, because blocks of its own that slide out of it are used again.
int32_t KvPools::n_lacking(size_t group, const KvHolding& h, const Run& run) const {
  const auto n_have = static_cast<int32_t>(h.table.size());
  const auto shared_from = [&](int32_t first) {
    return static_cast<int32_t>(std::count_if(h.table.begin() + std::min(first, n_have), h.table.end(),
                                              [&](int32_t block) { return pools_[group].shared(block); }));
  };
  const int32_t n_copies = shared_from(std::max(h.first, run.first / kKvBlockTokens));
  const int32_t n_end = kv_blocks_for(run.end);
  int32_t n_new = std::max(0, n_end - n_have);
  if (const int32_t window = groups_[group].window; window > 0) {
    const int32_t n_held = std::min(kv_blocks_of_window(window, run.most), n_end - h.first);
    const int32_t n_own = n_have - h.first - shared_from(h.first) + n_copies;
    n_new = std::clamp(n_held - n_own, 0, n_new);
  }
  return n_copies + std::max(0, n_new - static_cast<int32_t>(h.spare.size()));
}

Status KvPools::full(size_t group, int32_t n_wanted) const {
  const int32_t n_free = pools_[group].n_free() + pools_[group].n_idle(), window = groups_[group].window;
  std::string whose;
  if (window > 0) whose = " of the layers with a window of " + std::to_string(window) + " tokens";
  if (window == 0 && groups_.size() > 1) whose = " of the layers without a window";
  Status full = error(Code::kv_full, "the KV pool%s has %s of %d tokens, the sequence needs %d more",
                      whose.c_str(), counted(static_cast<uint64_t>(n_free), "free block").c_str(), kKvBlockTokens, n_wanted);
  full.required = static_cast<uint64_t>(n_wanted);
  full.available = static_cast<uint64_t>(n_free);
  return full;
}

Status KvPools::reserve(KvHoldings& holdings, const Run& run, const CopyBlock& copy) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    int32_t n = n_lacking(g, holdings[g], run);
    if (make_room(g, n)) continue;
    // What slides out of its window would stay for others; then it is used again instead.
    if (has_windows() && g > 0) windows_[g]->forget(holdings[g].table);
    n = n_lacking(g, holdings[g], run);
    if (!make_room(g, n)) return full(g, n);
  }
  for (size_t g = 0; g < groups_.size(); ++g) INLAY_TRY(own_written(g, holdings[g], run, copy));
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (int32_t n = n_lacking(g, holdings[g], run); n > 0; --n) holdings[g].spare.push_back(pools_[g].take());
  }
  return {};
}

// Copy on write.
Status KvPools::own_written(size_t group, KvHolding& h, const Run& run, const CopyBlock& copy) {
  KvPool& pool = pools_[group];
  for (size_t i = static_cast<size_t>(std::max(h.first, run.first / kKvBlockTokens)); i < h.table.size(); ++i) {
    int32_t& block = h.table[i];
    if (!pool.shared(block)) continue;
    const int32_t own = pool.take();
    if (Status copied = copy(static_cast<int32_t>(group), block, own); !copied.ok()) {
      pool.release(own);
      return copied;
    }
    pool.release(block);
    block = own;
  }
  return {};
}

void KvPools::cover(KvHoldings& holdings, int32_t end) {
  for (KvHolding& h : holdings) {
    while (static_cast<int32_t>(h.table.size()) < kv_blocks_for(end)) {
      h.table.push_back(h.spare.back());
      h.spare.pop_back();
    }
  }
}

void KvPools::slide(KvHoldings& holdings, int32_t n_cached) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].window == 0) continue;
    KvHolding& h = holdings[g];
    const int32_t first = first_key(groups_[g].window, n_cached - 1) / kKvBlockTokens;
    for (; h.first < first; ++h.first) {
      int32_t& block = h.table[static_cast<size_t>(h.first)];
      // One that stays for others leaves a free one in its place, or stays here after all, so that the sequence has what it holds.
      const bool is_owed = has_windows() && pools_[g].shared(block) && h.n_blocks() <= h.n_held;
      const bool is_replaced = is_owed && pools_[g].n_free() > 0;
      if (is_owed && !is_replaced) windows_[g]->forget({&block, 1});
      if (pools_[g].shared(block)) {
        pools_[g].release(block);
        if (is_replaced) h.spare.push_back(pools_[g].take());
      } else {
        h.spare.push_back(block);
      }
      block = kNoKvBlock;
    }
    h.first_row = std::max(h.first_row, h.first * kKvBlockTokens);
  }
}

void KvPools::settle(KvHoldings& holdings) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    KvHolding& h = holdings[g];
    for (; !h.spare.empty() && h.n_blocks() > h.n_held; h.spare.pop_back()) pools_[g].release(h.spare.back());
  }
}

int32_t KvPools::n_shared(const KvHoldings& holdings, size_t group) const {
  const KvHolding& h = holdings[group];
  return static_cast<int32_t>(std::count_if(h.table.begin() + h.first, h.table.end(), [&](int32_t block) { return !pools_[group].frees(block); }));
}

void KvPools::hold(KvHoldings& holdings) {
  for (KvHolding& h : holdings) h.n_held = h.n_blocks();
}

void KvPools::let_go(KvHoldings& holdings) {
  for (KvHolding& h : holdings) h.n_held = 0;
  settle(holdings);
}

bool KvPools::can_go_on(std::span<const KvGroup> groups, const KvHoldings& holdings, int32_t n_cached) {
  for (size_t g = 0; g < groups.size(); ++g) {
    if (holdings[g].first_row > first_key(groups[g].window, n_cached)) return false;
  }
  return true;
}

void KvPools::cut(KvHoldings& holdings, int32_t n_cached) {
  settle(holdings);
  for (size_t g = 0; g < groups_.size(); ++g) {
    KvHolding& h = holdings[g];
    const int32_t n_keep = kv_blocks_for(n_cached);
    while (static_cast<int32_t>(h.table.size()) > n_keep) {
      const int32_t block = h.table.back();
      h.table.pop_back();
      if (block == kNoKvBlock) continue;
      if (h.n_blocks() < h.n_held && !pools_[g].shared(block)) {
        h.spare.push_back(block);
      } else {
        pools_[g].release(block);
      }
    }
    h.first = std::min(h.first, n_keep);
    if (n_cached == 0) h.first_row = 0;
  }
}

// Where the rows before `first` are gone, the table itself goes to the front by whole blocks, and rows within it by what
// is left: so the window needs no more blocks than it has, or one.
Backend::KvMove KvPools::move_of(const KvHolding& h, const Shift& s) {
  Backend::KvMove move{.table = h.table, .first = s.first, .distance = s.n, .end = s.n_cached, .turn = s.n};
  if (h.first_row > s.first) {
    move.distance = s.n % kKvBlockTokens;
    move.first = std::max(h.first_row, s.first + s.n) - move.distance;
  }
  return move;
}

bool KvPools::can_shift(const KvHoldings& holdings, const Shift& s) const {
  for (size_t g = 0; g < groups_.size(); ++g) {
    const int32_t had = holdings[g].first_row;
    const int32_t first_row = had <= s.first ? had : std::max(had, s.first + s.n) - s.n;
    if (first_row > first_key(groups_[g].window, s.n_cached - s.n - 1)) return false;
  }
  return true;
}

Status KvPools::check_room_to_shift(KvHoldings& holdings, const Shift& s) {
  settle(holdings);
  for (size_t g = 0; g < groups_.size(); ++g) {
    const KvHolding& h = holdings[g];
    const int32_t first = move_of(h, s).first / kKvBlockTokens;
    const auto n_shared = std::count_if(h.table.begin() + std::max(first, h.first), h.table.end(),
                                        [&](int32_t block) { return pools_[g].shared(block); });
    const auto n = static_cast<int32_t>(n_shared) + (first < h.first ? 1 : 0);
    if (!make_room(g, n)) return full(g, n);
  }
  return {};
}

Status KvPools::shift(KvHoldings& holdings, const Shift& s, const CopyBlock& copy, const Move& move_rows) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    KvHolding& h = holdings[g];
    Backend::KvMove move = move_of(h, s);
    move.kv_group = static_cast<int32_t>(g);
    const int32_t first = move.first / kKvBlockTokens;
    for (; h.first < first && h.first_row > s.first; ++h.first) {  // what the window needs no more
      pools_[g].release(std::exchange(h.table[static_cast<size_t>(h.first)], kNoKvBlock));
    }
    if (first < h.first) h.table[static_cast<size_t>(h.first = first)] = pools_[g].take();
    INLAY_TRY(own_written(g, h, {.first = move.first, .end = s.n_cached, .most = 1}, copy));
    INLAY_TRY(move_rows(move));
    if (h.first_row > s.first) {
      const int32_t n_blocks = (s.n - move.distance) / kKvBlockTokens;
      h.table.erase(h.table.begin(), h.table.begin() + n_blocks);
      h.first -= n_blocks;
      h.first_row = std::max(h.first_row, s.first + s.n) - s.n;
    }
  }
  slide(holdings, s.n_cached - s.n);
  return {};
}

void KvPools::share(const KvHoldings& from, KvHoldings& to) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    to[g].first = from[g].first;
    to[g].first_row = from[g].first_row;
    to[g].table.assign(from[g].table.begin(), from[g].table.end());
    for (const int32_t block : std::span(from[g].table).subspan(static_cast<size_t>(from[g].first)))
      pools_[g].share(block);
  }
}

std::string KvPools::text() const {
  std::string out;
  for (size_t g = 0; g < groups_.size(); ++g) {
    append_format(out, "%s%d for %d layer%s", g == 0 ? "" : ", ", pools_[g].n_blocks(), groups_[g].n_layers,
                  groups_[g].n_layers == 1 ? "" : "s");
    if (groups_[g].window > 0) append_format(out, " with a window of %d", groups_[g].window);
  }
  return out;
}

int32_t KvPools::n_blocks() const {
  return std::transform_reduce(pools_.begin(), pools_.end(), 0, std::plus(),
                               [](const KvPool& p) { return p.n_blocks(); });
}

int32_t KvPools::n_used() const {
  return std::transform_reduce(pools_.begin(), pools_.end(), 0, std::plus(),
                               [](const KvPool& p) { return p.n_used(); });
}

}  // namespace inlay
