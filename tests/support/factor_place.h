// Where the factors of a quantized block lie, for damaging them and for keeping random ones in range.
#pragma once

#include <random>

#include "kernels/common/quant_blocks.h"

namespace inlay::test {

// FP16 factors, in bytes: offset of the first, number of them.
struct FactorPlace {
  uint32_t at, count;
};
inline FactorPlace factor_place(DType type) {
  switch (type) {
    case DType::q4_1:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k:
      return {0, 2};
    case DType::q6_k:
      return {208, 1};
    case DType::q2_k:
      return {80, 2};
    case DType::q3_k:
      return {108, 1};
    case DType::tq2_0:
      return {64, 1};
    case DType::mxfp4:
    case DType::iq1_m:
      return {0, 0};  // none: an exponent, and a value in nibbles
    case DType::tq1_0:
      return {52, 1};
    default:
      return {0, 1};
  }
}

// Of either sign, between 2^-7 and 2^-5 in magnitude.
inline uint32_t random_factor(std::mt19937& rng) {
  const uint32_t random = rng();
  return (random & 0x83ff) | (8 + random % 2) << 10;
}

// d and m: bits of FP16. A type without minimums has no m; of MXFP4 the scale is the power of two below |d|.
inline void set_factors(DType type, uint32_t d, uint32_t m, uint8_t* block) {
  if (type == DType::mxfp4) block[0] = static_cast<uint8_t>(128 - 15 + (d >> 10 & 31));
  if (type == DType::iq1_m) {
    for (int i = 0; i < 4; ++i) {
      uint8_t& byte = block[49 + 2 * i];
      byte = static_cast<uint8_t>((byte & 15) | (d >> (4 * i) & 15) << 4);
    }
  }
  const FactorPlace place = factor_place(type);
  for (uint32_t i = 0; i < place.count; ++i) {
    const uint32_t bits = i == 0 ? d : m;
    block[place.at + 2 * i] = static_cast<uint8_t>(bits);
    block[place.at + 2 * i + 1] = static_cast<uint8_t>(bits >> 8);
  }
}

inline void set_random_factors(DType type, std::mt19937& rng, uint8_t* block) {
  const uint32_t d = random_factor(rng);
  set_factors(type, d, factor_place(type).count > 1 ? random_factor(rng) : 0, block);
}

// By an eighth of itself or more.
inline void damage_factor(DType type, uint8_t* block) {
  if (type == DType::mxfp4) block[0] ^= 1;
  if (type == DType::iq1_m) block[55] ^= 0x10;
  if (const FactorPlace place = factor_place(type); place.count > 0) block[place.at + 1] ^= 1;
}

}  // namespace inlay::test
