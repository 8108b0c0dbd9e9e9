// Puts the warps of a CTA and the splits of a row together, always in the order of their numbers.
//
//   M = max(max_i),  w_i = 2^(max_i - M),  out = sum(w_i * acc_i) / sum(w_i * sum_i)
//
// A part without keys has max = -inf, sum = 0, acc = 0 and so weighs nothing; part 0 always has keys.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention/split.cuh"
#include "kernels/cuda/attention/warp_attention.cuh"

namespace inlay::cuda {

template <int kLanes, int kHeads>
struct MergeMemory {
  static constexpr int kWidth = 8 * kLanes;  // d_head rounded up
  float acc[kAttentionWarps][kHeads][kWidth];
  float max[kAttentionWarps][kHeads];
  float sum[kAttentionWarps][kHeads];
  float weight[kHeads][kMaxSplits];
  float total[kHeads];
  bool last;
};

// The query heads of a CTA: `first` counts from 0 in the model; heads past `count` are idle.
struct PassHeads {
  int32_t first, count, d_head;
};

template <int kLanes, int kHeads>
__device__ __forceinline__ void store_warp(const WarpAttention<kLanes, kHeads>& state, const LanePlace<kLanes>& place,
                                           int warp, MergeMemory<kLanes, kHeads>& memory) {
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    if (place.lane < kLanes) {
      float4* to = reinterpret_cast<float4*>(&memory.acc[warp][h][place.component]);
      to[0] = make_float4(state.acc[h][0], state.acc[h][1], state.acc[h][2], state.acc[h][3]);
      to[1] = make_float4(state.acc[h][4], state.acc[h][5], state.acc[h][6], state.acc[h][7]);
    }
    if (place.lane == 0) {
      memory.max[warp][h] = state.max[h];
      memory.sum[warp][h] = state.sum[h];
    }
  }
}

struct Merged {
  float acc, max, sum;
};

template <int kLanes, int kHeads>
__device__ __forceinline__ Merged merge_warps(const MergeMemory<kLanes, kHeads>& memory, int head, int component) {
  Merged m{0.0f, memory.max[0][head], 0.0f};
#pragma unroll
  for (int w = 1; w < kAttentionWarps; ++w) m.max = fmaxf(m.max, memory.max[w][head]);
#pragma unroll
  for (int w = 0; w < kAttentionWarps; ++w) {
    const float weight = exp2f(memory.max[w][head] - m.max);
    m.acc = fmaf(weight, memory.acc[w][head][component], m.acc);
    m.sum = fmaf(weight, memory.sum[w][head], m.sum);
  }
  return m;
}

// Calls use(head, component, merged) for what this thread has to write.
template <int kLanes, int kHeads, class Use>
__device__ __forceinline__ void for_merged(const MergeMemory<kLanes, kHeads>& memory, const PassHeads& heads,
                                           const Use& use) {
  constexpr int kWidth = MergeMemory<kLanes, kHeads>::kWidth;
  for (int i = static_cast<int>(threadIdx.x); i < heads.count * kWidth; i += kAttentionWarps * 32) {
    const int head = i / kWidth, component = i % kWidth;
    if (component < heads.d_head) use(head, component, merge_warps(memory, head, component));
  }
}

// Splits of one row and pass: records points at the record of (head 0 of the pass, split 0), record_floats each,
// head_stride floats from a head to the next.
struct SplitRecords {
  float* records;
  int64_t head_stride;
  int32_t record_floats, n_splits;
};

// Read from L2: other CTAs wrote them in this launch.
template <int kLanes, int kHeads>
__device__ __forceinline__ void weigh_splits(const SplitRecords& s, const PassHeads& heads,
                                             MergeMemory<kLanes, kHeads>& memory) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int h = static_cast<int>(threadIdx.x) / 32; h < heads.count; h += kAttentionWarps) {
    float max[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {0.0f, 0.0f};
    for (int i = 0; i < 2; ++i) {
      const int split = lane + 32 * i;
      if (split >= s.n_splits) continue;
      const float* tail = s.records + h * s.head_stride + static_cast<int64_t>(split) * s.record_floats + heads.d_head;
      max[i] = __ldcg(tail);
      sum[i] = __ldcg(tail + 1);
    }
    const float top = warp_max(fmaxf(max[0], max[1]));
    const float weight[2] = {exp2f(max[0] - top), exp2f(max[1] - top)};
    memory.weight[h][lane] = weight[0];
    memory.weight[h][lane + 32] = weight[1];
    const float total = warp_sum(fmaf(weight[0], sum[0], weight[1] * sum[1]));
    if (lane == 0) memory.total[h] = total;
  }
}

// out: of head 0 of the pass. All threads of the CTA; the caller has made sure that every record is written.
template <int kLanes, int kHeads>
__device__ __forceinline__ void merge_splits(const SplitRecords& s, const PassHeads& heads,
                                             MergeMemory<kLanes, kHeads>& memory, float* out) {
  static_assert(kMaxSplits == 64, "a lane weighs two splits");
  weigh_splits(s, heads, memory);
  __syncthreads();
  constexpr int kWidth = MergeMemory<kLanes, kHeads>::kWidth;
  for (int i = static_cast<int>(threadIdx.x); i < heads.count * kWidth; i += kAttentionWarps * 32) {
    const int head = i / kWidth, component = i % kWidth;
    if (component >= heads.d_head) continue;
    const float* from = s.records + head * s.head_stride + component;
    float acc = 0.0f;
#pragma unroll 8
    for (int split = 0; split < s.n_splits; ++split) {
      acc = fmaf(memory.weight[head][split], __ldcg(from + static_cast<int64_t>(split) * s.record_floats), acc);
    }
    out[static_cast<int64_t>(head) * heads.d_head + component] = acc / memory.total[head];
  }
}

}  // namespace inlay::cuda
