// Sixteen floats in one AVX-512 register.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace inlay::cpu {
namespace {

struct Vec16 {
  __m512 v;

  // Register block of the matrix kernel, tiles of 16 lanes x activation rows: 24 of 32 registers accumulate.
  static constexpr int kTiles = 2;
  static constexpr int kRows = 12;
  static constexpr int kPairRows = 12;

  static __mmask16 first(int64_t n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static Vec16 broadcast(float x) { return {_mm512_set1_ps(x)}; }
  static Vec16 zero() { return {_mm512_setzero_ps()}; }
  static Vec16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Vec16 load_n(const float* p, int64_t n) { return {_mm512_maskz_loadu_ps(first(n), p)}; }
  static Vec16 load_f16(const void* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)))}; }
  // 16 codes of E4M3, as their values * 2^-8: as FP16 bits they are that (quant_blocks.h).
  static Vec16 load_e4m3(const void* p) {
    const __m256i codes = _mm256_cvtepu8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
    const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x80)), 8);
    const __m256i magnitude = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x7f)), 7);
    return {_mm512_cvtph_ps(_mm256_or_si256(sign, magnitude))};
  }
  static void load_bf16_pairs(const void* p, Vec16& first_column, Vec16& second_column) {
    const __m512i pairs = _mm512_loadu_si512(p);
    first_column = {_mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16))};
    second_column = {_mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))))};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store_n(float* p, int64_t n) const { _mm512_mask_storeu_ps(p, first(n), v); }
  void store_f16(void* p) const {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
};

[[maybe_unused]] inline Vec16 operator+(Vec16 x, Vec16 y) { return {_mm512_add_ps(x.v, y.v)}; }
[[maybe_unused]] inline Vec16 operator-(Vec16 x, Vec16 y) { return {_mm512_sub_ps(x.v, y.v)}; }
[[maybe_unused]] inline Vec16 operator*(Vec16 x, Vec16 y) { return {_mm512_mul_ps(x.v, y.v)}; }
[[maybe_unused]] inline Vec16 operator/(Vec16 x, Vec16 y) { return {_mm512_div_ps(x.v, y.v)}; }

// x * y + z
[[maybe_unused]] inline Vec16 fma(Vec16 x, Vec16 y, Vec16 z) { return {_mm512_fmadd_ps(x.v, y.v, z.v)}; }
// The second operand where one of them is not a number.
[[maybe_unused]] inline Vec16 max(Vec16 x, Vec16 y) { return {_mm512_max_ps(x.v, y.v)}; }
[[maybe_unused]] inline Vec16 min(Vec16 x, Vec16 y) { return {_mm512_min_ps(x.v, y.v)}; }
// To the nearest integer, ties to even.
[[maybe_unused]] inline Vec16 round(Vec16 x) {
  return {_mm512_roundscale_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
// 2^n for whole n in [-126, 127]; anything for others.
[[maybe_unused]] inline Vec16 exp2_whole(Vec16 n) {
  const __m512i biased = _mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(biased, 23))};
}
// x < limit ? y : z
[[maybe_unused]] inline Vec16 select_less(Vec16 x, Vec16 limit, Vec16 y, Vec16 z) {
  return {_mm512_mask_mov_ps(z.v, _mm512_cmp_ps_mask(x.v, limit.v, _CMP_LT_OQ), y.v)};
}
// x < limit ? 0 : v
[[maybe_unused]] inline Vec16 zero_where_less(Vec16 x, Vec16 limit, Vec16 v) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, limit.v, _CMP_NLT_UQ), v.v)};
}

}  // namespace
}  // namespace inlay::cpu
