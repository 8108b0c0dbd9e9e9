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

// AttentionVariant on the host; a number of each head in `sinks`, or none.
struct Variant {
  int32_t window = 0;
  float soft_cap = 0;
  std::vector<float> sinks;

  int32_t first_key(int32_t position) const { return window == 0 ? 0 : std::max(0, position - window + 1); }
  double capped(double score) const { return soft_cap == 0 ? score : soft_cap * std::tanh(score / soft_cap); }
  double sink_weight(int32_t head, double top) const { return sinks.empty() ? 0.0 : std::exp(sinks[head] - top); }
  AttentionVariant on_device(const Device<float>& sinks_d) const {
    return {window, soft_cap, sinks.empty() ? nullptr : sinks_d.get()};
  }
  std::string name() const {
    std::string out = window == 0 ? "" : " window " + std::to_string(window);
    if (soft_cap != 0) out += text(" cap %g", soft_cap);
    return out + (sinks.empty() ? "" : " sinks");
  }
};

inline std::vector<float> some_sinks(int32_t n_heads) {
  std::vector<float> sinks;
  for (int32_t h = 0; h < n_heads; ++h) sinks.push_back(static_cast<float>(h % 5) * 2.5f - 2.0f);
  return sinks;
}

// Each kind alone and all together, for models of n_heads.
inline std::vector<Variant> some_variants(int32_t n_heads) {
  return {{.window = 1},
          {.window = 15},
          {.window = 16},
          {.window = 17},
          {.window = 31},
          {.window = 32},
          {.window = 33},
          {.window = 63},
          {.window = 64},
          {.window = 65},
          {.window = 300},
          {.window = 1000},
          {.window = 1 << 30},
          {.soft_cap = 4.0f},
          {.soft_cap = 50.0f},
          {.sinks = some_sinks(n_heads)},
          {.window = 100, .soft_cap = 10.0f, .sinks = some_sinks(n_heads)},
          {.window = 1000, .soft_cap = 10.0f, .sinks = some_sinks(n_heads)}};
}

// What a kernel would compute that has each of the variant's parts a little wrong.
inline std::vector<Variant> wrong_variants(const Variant& v) {
  std::vector<Variant> out;
  if (v.window > 0) out.insert(out.end(), 2, v), out[0].window += 1, out[1].window -= 1;
  if (v.soft_cap > 0) out.push_back(v), out.back().soft_cap = 0;
  if (!v.sinks.empty()) out.push_back(v), out.back().sinks.clear();
  return out;
}

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

// What head h of a variant attends to.
struct HeadVariant {
  const Variant& variant;
  int32_t head;
};

struct SeenKeys {
  int32_t first, end;
};

// One query head q. key(t) and value(t) point to the components of its keys and values, floats or halves.
template <class Key, class Value>
void attend(const float* q, const Shape& shape, SeenKeys seen, const HeadVariant& of, Key key, Value value,
            double* out) {
  const auto [first, n_keys] = seen;
  std::vector<double> score(static_cast<size_t>(n_keys));
  for (int32_t t = first; t < n_keys; ++t) {
    double dot = 0;
    const auto* k = key(t);
    for (int32_t i = 0; i < shape.d_head; ++i) dot += static_cast<double>(q[i]) * value_of(k[i]);
    score[t] = of.variant.capped(dot * static_cast<double>(shape.scale()));
  }
  const double top = *std::max_element(score.begin() + first, score.end());
  double sum = of.variant.sink_weight(of.head, top);
  std::fill(out, out + shape.d_head, 0.0);
  for (int32_t t = first; t < n_keys; ++t) {
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
