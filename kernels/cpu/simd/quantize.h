// A group's scale (and minimum) is searched for: from several roundings of the group to codes, each followed by the
// weighted least-squares fit to those codes, the one with the smallest weighted error is kept. Larger values weigh
// more, as they do in products. About 17 operations a value and rounding, 21 roundings: bound by arithmetic.
//
// Included by one file of each instruction set after its vec16.h; everything has internal linkage. No fused
// multiply-adds, so that files do not depend on the machine that made them.
#pragma once

#include "kernels/cpu/quantize.h"

namespace inlay::cpu {
namespace {

constexpr float kTiny = 1e-37f;  // below it sums of squares have lost their digits

Vec16 lanes(const float (&x)[kGroupsAtOnce]) { return Vec16::load(x); }
Vec16 clamp(Vec16 x, float low, float high) { return min(max(x, Vec16::broadcast(low)), Vec16::broadcast(high)); }

Vec16 absolute(Vec16 x) { return max(x, Vec16::zero() - x); }

Vec16 square_root(Vec16 x) {
  float out[16];
  x.store(out);
  for (float& v : out) v = __builtin_sqrtf(v);
  return Vec16::load(out);
}

struct AffineGroups {
  const GroupValues<32>& x;
  Vec16 low, range;
  Vec16 weight[32];
  Vec16 w, wx;  // sums of weights, and of weights times values

  explicit AffineGroups(const GroupValues<32>& values) : x(values), low(Vec16::zero()), w(low), wx(low) {
    Vec16 high = lanes(x[0]), squares = Vec16::zero();
    for (int i = 0; i < 32; ++i) {
      const Vec16 v = lanes(x[i]);
      low = min(low, v), high = max(high, v);
      squares = squares + v * v;
    }
    range = high - low;
    const Vec16 rms = square_root(squares * Vec16::broadcast(1.0f / 32));
    for (int i = 0; i < 32; ++i) {
      const Vec16 v = lanes(x[i]);
      weight[i] = rms + absolute(v);
      w = w + weight[i], wx = wx + weight[i] * v;
    }
  }

