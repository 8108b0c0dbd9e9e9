// File rows -> packed tiles (layout.cuh), loss-free. kType is the file's type throughout, its packed form decides where
// things go. One thread builds what one lane of the products reads of one unit,
// so every packed word is written once and whole. Bound: the file's bytes, read in single bytes; a matrix is repacked
// once when it is loaded.
#include <type_traits>

#include "kernels/cuda/linear/codes.cuh"
#include "kernels/cuda/quant/file_blocks.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;

template <DType kType>
inline constexpr int kBlockCols = traits(kType).block_elements;
template <DType kType>
inline constexpr DType kPackedForm = packed_form(kType);
template <DType kType>
using FormLayout = Layout<kPackedForm<kType>>;

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

// The code of element `column` of a row. Zero beyond the matrix.
template <DType kType>
__device__ uint32_t source_code(const uint8_t* row, int64_t column, int64_t n_cols) {
  if (row == nullptr || column >= n_cols) return 0;
  constexpr int kBlock = kBlockCols<kType>;
  const auto* blocks = reinterpret_cast<const typename FileBlock<kType>::Type*>(row);
  return file_code(blocks[column / kBlock], static_cast<int>(column % kBlock));
}

template <DType kType>
__device__ void pack_codes(const Source& a, int64_t tile, int64_t unit, int lane, uint8_t* to) {
  constexpr DType kForm = kPackedForm<kType>;
  UnitCodes<kForm> codes{};
  for (int reg = 0; reg < 4; ++reg) {
    const uint8_t* row = file_row(a, tile, row_of(lane, reg));
    for (int i = 0; i < 8; ++i) {
      const int step = i / 2, half = i % 2;
      const int64_t column = unit * kUnitCols + col_of<kForm>(lane, step, reg, half);
      codes.put(step, reg, half, source_code<kType>(row, column, a.n_cols));
    }
  }
  codes.store(to, lane);
}

// Of one group of one row. Zeros beyond the matrix.
template <DType kType>
__device__ GroupBits source_group(const Source& a, const uint8_t* row, int64_t column) {
  if (row == nullptr || column >= a.n_cols) return {0, 0};
  constexpr int kBlock = kBlockCols<kType>;
  const auto& block = reinterpret_cast<const typename FileBlock<kType>::Type*>(row)[column / kBlock];
  return group_bits(block, static_cast<int>(column % kBlock / FormLayout<kType>::kFormat.group_cols));
}

// What precedes the codes of a chunk.
template <DType kType>
__device__ void pack_scales(const Source& a, int64_t tile, int64_t chunk, int lane, uint8_t* to) {
  using L = FormLayout<kType>;
  using Stored = std::conditional_t<L::kByteScales, uint8_t, uint16_t>;
  for (int i = lane; i < kTileRows * L::kGroups; i += 32) {
    const int row = i % kTileRows, group = i / kTileRows;
    const GroupBits bits =
        source_group<kType>(a, file_row(a, tile, row), chunk * kChunkCols + group * L::kFormat.group_cols);
    auto* scales = reinterpret_cast<Stored*>(to + row % 8 * L::kPairScaleBytes);
    scales[2 * group + row / 8] = static_cast<Stored>(bits.scale);
    if constexpr (L::kLaneMinimumBytes > 0) {
      reinterpret_cast<Stored*>(to + L::kMinimumsAt)[minimum_at(group, row)] = static_cast<Stored>(bits.minimum);
    }
  }
  if constexpr (L::kFormat.super) {
    if (lane >= kTileRows) return;
    const uint8_t* row = file_row(a, tile, lane);
    const auto* block = reinterpret_cast<const typename FileBlock<kType>::Type*>(row) + chunk;
    auto* supers = reinterpret_cast<uint16_t*>(to + L::kSupersAt + lane % 8 * L::kPairSuperBytes);
    supers[lane / 8] = static_cast<uint16_t>(row != nullptr ? super_bits(*block) : 0);
    if constexpr (L::kFormat.minimum) {
      supers[2 + lane / 8] = static_cast<uint16_t>(row != nullptr ? half_bits(block->dmin) : 0);
    }
  }
}

// Row-major types: the rows' bytes, zeros beyond.
template <DType kType>
__device__ void pack_rows(const Source& a, int64_t tile, uint8_t* to) {
  using L = Layout<kType>;
  using Element = std::conditional_t<L::kElementBytes == 4, uint32_t, uint16_t>;
  const int64_t padded = a.n_units * kUnitCols;
  for (int row = 0; row < kTileRows; ++row) {
    const auto* from = reinterpret_cast<const Element*>(file_row(a, tile, row));
    auto* row_to = reinterpret_cast<Element*>(to) + row * padded;
    for (int64_t i = threadIdx.x; i < padded; i += kThreads) {
      row_to[i] = from != nullptr && i < a.n_cols ? from[i] : static_cast<Element>(0);
    }
  }
}

// blockIdx.x: tile; a warp takes every 8th unit of it.
template <DType kType>
__global__ void __launch_bounds__(kThreads) repack(const __grid_constant__ Source a) {
  using L = FormLayout<kType>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int64_t tile = blockIdx.x;
  uint8_t* to = a.packed + tile * L::tile_bytes(a.n_units);
  if constexpr (!L::kScaled) {
    pack_rows<kType>(a, tile, to);
  } else {
    for (int64_t unit = threadIdx.x / 32; unit < a.n_units; unit += kThreads / 32) {
      const int64_t chunk = unit / kChunkUnits, in_chunk = unit % kChunkUnits;
      uint8_t* at = to + chunk * L::kChunkBytes;
      pack_codes<kType>(a, tile, unit, lane, at + L::kCodesAt + in_chunk * L::kUnitBytes);
      if (in_chunk == 0) pack_scales<kType>(a, tile, chunk, lane, at);
    }
  }
}

}  // namespace

size_t packed_bytes(DType dtype, int64_t n_rows, int64_t n_cols) {
  const int64_t n_tiles = (n_rows + kTileRows - 1) / kTileRows, n_units = units_of(n_cols);
  return with_form(dtype, size_t{0}, [=](auto tag) {
    return static_cast<size_t>(n_tiles * Layout<decltype(tag)::kType>::tile_bytes(n_units));
  });
}

ColumnOrder column_order(DType weights) {
  return with_form(weights, ColumnOrder::plain, [](auto tag) {
    using L = Layout<decltype(tag)::kType>;
    if (!L::kScaled) return ColumnOrder::plain;
    return L::kBySteps ? ColumnOrder::runs_of_4 : ColumnOrder::runs_of_8;
  });
}

cudaError_t launch_repack(const RepackArgs& args, cudaStream_t stream) {
  const bool gate_up = args.order == RowOrder::gate_up;
  if (!has_kernels(args.dtype) || args.n_rows < 0 || args.n_cols <= 0) return cudaErrorInvalidValue;
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
  return with_type(args.dtype, cudaErrorInvalidValue, [&](auto tag) {
    repack<decltype(tag)::kType><<<static_cast<unsigned>(n_tiles), kThreads, 0, stream>>>(source);
    return cudaGetLastError();
  });
}

}  // namespace inlay::cuda
