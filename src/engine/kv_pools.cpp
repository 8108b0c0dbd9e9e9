#include "src/engine/kv_pools.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/base/format.h"

namespace inlay {

KvPools::KvPools(std::span<const KvGroup> groups, const BackendConfig& config)
    : groups_(groups.begin(), groups.end()), max_table_(kv_blocks_for(config.n_context)) {
  for (size_t g = 0; g < groups_.size(); ++g) pools_.emplace_back(config.n_kv_blocks[g]);
  if (std::ranges::any_of(groups_, [](const KvGroup& group) { return group.window > 0; })) return;
  caches_.reserve(groups_.size());
  for (KvPool& pool : pools_) caches_.emplace_back(pool);
}

bool KvPools::make_room(size_t group, int32_t n) {
  KvPool& pool = pools_[group];
  const int32_t n_lacking = n - pool.n_free();
  return n_lacking <= 0 || (n_lacking <= pool.n_idle() && caches_[group].give_back(n_lacking) == n_lacking);
}

int32_t KvPools::find(std::span<const int32_t> tokens) const {
  size_t n = has_cache() ? SIZE_MAX : 0;
  for (const PrefixCache& cache : caches_) n = std::min(n, cache.n_found(tokens));
  return static_cast<int32_t>(n) * kKvBlockTokens;
}

int32_t KvPools::take(std::span<const int32_t> tokens, KvHoldings& holdings) {
  const int32_t n = find(tokens);
  for (size_t g = 0; g < caches_.size(); ++g) caches_[g].take(tokens.first(static_cast<size_t>(n)), holdings[g].table);
  return n;
}

void KvPools::keep(std::span<const int32_t> tokens, const KvHoldings& holdings) {
  for (size_t g = 0; g < caches_.size(); ++g) caches_[g].keep(tokens, holdings[g].table);
}

KvPools::Former KvPools::former(size_t group, const KvHolding& h) const {
  Former out{.first = h.first, .first_row = h.first_row, .numbers = {}};
  if (!has_cache()) return out;
  out.numbers.reserve(h.table.size());
  for (const int32_t block : h.table) out.numbers.push_back(caches_[group].number_of(block));
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

int32_t KvPools::take_again(std::span<const int32_t> tokens, std::span<const Former> formers, KvHoldings& holdings) {
  int32_t n_found = static_cast<int32_t>(tokens.size()) / kKvBlockTokens;
  for (size_t g = 0; g < groups_.size(); ++g) {
    KvHolding& h = holdings[g];
    h.first = formers[g].first;
    h.first_row = formers[g].first_row;
    h.table.assign(static_cast<size_t>(h.first), kNoKvBlock);
    if (has_cache()) caches_[g].take_same(tokens, formers[g].numbers, h.table);
    n_found = std::min(n_found, has_cache() ? static_cast<int32_t>(h.table.size()) : 0);
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
    const int32_t n = n_lacking(g, holdings[g], run);
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
      if (pools_[g].shared(block)) {
        pools_[g].release(block);
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
