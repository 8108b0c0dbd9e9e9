// Sums and maxima over the 32 lanes of a warp: an exchange tree, so every lane ends with the same bits and the order
// never varies.
#pragma once

#include <cstdint>

namespace inlay::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x = __fadd_rn(x, __shfl_xor_sync(kAllLanes, x, mask));
  return x;
}

__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, mask));
  return x;
}

__device__ __forceinline__ uint32_t max_of_warp(uint32_t x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAllLanes, x);
#else
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x = max(x, __shfl_xor_sync(kAllLanes, x, mask));
  return x;
#endif
}
// Of floats that are not negative.
__device__ __forceinline__ float max_of_warp(float x) { return __uint_as_float(max_of_warp(__float_as_uint(x))); }

}  // namespace inlay::cuda
