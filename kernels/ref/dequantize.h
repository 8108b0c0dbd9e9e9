// Every storage type to float: what the bytes of a file stand for. The oracle of all packed forms.
#pragma once

#include <cstdint>

#include "kernels/common/dtype.h"

namespace inlay::ref {

// n elements (a multiple of the type's block) from `blocks`, which may lie at any address.
void dequantize_row(DType type, const void* blocks, int64_t n, float* out);

}  // namespace inlay::ref
