// Where the FP16 factors of a quantized block lie, for damaging them and for keeping random ones in range.
#pragma once

#include "kernels/common/quant_blocks.h"

namespace inlay::test {

// In bytes: offset of the first, number of them.
struct FactorPlace {
  uint32_t at, count;
};
inline FactorPlace factor_place(DType type) {
  switch (type) {
    case DType::q4_1:
    case DType::q5_1:
    case DType::q4_k:
    case DType::q5_k:
      return {0, 2};
    case DType::q6_k:
      return {208, 1};
    case DType::q2_k:
      return {80, 2};
    case DType::q3_k:
      return {108, 1};
    default:
      return {0, 1};
  }
}

}  // namespace inlay::test
