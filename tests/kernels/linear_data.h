// Random quantized matrices as files store them, and plain statements of what a quantized linear layer computes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/common/quant_blocks.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/ref/dequantize.h"
#include "tests/support/factor_place.h"

namespace inlay::test {

// 64-byte aligned storage for packed weights and prepared activations.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size) : storage_(size + 64), size_(size) {}
  uint8_t* data() { return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(storage_.data()) + 63) / 64 * 64); }
  size_t size() const { return size_; }

 private:
  std::vector<uint8_t> storage_;
  size_t size_;
};

// Random codes and sub-scales; factors as set_random_factors makes them.
inline std::vector<uint8_t> random_blocks(DType type, int64_t n_rows, int64_t n_cols, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<uint8_t> bytes(n_rows * row_bytes(type, n_cols));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng());
  for (size_t at = 0; at < bytes.size(); at += traits(type).block_bytes) set_random_factors(type, rng, &bytes[at]);
  return bytes;
}

inline std::vector<float> random_activations(int64_t m, int64_t n_cols, uint32_t seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(m * n_cols);
  for (float& value : x) value = normal(rng);
  return x;
}

// The values that the q8 form stands for: per 32 columns the largest magnitude is 127 steps, and where it is large
// enough among its row's a step is divided by 256.
inline std::vector<float> rounded_activations(const std::vector<float>& x, int64_t n_cols,
                                              float fine_above = cpu::kNoneFine) {
  std::vector<float> out(x.size());
  const auto limit_at = [&](size_t at) {
    float limit = 0;
    for (int i = 0; i < 32; ++i) limit = std::fmax(limit, std::fabs(x[at + i]));
    return limit;
  };
  for (size_t row = 0; row < x.size(); row += n_cols) {
    double squares = 0;
    for (int64_t i = 0; i < n_cols; i += 32) squares += std::pow(static_cast<double>(limit_at(row + i)), 2);
    for (int64_t i = 0; i < n_cols; ++i) {
      const float limit = limit_at(row + i / 32 * 32);
      const bool fine = std::pow(static_cast<double>(limit), 2) > fine_above * squares / static_cast<double>(n_cols / 32);
      const float scaled = x[row + i] * (limit > 0 ? 127.0f / limit : 0.0f), code = std::nearbyint(scaled);
      const float fine_code = std::fmax(-127.0f, std::fmin(127.0f, std::nearbyint((scaled - code) * 256)));
      out[row + i] = limit / 127.0f * (code + (fine ? fine_code / 256 : 0.0f));
    }
  }
  return out;
}

// out (m, n_rows) in double. `magnitude` gets the sums of the products' absolute values, what rounding errors scale
// with.
inline void exact_linear(const std::vector<float>& w, const std::vector<float>& x, int64_t n_cols,
                         std::vector<double>& out, std::vector<double>& magnitude) {
  const int64_t n_rows = static_cast<int64_t>(w.size()) / n_cols, m = static_cast<int64_t>(x.size()) / n_cols;
  out.assign(m * n_rows, 0);
  magnitude.assign(m * n_rows, 0);
  for (int64_t j = 0; j < m; ++j) {
    for (int64_t row = 0; row < n_rows; ++row) {
      double sum = 0, absolute = 0;
      for (int64_t i = 0; i < n_cols; ++i) {
        const double product = static_cast<double>(w[row * n_cols + i]) * x[j * n_cols + i];
        sum += product;
        absolute += std::fabs(product);
      }
      out[j * n_rows + row] = sum;
      magnitude[j * n_rows + row] = absolute;
    }
  }
}

inline std::vector<float> dequantize(DType type, const std::vector<uint8_t>& blocks, int64_t n_rows, int64_t n_cols) {
  std::vector<float> out(n_rows * n_cols);
  ref::dequantize_row(type, blocks.data(), n_rows * n_cols, out.data());
  return out;
}

// A matrix packed for one instruction set.
struct PackedMatrix {
  PackedMatrix(const cpu::LinearKernel& kernel, const std::vector<uint8_t>& blocks, int64_t rows, int64_t cols)
      : bytes(cpu::n_tiles(rows) * kernel.tile_bytes(cols)), n_rows(rows), n_cols(cols) {
    kernel.pack(blocks.data(), rows, cols, 0, cpu::n_tiles(rows), bytes.data());
  }
  AlignedBytes bytes;
  int64_t n_rows, n_cols;
};

struct PreparedActivations {
  PreparedActivations(const cpu::Kernels& kernels, cpu::ActivationForm form, const std::vector<float>& x, int64_t cols,
                      float fine_above = cpu::kNoneFine)
      : m(static_cast<int64_t>(x.size()) / cols), bytes(m * kernels.activation_row_bytes(form, cols)) {
    kernels.prepare(form, x.data(), cols, cols, 0, m, fine_above, bytes.data());
  }
  int64_t m;
  AlignedBytes bytes;
};

}  // namespace inlay::test
