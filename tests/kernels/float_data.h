// Random data, guarded outputs and the list of kernel tables for the tests of float kernels.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/tables.h"

namespace inlay::test {

inline std::vector<float> random_floats(int64_t n, uint32_t seed, float deviation = 1.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& x : out) x = normal(generator);
  return out;
}

// Every table that this processor runs; AVX-512 with and without the BF16 instructions.
inline std::vector<const cpu::Kernels*> all_tables() {
  std::vector<const cpu::Kernels*> out = {&cpu::kernels(cpu::Isa::generic)};
#if defined(__x86_64__)
  if (cpu::supported(cpu::Isa::avx2)) out.push_back(&cpu::kernels(cpu::Isa::avx2));
  if (cpu::supported(cpu::Isa::avx512)) {
    out.push_back(&cpu::avx512_table());
    if (&cpu::kernels(cpu::Isa::avx512) != out.back()) out.push_back(&cpu::kernels(cpu::Isa::avx512));
  }
#endif
  return out;
}

// (rows, columns) of floats, ld = columns + 5, all poisoned: what a kernel must not write keeps the poison.
class GuardedRows {
 public:
  static constexpr uint32_t kPoison = 0x7fc0dead;  // a NaN

  GuardedRows(int64_t n_rows, int64_t n_cols)
      : n_rows_(n_rows), n_cols_(n_cols), bits_(static_cast<size_t>((n_rows + 2) * ld()), kPoison) {}

  int64_t ld() const { return n_cols_ + 5; }
  float* data() { return reinterpret_cast<float*>(bits_.data()) + ld(); }
  float* row(int64_t j) { return data() + j * ld(); }
  void fill(const float* rows) {  // (n_rows, n_cols)
    for (int64_t j = 0; j < n_rows_; ++j) memcpy(row(j), rows + j * n_cols_, static_cast<size_t>(n_cols_) * 4);
  }
  bool guards_intact() const {
    for (int64_t i = 0; i < (n_rows_ + 2) * ld(); ++i) {
      const int64_t j = i / ld() - 1;
      if (j >= 0 && j < n_rows_ && i % ld() < n_cols_) continue;
      if (bits_[static_cast<size_t>(i)] != kPoison) return false;
    }
    return true;
  }
  std::vector<float> values() {
    std::vector<float> out;
    for (int64_t j = 0; j < n_rows_; ++j) out.insert(out.end(), row(j), row(j) + n_cols_);
    return out;
  }

 private:
  int64_t n_rows_, n_cols_;
  std::vector<uint32_t> bits_;
};

inline bool same_bits(const float* a, const float* b, int64_t n) {
  return memcmp(a, b, static_cast<size_t>(n) * 4) == 0;
}

// sum (a - b)^2 / sum b^2; infinite where anything is not finite.
inline double nmse(const std::vector<float>& a, const std::vector<float>& b) {
  double error = 0, power = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - b[i];
    error += d * d;
    power += static_cast<double>(b[i]) * b[i];
  }
  const double out = a.size() == b.size() ? error / power : INFINITY;
  return std::isfinite(out) ? out : INFINITY;
}

}  // namespace inlay::test
