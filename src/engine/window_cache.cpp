#include "src/engine/window_cache.h"

#include <algorithm>

#include "src/backend/step_batch.h"
#include "src/plan/kv_groups.h"

namespace inlay {

WindowCache::WindowCache(KvPool& pool, int32_t window, int32_t n_found)
    : pool_(pool), window_(window), blocks_(static_cast<size_t>(n_found), kNone), found_(static_cast<size_t>(pool.n_blocks()), kNone) {}

size_t WindowCache::first_needed(size_t n_blocks) const {
  return static_cast<size_t>(first_key(window_, static_cast<int32_t>(n_blocks) * kKvBlockTokens) / kKvBlockTokens);
}

size_t WindowCache::n_usable(std::span<const int32_t> chain, size_t n) const {
  size_t n_most = 0, n_behind_one_another = 0;
  for (size_t i = 0; i < n; ++i) {
    n_behind_one_another = block_of(chain[i]) == kNone ? 0 : n_behind_one_another + 1;
    if (n_behind_one_another >= i + 1 - first_needed(i + 1)) n_most = i + 1;
  }
  return n_most;
}

void WindowCache::take(std::span<const int32_t> chain, std::vector<int32_t>& table, int32_t& first) const {
  first = static_cast<int32_t>(std::min(first_needed(chain.size()), chain.size()));
  table.assign(static_cast<size_t>(first), kNoKvBlock);
  for (const int32_t found : chain.subspan(static_cast<size_t>(first))) {
    table.push_back(block_of(found));
    pool_.share(block_of(found));
  }
}

void WindowCache::keep(int32_t found, int32_t block) {
  if (block_of(found) != kNone || found_[static_cast<size_t>(block)] != kNone) return;
  place_of(found) = block;
  found_[static_cast<size_t>(block)] = found;
  pool_.keep(block);
}

void WindowCache::drop(int32_t found) {
  const int32_t block = block_of(found);
  if (block == kNone) return;
  place_of(found) = found_[static_cast<size_t>(block)] = kNone;
  pool_.drop(block);
}

int32_t WindowCache::give_back(int32_t n, PrefixCache& finder) {
  int32_t n_given = 0;
  finder.for_oldest([&](int32_t found) {
    if (block_of(found) == kNone || !pool_.is_idle(block_of(found))) return true;
    drop(found);
    return ++n_given < n;
  });
  return n_given;
}

void WindowCache::forget(std::span<const int32_t> table) {
  for (const int32_t block : table) {
    if (block != kNoKvBlock && found_[static_cast<size_t>(block)] != kNone && pool_.frees(block)) drop(found_[static_cast<size_t>(block)]);
  }
}

}  // namespace inlay
