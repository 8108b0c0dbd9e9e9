// One warp's part of prefill attention: 16 rows of kHeads query heads, a tile of 64 keys at a time, with a running
// maximum and sum for each row (online softmax). Lane 4 g + t has rows g and g + 8 of the warp, as mma.sync lays them
// out.
#pragma once

#include <cuda_fp16.h>
#include <math_constants.h>

#include <cstdint>

#include "kernels/cuda/attention/prefill_tiles.cuh"
#include "kernels/cuda/attention/variant.cuh"
#include "kernels/cuda/device/ldmatrix.cuh"
#include "kernels/cuda/device/mma.cuh"

namespace inlay::cuda {

// 2^x with an error of 2 units in the last place; results below 2^-126 are 0.
__device__ __forceinline__ float fast_exp2(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}

// With an absolute error of some 1e-7; 2^x has what it takes at both ends.
__device__ __forceinline__ float fast_tanh(float x) {
  return 1.0f - __fdividef(2.0f, 1.0f + fast_exp2(2.0f * kLog2E * x));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <int kDim, int kHeads>
struct PrefillWarp {
  static constexpr int kKeyParts = kPrefillKeys / 16;
  static constexpr float kWeightShift = 15.0f;  // weights are at most 2^15 and leave FP16's range at 2^-39 of that
  static constexpr uint32_t kOnes = 0x3c003c00;

  float out[kHeads][kDim / 8][4];
  float sum[kHeads][4];  // a column of `out` whose values are all 1
  float max[kHeads][2];  // of scores
  float score[kHeads][kPrefillKeys / 8][4];
  uint32_t weight[kHeads][kKeyParts][4];  // exp2(score - max + shift) in FP16, as A of mma.sync

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      max[h][0] = max[h][1] = -CUDART_INF_F;
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[h][i] = 0.0f;
#pragma unroll
      for (int n = 0; n < kDim / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) out[h][n][i] = 0.0f;
      }
    }
  }

  // queries: the warp's row 0 of head 0; keys: key 0 of the tile. Both with this lane's offset.
  __device__ __forceinline__ void add_scores(uint32_t queries, uint32_t keys) {
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
#pragma unroll
      for (int n = 0; n < kPrefillKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) score[h][n][i] = 0.0f;
      }
    }
