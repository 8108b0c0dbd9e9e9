// One warp's attention over steps of 16 keys for up to 8 query heads that share a KV head, on the tensor cores.
//
//   score = (k . q) * factor,  weight = 2^(score - max),  acc = sum(weight * v)     (online: max grows from step to
//   step)
//
// Products: scores of 8 keys (16 x 8) = Q (16 x d) K^T, where the rows of Q are the high halves of 8 heads and then the
// low ones, and acc (d x 8 heads) = V^T (d x 16) W^T. Keys and values are exact as halves (16-byte elements of the
// cache go into a fragment unchanged; values are paired by byte permutations), and a lane gets the scores of that head
// and those keys whose weights it passes on. Queries and weights are F32: each is cut into a half and the half nearest
// to the rest, 22 bits together, so a product of weights takes two mma. Scores are in units of log2.
#pragma once

#include <math_constants.h>

#include <cstdint>

#include "kernels/cuda/attention/fragments.cuh"
#include "kernels/cuda/attention/step_tile.cuh"

namespace inlay::cuda {

inline constexpr int kColumns = kMaxPassHeads;  // heads of a product; those past the pass are zeros

// Queries as two halves each; high + low is the query times the softmax scale times log2(e), divided by factor (a power
// of two). A part of 16 bytes is what a lane needs for one product, high, low, high, low of two components each, from
// 4 components that a lane with the same t has of a key (see query_part). Rows are padded so that all banks are met.
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
  float max;                 // of head g
  float sum;                 // of head g, this lane's keys only until finish()

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
      for (int i = 0; i < 16; ++i) acc[chunk][i / 4][i % 4] = 0.0f;
    }
    max = -CUDART_INF_F;
    sum = 0.0f;
  }

  // score[i]: head g, key value(i); -inf for keys that the row does not see.
  template <bool kFrom>
  __device__ __forceinline__ void scores(const StepTile<kChunks, kType>& tile, const QueryMemory<kChunks>& queries,
                                         StepKeys<kFrom> keys, const StepLane& lane, float (&score)[4]) const {
    float even[2][4] = {}, odd[2][4] = {};  // of even and odd products, for shorter chains; keys 0 to 7 and 8 to 15
#pragma unroll
    for (int chunk = 0; chunk < 2 * kChunks; ++chunk) {
      const uint4 q0 = queries.part[lane.g][8 * chunk + lane.t], q1 = queries.part[lane.g][8 * chunk + 4 + lane.t];
      const uint32_t first[4] = {q0.x, q0.y, q0.z, q0.w}, second[4] = {q1.x, q1.y, q1.z, q1.w};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const uint4 k = KvElement<kType>::halves(tile.k[chunk][i]);
        mma_halves(even[i], first, make_uint2(k.x, k.y));
        mma_halves(odd[i], second, make_uint2(k.z, k.w));
      }
    }
    const float factor = queries.factor[lane.g];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float high = __fadd_rn(even[i / 2][i % 2], odd[i / 2][i % 2]);
      const float low = __fadd_rn(even[i / 2][2 + i % 2], odd[i / 2][2 + i % 2]);
      float s = __fmul_rn(__fadd_rn(high, low), factor);
      if constexpr (KvElement<kType>::kScaled) s = __fmul_rn(s, tile.k_scale[i]);
      score[i] = keys.has(lane.value(i)) ? s : -CUDART_INF_F;
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
  __device__ __forceinline__ void weigh(const StepLane& lane, float (&score)[4]) {
    float top = fmaxf(fmaxf(score[0], score[1]), fmaxf(score[2], score[3]));
#pragma unroll
    for (int mask = 1; mask < 4; mask *= 2) top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, mask));
    top = fmaxf(top, max);
    const float shrink = exp2f(__fsub_rn(max, top));
#pragma unroll
    for (int i = 0; i < 4; ++i) score[i] = exp2f(__fsub_rn(score[i], top));
    sum = fmaf(sum, shrink, __fadd_rn(__fadd_rn(score[0], score[2]), __fadd_rn(score[1], score[3])));
    max = top;
    float of_head[2];  // of heads 2 t, 2 t + 1
#pragma unroll
    for (int h = 0; h < 2; ++h) of_head[h] = __shfl_sync(kAllLanes, shrink, 8 * lane.t + 4 * h);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
#pragma unroll
      for (int i = 0; i < 16; ++i) acc[chunk][i / 4][i % 4] = __fmul_rn(acc[chunk][i / 4][i % 4], of_head[i % 2]);
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
    for (int mask = 1; mask < 4; mask *= 2) sum = __fadd_rn(sum, __shfl_xor_sync(kAllLanes, sum, mask));
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
      float unit[2] = {kWeightUnit<kType>, kWeightUnit<kType>};
      if constexpr (KvElement<kType>::kScaled) {
        unit[0] = __fmul_rn(unit[0], tile.v_scale[2 * i]), unit[1] = __fmul_rn(unit[1], tile.v_scale[2 * i + 1]);
      }
      const float w0 = __fmul_rn(weight[2 * i], unit[0]), w1 = __fmul_rn(weight[2 * i + 1], unit[1]);
      high_word[i] = pack_halves(w0, w1);
      const float2 kept = __half22float2(as_half2(high_word[i]));
      low_word[i] = pack_halves(__fsub_rn(w0, kept.x), __fsub_rn(w1, kept.y));
    }
    high = make_uint2(high_word[0], high_word[1]);
    low = make_uint2(low_word[0], low_word[1]);
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
