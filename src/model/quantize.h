// Rows of floats to the storage types of weights (kernels/common/quant_blocks.h), and the plain types to floats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/dtype.h"
#include "kernels/common/quant_blocks.h"

namespace inlay {

// As blocks store their scales.
Fp16 half_of(float value);

// F32, F16, BF16, Q8_0, Q4_0, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K.
bool can_quantize_to(DType type);
// n values, a multiple of the type's block, to any address. A block with an infinity or a NaN gets a scale of NaN, so
// that it shows in every result.
void quantize(DType to, const float* values, int64_t n, std::byte* out);

// n values, a multiple of both types' blocks, to another type that can_quantize_to names or F8_E4M3, or copied to the
// same type. F8_E4M3 is made from F32, F16 and BF16 alone.
void convert(DType from, const std::byte* values, DType to, int64_t n, std::byte* out);

// n values of F32, F16 or BF16 at any address.
void widen(DType from, const std::byte* values, int64_t n, float* out);

}  // namespace inlay
