// Sixteen floats in two AVX2 registers.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace inlay::cpu {
namespace {

struct Vec16 {
  __m256 a, b;  // lanes 0-7, 8-15

  // Register block of the matrix kernel, tiles of 16 lanes x activation rows: 12 of 16 registers accumulate.
  static constexpr int kTiles = 1;
  static constexpr int kRows = 6;
  static constexpr int kPairRows = 4;  // of steps with two weight vectors a tile

  static Vec16 broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Vec16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Vec16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static Vec16 load_n(const float* p, int64_t n) {
    if (n == 16) return load(p);
    float full[16] = {};
    memcpy(full, p, static_cast<size_t>(n) * 4);
    return load(full);
  }
  static Vec16 load_f16(const void* p) {
    const __m128i* h = static_cast<const __m128i*>(p);
    return {_mm256_cvtph_ps(_mm_loadu_si128(h)), _mm256_cvtph_ps(_mm_loadu_si128(h + 1))};
  }
  // 16 codes of E4M3, as their values * 2^-8: as FP16 bits they are that (quant_blocks.h).
  static Vec16 load_e4m3(const void* p) {
    const __m256i codes = _mm256_cvtepu8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x80)), 8);
    const __m256i magnitude = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x7f)), 7);
    const __m256i halves = _mm256_or_si256(sign, magnitude);
    return {_mm256_cvtph_ps(_mm256_castsi256_si128(halves)), _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1))};
  }
  static void load_bf16_pairs(const void* p, Vec16& first, Vec16& second) {
    const __m256i* pairs = static_cast<const __m256i*>(p);
    const __m256i high = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
    const __m256i x = _mm256_loadu_si256(pairs), y = _mm256_loadu_si256(pairs + 1);
    first = {_mm256_castsi256_ps(_mm256_slli_epi32(x, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(y, 16))};
    second = {_mm256_castsi256_ps(_mm256_and_si256(x, high)), _mm256_castsi256_ps(_mm256_and_si256(y, high))};
  }
  void store(float* p) const {
    _mm256_storeu_ps(p, a);
    _mm256_storeu_ps(p + 8, b);
  }
  void store_n(float* p, int64_t n) const {
    if (n == 16) return store(p);
    float full[16];
    store(full);
    memcpy(p, full, static_cast<size_t>(n) * 4);
  }
  void store_f16(void* p) const {
    __m128i* h = static_cast<__m128i*>(p);
    _mm_storeu_si128(h, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(h + 1, _mm256_cvtps_ph(b, _MM_FROUND_TO_NEAREST_INT));
  }
};

[[maybe_unused]] inline Vec16 operator+(Vec16 x, Vec16 y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
[[maybe_unused]] inline Vec16 operator-(Vec16 x, Vec16 y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
[[maybe_unused]] inline Vec16 operator*(Vec16 x, Vec16 y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
[[maybe_unused]] inline Vec16 operator/(Vec16 x, Vec16 y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }

// x * y + z
[[maybe_unused]] inline Vec16 fma(Vec16 x, Vec16 y, Vec16 z) {
  return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
// The second operand where one of them is not a number.
[[maybe_unused]] inline Vec16 max(Vec16 x, Vec16 y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
[[maybe_unused]] inline Vec16 min(Vec16 x, Vec16 y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
// To the nearest integer, ties to even.
[[maybe_unused]] inline Vec16 round(Vec16 x) {
  constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(x.a, kMode), _mm256_round_ps(x.b, kMode)};
}
// 2^n for whole n in [-126, 127]; anything for others.
[[maybe_unused]] inline Vec16 exp2_whole(Vec16 n) {
  const __m256i bias = _mm256_set1_epi32(127);
  const __m256i x = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n.a), bias), 23);
  const __m256i y = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n.b), bias), 23);
  return {_mm256_castsi256_ps(x), _mm256_castsi256_ps(y)};
}
// x < limit ? y : z
[[maybe_unused]] inline Vec16 select_less(Vec16 x, Vec16 limit, Vec16 y, Vec16 z) {
  return {_mm256_blendv_ps(z.a, y.a, _mm256_cmp_ps(x.a, limit.a, _CMP_LT_OQ)),
          _mm256_blendv_ps(z.b, y.b, _mm256_cmp_ps(x.b, limit.b, _CMP_LT_OQ))};
}
// x < limit ? 0 : v
[[maybe_unused]] inline Vec16 zero_where_less(Vec16 x, Vec16 limit, Vec16 v) {
  return {_mm256_andnot_ps(_mm256_cmp_ps(x.a, limit.a, _CMP_LT_OQ), v.a),
          _mm256_andnot_ps(_mm256_cmp_ps(x.b, limit.b, _CMP_LT_OQ), v.b)};
}

}  // namespace
}  // namespace inlay::cpu
