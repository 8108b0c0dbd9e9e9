// The matrix instructions of attention. A lane is 4 g + t with g = 0..7, t = 0..3.
#pragma once

#include <cstdint>

#include "kernels/cuda/device/halves.cuh"
#include "kernels/cuda/device/mma.cuh"

namespace inlay::cuda {

// mma_16x8x16 (mma.cuh) of FP16 on every GPU.
__device__ __forceinline__ void mma_halves(float (&c)[4], const uint32_t (&a)[4], uint2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b.x));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[2]), "r"(a[3]), "r"(b.y));
#else
  mma_16x8x16<false>(c, a, b);
#endif
}

// low: the low halves of both words, the first in the low half; high: likewise.
__device__ __forceinline__ uint32_t low_halves(uint32_t first, uint32_t second) {
  return __byte_perm(first, second, 0x5410);
}
__device__ __forceinline__ uint32_t high_halves(uint32_t first, uint32_t second) {
  return __byte_perm(first, second, 0x7632);
}

}  // namespace inlay::cuda