#pragma unroll
    for (int k = 0; k < kDim / 16; ++k) {
      uint32_t a[kHeads][4];
#pragma unroll
      for (int h = 0; h < kHeads; ++h)
        load_matrices<false>(a[h], queries + h * kPromptTileRows * kTilePitch<kDim> + k * 32);
#pragma unroll
      for (int n = 0; n < kKeyParts; ++n) {
        uint32_t b[4];
        load_matrices<false>(b, keys + n * 16 * kTilePitch<kDim> + k * 32);
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          mma_16x8x16<false>(score[h][2 * n], a[h], make_uint2(b[0], b[1]));
          mma_16x8x16<false>(score[h][2 * n + 1], a[h], make_uint2(b[2], b[3]));
        }
      }
    }
  }

  // Scores of keys that a row does not see become -inf. sees(key, row): key of the tile; row 0 for row g, 8 for row g + 8.
  template <class Sees>
  __device__ __forceinline__ void mask_scores(const Sees& sees) {
    const int32_t column = static_cast<int32_t>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int n = 0; n < kPrefillKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (sees(8 * n + column + i % 2, i / 2 * 8)) continue;
#pragma unroll
        for (int h = 0; h < kHeads; ++h) score[h][n][i] = -CUDART_INF_F;
      }
    }
  }

  // Scores become cap * tanh(score), in units of log2.
  __device__ __forceinline__ void cap_scores(const char* queries, float cap) {
    const int row = static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const float inverse[2] = {inverse_scale<kDim>(queries, h, row), inverse_scale<kDim>(queries, h, row + 8)};
#pragma unroll
      for (int n = 0; n < kPrefillKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) score[h][n][i] = cap * fast_tanh(score[h][n][i] * inverse[i / 2]);
      }
    }
  }

  // What brings scores into units of log2.
  __device__ __forceinline__ static float score_unit(const char* queries, int head, int row, bool capped) {
    return capped ? 1.0f : inverse_scale<kDim>(queries, head, row);
  }

  // Scores to weights. queries: the warp's row 0 of head 0. A row may have seen no key yet: of a split that ends behind
  // it, or whose first tiles are seen by other rows of the tile alone.
  __device__ __forceinline__ void weigh(const char* queries, bool capped) {
    const int row = static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float correction[2], offset[2], inverse[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        inverse[r] = score_unit(queries, h, row + 8 * r, capped);
        float m = max[h][r];
#pragma unroll
        for (int n = 0; n < kPrefillKeys / 8; ++n) m = fmaxf(m, fmaxf(score[h][n][2 * r], score[h][n][2 * r + 1]));
        m = fmaxf(m, __shfl_xor_sync(kAllLanes, m, 1));
        m = fmaxf(m, __shfl_xor_sync(kAllLanes, m, 2));
        const float top = m == -CUDART_INF_F ? 0.0f : m;
        correction[r] = fast_exp2((max[h][r] - top) * inverse[r]);
        offset[r] = kWeightShift - top * inverse[r];
        max[h][r] = m;
      }
      correct(h, correction);
#pragma unroll
      for (int n = 0; n < kPrefillKeys / 8; ++n) {
        float w[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) w[i] = fast_exp2(fmaf(score[h][n][i], inverse[i / 2], offset[i / 2]));
        weight[h][n / 2][n % 2 * 2] = pack_halves(w[0], w[1]);
        weight[h][n / 2][n % 2 * 2 + 1] = pack_halves(w[2], w[3]);
      }
    }
  }

  // values: key 0 of the tile, with this lane's offset.
  __device__ __forceinline__ void add_values(uint32_t values) {
#pragma unroll
    for (int k = 0; k < kKeyParts; ++k) {
#pragma unroll
      for (int h = 0; h < kHeads; ++h) mma_16x8x16<false>(sum[h], weight[h][k], make_uint2(kOnes, kOnes));
#pragma unroll
      for (int n = 0; n < kDim / 16; ++n) {
        uint32_t b[4];
        load_matrices<true>(b, values + k * 16 * kTilePitch<kDim> + n * 32);
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          mma_16x8x16<false>(out[h][2 * n], weight[h][k], make_uint2(b[0], b[1]));
          mma_16x8x16<false>(out[h][2 * n + 1], weight[h][k], make_uint2(b[2], b[3]));
        }
      }
    }
  }

  // sinks: of the CTA's first head. After the last tile: weights that no key has.
  __device__ __forceinline__ void join_sinks(const float* sinks, const char* queries, int32_t n_heads, bool capped) {
    const int row = static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (h >= n_heads) continue;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float top = max[h][r] * score_unit(queries, h, row + 8 * r, capped);
        sum[h][2 * r] += fast_exp2(fmaf(sinks[h], kLog2E, kWeightShift - top));
      }
    }
  }

  // to: the warp's row 0 of the CTA's first head. kRecord: for the splits' merge, weighted values that are not divided yet, behind them
  // the largest score and the sum of weights.
  template <bool kRecord>
  __device__ __forceinline__ void store(float* to, int64_t head_floats, int64_t row_floats, int32_t n_rows, int32_t n_heads, int32_t d_head,
                                        const char* queries, bool capped) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = lane / 4 + 8 * r;
        if (row >= n_rows || h >= n_heads) continue;
        const float share = kRecord ? 1.0f : 1.0f / sum[h][2 * r];  // multiplying by 1 changes no bit
        float* values = to + row * row_floats + h * head_floats;
#pragma unroll
        for (int n = 0; n < kDim / 8; ++n) {
          if (8 * n < d_head)
            *reinterpret_cast<float2*>(values + lane % 4 * 2 + 8 * n) = make_float2(out[h][n][2 * r] * share, out[h][n][2 * r + 1] * share);
        }
        if (kRecord && lane % 4 == 0)
          *reinterpret_cast<float2*>(values + d_head) = make_float2(max[h][r] * score_unit(queries, h, row, capped), sum[h][2 * r]);
      }
    }
  }

 private:
  // Multiplying by 1 changes no bit, so the warp may leave it out.
  __device__ __forceinline__ void correct(int h, const float (&correction)[2]) {
    if (__all_sync(kAllLanes, correction[0] == 1.0f && correction[1] == 1.0f)) return;
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[h][i] *= correction[i / 2];
#pragma unroll
    for (int n = 0; n < kDim / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) out[h][n][i] *= correction[i / 2];
    }
  }
};
#endif

}  // namespace inlay::cuda
