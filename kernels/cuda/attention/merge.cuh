// Puts the warps of a CTA and the splits of a row together, always in the order of their numbers.
//
//   M = max(max_i),  w_i = 2^(max_i - M),  out = sum(w_i * acc_i) / (sum(w_i * sum_i) + 2^(sink - M), if there is one)
//
// A part without keys has max = -inf, sum = 0, acc = 0 and so weighs nothing; part 0 always has keys.
#pragma once

#include <math_constants.h>

#include <cstdint>

#include "kernels/cuda/attention/split.cuh"
#include "kernels/cuda/attention/variant.cuh"
#include "kernels/cuda/attention/warp_attention.cuh"
#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {

// Wide heads take fewer warps: the memory and the registers of a CTA stay the same.
template <int kChunks>
inline constexpr int kAttentionWarps = kChunks <= 2 ? 8 : 4;

template <int kChunks>
struct MergeMemory {
  static constexpr int kStride = 64 * kChunks + 4;
  alignas(16) float acc[kAttentionWarps<kChunks>][kColumns][kStride];
  float max[kAttentionWarps<kChunks>][kColumns];
  float sum[kAttentionWarps<kChunks>][kColumns];
  float total[kColumns];
  bool last;
};

template <int kChunks, KvType kType>
__device__ __forceinline__ void store_warp(const WarpAttention<kChunks, kType>& state, const StepLane& lane, int warp,
                                           int n_heads, MergeMemory<kChunks>& memory) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int head = 2 * lane.t + h;
    if (head >= n_heads) continue;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      float4* to = reinterpret_cast<float4*>(&memory.acc[warp][head][64 * chunk + 8 * lane.g]);
      const float(&a)[4][4] = state.acc[chunk];
      to[0] = make_float4(a[0][h], a[0][2 + h], a[1][h], a[1][2 + h]);
      to[1] = make_float4(a[2][h], a[2][2 + h], a[3][h], a[3][2 + h]);
    }
  }
  if (lane.t == 0 && lane.g < n_heads) {
    memory.max[warp][lane.g] = state.max;
    memory.sum[warp][lane.g] = state.sum;
  }
}

__device__ __forceinline__ void add_weighted(float weight, const float4& x, float4& sum) {
  sum.x = fmaf(weight, x.x, sum.x);
  sum.y = fmaf(weight, x.y, sum.y);
  sum.z = fmaf(weight, x.z, sum.z);
  sum.w = fmaf(weight, x.w, sum.w);
}

__device__ __forceinline__ float4 divided(const float4& x, float by) {
  const float factor = __fdividef(1.0f, by);
  return make_float4(__fmul_rn(x.x, factor), __fmul_rn(x.y, factor), __fmul_rn(x.z, factor), __fmul_rn(x.w, factor));
}

// Sinks of the heads of a pass, if they have any: of exp(score) that a row's sum of weights has besides its keys'.
template <bool kVariant>
struct HeadSinks {
  const float* of_head;
  __device__ __forceinline__ explicit HeadSinks(const float* first) : of_head(first) {}
  // max: of the scores, in units of log2.
  __device__ __forceinline__ float join(int head, float max, float sum) const {
    if (!kVariant || of_head == nullptr) return sum;
    return __fadd_rn(sum, exp2f(fmaf(of_head[head], kLog2E, -max)));
  }
};

struct Merged {
  float4 acc;  // four components
  float max, sum;
};

template <int kChunks>
__device__ __forceinline__ Merged merge_warps(const MergeMemory<kChunks>& memory, int head, int component) {
  constexpr int kWarps = kAttentionWarps<kChunks>;
  Merged m{make_float4(0, 0, 0, 0), memory.max[0][head], 0.0f};
#pragma unroll
  for (int w = 1; w < kWarps; ++w) m.max = fmaxf(m.max, memory.max[w][head]);
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    const float weight = exp2f(__fsub_rn(memory.max[w][head], m.max));
    add_weighted(weight, *reinterpret_cast<const float4*>(&memory.acc[w][head][component]), m.acc);
    m.sum = fmaf(weight, memory.sum[w][head], m.sum);
  }
  return m;
}

// Calls use(head, component) for every fourth component that is this thread's.
template <int kChunks, class Use>
__device__ __forceinline__ void for_components(const PassHeads& heads, const Use& use) {
  constexpr int kWidth = 16 * kChunks;  // of the widest head: no division
  for (int i = static_cast<int>(threadIdx.x); i < heads.count * kWidth; i += kAttentionWarps<kChunks> * 32) {
    const int component = i % kWidth * 4;
    if (component < heads.d_head) use(i / kWidth, component);
  }
}

// Splits of one row and pass: records points at the record of (head 0 of the pass, split 0), record_floats each,
// head_stride floats from a head to the next.
struct SplitRecords {
  float* records;
  int64_t head_stride;
  int32_t record_floats, n_splits;

  __device__ __forceinline__ float* record(int head, int split) const {
    return records + head * head_stride + static_cast<int64_t>(split) * record_floats;
  }
};

// What stands behind a record's sums. Values lose their two lowest bits where they are handed over (exchange.cuh),
// which a maximum may not: a third word has them.
struct RecordTail {
  float max, sum;

  __device__ __forceinline__ float4 packed() const {
    const uint32_t low = (__float_as_uint(max) & 3u) << 2 | (__float_as_uint(sum) & 3u) << 4;
    return make_float4(max, sum, __uint_as_float(low), 0.0f);
  }
  __device__ __forceinline__ static RecordTail of(const float4& packed) {
    const uint32_t low = __float_as_uint(packed.z);
    return {__uint_as_float((__float_as_uint(packed.x) & ~3u) | (low >> 2 & 3u)),
            __uint_as_float((__float_as_uint(packed.y) & ~3u) | (low >> 4 & 3u))};
  }
};

