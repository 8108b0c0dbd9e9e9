// Sixteen floats in plain C++. A multiply-add rounds twice here and once in the other instruction sets.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/half.h"

namespace inlay::cpu {
namespace {

struct Vec16 {
  float lane[16];

  static constexpr int kTiles = 1;  // register block of the matrix kernel: tiles of 16 lanes x activation rows
  static constexpr int kRows = 2;
  static constexpr int kPairRows = 2;

  static Vec16 broadcast(float x) {
    Vec16 v;
    for (float& f : v.lane) f = x;
    return v;
  }
  static Vec16 zero() { return broadcast(0.0f); }
  static Vec16 load(const float* p) {
    Vec16 v;
    memcpy(v.lane, p, sizeof(v.lane));
    return v;
  }
  static Vec16 load_n(const float* p, int64_t n) {
    if (n == 16) return load(p);
    Vec16 v = zero();
    memcpy(v.lane, p, static_cast<size_t>(n) * 4);
    return v;
  }
  static Vec16 load_f16(const void* p) {
    uint16_t h[16];
    memcpy(h, p, sizeof(h));
    Vec16 v;
    for (int i = 0; i < 16; ++i) v.lane[i] = float_from_f16(h[i]);
    return v;
  }
  // 16 codes of E4M3, as their values * 2^-8: as FP16 bits they are that (quant_blocks.h).
  static Vec16 load_e4m3(const void* p) {
    uint8_t codes[16];
    memcpy(codes, p, sizeof(codes));
    Vec16 v;
    for (int i = 0; i < 16; ++i) {
      v.lane[i] = float_from_f16(static_cast<uint16_t>((codes[i] & 0x80) << 8 | (codes[i] & 0x7f) << 7));
    }
    return v;
  }
  static void load_bf16_pairs(const void* p, Vec16& first, Vec16& second) {
    uint32_t pairs[16];
    memcpy(pairs, p, sizeof(pairs));
    for (int i = 0; i < 16; ++i) {
      first.lane[i] = float_from_bits(pairs[i] << 16);
      second.lane[i] = float_from_bits(pairs[i] & 0xffff0000u);
    }
  }
  void store(float* p) const { memcpy(p, lane, sizeof(lane)); }
  void store_n(float* p, int64_t n) const { memcpy(p, lane, static_cast<size_t>(n) * 4); }
  void store_f16(void* p) const {
    uint16_t h[16];
    for (int i = 0; i < 16; ++i) h[i] = f16_from_float(lane[i]);
    memcpy(p, h, sizeof(h));
  }
};

template <class Op>
Vec16 each(Op op) {
  Vec16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = op(i);
  return v;
}

[[maybe_unused]] Vec16 operator+(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.lane[i] + b.lane[i]; });
}
[[maybe_unused]] Vec16 operator-(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.lane[i] - b.lane[i]; });
}
[[maybe_unused]] Vec16 operator*(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.lane[i] * b.lane[i]; });
}
[[maybe_unused]] Vec16 operator/(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.lane[i] / b.lane[i]; });
}

// a * b + c
[[maybe_unused]] Vec16 fma(const Vec16& a, const Vec16& b, const Vec16& c) {
  return each([&](int i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
}
// The second operand where one of them is not a number, as the instructions do.
[[maybe_unused]] Vec16 max(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
[[maybe_unused]] Vec16 min(const Vec16& a, const Vec16& b) {
  return each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
// To the nearest integer, ties to even; |a| < 2^22.
[[maybe_unused]] Vec16 round(const Vec16& a) {
  constexpr float kMagic = 0x1.8p23f;
  return each([&](int i) { return (a.lane[i] + kMagic) - kMagic; });
}
// 2^n for whole n in [-126, 127]; anything for others.
[[maybe_unused]] Vec16 exp2_whole(const Vec16& n) {
  constexpr float kMagic = 0x1.8p23f;  // puts n into the low bits
  return each([&](int i) { return float_from_bits((bits_of(n.lane[i] + kMagic) + 127u) << 23); });
}
// x < limit ? a : b
[[maybe_unused]] Vec16 select_less(const Vec16& x, const Vec16& limit, const Vec16& a, const Vec16& b) {
  return each([&](int i) { return x.lane[i] < limit.lane[i] ? a.lane[i] : b.lane[i]; });
}
// x < limit ? 0 : v
[[maybe_unused]] Vec16 zero_where_less(const Vec16& x, const Vec16& limit, const Vec16& v) {
  return each([&](int i) { return x.lane[i] < limit.lane[i] ? 0.0f : v.lane[i]; });
}

}  // namespace
}  // namespace inlay::cpu
