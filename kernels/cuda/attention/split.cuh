// How the keys of a row are cut into splits, the query heads of a group into passes, and where a split's result waits.
//
// A tile is 32 keys, one block of the cache. Split s holds the tiles [s * chunk, (s + 1) * chunk) where chunk depends
// on the row's position and the model's number of KV heads alone: what else is in the step cannot change how a row is
// summed. With a sliding window the tiles are counted from the first step of 16 keys that the row sees one of; the
// window belongs to the model too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay::cuda {

inline constexpr int32_t kTileKeys = 32;
inline constexpr int32_t kRoundTiles = 4;     // 128 keys, 16 for each of eight warps
inline constexpr int32_t kMinSplitTiles = 8;  // 256 keys: less is not worth a second CTA and the merge through memory
inline constexpr int32_t kMaxSplits = 64;
inline constexpr int32_t kRowsPerLaunch = 64;  // bounds the scratch; more rows are more launches
inline constexpr int32_t kMaxPassHeads = 8;    // query heads of a CTA: the columns of one mma

// One row alone should give about every SM of a large GPU a CTA.
__host__ __device__ inline int32_t split_limit(int32_t n_kv_heads) {
  const int32_t limit = 128 / n_kv_heads;
  return limit < 1 ? 1 : limit < kMaxSplits ? limit : kMaxSplits;
}

// Few KV heads leave most of a GPU without keys. For them splits of longer rows are 128 keys: a step for each of eight
// warps, whose keys are asked for before the queries are there.
__host__ __device__ inline int32_t least_tiles(int32_t n_kv_heads) {
  return n_kv_heads <= 4 ? kMinSplitTiles / 2 : kMinSplitTiles;
}

// Tiles of a split for a row that reads n_tiles of them: whole rounds, so that a warp goes from split to split in the
// steps in which it goes through one.
__host__ __device__ inline int32_t split_tiles(int32_t n_tiles, int32_t n_kv_heads) {
  if (n_tiles <= kMinSplitTiles) return kMinSplitTiles;
  const int32_t limit = split_limit(n_kv_heads) * kRoundTiles, least = least_tiles(n_kv_heads);
  const int32_t tiles = (n_tiles + limit - 1) / limit * kRoundTiles;
  return tiles < least ? least : tiles;
}

// The most splits of any position below max_context (a longer row may have fewer splits than a shorter one).
__host__ __device__ inline int32_t max_splits(int32_t max_context, int32_t n_kv_heads) {
  const int64_t chunk = kTileKeys * least_tiles(n_kv_heads);
  const int64_t splits = (max_context + chunk - 1) / chunk;
  return static_cast<int32_t>(splits < split_limit(n_kv_heads) ? splits : split_limit(n_kv_heads));
}

// The query heads that share a KV head, cut into passes of nearly equal size; a CTA does one pass.
struct HeadPasses {
  int32_t group;  // query heads of one KV head
  int32_t passes;
  int32_t heads;  // of every pass but perhaps the last
};

inline HeadPasses head_passes(int32_t n_heads, int32_t n_kv_heads) {
  const int32_t group = n_heads / n_kv_heads;
  const int32_t passes = (group + kMaxPassHeads - 1) / kMaxPassHeads;
  return {group, passes, (group + passes - 1) / passes};
}

// The query heads of a CTA: `first` counts from 0 in the model.
struct PassHeads {
  int32_t first, count, d_head;
};

// Scratch: kRowsPerLaunch * n_heads tickets (one for every row, KV head and pass is used), zero between launches; then
// a record for every (row of the launch, query head, split): d_head floats of sum(weight * v), the largest score, the
// sum of weights, 2 unused.
inline constexpr int32_t kRecordTail = 4;

__host__ __device__ inline size_t ticket_bytes(int32_t n_heads) {
  return (static_cast<size_t>(kRowsPerLaunch) * n_heads * sizeof(unsigned) + 255) / 256 * 256;
}

}  // namespace inlay::cuda
