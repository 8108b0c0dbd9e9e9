// Rows of floats to blocks of F8_E4M3 (kernels/common/quant_blocks.h), while weights are read.
//
// The scale of a block is the smallest FP16 that is at least its largest magnitude / 448, so that no code overflows
// (of magnitudes beyond 448 * 65504 alone, which become that). A code is the value / scale, rounded to F32 and then to
// the nearest E4M3, ties to even. A block of zeros has scale 0; one with an infinity or a NaN has a scale of NaN, so
// that it shows in every result as it does with the file's own types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/quant_blocks.h"

namespace inlay {

// n values (a multiple of 32) of F32, F16 or BF16 at any address into n / 32 blocks.
void quantize_f8_e4m3(DType from, const std::byte* values, int64_t n, std::byte* blocks);

}  // namespace inlay
