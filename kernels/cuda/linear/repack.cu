// File rows -> packed tiles (layout.cuh), loss-free. One thread builds what one lane of the products reads of one unit,
// so every packed word is written once and whole. Bound: the file's bytes, read in single bytes; a matrix is repacked
// once when it is loaded (measured share of the bandwidth: not yet measured).
#include "kernels/cuda/linear/layout.cuh"
#include "kernels/cuda/quant/file_blocks.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;

struct Source {
  const uint8_t* rows;
  const uint8_t* up_rows;
  uint8_t* packed;
  int64_t n_rows, n_cols, n_units, row_bytes;
  bool gate_up;
};

// The file's row at row `row` of a tile, or null beyond the matrix.
__device__ const uint8_t* file_row(const Source& a, int64_t tile, int row) {
  if (!a.gate_up) {
    const int64_t r = tile * kTileRows + row;
    return r < a.n_rows ? a.rows + r * a.row_bytes : nullptr;
  }
  const int64_t r = tile * (kTileRows / 2) + row % 8;
  if (r >= a.n_rows / 2) return nullptr;
  return (row < 8 ? a.rows : a.up_rows) + r * a.row_bytes;
}

__device__ uint32_t bits16_at(const uint8_t* p) { return p[0] | static_cast<uint32_t>(p[1]) << 8; }

// Element `column` of a row: code or 16 bits. Zero beyond the matrix.
template <DType kType>
__device__ uint32_t source_code(const uint8_t* row, int64_t column, int64_t n_cols) {
  if (row == nullptr || column >= n_cols) return 0;
  if constexpr (!Layout<kType>::kScaled) {
    return bits16_at(row + 2 * column);
  } else {
    constexpr int kBlock = Layout<kType>::kFormat.super ? 256 : 32;
    const auto* blocks = reinterpret_cast<const typename FileBlock<kType>::Type*>(row);
    return file_code(blocks[column / kBlock], static_cast<int>(column % kBlock));
  }
}

template <DType kType>
__device__ void pack_codes(const Source& a, int64_t tile, int64_t unit, int lane, uint8_t* to) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  uint32_t low[4 * L::kVectors] = {}, high[2] = {};
  for (int reg = 0; reg < 4; ++reg) {
    const uint8_t* row = file_row(a, tile, row_of(lane, reg));
    for (int i = 0; i < 8; ++i) {
      const int step = i / 2, half = i % 2;
      const uint32_t code = source_code<kType>(row, unit * kUnitCols + col_of<kType>(lane, step, reg, half), a.n_cols);
      if constexpr (kFormat.low_bits == 16) {
        low[4 * step + reg] |= code << (16 * half);
      } else if constexpr (kFormat.low_bits == 8) {
        low[2 * step + reg / 2] |= code << (16 * (reg % 2) + 8 * half);
      } else {
        low[step] |= (code & 15) << (4 * reg + 16 * half);
        if constexpr (kFormat.high_bits == 1) high[0] |= (code >> 4) << (4 * step + reg + 16 * half);
        if constexpr (kFormat.high_bits == 2) {
          high[step / 2] |= (code >> 4) << (2 * (step % 2 * 4 + reg) + 16 * half);
        }
      }
    }
  }
  for (int j = 0; j < L::kVectors; ++j) {
    *reinterpret_cast<uint4*>(to + j * 512 + lane * 16) = {low[4 * j], low[4 * j + 1], low[4 * j + 2], low[4 * j + 3]};
  }
  auto* high_to = reinterpret_cast<uint32_t*>(to + L::kLowBytes + lane * 4 * kFormat.high_bits);
  for (int j = 0; j < kFormat.high_bits; ++j) high_to[j] = high[j];
}

// The scales of row pair (g, g + 8) in one unit.
template <DType kType>
__device__ void pack_scales(const Source& a, int64_t tile, int64_t unit, int g, uint8_t* to) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  constexpr int kBlock = Layout<kType>::kFormat.super ? 256 : 32;
  for (int at = 0; at < 2 * L::kGroups; ++at) {
    const int64_t column = unit * kUnitCols + at / 2 * kFormat.group_cols;
    const uint8_t* row = file_row(a, tile, g + 8 * (at % 2));
    const bool there = row != nullptr && column < a.n_cols;
    const auto* block = reinterpret_cast<const typename FileBlock<kType>::Type*>(row) + (there ? column / kBlock : 0);
    [[maybe_unused]] const int group = static_cast<int>(column % kBlock / kFormat.group_cols);
    if constexpr (!kFormat.super) {
      auto* halves = reinterpret_cast<uint16_t*>(to);
      halves[at] = static_cast<uint16_t>(there ? half_bits(block->d) : 0);
      if constexpr (kFormat.minimum) halves[4 + at] = static_cast<uint16_t>(there ? half_bits(block->m) : 0);
    } else if constexpr (kFormat.minimum) {
      to[at] = static_cast<uint8_t>(there ? six_bits(block->scales, group, 0) : 0);
      to[4 + at] = static_cast<uint8_t>(there ? six_bits(block->scales, group, 1) : 0);
    } else {
      to[at] = static_cast<uint8_t>(there ? block->scales[group] : 0);
    }
  }
}

