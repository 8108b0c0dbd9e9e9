// Codes and scales out of the blocks of a file (kernels/common/quant_blocks.h), as they are packed; for repacking.
// Codes are unsigned: Q8_0's is q + 128, TQ1_0's a digit, those of IQ2, IQ3 and IQ1 number the levels of the packed
// form (linear/layout.cuh), the others are as stored. Blocks lie at any address: bytes only.
#pragma once

#include "kernels/common/grid_codes.h"
#include "kernels/cuda/linear/layout.cuh"

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
template <>
struct FileBlock<DType::q2_k> {
  using Type = BlockQ2_K;
};
template <>
struct FileBlock<DType::q3_k> {
  using Type = BlockQ3_K;
};
template <>
struct FileBlock<DType::iq4_nl> {
  using Type = BlockIQ4_NL;
};
template <>
struct FileBlock<DType::iq4_xs> {
  using Type = BlockIQ4_XS;
};
template <>
struct FileBlock<DType::mxfp4> {
  using Type = BlockMXFP4;
};
template <>
struct FileBlock<DType::tq2_0> {
  using Type = BlockTQ2_0;
};
template <>
struct FileBlock<DType::tq1_0> {
  using Type = BlockTQ1_0;
};
template <>
struct FileBlock<DType::iq2_xxs> {
  using Type = BlockIQ2_XXS;
};
template <>
struct FileBlock<DType::iq2_xs> {
  using Type = BlockIQ2_XS;
};
template <>
struct FileBlock<DType::iq2_s> {
  using Type = BlockIQ2_S;
};
template <>
struct FileBlock<DType::iq3_xxs> {
  using Type = BlockIQ3_XXS;
};
template <>
struct FileBlock<DType::iq3_s> {
  using Type = BlockIQ3_S;
};
template <>
struct FileBlock<DType::iq1_s> {
  using Type = BlockIQ1_S;
};
template <>
struct FileBlock<DType::iq1_m> {
  using Type = BlockIQ1_M;
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

// Two bits of Q2_K, Q3_K and TQ2_0.
__device__ __forceinline__ uint32_t pair_of_k(const uint8_t* q, int i) {
  return q[32 * (i / 128) + i % 32] >> (i / 32 % 4 * 2) & 3;
}

// ---- codes. i: column within the block.

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

__device__ __forceinline__ uint32_t file_code(const BlockQ2_K& b, int i) { return pair_of_k(b.q, i); }
__device__ __forceinline__ uint32_t file_code(const BlockQ3_K& b, int i) {
  return pair_of_k(b.q, i) | (b.high[i % 32] >> (i / 32) & 1) << 2;
}
__device__ __forceinline__ uint32_t file_code(const BlockIQ4_NL& b, int i) { return nibble_of_halves(b.q, i); }
__device__ __forceinline__ uint32_t file_code(const BlockIQ4_XS& b, int i) {
  return nibble_of_halves(b.q + 16 * (i / 32), i % 32);
}
// There is no zero with a sign: what the format's table has for code 8 is that of code 0.
__device__ __forceinline__ uint32_t file_code(const BlockMXFP4& b, int i) {
  const uint32_t code = nibble_of_halves(b.q, i);
  return code == 8 ? 0 : code;
}
__device__ __forceinline__ uint32_t file_code(const BlockTQ2_0& b, int i) { return pair_of_k(b.q, i); }

template <class Block>
__device__ __forceinline__ int grid_value(const Block& b, int i) {
  GridGroup group;
  read_group(b, i / 32, group);
  return code_of(group, i % 32);
}
__device__ __forceinline__ uint32_t file_code(const BlockTQ1_0& b, int i) {
  return static_cast<uint32_t>(grid_value(b, i) + 1);
}
// The others: which of the packed form's levels it is. There is one: the codebooks have no others.
template <DType kForm, class Block>
__device__ __forceinline__ uint32_t level_code(const Block& b, int i) {
  constexpr CodeTable kTable = code_table(kForm);
  const auto entry = static_cast<uint32_t>(grid_value(b, i) + format_of(kForm).offset);
  uint32_t code = 0;
#pragma unroll
  for (int at = 15; at >= 0; --at) {  // the first: what a table does not use is 0
    if (kTable.entry(at) == entry) code = static_cast<uint32_t>(at);
  }
  return code;
}
__device__ __forceinline__ uint32_t file_code(const BlockIQ2_XXS& b, int i) { return level_code<DType::iq2_s>(b, i); }
__device__ __forceinline__ uint32_t file_code(const BlockIQ2_XS& b, int i) { return level_code<DType::iq2_s>(b, i); }
__device__ __forceinline__ uint32_t file_code(const BlockIQ2_S& b, int i) { return level_code<DType::iq2_s>(b, i); }
__device__ __forceinline__ uint32_t file_code(const BlockIQ3_XXS& b, int i) { return level_code<DType::iq3_xxs>(b, i); }
__device__ __forceinline__ uint32_t file_code(const BlockIQ3_S& b, int i) { return level_code<DType::iq3_s>(b, i); }
__device__ __forceinline__ uint32_t file_code(const BlockIQ1_S& b, int i) { return level_code<DType::iq1_m>(b, i); }
__device__ __forceinline__ uint32_t file_code(const BlockIQ1_M& b, int i) { return level_code<DType::iq1_m>(b, i); }

// ---- scales and minimums, as bits: bytes of the types with a d for 256 columns and of MXFP4, else FP16. group: of the
// packed form's columns, within the block.

struct GroupBits {
  uint32_t scale, minimum;
};

template <class Block>  // one FP16 factor for all of the block
__device__ __forceinline__ GroupBits group_bits(const Block& b, int) {
  return {half_bits(b.d), 0};
}
__device__ __forceinline__ GroupBits group_bits(const BlockQ4_1& b, int) { return {half_bits(b.d), half_bits(b.m)}; }
__device__ __forceinline__ GroupBits group_bits(const BlockQ5_1& b, int) { return {half_bits(b.d), half_bits(b.m)}; }
__device__ __forceinline__ GroupBits group_bits(const BlockQ4_K& b, int group) {
  return {k_scale(b.scales, group, 0), k_scale(b.scales, group, 1)};
}
__device__ __forceinline__ GroupBits group_bits(const BlockQ5_K& b, int group) {
  return {k_scale(b.scales, group, 0), k_scale(b.scales, group, 1)};
}
__device__ __forceinline__ GroupBits group_bits(const BlockQ6_K& b, int group) {
  return {static_cast<uint8_t>(b.scales[group]), 0};
}
__device__ __forceinline__ GroupBits group_bits(const BlockQ2_K& b, int group) { return {b.scales[group], 0}; }
__device__ __forceinline__ GroupBits group_bits(const BlockQ3_K& b, int group) {
  return {static_cast<uint8_t>(q3_k_scale(b.scales, group)), 0};
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ4_XS& b, int group) {
  return {static_cast<uint8_t>(iq4_xs_scale(b, group)), 0};
}
__device__ __forceinline__ GroupBits group_bits(const BlockMXFP4& b, int) { return {b.exponent, 0}; }

// Scales of IQ2, IQ3 and IQ1 are odd numbers (layout.cuh has their units).
__device__ __forceinline__ GroupBits odd_scale(uint32_t index) { return {2 * index + 1, 0}; }
__device__ __forceinline__ uint32_t nibble_at(const uint8_t* nibbles, int i) {
  return nibbles[i / 2] >> (i % 2 * 4) & 15;
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ2_XXS& b, int group) {
  return odd_scale(b.q[8 * (group / 2) + 7] >> 4);
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ2_XS& b, int group) {
  return odd_scale(nibble_at(b.scales, group));
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ2_S& b, int group) {
  return odd_scale(nibble_at(b.scales, group));
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ3_XXS& b, int group) {
  return odd_scale(b.signs[4 * group + 3] >> 4);
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ3_S& b, int group) {
  return odd_scale(nibble_at(b.scales, group));
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ1_S& b, int group) {
  return odd_scale(b.high[2 * (group / 2) + 1] >> 4 & 7);
}
__device__ __forceinline__ GroupBits group_bits(const BlockIQ1_M& b, int group) {
  return odd_scale(load_u16(b.scales + group / 4 * 2) >> (3 * (group % 4)) & 7);
}

// ---- factors of 256 columns, FP16

template <class Block>
__device__ __forceinline__ uint32_t super_bits(const Block& b) {
  return half_bits(b.d);
}
__device__ __forceinline__ uint32_t super_bits(const BlockIQ1_M& b) { return half_bits(iq1_m_factor(b)); }

}  // namespace inlay::cuda
