// exp(x) of sixteen lanes, relative error below 2^-22 where the result is a normal number.
//
//   x = n ln 2 + r, |r| <= ln 2 / 2;   exp(x) = 2^n * (Taylor polynomial of exp(r), degree 7, error 5e-9)
//
// Above 88.376 (where 2^n would overflow) the value of 88.376, below -87.33 (where it would be subnormal) zero; so
// exp(-infinity) is 0 and exp(0) is 1, both exactly. Not-a-number stays that.
//
// Included after an instruction set's vec16.h; everything has internal linkage.
#pragma once

namespace inlay::cpu {
namespace {

[[maybe_unused]] inline Vec16 exp(const Vec16& argument) {
  const Vec16 x = max(Vec16::broadcast(-100.0f), min(Vec16::broadcast(88.376f), argument));
  const Vec16 n = round(x * Vec16::broadcast(0x1.715476p+0f));  // 1 / ln 2
  // ln 2 in two parts, the first with 9 bits so that its product with n is exact.
  Vec16 r = fma(n, Vec16::broadcast(-0x1.63p-1f), x);
  r = fma(n, Vec16::broadcast(0x1.bd0106p-13f), r);
  Vec16 p = Vec16::broadcast(1.0f / 5040);
  p = fma(p, r, Vec16::broadcast(1.0f / 720));
  p = fma(p, r, Vec16::broadcast(1.0f / 120));
  p = fma(p, r, Vec16::broadcast(1.0f / 24));
  p = fma(p, r, Vec16::broadcast(1.0f / 6));
  p = fma(p, r, Vec16::broadcast(0.5f));
  p = fma(p, r, Vec16::broadcast(1.0f));
  p = fma(p, r, Vec16::broadcast(1.0f));
  return zero_where_less(x, Vec16::broadcast(-87.33f), p * exp2_whole(n));
}

}  // namespace
}  // namespace inlay::cpu
