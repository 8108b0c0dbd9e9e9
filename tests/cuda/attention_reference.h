// Attention in double on the host, and how far results are from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda/kernel_test.h"

namespace inlay::cuda {

inline constexpr int32_t kBlock = 32;  // positions of a block of the cache

struct Shape {
  int32_t n_heads, n_kv, d_head;
  int64_t row_floats() const { return static_cast<int64_t>(n_heads + 2 * n_kv) * d_head; }
  int64_t out_floats() const { return static_cast<int64_t>(n_heads) * d_head; }
  int64_t block_values() const { return static_cast<int64_t>(n_kv) * kBlock * d_head; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(d_head)); }
  std::string name() const {
    return std::to_string(n_heads) + "/" + std::to_string(n_kv) + "/" + std::to_string(d_head);
  }
};

inline const char* name_of(KvType type) { return type == KvType::f16 ? "f16" : type == KvType::int8 ? "int8" : "fp8"; }

// The value of an E4M3 code by its definition.
inline double e4m3_value(uint8_t code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7) return NAN;
  const double size = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return code & 0x80 ? -size : size;
}

inline double value_of(float x) { return x; }
inline double value_of(uint16_t half) { return from_bits(half); }

// One query head q. key(t) and value(t) point to the components of its n_keys keys and values, floats or halves.
template <class Key, class Value>
void attend(const float* q, const Shape& shape, int32_t n_keys, Key key, Value value, double* out) {
  std::vector<double> score(static_cast<size_t>(n_keys));
  for (int32_t t = 0; t < n_keys; ++t) {
    double dot = 0;
    const auto* k = key(t);
    for (int32_t i = 0; i < shape.d_head; ++i) dot += static_cast<double>(q[i]) * value_of(k[i]);
    score[t] = dot * static_cast<double>(shape.scale());
  }
  const double top = *std::max_element(score.begin(), score.end());
  double sum = 0;
  std::fill(out, out + shape.d_head, 0.0);
  for (int32_t t = 0; t < n_keys; ++t) {
    const double w = std::exp(score[t] - top);
    const auto* v = value(t);
    for (int32_t i = 0; i < shape.d_head; ++i) out[i] += w * value_of(v[i]);
    sum += w;
  }
  for (int32_t i = 0; i < shape.d_head; ++i) out[i] /= sum;
}

// The largest relative L2 error of a row and where it is (infinite if a value is not finite), the squared error of all
// rows over their square, and the values of padding rows that are no longer NaN.
struct Errors {
  double row = 0, total = 0;
  int32_t at_row = -1;
  int64_t padding_written = 0;
};

// Of rows of n_floats each; a negative position is padding.
inline Errors compare(const std::vector<int32_t>& positions, int64_t n_floats, const std::vector<float>& got,
                      const std::vector<double>& expected) {
  Errors e;
  double all_difference = 0, all_size = 0;
  for (int32_t row = 0; row < static_cast<int32_t>(positions.size()); ++row) {
    double difference = 0, size = 0;
    for (int64_t i = row * n_floats; i < (row + 1) * n_floats; ++i) {
      if (positions[row] < 0) {
        e.padding_written += !std::isnan(got[i]);
        continue;
      }
      difference += (got[i] - expected[i]) * (got[i] - expected[i]);
      size += expected[i] * expected[i];
    }
    if (positions[row] < 0) continue;
    all_difference += difference;
    all_size += size;
    const double error = std::isfinite(difference) ? std::sqrt(difference / size) : INFINITY;
    if (error > e.row) e.row = error, e.at_row = row;
  }
  e.total = std::isfinite(all_difference) ? all_difference / all_size : INFINITY;
  return e;
}

}  // namespace inlay::cuda