// weight[head][split], in shared memory, of the heads [head, end): the first by the CTA's first warp.
template <int kChunks, class Values, class Sinks>
__device__ __forceinline__ void weigh_splits(const SplitRecords& s, const PassHeads& heads, const Values& values,
                                             const Sinks& sinks, int head, int end, float (*weight)[kMaxSplits],
                                             MergeMemory<kChunks>& memory) {
  static_assert(kMaxSplits == 64, "a lane weighs two splits");
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int h = head + static_cast<int>(threadIdx.x) / 32; h < end; h += kAttentionWarps<kChunks>) {
    const bool there[2] = {lane < s.n_splits, lane + 32 < s.n_splits};
    float4 tails[2];
    load4(
        values, s.record(h, lane) + heads.d_head, there, [&](int i) { return 32 * i * s.record_floats; }, tails, [] {});
    float max[2], sum[2];
    for (int i = 0; i < 2; ++i) {
      const RecordTail tail = RecordTail::of(tails[i]);
      max[i] = there[i] ? tail.max : -CUDART_INF_F, sum[i] = there[i] ? tail.sum : 0.0f;
    }
    const float top = warp_max(fmaxf(max[0], max[1]));
    const float by[2] = {exp2f(__fsub_rn(max[0], top)), exp2f(__fsub_rn(max[1], top))};
    weight[h][lane] = by[0];
    weight[h][lane + 32] = by[1];
    const float total = warp_sum(fmaf(by[0], sum[0], __fmul_rn(by[1], sum[1])));
    if (lane == 0) memory.total[h] = sinks.join(h, top, total);
  }
}

// out: of head 0 of the pass. All threads of the CTA; the caller has made sure that every record is written and that
// nobody needs memory.acc any more, which takes the weights.
template <int kChunks, class Values, class Sinks>
__device__ __forceinline__ void merge_splits(const SplitRecords& s, const PassHeads& heads, const Values& values,
                                             const Sinks& sinks, MergeMemory<kChunks>& memory, float* out) {
  static_assert(sizeof(memory.acc) >= kColumns * kMaxSplits * sizeof(float));
  auto* weight = reinterpret_cast<float(*)[kMaxSplits]>(&memory.acc[0][0][0]);
  weigh_splits(s, heads, values, sinks, 0, heads.count, weight, memory);
  sync_threads<kAttentionWarps<kChunks> * 32>();
  for_components<kChunks>(heads, [&](int head, int component) {
    const float* from = s.record(head, 0) + component;
    float4 acc = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int split = 0; split < s.n_splits; ++split) {
      const float* record = from + static_cast<int64_t>(split) * s.record_floats;
      add_weighted(weight[head][split], cleared(__ldcg(reinterpret_cast<const float4*>(record))), acc);
    }
    values.store4(out + static_cast<int64_t>(head) * heads.d_head + component, divided(acc, memory.total[head]));
  });
}

// Splits whose share of the components merge_share can merge at a time.
template <int kChunks>
inline constexpr int kSharesAtATime = (sizeof(MergeMemory<kChunks>::acc) / sizeof(float) - kColumns * kMaxSplits) /
                                      (4 * (kColumns * 16 * kChunks + kMaxSplits));

// The same by all CTAs that left records, each for its share of the components: a part of them for each of its splits
// [split, split + n_shares). written: how records tell that they are there. Nobody may need memory.acc any more.
template <int kChunks, class Values, class Sinks>
__device__ __forceinline__ void merge_share(const SplitRecords& s, const PassHeads& heads, const Values& values,
                                            const Values& written, const Sinks& sinks, int32_t split, int32_t n_shares,
                                            MergeMemory<kChunks>& memory, float* out) {
  constexpr int kThreads = kAttentionWarps<kChunks> * 32;
  static_assert(kSharesAtATime<kChunks> >= 1 && kColumns * 16 * kChunks <= kThreads);
  const int n = s.n_splits, width = heads.d_head / 4, n_quads = heads.count * width;
  const int share = (n_quads + n - 1) / n, first = split * share, mine = min(n_shares * share, n_quads - first);
  if (mine <= 0) return;
  auto* weight = reinterpret_cast<float(*)[kMaxSplits]>(&memory.acc[0][0][0]);
  auto* quads = reinterpret_cast<float4*>(weight + kColumns);  // of a split beside one another
  const int head = first / width, end = (first + mine - 1) / width + 1, n_weighing = (end - head) * 32;
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < n_weighing) weigh_splits(s, heads, written, sinks, head, end, weight, memory);
  // First by those that do not weigh.
  for (int i = thread - n_weighing + (thread < n_weighing ? kThreads : 0); i < mine * n; i += kThreads) {
    const int of = i / mine, quad = first + i - of * mine, h = quad / width;
    float4 v[1];
    load4(
        written, s.record(h, of) + (quad - h * width) * 4, {true}, [](int) { return 0; }, v, [] {});
    quads[i] = v[0];
  }
  sync_threads<kThreads>();
  if (thread >= mine) return;
  const int h = (first + thread) / width, component = (first + thread - h * width) * 4;
  float4 acc = make_float4(0, 0, 0, 0);
#pragma unroll 8
  for (int of = 0; of < n; ++of) add_weighted(weight[h][of], quads[of * mine + thread], acc);
  values.store4(out + static_cast<int64_t>(h) * heads.d_head + component, divided(acc, memory.total[h]));
}

}  // namespace inlay::cuda
