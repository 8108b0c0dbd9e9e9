// Norm, rotary embedding and gated activation: formulas in kernels/ref. All read and write their rows once; at one row
// they cost microseconds, at many they are bound by the caches.
//
// Included by one file of each instruction set after its vec16.h; everything has internal linkage.
#pragma once

#include <cstdint>

#include "kernels/common/activation.h"
#include "kernels/common/op_args.h"
#include "kernels/cpu/simd/exp.h"
#include "kernels/cpu/simd/soft_cap.h"

namespace inlay::cpu {
namespace {

// ---- RMS norm: four vectors of partial sums, added in a fixed tree.

float lane_sum(const Vec16& v) {
  float lanes[16];
  v.store(lanes);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

float sum_of_squares(const float* x, int64_t n) {
  Vec16 sum[4] = {Vec16::zero(), Vec16::zero(), Vec16::zero(), Vec16::zero()};
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    for (int s = 0; s < 4; ++s) {
      const Vec16 v = Vec16::load(x + i + 16 * s);
      sum[s] = fma(v, v, sum[s]);
    }
  }
  for (; i < n; i += 16) {
    const Vec16 v = Vec16::load_n(x + i, n - i < 16 ? n - i : 16);
    sum[0] = fma(v, v, sum[0]);
  }
  return lane_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

void rms_norm(const RmsNormArgs& a, int64_t m_begin, int64_t m_end) {
  for (int64_t j = m_begin; j < m_end; ++j) {
    const float* x = a.x + j * a.ld_x;
    float* out = a.out + j * a.ld_out;
    const double mean = static_cast<double>(sum_of_squares(x, a.n)) / static_cast<double>(a.n);
    const Vec16 scale =
        Vec16::broadcast(static_cast<float>(1.0 / __builtin_sqrt(mean + static_cast<double>(a.epsilon))));
    for (int64_t i = 0; i < a.n; i += 16) {
      const int64_t n = a.n - i < 16 ? a.n - i : 16;
      (Vec16::load_n(x + i, n) * scale * Vec16::load_n(a.weight + i, n)).store_n(out + i, n);
    }
  }
}

// ---- Rotary embedding. The angle is a double: position * frequency reaches 1e6 radians, where a float is off by 0.06.

// |angle| < 2e6. Subtracts the nearest multiple of pi/2 (in two parts, the first product exact), then Taylor
// polynomials on [-pi/4, pi/4] with an error below 1e-11.
void sin_cos(double angle, float* sine, float* cosine) {
  const double turns = angle * 0.63661977236758134308;  // 2 / pi
  constexpr double kMagic = 0x1.8p52;                   // adding it rounds to an integer
  const double quarter = (turns + kMagic) - kMagic;
  const double x = (angle - quarter * 0x1.921fb544p+0) - quarter * 0x1.0b4611a626331p-34;
  const double y = x * x;
  const double s = x + x * y * (-1.0 / 6 + y * (1.0 / 120 + y * (-1.0 / 5040 + y * (1.0 / 362880 - y / 39916800))));
  const double c =
      1 + y * (-0.5 + y * (1.0 / 24 + y * (-1.0 / 720 + y * (1.0 / 40320 - y * (1.0 / 3628800 - y / 479001600)))));
  const int64_t quadrant = static_cast<int64_t>(quarter) & 3;
  const double sine_here = quadrant & 1 ? c : s;
  const double cosine_here = quadrant & 1 ? s : c;
  *sine = static_cast<float>(quadrant & 2 ? -sine_here : sine_here);
  *cosine = static_cast<float>((quadrant + 1) & 2 ? -cosine_here : cosine_here);
}

// Pairs [first, first + n) of every head of one row; n <= 64.
void rotate_pairs(const RopeArgs& a, float* row, int32_t position, int64_t first, int64_t n) {
  float sine[64], cosine[64];
  for (int64_t i = 0; i < n; ++i) {
    sin_cos(static_cast<double>(position) * static_cast<double>(a.inv_freq[first + i]), &sine[i], &cosine[i]);
    sine[i] *= a.magnitude;
    cosine[i] *= a.magnitude;
  }
  for (int64_t h = 0; h < a.n_heads; ++h) {
    float* x = row + h * a.d_head + first;
    float* y = x + a.n_rot / 2;
    for (int64_t i = 0; i < n; i += 16) {
      const int64_t lanes = n - i < 16 ? n - i : 16;
      const Vec16 s = Vec16::load_n(sine + i, lanes), c = Vec16::load_n(cosine + i, lanes);
      const Vec16 x0 = Vec16::load_n(x + i, lanes), y0 = Vec16::load_n(y + i, lanes);
      (x0 * c - y0 * s).store_n(x + i, lanes);
      (x0 * s + y0 * c).store_n(y + i, lanes);
    }
  }
}

void rope(const RopeArgs& a, int64_t m_begin, int64_t m_end) {
  const int64_t n_pairs = a.n_rot / 2;
  for (int64_t j = m_begin; j < m_end; ++j) {
    for (int64_t first = 0; first < n_pairs; first += 64) {
      rotate_pairs(a, a.x + j * a.ld_x, a.positions[j], first, n_pairs - first < 64 ? n_pairs - first : 64);
    }
  }
}

// ---- Gated activations. x / (1 + exp(-x)) is silu; gelu by tanh is the same of another argument, since
// (1 + tanh(y)) / 2 = 1 / (1 + exp(-2 y)).

Vec16 times_sigmoid(const Vec16& x, const Vec16& argument) {
  return x / (Vec16::broadcast(1.0f) + exp(Vec16::zero() - argument));
}
Vec16 silu_of(const Vec16& gate, const Vec16& up) { return times_sigmoid(gate, gate) * up; }
Vec16 gelu_of(const Vec16& gate, const Vec16& up) {
  const Vec16 cubic = fma(gate * gate * gate, Vec16::broadcast(0.044715f), gate);
  return times_sigmoid(gate, cubic * Vec16::broadcast(1.5957691216f)) * up;  // 2 sqrt(2 / pi)
}
// A NaN stays: of two, of which one is no number, min and max give the second.
Vec16 clamped_swiglu_of(const Vec16& gate, const Vec16& up) {
  const Vec16 limit = Vec16::broadcast(kSwigluLimit), g = min(limit, gate);
  const Vec16 u = max(Vec16::zero() - limit, min(limit, up));
  return times_sigmoid(g, g * Vec16::broadcast(kSwigluAlpha)) * (u + Vec16::broadcast(1.0f));
}

template <Vec16 (*kActivation)(const Vec16&, const Vec16&)>
void gated(float* gate, const float* up, int64_t n, int64_t ld, int64_t m_begin, int64_t m_end) {
  for (int64_t j = m_begin; j < m_end; ++j) {
    for (int64_t i = 0; i < n; i += 16) {
      const int64_t lanes = n - i < 16 ? n - i : 16;
      const Vec16 g = Vec16::load_n(gate + j * ld + i, lanes);
      const Vec16 u = Vec16::load_n(up + j * ld + i, lanes);
      kActivation(g, u).store_n(gate + j * ld + i, lanes);
    }
  }
}

// ---- Scaled and softly capped logits

void soft_cap(float* x, int64_t n, float scale, float cap) {
  const Vec16 factor = Vec16::broadcast(scale);
  for (int64_t i = 0; i < n; i += 16) {
    const int64_t lanes = n - i < 16 ? n - i : 16;
    const Vec16 v = Vec16::load_n(x + i, lanes) * factor;
    (cap > 0 ? soft_capped(v, cap) : v).store_n(x + i, lanes);
  }
}

// ---- out[i] += scale * x[i]

void add_scaled(const float* x, int64_t n, float scale, float* out) {
  const Vec16 factor = Vec16::broadcast(scale);
  for (int64_t i = 0; i < n; i += 16) {
    const int64_t lanes = n - i < 16 ? n - i : 16;
    fma(Vec16::load_n(x + i, lanes), factor, Vec16::load_n(out + i, lanes)).store_n(out + i, lanes);
  }
}

}  // namespace
}  // namespace inlay::cpu
