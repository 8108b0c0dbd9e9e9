// What lies where in the shared memory of prefill attention, and how it gets there. Rows of every tile are kDim halves
// and 16 more bytes: an odd number of 16-byte units, so the eight rows that one ldmatrix reads lie in different
// banks.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {

inline constexpr int kPrefillWarps = 4;  // each has 16 rows of the tile, of every query head of the CTA
inline constexpr int kPrefillThreads = kPrefillWarps * 32;
inline constexpr int kPrefillKeys = 64;  // of a tile of keys, and of values
inline constexpr int kBlockKeys = 32;    // of a block of the cache
static_assert(kPromptTileRows == kPrefillWarps * 16);

template <int kDim>
inline constexpr int kTilePitch = kDim * 2 + 16;  // bytes from a row to the next

// One after another: queries of kHeads heads, one tile of keys, one of values.
template <int kDim, int kHeads>
struct PrefillShared {
  static constexpr int kKeys = kHeads * kPromptTileRows * kTilePitch<kDim>;
  static constexpr int kValues = kKeys + kPrefillKeys * kTilePitch<kDim>;
  static constexpr int kBytes = kValues + kPrefillKeys * kTilePitch<kDim>;
};

// Where a lane reads the four matrices of one ldmatrix, as bytes from the tile's first value that the four cover.
// A of mma.sync: 16 rows of queries, 16 components.
template <int kDim>
__host__ __device__ constexpr uint32_t query_offset(uint32_t lane) {
  return lane % 16 * kTilePitch<kDim> + lane / 16 * 16;
}
// B of Q K^T, not transposed: 16 keys (the fragments of 8 keys one after the other), 16 components.
template <int kDim>
__host__ __device__ constexpr uint32_t key_offset(uint32_t lane) {
  return (lane % 8 + lane / 16 * 8) * kTilePitch<kDim> + lane / 8 % 2 * 16;
}
// B of P V, transposed: 16 keys, 16 components (the fragments of 8 components one after the other).
template <int kDim>
__host__ __device__ constexpr uint32_t value_offset(uint32_t lane) {
  return lane % 16 * kTilePitch<kDim> + lane / 16 * 16;
}

// A power of two that brings `largest` into [2^13, 2^14), far from both ends of FP16's range, and its inverse.
struct QueryScale {
  float factor, inverse;
};
__device__ __forceinline__ QueryScale query_scale(float largest) {
  const int exponent = static_cast<int>(__float_as_uint(largest) >> 23);
  const int e = exponent < 14 ? 14 : exponent > 253 ? 253 : exponent;
  return {__uint_as_float(static_cast<unsigned>(267 - e) << 23), __uint_as_float(static_cast<unsigned>(e - 13) << 23)};
}

// Where a warp finds its queries. Rows from n_rows on and heads from n_heads on are zeros.
struct QuerySource {
  const float* q;  // first row of the warp, first head of the CTA
  int64_t row_floats;
  int32_t n_rows, n_heads, d_head;
  float scale;
};

// Writes the warp's 16 rows of each head, multiplied by source.scale and a power of two of their own; what undoes the
// latter follows the row's components (inverse_scale). `to`: the warp's row 0 of head 0.
template <int kDim, int kHeads>
__device__ __forceinline__ void stage_queries(const QuerySource& source, char* to) {
  constexpr int kPairs = (kDim + 63) / 64;  // of components of a lane
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int head = 0; head < kHeads; ++head) {
#pragma unroll 4
    for (int row = 0; row < 16; ++row) {
      const float* from = source.q + row * source.row_floats + static_cast<int64_t>(head) * source.d_head;
      float2 x[kPairs];
      float largest = 0.0f;
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        const int component = 64 * i + 2 * lane;
        x[i] = make_float2(0.0f, 0.0f);
        if (row < source.n_rows && head < source.n_heads && component < source.d_head)
          x[i] = *reinterpret_cast<const float2*>(from + component);
        x[i].x *= source.scale;
        x[i].y *= source.scale;
        largest = fmaxf(largest, fmaxf(fabsf(x[i].x), fabsf(x[i].y)));
      }
      const QueryScale scale = query_scale(warp_max(largest));
      char* row_to = to + (head * kPromptTileRows + row) * kTilePitch<kDim>;
      if (lane == 0) *reinterpret_cast<float*>(row_to + kDim * 2) = scale.inverse;
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        const int component = 64 * i + 2 * lane;
        if (component < kDim)
          *reinterpret_cast<__half2*>(row_to + component * 2) =
              __floats2half2_rn(x[i].x * scale.factor, x[i].y * scale.factor);
      }
    }
  }
}

// queries: the warp's row 0 of head 0.
template <int kDim>
__device__ __forceinline__ float inverse_scale(const char* queries, int head, int row) {
  return *reinterpret_cast<const float*>(queries + (head * kPromptTileRows + row) * kTilePitch<kDim> + kDim * 2);
}

// The keys of one sequence and KV head that a tile of rows may read.
struct KvSource {
  int32_t sequence, kv_head, n_keys;
};

// The two blocks of the cache that hold the tile of keys from first_key on.
struct TileBlocks {
  int32_t first, second;
};
__device__ __forceinline__ TileBlocks tile_blocks(const CacheView& cache, const KvSource& source, int32_t first_key) {
  const int32_t* table = cache.block_tables + static_cast<int64_t>(source.sequence) * cache.max_blocks;
  const int32_t block = first_key / kBlockKeys, last = (source.n_keys - 1) / kBlockKeys;
  return {table[block < last ? block : last], table[block + 1 < last ? block + 1 : last]};
}

// One tile of keys or values out of its pool, by all threads; zeros for keys from n_keys on (the cache may hold
// anything there, a NaN too) and components from d_head on. Asynchronous: the caller commits and waits. No other code
// here knows how a pool stores its elements.
template <int kDim>
__device__ __forceinline__ void copy_tile(const CacheView& cache, const KvSource& source, const void* pool,
                                          TileBlocks blocks, int32_t first_key, char* to) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  constexpr int kPieces = kDim <= 64 ? 8 : kDim <= 128 ? 16 : 32;  // threads of a row, 16 bytes each
  constexpr int kRows = kPrefillThreads / kPieces;                 // at once
  const int row = static_cast<int>(threadIdx.x) / kPieces, component = static_cast<int>(threadIdx.x) % kPieces * 8;
  if (component >= kDim) return;
  const int32_t left = component < cache.d_head ? source.n_keys - first_key - row : 0;
  const int32_t step = kRows * cache.d_head;
  char* const row_to = to + row * kTilePitch<kDim> + component * 2;
#pragma unroll
  for (int block = 0; block < 2; ++block) {
    const int64_t first = block == 0 ? blocks.first : blocks.second;
    const __half* from = static_cast<const __half*>(pool);
    if (left > 0) from += ((first * cache.n_kv_heads + source.kv_head) * kBlockKeys + row) * cache.d_head + component;
#pragma unroll
    for (int i = 0; i < kBlockKeys / kRows; ++i) {
      const int key = block * kBlockKeys + i * kRows;  // from the thread's row
      const bool valid = key < left;
      copy_async_16(row_to + key * kTilePitch<kDim>, valid ? from + i * step : static_cast<const __half*>(pool), valid);
    }
  }
#endif
}

}  // namespace inlay::cuda
