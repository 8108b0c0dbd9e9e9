// Sums and maxima over the 32 lanes of a warp: an exchange tree, so every lane ends with the same bits and the order
// never varies.
#pragma once

namespace inlay::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(kAllLanes, x, mask);
  return x;
}

__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, mask));
  return x;
}

}  // namespace inlay::cuda
