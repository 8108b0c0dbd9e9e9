// The types with blocks of 256. Private to quantize.cpp.
#pragma once

#include "kernels/common/quant_blocks.h"

namespace inlay {

// 256 finite values each.
void quantize_block(const float* values, BlockQ4_K& out);
void quantize_block(const float* values, BlockQ5_K& out);
void quantize_block(const float* values, BlockQ6_K& out);

}  // namespace inlay