template <DType kType>
__device__ void pack_supers(const Source& a, int64_t tile, int64_t super, int g, uint8_t* to) {
  auto* halves = reinterpret_cast<uint16_t*>(to);
  for (int upper = 0; upper < 2; ++upper) {
    const uint8_t* row = file_row(a, tile, g + 8 * upper);
    const auto* block = reinterpret_cast<const typename FileBlock<kType>::Type*>(row) + super;
    halves[upper] = static_cast<uint16_t>(row != nullptr ? half_bits(block->d) : 0);
    if constexpr (Layout<kType>::kFormat.minimum) {
      halves[2 + upper] = static_cast<uint16_t>(row != nullptr ? half_bits(block->dmin) : 0);
    }
  }
}

__device__ void pack_floats(const Source& a, int64_t tile, int64_t unit, int lane, uint8_t* to) {
  auto* words = reinterpret_cast<uint32_t*>(to);
  for (int i = lane; i < kTileRows * kUnitCols; i += 32) {
    const uint8_t* row = file_row(a, tile, i / kUnitCols);
    const int64_t column = unit * kUnitCols + i % kUnitCols;
    const bool there = row != nullptr && column < a.n_cols;
    words[i] = there ? bits16_at(row + 4 * column) | bits16_at(row + 4 * column + 2) << 16 : 0;
  }
}

// blockIdx.x: tile; a warp takes every 8th unit of it.
template <DType kType>
__global__ void __launch_bounds__(kThreads) repack(const __grid_constant__ Source a) {
  using L = Layout<kType>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t tile = blockIdx.x;
  uint8_t* to = a.packed + tile * L::tile_bytes(a.n_units);
  for (int64_t unit = threadIdx.x / 32; unit < a.n_units; unit += kThreads / 32) {
    if constexpr (kType == DType::f32) {
      pack_floats(a, tile, unit, lane, to + unit * L::kUnitBytes);
    } else {
      pack_codes<kType>(a, tile, unit, lane, to + unit * L::kUnitBytes);
    }
    if constexpr (L::kScaled) {
      if (lane >= 8) continue;
      pack_scales<kType>(a, tile, unit, lane,
                         to + L::scales_at(a.n_units) + unit * L::kScaleBytes + lane * 4 * L::kScaleWords);
      if constexpr (L::kFormat.super) {
        const int64_t super = unit / kUnitsPerSuper;
        uint8_t* at = to + L::supers_at(a.n_units) + super * L::kSuperBytes + lane * 4 * L::kSuperWords;
        if (unit % kUnitsPerSuper == 0) pack_supers<kType>(a, tile, super, lane, at);
      }
    }
  }
}

}  // namespace

size_t packed_bytes(DType dtype, int64_t n_rows, int64_t n_cols) {
  const int64_t n_tiles = (n_rows + kTileRows - 1) / kTileRows, n_units = units_of(n_cols);
  return with_type(dtype, [=](auto tag) {
    return static_cast<size_t>(n_tiles * Layout<decltype(tag)::kType>::tile_bytes(n_units));
  });
}

ActivationForm activation_form(DType weights) {
  if (weights == DType::f32) return ActivationForm::f32;
  return weights == DType::bf16 ? ActivationForm::bf16 : ActivationForm::f16;
}

cudaError_t launch_repack(const RepackArgs& args, cudaStream_t stream) {
  const bool gate_up = args.order == RowOrder::gate_up;
  if (args.dtype >= DType::count || args.n_rows < 0 || args.n_cols <= 0) return cudaErrorInvalidValue;
  if (args.n_cols % traits(args.dtype).block_elements != 0 || (gate_up && args.n_rows % 2 != 0))
    return cudaErrorInvalidValue;
  const int64_t n_tiles = (args.n_rows + kTileRows - 1) / kTileRows;
  if (n_tiles > 0x7fffffff) return cudaErrorInvalidValue;
  if (n_tiles == 0) return cudaSuccess;
  const Source source{static_cast<const uint8_t*>(args.rows),
                      static_cast<const uint8_t*>(args.up_rows),
                      static_cast<uint8_t*>(args.packed),
                      args.n_rows,
                      args.n_cols,
                      units_of(args.n_cols),
                      static_cast<int64_t>(row_bytes(args.dtype, static_cast<uint64_t>(args.n_cols))),
                      gate_up};
  return with_type(args.dtype, [&](auto tag) {
    repack<decltype(tag)::kType><<<static_cast<unsigned>(n_tiles), kThreads, 0, stream>>>(source);
    return cudaGetLastError();
  });
}

}  // namespace inlay::cuda
