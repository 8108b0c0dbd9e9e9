#include "kernels/ref/experts.h"

#include "kernels/ref/linear.h"

namespace inlay::ref {

void expert_linear(const ExpertLinearArgs& a) {
  const uint64_t expert_bytes = row_bytes(a.dtype, static_cast<uint64_t>(a.n_cols)) * static_cast<uint64_t>(a.n_rows);
  for (int64_t pair = 0; pair < a.m * a.n_used; ++pair) {
    const int64_t expert = a.experts[pair];
    linear({.dtype = a.dtype,
            .weights = static_cast<const char*>(a.weights) + static_cast<uint64_t>(expert) * expert_bytes,
            .x = a.x + (a.x_of_expert ? pair : pair / a.n_used) * a.n_cols,
            .out = a.out + pair * a.n_rows,
            .bias = a.bias ? a.bias + expert * a.n_rows : nullptr,
            .n_rows = a.n_rows,
            .n_cols = a.n_cols,
            .m = 1,
            .ld_x = a.n_cols,
            .ld_out = a.n_rows,
            .add_to_out = false},
           0, a.n_rows);
  }
}

void add_experts(const ExpertSumArgs& a) {
  for (int64_t row = 0; row < a.m; ++row) {
    for (int64_t c = 0; c < a.n; ++c) {
      double sum = 0;
      for (int64_t pair = row * a.n_used; pair < (row + 1) * a.n_used; ++pair) {
        sum += static_cast<double>(a.weights[pair]) * a.values[pair * a.n + c];
      }
      if (a.shared) sum += static_cast<double>(a.shared_weights ? a.shared_weights[row] : 1.0f) * a.shared[row * a.n + c];
      a.out[row * a.n + c] += static_cast<float>(sum);
    }
  }
}

}  // namespace inlay::ref
