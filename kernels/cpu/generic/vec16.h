// Sixteen floats in plain C++, as four vectors of the compiler's: an array of floats does not stay in registers. A multiply-add rounds twice
// here and once in the other instruction sets.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/half.h"

namespace inlay::cpu {
namespace {

// Four floats; the compiler has operators for them.
using Float4 [[gnu::vector_size(16)]] = float;
using Uint4 [[gnu::vector_size(16)]] = uint32_t;

struct Vec16 {
  Float4 part[4];

  static constexpr int kTiles = 1;  // register block of the matrix kernel: tiles of 16 lanes x activation rows
  static constexpr int kRows = 2;
  static constexpr int kPairRows = 2;

  static Vec16 broadcast(float x) {
    const Float4 four = {x, x, x, x};
    return {{four, four, four, four}};
  }
  static Vec16 zero() { return broadcast(0.0f); }
  static Vec16 load(const float* p) {
    Vec16 v;
    for (int i = 0; i < 4; ++i) memcpy(&v.part[i], p + 4 * i, sizeof(v.part[i]));
    return v;
  }
  static Vec16 load_n(const float* p, int64_t n) {
    if (n == 16) return load(p);
    float lanes[16] = {};
    memcpy(lanes, p, static_cast<size_t>(n) * 4);
    return load(lanes);
  }
  static Vec16 load_f16(const void* p) {
    uint16_t h[16];
    memcpy(h, p, sizeof(h));
    float lanes[16];
    for (int i = 0; i < 16; ++i) lanes[i] = float_from_f16(h[i]);
    return load(lanes);
  }
  // 16 codes of E4M3, as their values * 2^-8: as FP16 bits they are that (quant_blocks.h).
  static Vec16 load_e4m3(const void* p) {
    uint8_t codes[16];
    memcpy(codes, p, sizeof(codes));
    float lanes[16];
    for (int i = 0; i < 16; ++i) {
      lanes[i] = float_from_f16(static_cast<uint16_t>((codes[i] & 0x80) << 8 | (codes[i] & 0x7f) << 7));
    }
    return load(lanes);
  }
  static void load_bf16_pairs(const void* p, Vec16& first, Vec16& second) {
    for (int i = 0; i < 4; ++i) {
      Uint4 pairs;
      memcpy(&pairs, static_cast<const char*>(p) + 16 * i, sizeof(pairs));
      first.part[i] = reinterpret_cast<Float4>(pairs << 16);
      second.part[i] = reinterpret_cast<Float4>(pairs & 0xffff0000u);
    }
  }
  void store(float* p) const {
    for (int i = 0; i < 4; ++i) memcpy(p + 4 * i, &part[i], sizeof(part[i]));
  }
  void store_n(float* p, int64_t n) const {
    float lanes[16];
    store(lanes);
    memcpy(p, lanes, static_cast<size_t>(n) * 4);
  }
  void store_f16(void* p) const {
    float lanes[16];
    uint16_t h[16];
    store(lanes);
    for (int i = 0; i < 16; ++i) h[i] = f16_from_float(lanes[i]);
    memcpy(p, h, sizeof(h));
  }
};

template <class Op>
Vec16 each(Op op) {
  Vec16 v;
  for (int i = 0; i < 4; ++i) v.part[i] = op(i);
  return v;
}

[[maybe_unused]] Vec16 operator+(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.part[i] + b.part[i]; });
}
[[maybe_unused]] Vec16 operator-(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.part[i] - b.part[i]; });
}
[[maybe_unused]] Vec16 operator*(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.part[i] * b.part[i]; });
}
[[maybe_unused]] Vec16 operator/(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.part[i] / b.part[i]; });
}

// a * b + c
[[maybe_unused]] Vec16 fma(const Vec16& a, const Vec16& b, const Vec16& c) {
  return each([&](int i) { return a.part[i] * b.part[i] + c.part[i]; });
}
// The second operand where one of them is not a number, as the instructions do.
[[maybe_unused]] Vec16 max(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.part[i] > b.part[i] ? a.part[i] : b.part[i]; });
}
[[maybe_unused]] Vec16 min(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.part[i] < b.part[i] ? a.part[i] : b.part[i]; });
}
// To the nearest integer, ties to even; |a| < 2^22.
[[maybe_unused]] Vec16 round(const Vec16& a) {
  constexpr float kMagic = 0x1.8p23f;
  return each([&](int i) { return (a.part[i] + kMagic) - kMagic; });
}
// 2^n for whole n in [-126, 127]; anything for others.
[[maybe_unused]] Vec16 exp2_whole(const Vec16& n) {
  constexpr float kMagic = 0x1.8p23f;  // puts n into the low bits
  return each([&](int i) { return reinterpret_cast<Float4>((reinterpret_cast<Uint4>(n.part[i] + kMagic) + 127u) << 23); });
}
// x < limit ? a : b
[[maybe_unused]] Vec16 select_less(const Vec16& x, const Vec16& limit, const Vec16& a, const Vec16& b) {
  return each([&](int i) { return x.part[i] < limit.part[i] ? a.part[i] : b.part[i]; });
}
// x < limit ? 0 : v
[[maybe_unused]] Vec16 zero_where_less(const Vec16& x, const Vec16& limit, const Vec16& v) {
  return each([&](int i) { return x.part[i] < limit.part[i] ? Float4{} : v.part[i]; });
}

}  // namespace
}  // namespace inlay::cpu
