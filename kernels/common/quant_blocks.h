// Blocks of the quantized types as GGUF files store them (little-endian, no padding), and the few bit tricks that
// reading them takes. Bytes only, so that a block may lie at any address.
//
// Functions are static: this header is also compiled for instruction sets that the running processor may lack, and a
// shared inline copy could come from there.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/dtype.h"
#include "kernels/common/host_device.h"

namespace inlay {

struct Fp16 {
  uint8_t bytes[2];
};

// Every FP16 value is a float, subnormals, infinities and NaN payloads included.
[[maybe_unused]] INLAY_HOST_DEVICE static inline float to_float(Fp16 h) {
  const uint32_t bits = static_cast<uint32_t>(h.bytes[0]) | static_cast<uint32_t>(h.bytes[1]) << 8;
  const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  uint32_t out;
  if (exponent == 31) {
    out = sign | 0x7f800000u | mantissa << 13;
  } else if (exponent != 0) {
    out = sign | (exponent + 112) << 23 | mantissa << 13;
  } else {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // exact
    std::memcpy(&out, &magnitude, 4);
    out |= sign;
  }
  float value;
  std::memcpy(&value, &out, 4);
  return value;
}

struct Bf16 {
  uint8_t bytes[2];
};

[[maybe_unused]] static inline float to_float(Bf16 h) {
  const uint32_t bits = static_cast<uint32_t>(h.bytes[0]) << 16 | static_cast<uint32_t>(h.bytes[1]) << 24;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

// E4M3: a sign, 4 bits of exponent with a bias of 7, 3 of mantissa. There is no infinity; the codes 0x7f and 0xff, NaN
// elsewhere, count as +-480 and are never made. As an FP16 whose exponent takes those four bits, a code is the value
// * 2^-8, subnormals included.
[[maybe_unused]] static inline float e4m3_to_float(uint8_t code) {
  const Fp16 half = {{static_cast<uint8_t>(code << 7), static_cast<uint8_t>((code & 0x80) | (code & 0x7f) >> 1)}};
  return to_float(half) * 256.0f;
}

// 32 columns a block. "Halves": byte j holds column j in its low nibble and column j + 16 in its high one.
struct BlockF8_E4M3 {  // d * e4m3_to_float(q)
  Fp16 d;
  uint8_t q[32];
};
struct BlockQ8_0 {  // d * q
  Fp16 d;
  int8_t q[32];
};
struct BlockQ4_0 {  // d * (q - 8), halves
  Fp16 d;
  uint8_t q[16];
};
struct BlockQ4_1 {  // d * q + m, halves
  Fp16 d, m;
  uint8_t q[16];
};
struct BlockQ5_0 {  // d * (q - 16), halves; bit j of high (a little-endian word) is bit 4 of column j
  Fp16 d;
  uint8_t high[4];
  uint8_t q[16];
};
struct BlockQ5_1 {  // d * q + m, bits as in Q5_0
  Fp16 d, m;
  uint8_t high[4];
  uint8_t q[16];
};

// 256 columns a block, in 8 groups of 32. Group g lies in bytes 32 * (g / 2) .. + 31 of q: low nibbles where g is even,
// high nibbles where it is odd.
struct BlockQ4_K {  // (d * scale_g) * q - dmin * min_g
  Fp16 d, dmin;
  uint8_t scales[12];  // 8 scales and 8 mins of 6 bits, see k_scale
  uint8_t q[128];
};
struct BlockQ5_K {  // as Q4_K; bit g of high[l] is bit 4 of column 32 * g + l
  Fp16 d, dmin;
  uint8_t scales[12];
  uint8_t high[32];
  uint8_t q[128];
};
// 256 columns in two halves of 128, each four groups of 32. Column l of group g of a half: low four bits in
// q_low[32 * (g % 2) + l] (low nibble for g < 2, else the high one), upper two at bit 2 * g of q_high[l].
struct BlockQ6_K {  // (d * scale) * (q - 32), a scale per 16 columns
  uint8_t q_low[128];
  uint8_t q_high[64];
  int8_t scales[16];
  Fp16 d;
};
// Two halves of 128 as in Q6_K: column l of group g of half h is at bits 2 * g of q[32 * h + l].
struct BlockQ2_K {     // (d * scale) * q - dmin * min, a scale and a min per 16 columns
  uint8_t scales[16];  // scale in the low nibble, min in the high one
  uint8_t q[64];
  Fp16 d, dmin;
};
struct BlockQ3_K {   // (d * scale) * (q - 4), a scale per 16 columns; low two bits of q as in Q2_K
  uint8_t high[32];  // bit 4 * h + g of high[l] is bit 2 of column l of group g of half h
  uint8_t q[64];
  uint8_t scales[12];  // 16 of 6 bits, see q3_k_scale
  Fp16 d;
};
// What the codes of IQ4_NL and IQ4_XS stand for, and those of MXFP4 (E2M1, in halves).
[[maybe_unused]] static constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                           1,    13,   25,  38,  53,  69,  89,  113};
[[maybe_unused]] static constexpr int8_t kFp4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

struct BlockIQ4_NL {  // d * kIq4Values[q], halves
  Fp16 d;
  uint8_t q[16];
};
struct BlockIQ4_XS {  // (d * scale_g) * kIq4Values[q]; each group of 32 columns has 16 bytes of q, halves
  Fp16 d;
  uint8_t scales_high[2], scales_low[4];  // 8 scales of 6 bits, see iq4_xs_scale
  uint8_t q[128];
};
struct BlockMXFP4 {  // half_power(exponent) * kFp4Values[q], halves
  uint8_t exponent;
  uint8_t q[16];
};
struct BlockTQ2_0 {  // d * (q - 1), bits as in Q2_K
  uint8_t q[64];
  Fp16 d;
};
// 5 columns a byte, as digits of base 3: see grid_codes.h, which also has the formulas of the types below.
struct BlockTQ1_0 {
  uint8_t q[48], high[4];
  Fp16 d;
};
// Indices into the codebooks of quant_grids.h, 8 groups of 32 columns; IQ2 and IQ1 look up 8 columns at once, IQ3 4.
struct BlockIQ2_XXS {
  Fp16 d;
  uint8_t q[64];  // a group: 4 indices, then a word of 4 x 7 signs and 4 bits of scale
};
struct BlockIQ2_XS {
  Fp16 d;
  uint8_t q[64];      // words of 9 bits of index and 7 signs
  uint8_t scales[8];  // a nibble per 16 columns
};
struct BlockIQ2_S {
  Fp16 d;
  uint8_t q[32], signs[32];  // q: low 8 bits of the indices
  uint8_t high[8];           // upper two
  uint8_t scales[8];         // as in IQ2_XS
};
struct BlockIQ3_XXS {
  Fp16 d;
  uint8_t q[64];
  uint8_t signs[32];  // a word a group: 4 x 7 signs and 4 bits of scale
};
struct BlockIQ3_S {
  Fp16 d;
  uint8_t q[64];    // low 8 bits of the indices
  uint8_t high[8];  // bit 8
  uint8_t signs[32];
  uint8_t scales[4];  // a nibble a group
};
struct BlockIQ1_S {
  Fp16 d;
  uint8_t q[32];     // low 8 bits of the indices
  uint8_t high[16];  // a word a group: 4 x upper 3 bits, 3 bits of scale, sign of the shift
};
struct BlockIQ1_M {
  uint8_t q[32];      // low 8 bits of the indices
  uint8_t high[16];   // nibbles: upper 3 bits of an index, sign of its shift
  uint8_t scales[8];  // 4 words: a nibble of the FP16 d each on top, below it 3 bits per 16 columns
};

static_assert(sizeof(BlockF8_E4M3) == traits(DType::f8_e4m3).block_bytes);
static_assert(sizeof(BlockQ8_0) == traits(DType::q8_0).block_bytes);
static_assert(sizeof(BlockQ4_0) == traits(DType::q4_0).block_bytes);
static_assert(sizeof(BlockQ4_1) == traits(DType::q4_1).block_bytes);
static_assert(sizeof(BlockQ5_0) == traits(DType::q5_0).block_bytes);
static_assert(sizeof(BlockQ5_1) == traits(DType::q5_1).block_bytes);
static_assert(sizeof(BlockQ4_K) == traits(DType::q4_k).block_bytes);
static_assert(sizeof(BlockQ5_K) == traits(DType::q5_k).block_bytes);
static_assert(sizeof(BlockQ6_K) == traits(DType::q6_k).block_bytes);
static_assert(sizeof(BlockQ2_K) == traits(DType::q2_k).block_bytes);
static_assert(sizeof(BlockQ3_K) == traits(DType::q3_k).block_bytes);
static_assert(sizeof(BlockIQ4_NL) == traits(DType::iq4_nl).block_bytes);
static_assert(sizeof(BlockIQ4_XS) == traits(DType::iq4_xs).block_bytes);
static_assert(sizeof(BlockMXFP4) == traits(DType::mxfp4).block_bytes);
static_assert(sizeof(BlockTQ2_0) == traits(DType::tq2_0).block_bytes);
static_assert(sizeof(BlockTQ1_0) == traits(DType::tq1_0).block_bytes);
static_assert(sizeof(BlockIQ2_XXS) == traits(DType::iq2_xxs).block_bytes);
static_assert(sizeof(BlockIQ2_XS) == traits(DType::iq2_xs).block_bytes);
static_assert(sizeof(BlockIQ2_S) == traits(DType::iq2_s).block_bytes);
static_assert(sizeof(BlockIQ3_XXS) == traits(DType::iq3_xxs).block_bytes);
static_assert(sizeof(BlockIQ3_S) == traits(DType::iq3_s).block_bytes);
static_assert(sizeof(BlockIQ1_S) == traits(DType::iq1_s).block_bytes);
static_assert(sizeof(BlockIQ1_M) == traits(DType::iq1_m).block_bytes);
static_assert(alignof(BlockQ6_K) == 1 && alignof(BlockQ4_K) == 1);

// Scale (which = 0) or min (which = 1) of group g of a Q4_K or Q5_K block. Groups 0..3: the low six bits of byte
// g + 4 * which. Groups 4..7: low four bits in a nibble of byte g + 4, upper two in bits 6 and 7 of byte g - 4 + 4 *
// which.
[[maybe_unused]] INLAY_HOST_DEVICE static inline uint8_t k_scale(const uint8_t* scales, int g, int which) {
  if (g < 4) return scales[g + 4 * which] & 63;
  const int low = scales[g + 4] >> (4 * which) & 15;
  return static_cast<uint8_t>(low | (scales[g - 4 + 4 * which] >> 6) << 4);
}

// Scale i of a Q3_K block: low four bits in a nibble of byte i % 8, upper two in bits 2 * (i / 4) of byte 8 + i % 4;
// 32 counts as 0.
[[maybe_unused]] INLAY_HOST_DEVICE static inline int8_t q3_k_scale(const uint8_t* scales, int i) {
  const int low = scales[i % 8] >> (4 * (i / 8)) & 15, high = scales[8 + i % 4] >> (2 * (i / 4)) & 3;
  return static_cast<int8_t>((low | high << 4) - 32);
}

// Scale of group g of an IQ4_XS block: low four bits in a nibble of scales_low, upper two in scales_high; 32 counts as
// 0.
[[maybe_unused]] INLAY_HOST_DEVICE static inline int8_t iq4_xs_scale(const BlockIQ4_XS& b, int g) {
  const int low = b.scales_low[g / 2] >> (4 * (g % 2)) & 15, high = b.scales_high[g / 4] >> (2 * (g % 4)) & 3;
  return static_cast<int8_t>((low | high << 4) - 32);
}

// 2^(exponent - 128), half of what an E8M0 exponent stands for; the two smallest are subnormal.
[[maybe_unused]] INLAY_HOST_DEVICE static inline float half_power(uint8_t exponent) {
  const uint32_t bits = exponent < 2 ? 0x00200000u << exponent : static_cast<uint32_t>(exponent - 1) << 23;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

}  // namespace inlay
