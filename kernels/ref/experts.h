// Products of rows with the matrices of the experts that they go to, and the sum of the results.
#pragma once

#include <cstdint>

#include "kernels/common/dtype.h"

namespace inlay::ref {

// out[row][i][r] = sum over k of W[experts[row][i]][r][k] * x[row (, i)][k] (+ bias[experts[row][i]][r])
struct ExpertLinearArgs {
  DType dtype;
  const void* weights;      // (n_experts, n_rows, n_cols) as the file stores them
  const float* bias;        // (n_experts, n_rows) or null
  const int32_t* experts;   // (m, n_used)
  const float* x;           // (m, n_cols), or (m, n_used, n_cols)
  float* out;               // (m, n_used, n_rows)
  int64_t n_rows, n_cols, m;
  int32_t n_used;
  bool x_of_expert;         // x has a row for each of the row's experts
};
void expert_linear(const ExpertLinearArgs& args);

// out[row] += sum over i of weights[row][i] * values[row][i] (+ shared_weights[row] * shared[row])
struct ExpertSumArgs {
  const float* values;          // (m, n_used, n)
  const float* weights;         // (m, n_used)
  const float* shared;          // (m, n) or null
  const float* shared_weights;  // (m) or null: 1
  float* out;                   // (m, n)
  int64_t n, m;
  int32_t n_used;
};
void add_experts(const ExpertSumArgs& args);

}  // namespace inlay::ref
