// Blocks of a group with a window that stay after their sequences. Each belongs to the block of the same positions of a group without one, whose
// PrefixCache finds it: so tokens are known once. docs/design/requests.md, "What is found again"
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/engine/prefix_cache.h"

namespace inlay {

class WindowCache {
 public:
  // `found` has n_found blocks.
  WindowCache(KvPool& pool, int32_t window, int32_t n_found);

  // The most first blocks of the chain, at most n, behind which a sequence can go on: all that the next token sees is here.
  size_t n_usable(std::span<const int32_t> chain, size_t n) const;
  // For a sequence that has the first n blocks of the chain: its table, with a reference to each block.
  void take(std::span<const int32_t> chain, std::vector<int32_t>& table, int32_t& first) const;
  // Keeps `block` as that of a found block's positions, unless that has one.
  void keep(int32_t found, int32_t block);
  // What is kept for it, or kNone.
  int32_t block_of(int32_t found) const { return blocks_[static_cast<size_t>(found)]; }
  static constexpr int32_t kNone = PrefixCache::kNone;
  void drop(int32_t found);  // what is kept for it, if anything is
  // Gives up to n blocks back to the pool that nobody else uses, in the order of the cache that finds them; how many.
  int32_t give_back(int32_t n, PrefixCache& finder);
  // Those of the table that a sequence uses alone are its own again.
  void forget(std::span<const int32_t> table);

 private:
  int32_t& place_of(int32_t found) { return blocks_[static_cast<size_t>(found)]; }
  size_t first_needed(size_t n_blocks) const;  // of those that a sequence of n blocks sees

  KvPool& pool_;
  const int32_t window_;
  std::vector<int32_t> blocks_;  // by found block
  std::vector<int32_t> found_;   // by block, the other way round
};

}  // namespace inlay