  // Rounds to codes and fits scale and minimum to them; returns the weighted error.
  Vec16 try_inverse(Vec16 inverse, float max_code, Vec16& scale, Vec16& minimum) const {
    const Vec16 zero = Vec16::zero();
    Vec16 codes[32], wq = zero, wqq = zero, wqx = zero;
    for (int i = 0; i < 32; ++i) {
      const Vec16 v = lanes(x[i]);
      codes[i] = round(clamp(inverse * (v - low), 0.0f, max_code));
      const Vec16 weighted = weight[i] * codes[i];
      wq = wq + weighted, wqq = wqq + weighted * codes[i], wqx = wqx + weighted * v;
    }
    const Vec16 determinant = w * wqq - wq * wq, tiny = Vec16::broadcast(kTiny);
    scale = (w * wqx - wq * wx) / determinant;
    minimum = (wq * wqx - wqq * wx) / determinant;
    // Minimums are not negative, and all codes may be equal: then a scale alone.
    const Vec16 alone = select_less(wqq, tiny, zero, wqx / wqq);
    scale = select_less(determinant, tiny, alone, select_less(minimum, zero, alone, scale));
    minimum = select_less(determinant, tiny, zero, select_less(minimum, zero, zero, minimum));
    scale = select_less(scale, zero, zero, scale);
    Vec16 error = zero;
    for (int i = 0; i < 32; ++i) {
      const Vec16 off = scale * codes[i] - minimum - lanes(x[i]);
      error = error + weight[i] * off * off;
    }
    return error;
  }
};

void fit_affine(const GroupValues<32>& x, int max_code, AffineFits& out) {
  const AffineGroups groups(x);
  const Vec16 zero = Vec16::zero(), steps = Vec16::broadcast(static_cast<float>(max_code));
  Vec16 scale = groups.range / steps, minimum = zero - groups.low, error = Vec16::broadcast(__builtin_inff());
  for (int step = -10; step <= 10; ++step) {
    const float n_steps = static_cast<float>(max_code) + 0.1f * static_cast<float>(step);
    Vec16 tried_scale, tried_minimum;
    const Vec16 tried = groups.try_inverse(Vec16::broadcast(n_steps) / groups.range, static_cast<float>(max_code),
                                           tried_scale, tried_minimum);
    scale = select_less(tried, error, tried_scale, scale);
    minimum = select_less(tried, error, tried_minimum, minimum);
    error = select_less(tried, error, tried, error);
  }
  // One value that is not positive, 32 times: it is the minimum.
  const Vec16 tiny = Vec16::broadcast(kTiny);
  select_less(groups.range, tiny, zero, scale).store(out.scale);
  select_less(groups.range, tiny, zero - groups.low, minimum).store(out.min);
}

void store_codes(Vec16 codes, uint8_t (&out)[16]) {
  float values[16];
  codes.store(values);
  for (int i = 0; i < 16; ++i) out[i] = static_cast<uint8_t>(static_cast<int>(values[i]));
}

void encode_affine(const GroupValues<32>& x, const AffineFits& fits, int max_code, uint8_t (&codes)[32][16]) {
  const Vec16 zero = Vec16::zero(), scale = lanes(fits.scale), minimum = lanes(fits.min);
  for (int i = 0; i < 32; ++i) {
    const Vec16 code = round(clamp((lanes(x[i]) + minimum) / scale, 0.0f, static_cast<float>(max_code)));
    store_codes(select_less(zero, scale, code, zero), codes[i]);
  }
}

void fit_symmetric(const GroupValues<16>& x, float (&out)[kGroupsAtOnce]) {
  const Vec16 zero = Vec16::zero(), tiny = Vec16::broadcast(kTiny);
  Vec16 largest = zero;
  for (int i = 0; i < 16; ++i) largest = select_less(absolute(largest), absolute(lanes(x[i])), lanes(x[i]), largest);
  Vec16 scale = largest / Vec16::broadcast(-32.0f), error = Vec16::broadcast(__builtin_inff());
  for (int step = -9; step <= 9; ++step) {
    const Vec16 inverse = Vec16::broadcast(-(32.0f + 0.1f * static_cast<float>(step))) / largest;
    Vec16 codes[16], wqx = zero, wqq = zero;
    for (int i = 0; i < 16; ++i) {
      const Vec16 v = lanes(x[i]);
      codes[i] = round(clamp(inverse * v, -32.0f, 31.0f));
      const Vec16 weighted = v * v * codes[i];
      wqx = wqx + weighted * v, wqq = wqq + weighted * codes[i];
    }
    const Vec16 tried_scale = select_less(wqq, tiny, scale, wqx / wqq);
    Vec16 tried = zero;
    for (int i = 0; i < 16; ++i) {
      const Vec16 v = lanes(x[i]), off = tried_scale * codes[i] - v;
      tried = tried + v * v * off * off;
    }
    scale = select_less(tried, error, tried_scale, scale);
    error = select_less(tried, error, tried, error);
  }
  select_less(absolute(largest), tiny, zero, scale).store(out);
}

void encode_symmetric(const GroupValues<16>& x, const float (&scale)[kGroupsAtOnce], uint8_t (&codes)[16][16]) {
  const Vec16 zero = Vec16::zero(), s = lanes(scale), offset = Vec16::broadcast(32.0f);
  for (int i = 0; i < 16; ++i) {
    const Vec16 code = round(clamp(lanes(x[i]) / s, -32.0f, 31.0f));
    store_codes(select_less(zero, absolute(s), code, zero) + offset, codes[i]);
  }
}

constexpr Quantizers kQuantizers = {fit_affine, encode_affine, fit_symmetric, encode_symmetric};

}  // namespace
}  // namespace inlay::cpu
