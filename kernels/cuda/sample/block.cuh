// Reductions and scans of a whole CTA, and logits as sortable integers.
// Formula:  reduce: butterfly in the warp, then over the 32 warp results; scan: inclusive in the warp, then over warps.
// Layout:   one value a thread; key = ordered(logit) << 32 | ~id, so that the larger key is the larger logit and, among
//           equal logits, the lower id; 0 is no key. NaN and +inf have the largest keys: a maximum finds them.
// Shape:    512 threads: 16 warps, so that one warp's butterfly finishes the job. The order of additions is fixed by
//           the thread number: the same bits on every run.
// Bound:    latency, 9 shuffles and 2 barriers.
#pragma once

#include <cfloat>
#include <cstdint>

#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda::sampling {

using Key = unsigned long long;

inline constexpr int kThreads = 512;
inline constexpr int kWarps = kThreads / 32;

__device__ inline float negative_infinity() { return __uint_as_float(0xff800000u); }

// Monotone from floats to integers; -0 and +0 are equal as they are for the comparison of floats.
__device__ inline uint32_t ordered(float value) {
  const uint32_t bits = value == 0.0f ? 0u : __float_as_uint(value);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ inline float from_ordered(uint32_t key) {
  return __uint_as_float((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}

inline constexpr uint32_t kBadLogit = 0xffffffffu;  // above ordered(+inf)

// How a logit ranks: 0 for -inf, which can be neither drawn nor reported; kBadLogit for NaN and +inf.
__device__ inline uint32_t rank_of(float logit) {
  if (logit < -FLT_MAX) return 0;
  return logit <= FLT_MAX ? ordered(logit) : kBadLogit;  // NaN fails every comparison
}

__device__ inline Key make_key(uint32_t rank, int64_t id) {
  return rank == 0 ? 0 : static_cast<Key>(rank) << 32 | static_cast<uint32_t>(~static_cast<uint32_t>(id));
}
__device__ inline bool is_bad(Key key) { return key >> 32 == kBadLogit; }
__device__ inline float key_logit(Key key) { return key == 0 ? negative_infinity() : from_ordered(key >> 32); }
__device__ inline int32_t key_token(Key key) { return static_cast<int32_t>(~static_cast<uint32_t>(key)); }

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Smaller {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T, class Op>
__device__ T warp_reduce(T value, Op op) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

__device__ inline uint32_t warp_max(uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAllLanes, value);
#else
  return warp_reduce(value, Larger{});
#endif
}

// The largest logit first, then among its lanes the lowest id.
__device__ inline Key warp_max(Key key) {
  const auto high = static_cast<uint32_t>(key >> 32);
  const uint32_t highest = warp_max(high);
  return static_cast<Key>(highest) << 32 | warp_max(high == highest ? static_cast<uint32_t>(key) : 0u);
}

// The result in every thread. Every thread of the CTA has to call it; it orders shared and global memory of the CTA.
template <class T, class Op>
__device__ T block_reduce(T value, Op op) {
  __shared__ T slots[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_reduce(value, op);
  if (lane == 0) slots[warp] = value;
  __syncthreads();
  value = slots[lane % kWarps];
#pragma unroll
  for (int distance = kWarps / 2; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  __syncthreads();
  return value;
}

__device__ inline Key block_max(Key key) {
  __shared__ Key slots[kWarps];
  key = warp_max(key);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = key;
  __syncthreads();
  key = warp_max(slots[threadIdx.x % kWarps]);
  __syncthreads();
  return key;
}

template <class T>
__device__ T warp_inclusive_scan(T value) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const T before = __shfl_up_sync(kAllLanes, value, distance);
    if (lane >= distance) value = before + value;
  }
  return value;
}

// The sum of the lower threads' values; `total` is the sum of all.
template <class T>
__device__ T block_exclusive_scan(T value, T& total) {
  __shared__ T slots[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const T inclusive = warp_inclusive_scan(value);
  if (lane == 31) slots[warp] = inclusive;
  __syncthreads();
  const T warps = warp_inclusive_scan(lane < kWarps ? slots[lane] : T{});
  total = __shfl_sync(kAllLanes, warps, kWarps - 1);
  const T warps_before = __shfl_sync(kAllLanes, warps, warp == 0 ? 0 : warp - 1);
  const T lanes_before = __shfl_up_sync(kAllLanes, inclusive, 1);
  __syncthreads();
  return (warp == 0 ? T{} : warps_before) + (lane == 0 ? T{} : lanes_before);
}

// The n largest keys, descending. next(bound) is the thread's largest own key below bound, 0 if there is none; keys are
// unique, so only the thread that gave one looks for its next. emit(i, key) runs in thread 0. Returns how many there
// are.
template <class Next, class Emit>
__device__ int extract_top(int n, Next next, Emit emit) {
  Key mine = next(~Key{0});
  for (int i = 0; i < n; ++i) {
    const Key best = block_max(mine);
    if (best == 0) return i;
    if (threadIdx.x == 0) emit(i, best);
    if (mine == best) mine = next(best);
  }
  return n;
}

}  // namespace inlay::cuda::sampling
