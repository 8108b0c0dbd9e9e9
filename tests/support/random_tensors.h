// Random numbers in the forms in which GGUF files hold them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/common/half.h"

namespace inlay::test {

using TensorBytes = std::vector<std::byte>;

// As general.type numbers them.
enum class GgufType : uint32_t { f32 = 0, f16 = 1, q8_0 = 8, bf16 = 30 };

template <class T>
void append(TensorBytes& out, const T& value) {
  const size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

// Of random sign with magnitudes from 2^exponent to twice that: their root mean square is 1.53 * 2^exponent.
inline TensorBytes halves(uint64_t n, int exponent, std::mt19937& random) {
  TensorBytes out;
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t r = random();
    append(out, static_cast<uint16_t>((r >> 31) << 15 | static_cast<uint32_t>(exponent + 15) << 10 | (r & 0x3ff)));
  }
  return out;
}
inline TensorBytes bfloats(uint64_t n, int exponent, std::mt19937& random) {
  TensorBytes out;
  for (uint64_t i = 0; i < n; ++i) {
    const uint32_t r = random();
    append(out, static_cast<uint16_t>((r >> 31) << 15 | static_cast<uint32_t>(exponent + 127) << 7 | (r & 0x7f)));
  }
  return out;
}

// Blocks of 32 codes with the same root mean square.
inline TensorBytes q8_0(uint64_t n, int exponent, std::mt19937& random) {
  TensorBytes out;
  const uint16_t scale = f16_from_float(std::ldexp(1.53f / 73, exponent));
  for (uint64_t block = 0; block < n / 32; ++block) {
    append(out, scale);
    for (int i = 0; i < 32; ++i) append(out, static_cast<int8_t>(static_cast<int32_t>(random() % 255) - 127));
  }
  return out;
}

inline TensorBytes matrix(GgufType type, uint64_t n, int exponent, std::mt19937& random) {
  return type == GgufType::bf16   ? bfloats(n, exponent, random)
         : type == GgufType::q8_0 ? q8_0(n, exponent, random)
                                  : halves(n, exponent, random);
}

inline TensorBytes floats(uint64_t n, float value) {
  TensorBytes out;
  for (uint64_t i = 0; i < n; ++i) append(out, value);
  return out;
}

// Evenly from low to high.
inline TensorBytes floats(uint64_t n, float low, float high, std::mt19937& random) {
  TensorBytes out;
  for (uint64_t i = 0; i < n; ++i) append(out, low + (high - low) * static_cast<float>(random() % 4096) / 4096);
  return out;
}

}  // namespace inlay::test
