// Blocks of F8_E4M3 to packed tiles and back; the layout is float_ops.h's.
#include <cstring>

#include "kernels/common/quant_blocks.h"
#include "kernels/cpu/float_ops.h"

namespace inlay::cpu {
namespace {

size_t tile_bytes(int64_t n_cols) { return fp8_tile_bytes(n_cols); }

void pack(const void* file_rows, int64_t n_rows, int64_t n_cols, int64_t tile_begin, int64_t tile_end, void* packed) {
  const int64_t n_blocks = n_cols / kFp8Group;
  const auto* blocks = static_cast<const uint8_t*>(file_rows);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    uint8_t* to = static_cast<uint8_t*>(packed) + static_cast<size_t>(tile) * fp8_tile_bytes(n_cols);
    std::memset(to, 0, fp8_tile_bytes(n_cols));
    const int64_t first = tile * kTileRows;
    const int64_t rows = n_rows - first < kTileRows ? n_rows - first : kTileRows;
    for (int64_t i = 0; i < n_blocks; ++i, to += kFp8RecordBytes) {
      for (int64_t r = 0; r < rows; ++r) {
        BlockF8_E4M3 block;
        std::memcpy(&block, blocks + ((first + r) * n_blocks + i) * static_cast<int64_t>(sizeof block), sizeof block);
        std::memcpy(to + 2 * r, &block.d, 2);
        for (int64_t k = 0; k < kFp8Group; ++k) to[kFp8CodesAt + k * kTileRows + r] = block.q[k];
      }
    }
  }
}

void unpack_row(const void* packed, int64_t n_cols, int64_t row, float* out) {
  const auto* record =
      static_cast<const uint8_t*>(packed) + static_cast<size_t>(row / kTileRows) * fp8_tile_bytes(n_cols);
  const int64_t r = row % kTileRows;
  for (int64_t i = 0; i < n_cols / kFp8Group; ++i, record += kFp8RecordBytes) {
    Fp16 d;
    std::memcpy(&d, record + 2 * r, 2);
    for (int64_t k = 0; k < kFp8Group; ++k) {
      out[i * kFp8Group + k] = to_float(d) * e4m3_to_float(record[kFp8CodesAt + k * kTileRows + r]);
    }
  }
}

}  // namespace

const FloatPacking& fp8_packing() {
  static constexpr FloatPacking kPacking = {tile_bytes, pack, unpack_row};
  return kPacking;
}

}  // namespace inlay::cpu
