// out[j][row] = sum over k of W[row][k] * x[j][k] (+ bias[row]) (+ out[j][row]).
#pragma once

#include <cstdint>

#include "kernels/common/dtype.h"

namespace inlay::ref {

struct LinearArgs {
  DType dtype;
  const void* weights;  // (n_rows, n_cols) as the file stores them
  const float* x;       // (m, ld_x)
  float* out;           // (m, ld_out)
  const float* bias;    // (n_rows) or null
  int64_t n_rows, n_cols, m, ld_x, ld_out;
  bool add_to_out;  // true: out += result (residual)
};

// Computes rows [row_begin, row_end) of the matrix for all m activation rows.
void linear(const LinearArgs& args, int64_t row_begin, int64_t row_end);

}  // namespace inlay::ref
