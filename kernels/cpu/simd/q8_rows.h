// Activations in the q8 form: which of a row's groups get fine codes.
//
// Included by one file of each instruction set; everything has internal linkage.
#pragma once

#include "kernels/cpu/quant_layout.h"

namespace inlay::cpu {
namespace {

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Of a group whose codes are set.
void set_scale(float limit, Q8Group* out) {
  const float sum = static_cast<float>(out->sums[0] + out->sums[1]);
  const float fine_sum = static_cast<float>(out->fine_sums[0] + out->fine_sums[1]);
  out->scale = limit / 127.0f;
  out->scaled_sum = out->scale * (sum + kFineUnit * fine_sum);
}

// Largest: the bits of a group's largest magnitude; they order as the floats do, with infinities and NaN on top.
// Quantize(x, largest, fine, out): `largest` is neither tiny nor infinite.
template <auto kLargest, auto kQuantize>
void prepare_q8_row(const float* x, int64_t n_groups, double fine_above, Q8Group* row) {
  double squares = 0;  // of the groups' largest magnitudes
  for (int64_t g = 0; g < n_groups; ++g) {
    const uint32_t largest = row[g].fine = kLargest(x + g * kGroup);
    const double limit = largest < kQ8InfinityBits ? float_of(largest) : 0;
    squares += limit * limit;
  }
  const double threshold = fine_above * squares / static_cast<double>(n_groups);
  for (int64_t g = 0; g < n_groups; ++g) {
    const uint32_t largest = row[g].fine;
    if (largest < kQ8TinyBits || largest >= kQ8InfinityBits) {
      row[g] = Q8Group{};
      if (largest >= kQ8InfinityBits) row[g].scale = row[g].scaled_sum = float_of(0x7fc00000);
      continue;
    }
    const double limit = float_of(largest);
    kQuantize(x + g * kGroup, largest, limit * limit > threshold, row + g);
  }
}

template <auto kLargest, auto kQuantize>
void prepare_q8_rows(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, float fine_above,
                     void* out) {
  const size_t stride = q8_row_bytes(n_cols);
  for (int64_t j = m_begin; j < m_end; ++j) {
    auto* row = reinterpret_cast<Q8Group*>(static_cast<uint8_t*>(out) + static_cast<size_t>(j) * stride);
    prepare_q8_row<kLargest, kQuantize>(x + j * ld_x, n_cols / kGroup, fine_above, row);
  }
}

}  // namespace
}  // namespace inlay::cpu
