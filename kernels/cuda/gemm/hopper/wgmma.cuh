// Products of a warp group, which sm_90a alone has. Of halves: c += A * B, A 64 x 16 of FP16 in registers, B N x 16 of
// FP16 in shared memory, c of F32. Asynchronous: between wgmma_commit and the wgmma_wait that covers it, a, c and B's
// memory belong to the product.
//
// Warp w of the group has rows 16 w .. + 15, as mma.m16n8k16 has them (mma.cuh): lane 4 g + t has in a[0], a[2] row g,
// in a[1], a[3] row g + 8, columns 2 t and 2 t + 8; c[4 j + i] is row g + 8 * (i / 2), column 8 j + 2 t + i % 2.
// B: its rows are 128 bytes (64 columns), 128-byte swizzled, as TMA puts them down; memory at multiples of 1024 bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace inlay::cuda {

// What says where B lies: 16 columns from a multiple of 16 on are 32 bytes further, which is 2 in its units.
__device__ __forceinline__ uint64_t wgmma_operand(uint32_t shared) {
  constexpr uint64_t kEightRows = 1024 / 16, kSwizzle128 = 1;
  return kSwizzle128 << 62 | kEightRows << 32 | uint64_t{1} << 16 | (shared & 0x3ffff) / 16;
}

// Before products, whenever their registers were written.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define INLAY_C4(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define INLAY_C16(i) INLAY_C4(i), INLAY_C4(i + 4), INLAY_C4(i + 8), INLAY_C4(i + 12)

// accumulate: 0 for c = A * B.
__device__ __forceinline__ void wgmma_64xNx16(float (&c)[32], const uint32_t (&a)[4], uint64_t b, int accumulate) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p,%37,0;"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},"
      "{%32,%33,%34,%35},%36,p,1,1,0;}"
      : INLAY_C16(0), INLAY_C16(16)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}

// accumulate: 0 for c = A * B.
__device__ __forceinline__ void wgmma_64xNx16(float (&c)[64], const uint32_t (&a)[4], uint64_t b, int accumulate) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p,%69,0;"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63},"
      "{%64,%65,%66,%67},%68,p,1,1,0;}"
      : INLAY_C16(0), INLAY_C16(16), INLAY_C16(32), INLAY_C16(48)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}

#undef INLAY_C16
#undef INLAY_C4

// ---- bytes

// c += A * B, or c = A * B where accumulate is 0: A 64 x 32 bytes, signed or unsigned, B 32 x N signed ones (N: columns
// of c). c[4 q + k]: row g + 8 * (k / 2), column 8 q + 2 t + k % 2.
#define INLAY_I4(i) "+r"(c[i]), "+r"(c[i + 1]), "+r"(c[i + 2]), "+r"(c[i + 3])
#define INLAY_I16(i) INLAY_I4(i), INLAY_I4(i + 4), INLAY_I4(i + 8), INLAY_I4(i + 12)
#define INLAY_BYTES_32(kind)                                                                          \
  asm volatile("{.reg .pred p; setp.ne.b32 p,%21,0; wgmma.mma_async.sync.aligned.m64n32k32.s32." kind \
               ".s8 "                                                                                 \
               "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17,%18,%19},%20,p;}"    \
               : INLAY_I16(0)                                                                         \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate))
#define INLAY_BYTES_64(kind)                                                                                \
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k32.s32." kind       \
               ".s8 "                                                                                       \
               "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                                    \
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p;}" \
               : INLAY_I16(0), INLAY_I16(16)                                                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate))
template <bool kSigned>
__device__ __forceinline__ void wgmma_bytes(int32_t (&c)[16], const uint32_t (&a)[4], uint64_t b, int accumulate) {
  if constexpr (kSigned) {
    INLAY_BYTES_32("s8");
  } else {
    INLAY_BYTES_32("u8");
  }
}
template <bool kSigned>
__device__ __forceinline__ void wgmma_bytes(int32_t (&c)[32], const uint32_t (&a)[4], uint64_t b, int accumulate) {
  if constexpr (kSigned) {
    INLAY_BYTES_64("s8");
  } else {
    INLAY_BYTES_64("u8");
  }
}
#undef INLAY_BYTES_64
#undef INLAY_BYTES_32
#undef INLAY_I16
#undef INLAY_I4

}  // namespace inlay::cuda
