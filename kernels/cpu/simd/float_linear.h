// Linear layers of F32, F16, BF16 and F8_E4M3 weights:
//
//   out[j][row] = dot(W[row], x[j]) (+ bias[row]) (+ out[j][row]),   the dot product summed in the order of the columns
//
// Weights lie in tiles of 16 rows, lanes along the rows (float_ops.h). A pair of tiles is taken through all activation
// rows before the next one, in blocks of columns that keep its weights in the L2 cache: memory is read once however
// many rows there are, and the activations stream from L2 or L3 at 2 bytes (BF16) per 32 multiply-adds.
//
// Bounds: one row, the reading of the weights; many rows, the multiply-adds. Measured on an EPYC of the Zen 5
// generation (4 cores, 49 GB/s, 4.25 GHz: two vectors of multiply-adds a cycle are 544 GFLOP/s of BF16 and 272 of F32),
// per core: one row 33 to 37 GB/s of BF16 or F32 and 26 of F16, so two cores saturate the memory; 128 rows and more 460
// to 530 GFLOP/s of BF16 (85 to 97 %), 250 to 260 of F16 and F32 (93 %). AVX2: 125 GFLOP/s of F16 and F32 (92 %), 110
// of BF16, which it has to unpack.
//
// Included by one file of each instruction set after its vec16.h; everything has internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/simd/dot_block.h"

