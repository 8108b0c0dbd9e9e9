// c += A * B for A 16 x 16, B 16 x 8 of FP16 or BF16, c of F32. Lane 4 g + t: a[0], a[2] row g, a[1], a[3] row g + 8,
// columns 2 t and 2 t + 8; b.x, b.y column g, rows 2 t and 2 t + 8; c[0], c[1] row g, c[2], c[3] row g + 8, columns 2
// t.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace inlay::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <bool kBf16>
__device__ __forceinline__ void mma_16x8x16(float (&c)[4], const uint32_t (&a)[4], uint2 b) {
  if constexpr (kBf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
  }
}

// The same of bytes: A unsigned, B signed, sums of 32 bits; a word is four neighbouring columns of A or rows of B. A
// 16 x 32: words a[0], a[2] row g, a[1], a[3] row g + 8, columns 4 t and 4 t + 16; b.x, b.y column g, rows likewise.
__device__ __forceinline__ void mma_16x8x32(int32_t (&c)[4], const uint32_t (&a)[4], uint2 b) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}
// A 16 x 16.
__device__ __forceinline__ void mma_16x8x16(int32_t (&c)[4], const uint32_t (&a)[2], uint32_t b) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}
#endif

}  // namespace inlay::cuda
