// Codes and scales of single elements out of the blocks of a file (kernels/common/quant_blocks.h); for repacking.
// Codes are unsigned: Q8_0's is q + 128, the others are as stored. Blocks lie at any address: bytes only.
#pragma once

#include "kernels/common/quant_blocks.h"

namespace inlay::cuda {

template <DType kType>
struct FileBlock;
template <>
struct FileBlock<DType::f8_e4m3> {
  using Type = BlockF8_E4M3;
};
template <>
struct FileBlock<DType::q8_0> {
  using Type = BlockQ8_0;
};
template <>
struct FileBlock<DType::q4_0> {
  using Type = BlockQ4_0;
};
template <>
struct FileBlock<DType::q4_1> {
  using Type = BlockQ4_1;
};
template <>
struct FileBlock<DType::q5_0> {
  using Type = BlockQ5_0;
};
template <>
struct FileBlock<DType::q5_1> {
  using Type = BlockQ5_1;
};
template <>
struct FileBlock<DType::q4_k> {
  using Type = BlockQ4_K;
};
template <>
struct FileBlock<DType::q5_k> {
  using Type = BlockQ5_K;
};
template <>
struct FileBlock<DType::q6_k> {
  using Type = BlockQ6_K;
};

__device__ __forceinline__ uint32_t half_bits(const Fp16& h) {
  return h.bytes[0] | static_cast<uint32_t>(h.bytes[1]) << 8;
}

__device__ __forceinline__ uint32_t nibble_of_halves(const uint8_t* q, int i) {
  return i < 16 ? q[i] & 15 : q[i - 16] >> 4;
}
__device__ __forceinline__ uint32_t fifth_bit(const uint8_t* high, int i) { return (high[i / 8] >> (i % 8) & 1) << 4; }
__device__ __forceinline__ uint32_t nibble_of_k(const uint8_t* q, int i) {
  return q[32 * (i / 64) + i % 32] >> (i / 32 % 2 * 4) & 15;
}

// i: column within the block.
__device__ __forceinline__ uint32_t file_code(const BlockF8_E4M3& b, int i) { return b.q[i]; }
__device__ __forceinline__ uint32_t file_code(const BlockQ8_0& b, int i) { return static_cast<uint32_t>(b.q[i] + 128); }
__device__ __forceinline__ uint32_t file_code(const BlockQ4_0& b, int i) { return nibble_of_halves(b.q, i); }
__device__ __forceinline__ uint32_t file_code(const BlockQ4_1& b, int i) { return nibble_of_halves(b.q, i); }
__device__ __forceinline__ uint32_t file_code(const BlockQ5_0& b, int i) {
  return nibble_of_halves(b.q, i) | fifth_bit(b.high, i);
}
__device__ __forceinline__ uint32_t file_code(const BlockQ5_1& b, int i) {
  return nibble_of_halves(b.q, i) | fifth_bit(b.high, i);
}
__device__ __forceinline__ uint32_t file_code(const BlockQ4_K& b, int i) { return nibble_of_k(b.q, i); }
__device__ __forceinline__ uint32_t file_code(const BlockQ5_K& b, int i) {
  return nibble_of_k(b.q, i) | (b.high[i % 32] >> (i / 32) & 1) << 4;
}
__device__ __forceinline__ uint32_t file_code(const BlockQ6_K& b, int i) {
  const int half = i / 128, g = i / 32 % 4, l = i % 32;
  return (b.q_low[64 * half + 32 * (g % 2) + l] >> (4 * (g / 2)) & 15) | (b.q_high[32 * half + l] >> (2 * g) & 3) << 4;
}

// The 6-bit scale (which = 0) or minimum (which = 1) of group g of a Q4_K or Q5_K block.
__device__ __forceinline__ uint32_t six_bits(const uint8_t* scales, int g, int which) {
  if (g < 4) return scales[g + 4 * which] & 63;
  return (scales[g + 4] >> (4 * which) & 15) | (scales[g - 4 + 4 * which] >> 6) << 4;
}

}  // namespace inlay::cuda
