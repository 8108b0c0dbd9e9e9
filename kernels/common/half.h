// FP16 and BF16 to and from float, in plain integer arithmetic but on ARM64, where every processor converts FP16 and compilers have a type
// for it. Static: compiled for several instruction sets.
#pragma once

#include <cstdint>
#include <cstring>

namespace inlay {

[[maybe_unused]] static inline float float_from_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

[[maybe_unused]] static inline uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

[[maybe_unused]] static inline float float_from_bf16(uint16_t h) {
  return float_from_bits(static_cast<uint32_t>(h) << 16);
}

// Masks instead of branches, so that a compiler makes vectors of a loop over it; no arithmetic on subnormal floats, so
// that the thread's treatment of those does not matter.
[[maybe_unused]] static inline float float_from_f16(uint16_t h) {
#if defined(__aarch64__)
  __fp16 half;
  memcpy(&half, &h, 2);
  return half;
#else
  const int32_t sign = static_cast<int32_t>(h & 0x8000) << 16;
  const int32_t magnitude = h & 0x7fff;
  const int32_t is_subnormal = (magnitude - 0x0400) >> 31;  // all ones or zero
  const int32_t is_infinite = (0x7bff - magnitude) >> 31;   // or not a number
  // A subnormal is magnitude * 2^-24, exactly; the rest is a shift and another exponent bias, twice it for exponent
  // 255.
  constexpr int32_t kBias = (127 - 15) << 23;
  const int32_t subnormal = static_cast<int32_t>(bits_of(static_cast<float>(magnitude) * 0x1p-24f));
  const int32_t normal = (magnitude << 13) + kBias + (is_infinite & kBias);
  return float_from_bits(static_cast<uint32_t>(sign | (is_subnormal & subnormal) | (~is_subnormal & normal)));
#endif
}

// Rounds to nearest, ties to even, as the processor's instruction does.
[[maybe_unused]] static inline uint16_t f16_from_float(float f) {
#if defined(__aarch64__)
  const auto half = static_cast<__fp16>(f);
  uint16_t h;
  memcpy(&h, &half, 2);
  return h;
#else
  const uint32_t bits = bits_of(f);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));  // NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 leaves the value in units of 2^-24 in the low bits
    return static_cast<uint16_t>(sign | (bits_of(float_from_bits(magnitude) + 0.5f) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - ((127u - 15u) << 23);
  return static_cast<uint16_t>(sign | (rounded >> 13));
#endif
}

}  // namespace inlay
