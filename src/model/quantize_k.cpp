// A group's scale (and minimum) is searched for: from several roundings of the group to codes, each followed by the
// weighted least-squares fit to those codes, the one with the smallest weighted error is kept. Larger values weigh
// more, as they do in products.
#include "src/model/quantize_k.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/half.h"

namespace inlay {
namespace {

constexpr int kBlock = 256, kGroup = 32, kGroups = kBlock / kGroup;
constexpr int kSmallGroup = 16, kSmallGroups = kBlock / kSmallGroup;  // of Q6_K
constexpr float kLargestScale = 63.0f;                                // 6 bits

Fp16 half_of(float value) {
  const uint16_t h = f16_from_float(value);
  Fp16 out;
  std::memcpy(out.bytes, &h, sizeof h);
  return out;
}

int code_of(float value, int low, int high) {
  if (!(value > static_cast<float>(low))) return low;
  return value < static_cast<float>(high) ? static_cast<int>(std::lrintf(value)) : high;
}

// value = scale * code - min
struct Affine {
  float scale = 0, min = 0;
};

// The fit of scale and min to given codes, and its weighted error.
Affine fit_codes(const float* x, const float* weight, const int* codes, float& error) {
  double w = 0, wq = 0, wqq = 0, wx = 0, wqx = 0;
  for (int i = 0; i < kGroup; ++i) {
    const double wi = weight[i], q = codes[i];
    w += wi, wq += wi * q, wqq += wi * q * q, wx += wi * x[i], wqx += wi * q * x[i];
  }
  Affine fit;
  const double determinant = w * wqq - wq * wq;
  if (determinant > 0) {
    fit.scale = static_cast<float>((w * wqx - wq * wx) / determinant);
    fit.min = static_cast<float>((wq * wqx - wqq * wx) / determinant);
  }
  if (determinant <= 0 || fit.min < 0) {
    fit.min = 0;
    fit.scale = wqq > 0 ? static_cast<float>(wqx / wqq) : 0.0f;
  }
  fit.scale = std::max(fit.scale, 0.0f);
  double sum = 0;
  for (int i = 0; i < kGroup; ++i) {
    const double off = fit.scale * static_cast<float>(codes[i]) - fit.min - x[i];
    sum += weight[i] * off * off;
  }
  error = static_cast<float>(sum);
  return fit;
}

Affine fit_group(const float* x, int max_code) {
  float low = 0, high = x[0], squares = 0, weight[kGroup];
  for (int i = 0; i < kGroup; ++i) {
    low = std::min(low, x[i]), high = std::max(high, x[i]);
    squares += x[i] * x[i];
  }
  if (high <= low) return {0.0f, -low};
  const float rms = std::sqrt(squares / kGroup);
  for (int i = 0; i < kGroup; ++i) weight[i] = rms + std::fabs(x[i]);
  Affine best;
  float best_error = INFINITY;
  for (int step = -10; step <= 10; ++step) {
    const float inverse = (static_cast<float>(max_code) + 0.1f * static_cast<float>(step)) / (high - low);
    int codes[kGroup];
    for (int i = 0; i < kGroup; ++i) codes[i] = code_of(inverse * (x[i] - low), 0, max_code);
    float error;
    const Affine fit = fit_codes(x, weight, codes, error);
    if (error < best_error) best = fit, best_error = error;
  }
  return best;
}

// The inverse of k_scale.
void put_k_scales(const uint8_t (&scales)[kGroups], const uint8_t (&mins)[kGroups], uint8_t (&out)[12]) {
  for (int g = 0; g < 4; ++g) {
    out[g] = static_cast<uint8_t>(scales[g] | (scales[g + 4] >> 4) << 6);
    out[g + 4] = static_cast<uint8_t>(mins[g] | (mins[g + 4] >> 4) << 6);
    out[g + 8] = static_cast<uint8_t>((scales[g + 4] & 15) | (mins[g + 4] & 15) << 4);
  }
}

// Scales, minimums and codes of a block of Q4_K or Q5_K.
template <class Block>
void fit_block(const float* values, int max_code, Block& out, uint8_t (&codes)[kBlock]) {
  Affine fits[kGroups];
  float max_scale = 0, max_min = 0;
  for (int g = 0; g < kGroups; ++g) {
    fits[g] = fit_group(values + g * kGroup, max_code);
    max_scale = std::max(max_scale, fits[g].scale), max_min = std::max(max_min, fits[g].min);
  }
  out.d = half_of(max_scale / kLargestScale), out.dmin = half_of(max_min / kLargestScale);
  const float d = to_float(out.d), dmin = to_float(out.dmin);
  uint8_t scales[kGroups], mins[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    scales[g] = static_cast<uint8_t>(d > 0 ? code_of(fits[g].scale / d, 0, 63) : 0);
    mins[g] = static_cast<uint8_t>(dmin > 0 ? code_of(fits[g].min / dmin, 0, 63) : 0);
    const float scale = d * scales[g], min = dmin * mins[g];
    for (int i = g * kGroup; i < (g + 1) * kGroup; ++i) {
      codes[i] = static_cast<uint8_t>(scale > 0 ? code_of((values[i] + min) / scale, 0, max_code) : 0);
    }
  }
  put_k_scales(scales, mins, out.scales);
}

// The low four bits of the codes.
void put_nibbles(const uint8_t (&codes)[kBlock], uint8_t (&out)[kBlock / 2]) {
  for (int g = 0; g < kGroups; g += 2) {
    for (int i = 0; i < kGroup; ++i) {
      out[g / 2 * kGroup + i] =
          static_cast<uint8_t>((codes[g * kGroup + i] & 15) | (codes[(g + 1) * kGroup + i] & 15) << 4);
    }
  }
}

// value = scale * code, code in [-32, 31]; the scale may be negative.
float fit_small_group(const float* x) {
  float largest = 0;
  for (int i = 0; i < kSmallGroup; ++i) {
    if (std::fabs(x[i]) > std::fabs(largest)) largest = x[i];
  }
  if (largest == 0) return 0;
  double best_gain = -1;
  float best = 0;
  for (int step = -9; step <= 9; ++step) {
    const float inverse = -(32.0f + 0.1f * static_cast<float>(step)) / largest;
    double wqx = 0, wqq = 0;
    for (int i = 0; i < kSmallGroup; ++i) {
      const double q = code_of(inverse * x[i], -32, 31), w = double{x[i]} * x[i];
      wqx += w * q * x[i], wqq += w * q * q;
    }
    if (wqq > 0 && wqx * wqx > best_gain * wqq) best_gain = wqx * wqx / wqq, best = static_cast<float>(wqx / wqq);
  }
  return best;
}

}  // namespace

void quantize_block(const float* values, BlockQ4_K& out) {
  uint8_t codes[kBlock];
  fit_block(values, 15, out, codes);
  put_nibbles(codes, out.q);
}

void quantize_block(const float* values, BlockQ5_K& out) {
  uint8_t codes[kBlock];
  fit_block(values, 31, out, codes);
  put_nibbles(codes, out.q);
  std::memset(out.high, 0, sizeof out.high);
  for (int g = 0; g < kGroups; ++g) {
    for (int i = 0; i < kGroup; ++i)
      out.high[i] = static_cast<uint8_t>(out.high[i] | (codes[g * kGroup + i] >> 4) << g);
  }
}

void quantize_block(const float* values, BlockQ6_K& out) {
  float fits[kSmallGroups], largest = 0;
  for (int g = 0; g < kSmallGroups; ++g) {
    fits[g] = fit_small_group(values + g * kSmallGroup);
    if (std::fabs(fits[g]) > std::fabs(largest)) largest = fits[g];
  }
  out.d = half_of(largest / -128.0f);
  const float d = to_float(out.d);
  uint8_t codes[kBlock];
  for (int g = 0; g < kSmallGroups; ++g) {
    out.scales[g] = static_cast<int8_t>(d != 0 ? code_of(fits[g] / d, -128, 127) : 0);
    const float scale = d * out.scales[g];
    for (int i = g * kSmallGroup; i < (g + 1) * kSmallGroup; ++i) {
      codes[i] = static_cast<uint8_t>((scale != 0 ? code_of(values[i] / scale, -32, 31) : 0) + 32);
    }
  }
  for (int half = 0; half < 2; ++half) {
    const uint8_t* c = codes + 128 * half;
    for (int i = 0; i < 32; ++i) {
      out.q_low[64 * half + i] = static_cast<uint8_t>((c[i] & 15) | (c[i + 64] & 15) << 4);
      out.q_low[64 * half + 32 + i] = static_cast<uint8_t>((c[i + 32] & 15) | (c[i + 96] & 15) << 4);
      out.q_high[32 * half + i] =
          static_cast<uint8_t>(c[i] >> 4 | (c[i + 32] >> 4) << 2 | (c[i + 64] >> 4) << 4 | (c[i + 96] >> 4) << 6);
    }
  }
}

}  // namespace inlay
