// A view of a tensor that somebody else owns.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/common/dtype.h"

namespace inlay {

// Shapes are written outermost dimension first: a weight matrix is (n_out, n_in), its rows contiguous.
struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  int32_t rank = 0;
  std::array<int64_t, 4> shape{};  // entries past the rank are 1

  int64_t n_rows() const { return rank >= 2 ? shape[0] : 1; }
  int64_t n_cols() const { return rank == 0 ? 0 : shape[static_cast<size_t>(rank - 1)]; }
  int64_t n_elements() const {
    int64_t n = 1;
    for (int32_t i = 0; i < rank; ++i) n *= shape[static_cast<size_t>(i)];
    return n;
  }
};

}  // namespace inlay
