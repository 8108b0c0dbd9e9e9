// Two 16-bit floats as one word, the first in the low half.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace inlay::cuda {

__device__ __forceinline__ uint32_t as_word(const __half2& pair) { return *reinterpret_cast<const uint32_t*>(&pair); }

__device__ __forceinline__ __half2 as_half2(uint32_t word) { return *reinterpret_cast<const __half2*>(&word); }

__device__ __forceinline__ uint32_t pack_halves(float low, float high) { return as_word(__floats2half2_rn(low, high)); }

__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

}  // namespace inlay::cuda
