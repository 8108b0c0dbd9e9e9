// Branchless in its inner loops, so that compilers make vectors of them.
#include "src/model/fp8.h"

#include <cstring>

#include "kernels/common/half.h"

namespace inlay {
namespace {

constexpr int kFp8Block = 32;
constexpr float kLargest = 448.0f;
constexpr uint16_t kLargestHalf = 0x7bff, kFp8NanHalf = 0x7e00;
constexpr int32_t kLargestCode = 0x7e, kInfinityBits = 0x7f800000;

// Codes below 8 count steps of 2^-9: adding 2^14, whose last bit that is, rounds magnitudes below 2^-6 to them. Others
// are rounded as integers, to the upper 12 bits.
inline uint8_t fp8_code_of(float value) {
  constexpr int32_t kSmallestNormal = 0x3c800000, kStepBits = 0x46800000;  // 2^-6, 2^14
  const uint32_t bits = bits_of(value);
  const auto magnitude = static_cast<int32_t>(bits & 0x7fffffff);
  const int32_t is_small = (magnitude - kSmallestNormal) >> 31;  // all ones or zero
  const float shifted = float_from_bits(static_cast<uint32_t>(magnitude)) + float_from_bits(kStepBits);
  const int32_t small = static_cast<int32_t>(bits_of(shifted)) - kStepBits;
  const int32_t normal = ((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - ((127 - 7) << 3);
  const int32_t code = (is_small & small) | (~is_small & normal);
  const int32_t is_over = (kLargestCode - code) >> 31;
  return static_cast<uint8_t>((is_over & kLargestCode) | (~is_over & code) | static_cast<int32_t>(bits >> 24 & 0x80));
}

// The smallest FP16 that is at least limit / 448; products of an FP16 and 448 are exact in F32.
uint16_t scale_of(float limit) {
  uint16_t half = f16_from_float(limit / kLargest);
  if (half < kLargestHalf && float_from_f16(half) * kLargest < limit) ++half;
  return half < kLargestHalf ? half : kLargestHalf;
}

// Returns the scale.
inline uint16_t quantize_block(const float (&values)[kFp8Block], uint8_t (&codes)[kFp8Block]) {
  // Bits of magnitudes are in the order of the floats, infinity and NaN on top.
  int32_t largest = 0;
  for (const float v : values) {
    const auto magnitude = static_cast<int32_t>(bits_of(v) & 0x7fffffff);
    largest = magnitude > largest ? magnitude : largest;
  }
  const bool finite = largest < kInfinityBits;
  if (largest == 0 || !finite) {
    std::memset(codes, 0, sizeof codes);
    return finite ? 0 : kFp8NanHalf;
  }
  const uint16_t half = scale_of(float_from_bits(static_cast<uint32_t>(largest)));
  const float scale = float_from_f16(half);
  for (int k = 0; k < kFp8Block; ++k) codes[k] = fp8_code_of(values[k] / scale);
  return half;
}

template <class Element, float (*kValue)(Element)>
void quantize(const std::byte* from, int64_t n, std::byte* blocks) {
  for (int64_t i = 0; i < n; i += kFp8Block, from += kFp8Block * sizeof(Element), blocks += sizeof(BlockF8_E4M3)) {
    Element elements[kFp8Block];
    std::memcpy(elements, from, sizeof elements);
    float values[kFp8Block];
    for (int k = 0; k < kFp8Block; ++k) values[k] = kValue(elements[k]);
    uint8_t codes[kFp8Block];
    const uint16_t scale = quantize_block(values, codes);
    std::memcpy(blocks + offsetof(BlockF8_E4M3, d), &scale, sizeof scale);
    std::memcpy(blocks + offsetof(BlockF8_E4M3, q), codes, sizeof codes);
  }
}

}  // namespace

void quantize_f8_e4m3(DType from, const std::byte* values, int64_t n, std::byte* blocks) {
  if (from == DType::f32) return quantize<uint32_t, float_from_bits>(values, n, blocks);
  if (from == DType::f16) return quantize<uint16_t, float_from_f16>(values, n, blocks);
  quantize<uint16_t, float_from_bf16>(values, n, blocks);
}

}  // namespace inlay
