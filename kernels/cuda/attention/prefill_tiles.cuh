// What lies where in the shared memory of prefill attention, and how it gets there. Rows of every tile are kDim halves
// and 16 more bytes: an odd number of 16-byte units, so the eight rows that one ldmatrix reads lie in different
// banks.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/cuda/attention/fragments.cuh"
#include "kernels/cuda/attention/kv_element.cuh"
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

// The keys of one sequence and KV head that a tile of rows may read: from first_key on, which is 0 without a window.
struct KvSource {
  int32_t sequence, kv_head, n_keys, first_key;
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

// A thread's part of a tile of keys or values: components component .. component + 7 of the keys row, row + kRows, ...
template <int kDim, bool kVariant>
struct TilePart {
  static constexpr int kPieces = kDim <= 64 ? 8 : kDim <= 128 ? 16 : 32;  // threads of a row
  static constexpr int kRows = kPrefillThreads / kPieces;                 // at once
  static constexpr int kSteps = kBlockKeys / kRows;                       // in a block
  static constexpr int kStepPitch = kRows * kTilePitch<kDim>;
  int row, component, n_rows;  // n_rows: of the tile, from `row` on, that are read
  int n_unseen;                // of those, at the beginning, that are not; without a window 0
  char* to;

  __device__ __forceinline__ TilePart(const CacheView& cache, const KvSource& source, int32_t first_key, char* tile)
      : row(static_cast<int>(threadIdx.x) / kPieces),
        component(static_cast<int>(threadIdx.x) % kPieces * 8),
        n_rows(component < cache.d_head ? source.n_keys - first_key - row : 0),
        n_unseen(kVariant ? source.first_key - first_key - row : 0),
        to(tile + row * kTilePitch<kDim> + component * 2) {}
  // key: of the tile, counted from `row`.
  __device__ __forceinline__ bool reads(int key) const { return key < n_rows && (!kVariant || key >= n_unseen); }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// FP16 keys or values go from the cache to shared memory as they are.
template <int kDim, bool kVariant>
__device__ __forceinline__ void copy_halves(const CacheView& cache, const KvSource& source, const void* pool,
                                            TileBlocks blocks, const TilePart<kDim, kVariant>& part) {
  using Part = TilePart<kDim, kVariant>;
  const int32_t step = Part::kRows * cache.d_head;
#pragma unroll
  for (int block = 0; block < 2; ++block) {
    const int64_t first = block == 0 ? blocks.first : blocks.second;
    const auto* from = static_cast<const __half*>(pool);
    if (part.n_rows > 0)
      from += ((first * cache.n_kv_heads + source.kv_head) * kBlockKeys + part.row) * cache.d_head + part.component;
#pragma unroll
    for (int i = 0; i < Part::kSteps; ++i) {
      const int key = block * kBlockKeys + i * Part::kRows;  // from the thread's row
      const bool valid = part.reads(key);
      copy_async_16(part.to + key * kTilePitch<kDim>, valid ? from + i * step : static_cast<const __half*>(pool),
                    valid);
    }
  }
}
#endif

// Eight codes as halves, times their scale.
template <KvType kType>
__device__ __forceinline__ uint4 scaled_halves(uint2 codes, float scale) {
  const uint4 exact = KvElement<kType>::halves(codes);
  uint32_t words[4] = {exact.x, exact.y, exact.z, exact.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 both = __half22float2(as_half2(words[i]));
    words[i] = pack_halves(both.x * scale, both.y * scale);
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// Keys or values of one byte become FP16 on their way, rounded once.
template <int kDim, KvType kType, bool kVariant>
__device__ __forceinline__ void convert_codes(const CacheView& cache, const KvSource& source, const void* pool,
                                              TileBlocks blocks, const TilePart<kDim, kVariant>& part) {
  using Part = TilePart<kDim, kVariant>;
  constexpr int kBatch = Part::kSteps < 4 ? Part::kSteps : 4;  // loads in flight
#pragma unroll 1
  for (int first = 0; first < 2 * Part::kSteps; first += kBatch) {
    const int32_t block = first < Part::kSteps ? blocks.first : blocks.second;
    uint2 codes[kBatch];
    float scales[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int key = (first + i) * Part::kRows;
      codes[i] = make_uint2(0, 0);
      scales[i] = 0.0f;
      if (!part.reads(key)) continue;
      const char* base = static_cast<const char*>(pool);
      const int token = (part.row + key) % kBlockKeys;
      codes[i] = __ldcg(reinterpret_cast<const uint2*>(base + head_offset<kType>(cache, block, source.kv_head, token) +
                                                       part.component));
      scales[i] =
          __ldcg(reinterpret_cast<const float*>(base + scale_offset<kType>(cache, block, source.kv_head, token)));
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      *reinterpret_cast<uint4*>(part.to + (first + i) * Part::kStepPitch) = scaled_halves<kType>(codes[i], scales[i]);
  }
}

// One tile of keys or values out of its pool, by all threads; zeros for keys that the rows may not read (the cache may
// hold anything there, a NaN too) and components from d_head on. FP16 arrives later: the caller commits and waits.
template <int kDim, bool kVariant>
__device__ __forceinline__ void copy_tile(const CacheView& cache, const KvSource& source, const void* pool,
                                          TileBlocks blocks, int32_t first_key, char* to) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const TilePart<kDim, kVariant> part(cache, source, first_key, to);
  if (part.component >= kDim) return;
  switch (cache.kv_type) {
    case KvType::f16:
      return copy_halves(cache, source, pool, blocks, part);
    case KvType::fp8_e4m3:
      return convert_codes<kDim, KvType::fp8_e4m3, kVariant>(cache, source, pool, blocks, part);
    case KvType::int8:
      return convert_codes<kDim, KvType::int8, kVariant>(cache, source, pool, blocks, part);
  }
#endif
}

}  // namespace inlay::cuda
