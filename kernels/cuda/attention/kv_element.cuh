// The elements of the KV cache, eight at a time: how they are read as halves and how a head is stored.
//
//   f16       the value rounded to FP16
//   fp8_e4m3  code * scale, scale = max |x| / 448 of the token's head, code rounded to E4M3
//   int8      code * scale, scale = max |x| / 127, code rounded to an integer; ties to even in all three
//
// Layout: a block of a pool is (n_kv_heads, 32, d_head) elements; of one byte types (n_kv_heads, 32) F32 scales follow.
// A head of zeros has scale 0; one with a NaN or an infinity gives NaN when it is read. Every code is exact as a half,
// so scales are applied to scores and weights.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/cuda/attention/fragments.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {

// The E4M3 code nearest to x (ties to even), +-448 beyond the range; 0 for a NaN.
__host__ __device__ inline uint8_t e4m3_of(float x) {
  const float size = fabsf(x);
  if (!(size > 0.0f)) return 0;
  const uint32_t sign = x < 0.0f ? 0x80u : 0u;
  if (size >= 448.0f) return static_cast<uint8_t>(sign | 0x7eu);
  if (size < 0x1p-6f) return static_cast<uint8_t>(sign | static_cast<uint32_t>(rintf(size * 0x1p9f)));  // subnormal
  uint32_t bits;
  memcpy(&bits, &size, sizeof bits);
  bits += 0x7ffffu + (bits >> 20 & 1);  // to 3 bits of mantissa
  return static_cast<uint8_t>(sign | ((bits >> 20) - (120u << 3)));
}

template <KvType kType>
struct KvElement;

template <>
struct KvElement<KvType::f16> {
  using Packed = uint4;
  static constexpr int kBytes = 2;
  static constexpr bool kScaled = false;
  __device__ static __forceinline__ Packed zeros() { return make_uint4(0, 0, 0, 0); }
  __device__ static __forceinline__ uint4 halves(const Packed& p) { return p; }
};

template <>
struct KvElement<KvType::int8> {
  using Packed = uint2;
  static constexpr int kBytes = 1;
  static constexpr bool kScaled = true;
  static constexpr float kLargest = 127.0f;
  __device__ static __forceinline__ Packed zeros() { return make_uint2(0, 0); }
  // A byte of 128 + code in the low mantissa of 1024 is the half 1024 + 128 + code.
  __device__ static __forceinline__ uint32_t pair(uint32_t shifted, uint32_t selector) {
    return as_word(__hsub2(as_half2(__byte_perm(shifted, 0x64u, selector)), as_half2(0x64806480u)));
  }
  __device__ static __forceinline__ uint4 halves(const Packed& p) {
    const uint32_t x = p.x ^ 0x80808080u, y = p.y ^ 0x80808080u;
    return make_uint4(pair(x, 0x4140), pair(x, 0x4342), pair(y, 0x4140), pair(y, 0x4342));
  }
  __device__ static __forceinline__ uint8_t code(float x) {
    return static_cast<uint8_t>(static_cast<int8_t>(fminf(fmaxf(rintf(x), -127.0f), 127.0f)));
  }
};

template <>
struct KvElement<KvType::fp8_e4m3> {
  using Packed = uint2;
  static constexpr int kBytes = 1;
  static constexpr bool kScaled = true;
  static constexpr float kLargest = 448.0f;
  __device__ static __forceinline__ Packed zeros() { return make_uint2(0, 0); }
  // Exponent and mantissa one bit lower than the half's, and its bias larger by 8: subnormals come out right too.
  __device__ static __forceinline__ uint32_t pair(uint32_t codes, uint32_t selector) {
    const uint32_t high = __byte_perm(codes, 0, selector);
    return as_word(__hmul2(as_half2((high & 0x80008000u) | (high >> 1 & 0x3f803f80u)), as_half2(0x5c005c00u)));
  }
  __device__ static __forceinline__ uint4 halves(const Packed& p) {
    return make_uint4(pair(p.x, 0x1404), pair(p.x, 0x3424), pair(p.y, 0x1404), pair(p.y, 0x3424));
  }
  __device__ static __forceinline__ uint8_t code(float x) { return e4m3_of(x); }
};

// Bytes from the beginning of a pool.
template <KvType kType>
__device__ __forceinline__ int64_t head_offset(const CacheView& c, int64_t block, int32_t kv_head, int32_t token) {
  const int64_t in_block = (static_cast<int64_t>(kv_head) * c.block_tokens + token) * c.d_head;
  return block * static_cast<int64_t>(kv_block_bytes(kType, c.n_kv_heads, c.d_head, c.block_tokens)) +
         in_block * KvElement<kType>::kBytes;
}
template <KvType kType>
__device__ __forceinline__ int64_t scale_offset(const CacheView& c, int64_t block, int32_t kv_head, int32_t token) {
  const int64_t elements = static_cast<int64_t>(c.n_kv_heads) * c.block_tokens * c.d_head;
  return block * static_cast<int64_t>(kv_block_bytes(kType, c.n_kv_heads, c.d_head, c.block_tokens)) + elements +
         (static_cast<int64_t>(kv_head) * c.block_tokens + token) * static_cast<int64_t>(sizeof(float));
}

// One warp stores a head: x has d_head floats, `to` takes d_head elements, *scale the scale of the types that have one.
template <KvType kType>
__device__ __forceinline__ void store_head(const float* x, int d_head, int lane, void* to, float* scale) {
  if constexpr (kType == KvType::f16) {
    for (int i = lane; i < d_head / 2; i += 32) static_cast<uint32_t*>(to)[i] = pack_halves(x[2 * i], x[2 * i + 1]);
  } else {
    float largest = 0.0f, bad = 0.0f;
    for (int i = lane; i < d_head; i += 32) {
      largest = fmaxf(largest, fabsf(x[i]));
      if (!isfinite(x[i])) bad = 1.0f;
    }
    largest = warp_max(largest);
    bad = warp_max(bad);
    const float unit = bad != 0.0f ? nanf("") : largest / KvElement<kType>::kLargest;
    const bool usable = unit > 0.0f;
    for (int i = lane; i < d_head; i += 32) {
      static_cast<uint8_t*>(to)[i] = usable ? KvElement<kType>::code(x[i] / unit) : 0;
    }
    if (lane == 0) *scale = unit;
  }
}

}  // namespace inlay::cuda
