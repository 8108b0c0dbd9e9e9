// Rows of floats to the storage types of weights (kernels/common/quant_blocks.h), and the plain types to floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/common/dtype.h"
#include "kernels/common/quant_blocks.h"
#include "src/base/status.h"

namespace inlay {

// As blocks store their scales.
Fp16 half_of(float value);

// FP16 goes down in steps of 2^-24: a scale of few steps becomes the next larger step, so that codes are made for what is stored.
float storable_scale(float scale);

// F32, F16, BF16, Q8_0, Q4_0, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K.
bool can_quantize_to(DType type);
// n values, a multiple of the type's block, to any address. A block with an infinity or a NaN gets a scale of NaN, so
// that it shows in every result.
void quantize(DType to, const float* values, int64_t n, std::byte* out);

// What a type could not hold of the numbers that were converted to it: FP16 values and scales end at 65504 and lose their
// digits below 6e-5. Values that are infinite or NaN before do not count.
struct ConversionLoss {
  float largest = 0;               // magnitude
  double errors = 0, squares = 0;  // sums over the values: of what matters for the share that is lost

  void add(const ConversionLoss& other);
  bool is_beyond() const;  // a number became infinite or NaN
  bool is_too_much(DType to) const;  // several times what the type's bits lose of ordinary weights, or is_beyond()
};

// n values, a multiple of both types' blocks, to another type that can_quantize_to names or F8_E4M3, or copied to the
// same type. F8_E4M3 is made from F32, F16 and BF16 alone.
ConversionLoss convert(DType from, const std::byte* values, DType to, int64_t n, std::byte* out);

// Names the tensor, its largest value and the types that hold it.
Status cannot_hold(std::string_view tensor, DType to, const ConversionLoss& loss);

// n values of F32, F16 or BF16 at any address.
void widen(DType from, const std::byte* values, int64_t n, float* out);

}  // namespace inlay
