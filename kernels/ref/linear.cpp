#include "kernels/ref/linear.h"

#include <vector>

#include "kernels/ref/dequantize.h"

namespace inlay::ref {

void linear(const LinearArgs& a, int64_t row_begin, int64_t row_end) {
  std::vector<float> w(static_cast<size_t>(a.n_cols));
  const uint64_t bytes = row_bytes(a.dtype, static_cast<uint64_t>(a.n_cols));
  for (int64_t row = row_begin; row < row_end; ++row) {
    dequantize_row(a.dtype, static_cast<const char*>(a.weights) + static_cast<uint64_t>(row) * bytes, a.n_cols,
                   w.data());
    for (int64_t j = 0; j < a.m; ++j) {
      const float* x = a.x + j * a.ld_x;
      double dot = 0;
      for (int64_t k = 0; k < a.n_cols; ++k) dot += static_cast<double>(w[static_cast<size_t>(k)]) * x[k];
      float y = static_cast<float>(dot);
      if (a.bias) y += a.bias[row];
      float& out = a.out[j * a.ld_out + row];
      out = a.add_to_out ? out + y : y;
    }
  }
}

}  // namespace inlay::ref
