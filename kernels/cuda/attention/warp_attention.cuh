// One warp's attention over steps of 16 keys for up to 8 query heads that share a KV head, on the tensor cores.
//
//   score = (k . q) * factor,  weight = 2^(score - max),  acc = sum(weight * v)     (online: max grows from step to
//   step)
//
// Products: scores (16 keys x 8 heads) = K (16 x d) Q^T, then acc (d x 8 heads) = V^T (d x 16) W^T. Keys and values are
// exact as halves (16-byte elements of the cache go into a fragment unchanged; values are paired by byte permutations).
// Queries and weights are F32: each is cut into a half and the half nearest to the rest, 22 bits together, so a product
// takes two mma. Scores are in units of log2.
#pragma once

#include <math_constants.h>

#include <cstdint>

#include "kernels/cuda/attention/fragments.cuh"
#include "kernels/cuda/attention/step_tile.cuh"

namespace inlay::cuda {

inline constexpr int kColumns = kMaxPassHeads;  // heads of a product; those past the pass are zeros

// Queries as two halves each; high + low is the query times the softmax scale times log2(e), divided by factor (a power
// of two). A part of 16 bytes is what a lane needs for one product: high, then low, of the 4 components from
// 16 step + ... that a lane with the same t has of a key (see query_part). Rows are padded so that all banks are met.
template <int kChunks>
struct QueryMemory {
  static constexpr int kParts = 16 * kChunks + 4;
  alignas(16) uint4 part[kColumns][kParts];
  float factor[kColumns];
};

// Where component i of a query is: part i of the product, lane t; the component's place in both halves of the part.
__device__ __forceinline__ int query_part(int component) {
  const int product = component / 32 * 2 + component % 8 / 4, t = component % 32 / 8;
  return 4 * product + t;
}

// With 16-bit weights of at least 2^-14 the pair of halves keeps 22 bits; so the weights grow before they are cut.
// Scaled types multiply them by the value's scale, whose range is that of values / 127.
template <KvType kType>
inline constexpr float kWeightUnit = KvElement<kType>::kScaled ? 64.0f : 1024.0f;

template <int kChunks, KvType kType>
struct WarpAttention {
  float acc[kChunks][4][4];  // [chunk][j]: components 64 chunk + 8 g + 2 j and the next, heads 2 t and 2 t + 1
  float max[2];              // of heads 2 t, 2 t + 1
  float sum[2];              // of this lane's keys only until finish()

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
      for (int i = 0; i < 16; ++i) acc[chunk][i / 4][i % 4] = 0.0f;
    }
    max[0] = max[1] = -CUDART_INF_F;
    sum[0] = sum[1] = 0.0f;
  }

  // score[i]: key g + 8 (i / 2), head 2 t + i % 2; -inf for keys that the row does not see.
  template <bool kFrom>
  __device__ __forceinline__ void scores(const StepTile<kChunks, kType>& tile, const QueryMemory<kChunks>& queries,
                                         StepKeys<kFrom> keys, const StepLane& lane, float (&score)[4]) const {
    float high[2][4] = {}, low[2][4] = {};  // of even and odd products: shorter chains
#pragma unroll
    for (int chunk = 0; chunk < 2 * kChunks; ++chunk) {
      const uint4 k0 = KvElement<kType>::halves(tile.k[chunk][0]), k1 = KvElement<kType>::halves(tile.k[chunk][1]);
      const uint32_t first[4] = {k0.x, k1.x, k0.y, k1.y}, second[4] = {k0.z, k1.z, k0.w, k1.w};
      const uint4 q0 = queries.part[lane.g][8 * chunk + lane.t], q1 = queries.part[lane.g][8 * chunk + 4 + lane.t];
      mma_halves(high[0], first, make_uint2(q0.x, q0.y));
      mma_halves(low[0], first, make_uint2(q0.z, q0.w));
      mma_halves(high[1], second, make_uint2(q1.x, q1.y));
      mma_halves(low[1], second, make_uint2(q1.z, q1.w));
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float sum = __fadd_rn(__fadd_rn(high[0][i], high[1][i]), __fadd_rn(low[0][i], low[1][i]));
      float s = __fmul_rn(sum, queries.factor[2 * lane.t + i % 2]);
      if constexpr (KvElement<kType>::kScaled) s = __fmul_rn(s, tile.k_scale[i / 2]);
      score[i] = keys.has(lane.key(i / 2)) ? s : -CUDART_INF_F;
    }
  }

  // cap * tanh(score) for the keys that the row sees.
  __device__ __forceinline__ static void cap_scores(float cap, float (&score)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (score[i] != -CUDART_INF_F) score[i] = __fmul_rn(cap, tanhf(score[i]));
    }
  }

  // From scores to weights; what was added before shrinks with a new maximum. A key of every step counts, so the
  // maximum is finite.
  __device__ __forceinline__ void weigh(float (&score)[4]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float top = fmaxf(score[h], score[2 + h]);
#pragma unroll
      for (int mask = 4; mask < 32; mask *= 2) top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, mask));
      top = fmaxf(top, max[h]);
      const float correction = exp2f(__fsub_rn(max[h], top));
      score[h] = exp2f(__fsub_rn(score[h], top));
      score[2 + h] = exp2f(__fsub_rn(score[2 + h], top));
      sum[h] = fmaf(sum[h], correction, __fadd_rn(score[h], score[2 + h]));
      max[h] = top;
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          acc[chunk][j][h] = __fmul_rn(acc[chunk][j][h], correction);
          acc[chunk][j][2 + h] = __fmul_rn(acc[chunk][j][2 + h], correction);
        }
      }
    }
  }

  __device__ __forceinline__ void add_values(const StepTile<kChunks, kType>& tile, const float (&weight)[4]) {
    uint2 high, low;
    cut_weights(tile, weight, high, low);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      uint4 v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = KvElement<kType>::halves(tile.v[chunk][i]);
      add_pair(acc[chunk][0], v[0].x, v[1].x, v[2].x, v[3].x, high, low);
      add_pair(acc[chunk][1], v[0].y, v[1].y, v[2].y, v[3].y, high, low);
      add_pair(acc[chunk][2], v[0].z, v[1].z, v[2].z, v[3].z, high, low);
      add_pair(acc[chunk][3], v[0].w, v[1].w, v[2].w, v[3].w, high, low);
    }
  }

  // After it every lane has the sum of all keys and acc its own unit.
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int mask = 4; mask < 32; mask *= 2) sum[h] = __fadd_rn(sum[h], __shfl_xor_sync(kAllLanes, sum[h], mask));
    }
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
      for (int i = 0; i < 16; ++i)
        acc[chunk][i / 4][i % 4] = __fmul_rn(acc[chunk][i / 4][i % 4], 1.0f / kWeightUnit<kType>);
    }
  }

 private:
  // The weights as fragments: column head g, rows (keys) 2 t, 2 t + 1 and 2 t + 8, 2 t + 9.
  __device__ static __forceinline__ void cut_weights(const StepTile<kChunks, kType>& tile, const float (&weight)[4],
                                                     uint2& high, uint2& low) {
    uint32_t high_word[2], low_word[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float unit = kWeightUnit<kType>;
      if constexpr (KvElement<kType>::kScaled) unit = __fmul_rn(unit, tile.v_scale[i]);
      const float w0 = __fmul_rn(weight[2 * i], unit), w1 = __fmul_rn(weight[2 * i + 1], unit);
      high_word[i] = pack_halves(w0, w1);
      const float2 kept = __half22float2(as_half2(high_word[i]));
      low_word[i] = pack_halves(__fsub_rn(w0, kept.x), __fsub_rn(w1, kept.y));
    }
    high = make_uint2(transpose_8x8(high_word[0]), transpose_8x8(high_word[1]));
    low = make_uint2(transpose_8x8(low_word[0]), transpose_8x8(low_word[1]));
  }

  // v0 .. v3: two components of the values 2 t, 2 t + 1, 2 t + 8, 2 t + 9.
  __device__ static __forceinline__ void add_pair(float (&c)[4], uint32_t v0, uint32_t v1, uint32_t v2, uint32_t v3,
                                                  uint2 high, uint2 low) {
    const uint32_t a[4] = {low_halves(v0, v1), high_halves(v0, v1), low_halves(v2, v3), high_halves(v2, v3)};
    mma_halves(c, a, high);
    mma_halves(c, a, low);
  }
};

}  // namespace inlay::cuda