namespace inlay::cpu {
namespace {

// The threads are the host's, so that frames stay small: few activation rows at a time, whose accumulators lie there.
constexpr int64_t kMaxRows = 128;         // x 2 tiles x 64 bytes = 16 KiB of accumulators
constexpr int64_t kStepsPerBlock = 2048;  // x 2 tiles x 64 bytes = 256 KiB of weights

// Results of T tiles and m activation rows from m_begin on.
template <int T>
void store_tiles(const LinearArgs& args, int64_t tile, int64_t m_begin, int64_t m, const float (*acc)[T * 16]) {
  for (int64_t j = 0; j < m; ++j) {
    for (int t = 0; t < T; ++t) {
      const int64_t row = (tile + t) * kTileRows;
      const int64_t n = args.n_rows - row < kTileRows ? args.n_rows - row : kTileRows;
      float* out = args.out + (m_begin + j) * args.ld_out + row;
      Vec16 y = Vec16::load(acc[j] + 16 * t);
      if (args.bias) y = y + Vec16::load_n(args.bias + row, n);
      if (args.add_to_out) y = Vec16::load_n(out, n) + y;
      y.store_n(out, n);
    }
  }
}

// T tiles from `tile` on, activation rows [m_begin, m_end), at most kMaxRows.
template <class Step, int T, int kStepBytes>
void linear_tiles(const LinearArgs& args, int64_t tile, int64_t m_begin, int64_t m_end) {
  constexpr int64_t kColumns = Step::kColumns;  // per step
  const int64_t n_steps = (args.n_cols + kColumns - 1) / kColumns;
  const int64_t tile_bytes = n_steps * kStepBytes;
  const int64_t row_bytes = static_cast<int64_t>(
      float_activation_row_bytes(static_cast<size_t>(Step::kActivationBytes / kColumns), args.n_cols));
  const char* weights = static_cast<const char*>(args.weights) + tile * tile_bytes;
  const char* activations = static_cast<const char*>(args.activations) + m_begin * row_bytes;
  const int64_t m = m_end - m_begin;

  DotBlock b;
  b.prefetch = b.prefetch_end = nullptr;  // the weights are one stream, which the hardware foresees
  alignas(64) float acc[kMaxRows][T * 16];
  for (int64_t s = 0; s < n_steps; s += kStepsPerBlock) {
    b.w = weights + s * kStepBytes;
    b.tile_stride = tile_bytes;
    b.step_stride = kStepBytes;
    b.a = activations + s * Step::kActivationBytes;
    b.a_stride = row_bytes;
    b.n_steps = n_steps - s < kStepsPerBlock ? n_steps - s : kStepsPerBlock;
    b.acc = acc[0];
    b.acc_stride = T * 16;
    b.fresh = s == 0;
    dot_rows<Step, T>(m, b);
  }
  store_tiles<T>(args, tile, m_begin, m, acc);
}

template <class Step, int T, int kStepBytes>
void linear_rows(const LinearArgs& args, int64_t tile, int64_t m_begin, int64_t m_end) {
  for (int64_t m = m_begin; m < m_end; m += kMaxRows)
    linear_tiles<Step, T, kStepBytes>(args, tile, m, m_end - m < kMaxRows ? m_end : m + kMaxRows);
}

template <class Step, int kStepBytes>
void linear(const LinearArgs& args, int64_t tile_begin, int64_t tile_end, int64_t m_begin, int64_t m_end) {
  int64_t tile = tile_begin;
  for (; tile + Vec16::kTiles <= tile_end; tile += Vec16::kTiles)
    linear_rows<Step, Vec16::kTiles, kStepBytes>(args, tile, m_begin, m_end);
  for (; tile < tile_end; ++tile) linear_rows<Step, 1, kStepBytes>(args, tile, m_begin, m_end);
}

// ---- F8_E4M3: the codes of some columns become floats on the stack, which all activation rows then meet as F32
// weights. Values are exact: a code and a scale have 15 bits together.

constexpr int64_t kFp8Columns = 128;  // x 2 tiles x 64 bytes = 16 KiB

[[maybe_unused]] void expand_fp8(const uint8_t* record, float* out) {
  const Vec16 scale = Vec16::load_f16(record) * Vec16::broadcast(256.0f);
  const uint8_t* codes = record + kFp8CodesAt;
  for (int64_t k = 0; k < kFp8Group * kTileRows; k += kTileRows) (Vec16::load_e4m3(codes + k) * scale).store(out + k);
}

template <int T>
void fp8_tiles(const LinearArgs& args, int64_t tile, int64_t m_begin, int64_t m_end) {
  const auto row_bytes = static_cast<int64_t>(float_activation_row_bytes(4, args.n_cols));
  const auto tile_bytes = static_cast<int64_t>(fp8_tile_bytes(args.n_cols));
  const uint8_t* records = static_cast<const uint8_t*>(args.weights) + tile * tile_bytes;
  const char* activations = static_cast<const char*>(args.activations) + m_begin * row_bytes;
  alignas(64) float weights[T][kFp8Columns * kTileRows];
  alignas(64) float acc[kMaxRows][T * 16];
  DotBlock b;
  b.prefetch = b.prefetch_end = nullptr;
  b.w = reinterpret_cast<const char*>(weights[0]);
  b.tile_stride = sizeof(weights[0]);
  b.step_stride = kTileRows * 4;
  b.a_stride = row_bytes;
  b.acc = acc[0];
  b.acc_stride = T * 16;
  for (int64_t from = 0; from < args.n_cols; from += kFp8Columns) {
    b.n_steps = args.n_cols - from < kFp8Columns ? args.n_cols - from : kFp8Columns;
    for (int t = 0; t < T; ++t) {
      for (int64_t k = 0; k < b.n_steps; k += kFp8Group) {
        expand_fp8(records + t * tile_bytes + (from + k) / kFp8Group * kFp8RecordBytes, weights[t] + k * kTileRows);
      }
    }
    b.a = activations + from * 4;
    b.fresh = from == 0;
    dot_rows<StepF32, T>(m_end - m_begin, b);
  }
  store_tiles<T>(args, tile, m_begin, m_end - m_begin, acc);
}

template <int T>
void fp8_rows(const LinearArgs& args, int64_t tile, int64_t m_begin, int64_t m_end) {
  for (int64_t m = m_begin; m < m_end; m += kMaxRows)
    fp8_tiles<T>(args, tile, m, m_end - m < kMaxRows ? m_end : m + kMaxRows);
}

[[maybe_unused]] void fp8_linear(const LinearArgs& args, int64_t tile_begin, int64_t tile_end, int64_t m_begin,
                                 int64_t m_end) {
  int64_t tile = tile_begin;
  for (; tile + Vec16::kTiles <= tile_end; tile += Vec16::kTiles)
    fp8_rows<Vec16::kTiles>(args, tile, m_begin, m_end);
  for (; tile < tile_end; ++tile) fp8_rows<1>(args, tile, m_begin, m_end);
}

// Copies rows and fills them up with zeros.
[[maybe_unused]] void prepare_f32_rows(const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end,
                                       void* out) {
  const size_t row_bytes = float_activation_row_bytes(4, n_cols);
  const size_t used = static_cast<size_t>(n_cols) * 4;
  for (int64_t j = m_begin; j < m_end; ++j) {
    char* to = static_cast<char*>(out) + static_cast<size_t>(j) * row_bytes;
    memcpy(to, x + j * ld_x, used);
    memset(to + used, 0, row_bytes - used);
  }
}

[[maybe_unused]] LinearKernel float_kernel(DType type, ActivationForm form, LinearFn run) {
  const FloatPacking& packing = float_packing(type);
  return {form, run, packing.tile_bytes, packing.pack, packing.unpack_row};
}

[[maybe_unused]] LinearKernel fp8_kernel() {
  const FloatPacking& packing = fp8_packing();
  return {ActivationForm::f32, fp8_linear, packing.tile_bytes, packing.pack, packing.unpack_row};
}

}  // namespace
}  // namespace inlay::cpu
