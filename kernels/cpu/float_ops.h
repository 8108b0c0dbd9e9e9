// Float linear layers, element-wise ops, attention and quantizers of each instruction set, as the tables take them.
#pragma once

#include "kernels/cpu/cpu_kernels.h"

namespace inlay::cpu {

// Bytes of one prepared activation row in the f32 (element_bytes 4) or bf16 (2) form: whole cache lines, an odd number
// of them, because rows a power of two apart would all fall into the same few sets of the L1 cache.
static constexpr size_t float_activation_row_bytes(size_t element_bytes, int64_t n_cols) {
  const size_t lines = (static_cast<size_t>(n_cols) * element_bytes + 63) / 64;
  return (lines | 1) * 64;
}

using PrepareFn = void(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end, void* out);

// add_float_linear sets linear[f32, f16, bf16, f8_e4m3]; add_elementwise sets rms_norm, rope, gated; add_attention
// sets the KV cache and attention functions.
namespace generic {
void add_float_linear(Kernels& table);
void add_elementwise(Kernels& table);
void add_attention(Kernels& table);
void add_quantizers(Kernels& table);
PrepareFn prepare_f32;
}  // namespace generic

namespace avx2 {
void add_float_linear(Kernels& table);
void add_elementwise(Kernels& table);
void add_attention(Kernels& table);
void add_quantizers(Kernels& table);
PrepareFn prepare_f32;
}  // namespace avx2

namespace avx512 {
void add_float_linear(Kernels& table);
void add_elementwise(Kernels& table);
void add_attention(Kernels& table);
void add_quantizers(Kernels& table);
PrepareFn prepare_f32;
}  // namespace avx512

namespace avx512bf16 {
void add_float_linear(Kernels& table);  // linear[bf16] alone, which then takes ActivationForm::bf16
PrepareFn prepare_bf16;
}  // namespace avx512bf16

// Packed float weights, one layout for all instruction sets: a tile of 16 rows is [column][16 rows] for F32 and F16 and
// [column pair][16 rows][2] for BF16, the second column of an odd last pair being zero.
struct FloatPacking {
  size_t (*tile_bytes)(int64_t n_cols);
  void (*pack)(const void* file_rows, int64_t n_rows, int64_t n_cols, int64_t tile_begin, int64_t tile_end,
               void* packed);
  void (*unpack_row)(const void* packed, int64_t n_cols, int64_t row, float* out);
};
const FloatPacking& float_packing(DType type);  // f32, f16 or bf16

// Packed F8_E4M3: a tile of 16 rows is a sequence of records of 32 columns, each 16 FP16 scales and then [column][16
// rows] codes; padded to whole cache lines.
inline constexpr int64_t kFp8Group = 32;
inline constexpr int64_t kFp8CodesAt = 2 * kTileRows;
inline constexpr int64_t kFp8RecordBytes = kFp8CodesAt + kFp8Group * kTileRows;
static constexpr size_t fp8_tile_bytes(int64_t n_cols) {
  return static_cast<size_t>((n_cols / kFp8Group * kFp8RecordBytes + 63) / 64 * 64);
}
const FloatPacking& fp8_packing();

}  // namespace inlay::cpu
