// The matrix instructions of attention. A lane is 4 g + t with g = 0..7, t = 0..3.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

namespace inlay::cuda {

// c += A * B, A 16 x 16, B 16 x 8 of FP16, c of F32. a[0], a[2]: row g, columns 2 t and 2 t + 8 (and the one after
// each); a[1], a[3]: row g + 8; b.x, b.y: column g, rows 2 t and 2 t + 8; c[0], c[1]: row g, columns 2 t, 2 t + 1;
// c[2], c[3]: row g + 8.
__device__ __forceinline__ void mma_halves(float (&c)[4], const uint32_t (&a)[4], uint2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b.x));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[2]), "r"(a[3]), "r"(b.y));
#else
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
#endif
}

// An 8 x 8 matrix of halves, of which a lane has row g, columns 2 t and 2 t + 1, becomes its transpose.
__device__ __forceinline__ uint32_t transpose_8x8(uint32_t pair) {
  uint32_t out;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0,%1;" : "=r"(out) : "r"(pair));
  return out;
}

// low: the low halves of both words, the first in the low half; high: likewise.
__device__ __forceinline__ uint32_t low_halves(uint32_t first, uint32_t second) {
  return __byte_perm(first, second, 0x5410);
}
__device__ __forceinline__ uint32_t high_halves(uint32_t first, uint32_t second) {
  return __byte_perm(first, second, 0x7632);
}

__device__ __forceinline__ uint32_t pack_halves(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return static_cast<uint32_t>(__half_as_ushort(__low2half(pair))) |
         static_cast<uint32_t>(__half_as_ushort(__high2half(pair))) << 16;
}

__device__ __forceinline__ __half2 as_half2(uint32_t word) {
  return __halves2half2(__ushort_as_half(static_cast<unsigned short>(word & 0xffffu)),
                        __ushort_as_half(static_cast<unsigned short>(word >> 16)));
}

__device__ __forceinline__ uint32_t as_word(__half2 pair) {
  return static_cast<uint32_t>(__half_as_ushort(__low2half(pair))) |
         static_cast<uint32_t>(__half_as_ushort(__high2half(pair))) << 16;
}

}  // namespace inlay::cuda
