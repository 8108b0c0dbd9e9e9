// The linear kernels of the quantized types: functions of each instruction set, and the packed form that they share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/cpu_kernels.h"

namespace inlay::cpu {

struct QuantPacking {
  size_t (*tile_bytes)(int64_t n_cols);
  void (*pack)(const void* file_rows, int64_t n_rows, int64_t n_cols, int64_t tile_begin, int64_t tile_end,
               void* packed);
  void (*unpack_row)(const void* packed, int64_t n_cols, int64_t row, float* out);
};
const QuantPacking& quant_packing(DType type);  // from q8_0 on

size_t q8_activation_row_bytes(int64_t n_cols);

// quant_linear: null for types before q8_0. prepare_q8: see Kernels::prepare.
namespace generic {
LinearFn quant_linear(DType type);
void prepare_q8(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, float fine_above,
                void* out);
}  // namespace generic
namespace avx2 {
LinearFn quant_linear(DType type);
void prepare_q8(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, float fine_above,
                void* out);
}  // namespace avx2
namespace avx512 {
LinearFn quant_linear(DType type);
void prepare_q8(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, float fine_above,
                void* out);
}  // namespace avx512

}  // namespace inlay::cpu
