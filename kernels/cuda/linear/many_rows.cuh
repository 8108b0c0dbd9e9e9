// The product for many rows of x: CTA = 8 tiles x 64 rows of x (planes: 32), one tile a warp. x of a unit of 64 columns
// is 128 bytes a row in shared memory, four such stages in a ring filled by asynchronous copies and shared by the eight
// tiles; the codes go from global memory to registers, one unit ahead. The 16-byte chunks of row r are exchanged by xor
// with 4 * (r & 1) + (r & 2), so that neither 16-byte nor 8-byte reads of a warp collide. Two CTAs an SM at 128
// registers. Bound: mma and unpacking. A row's bits depend neither on the other rows nor on their number.
#pragma once

#include <type_traits>

#include "kernels/cuda/linear/few_rows.cuh"

namespace inlay::cuda {

inline constexpr int kStages = 4;
inline constexpr int kSumStride = 20;  // floats between columns of sums: a warp's stores meet 32 banks

// How a CTA's work is cut. Rows of planes take twice the registers.
template <DType kType>
struct ManyRows {
  static constexpr int kRows = Layout<kType>::kPlanes ? 32 : 64;
  static constexpr int kNt = kRows / 8;
  static constexpr int kStageBytes = kRows * kUnitCols * 2;
  static constexpr int kTileSums = kRows * kSumStride;
  // Shared memory: the stages of x, then the sums.
  static constexpr int kBytes = kParts * kTileSums * static_cast<int>(sizeof(float));
  static_assert(kStages * kStageBytes <= kBytes);
  static constexpr int kCtasPerSm = Layout<kType>::kScaled ? 2 : 1;  // that registers are there for
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

__device__ __forceinline__ int swizzle_of(int row) { return 4 * (row & 1) + (row & 2); }

// x of the unit in a stage; sums and scales from global memory, once a chunk.
struct StagedRows {
  const uint8_t* row;  // row g of the stage
  GlobalRows chunk;
  int t, swizzle;

  template <int kSteps>
  __device__ __forceinline__ void fetch(int nt, int, int first_step, uint2 (&b)[kSteps]) const {
    const uint8_t* at = row + nt * 8 * 128;
    fetch_steps<kSteps>(
        first_step, b, [&](int j) { return *reinterpret_cast<const uint4*>(at + ((4 * j + t) ^ swizzle) * 16); },
        [&](int s) { return *reinterpret_cast<const uint2*>(at + ((2 * s + t / 2) ^ swizzle) * 16 + t % 2 * 8); });
  }
  __device__ __forceinline__ uint4 sums(int nt) const { return chunk.sums(nt); }
  __device__ __forceinline__ float2 scale(int nt) const { return chunk.scale(nt); }
};

struct StagedPlanes {
  const uint8_t* row;  // row g / 2 of the stage
  GlobalPlanes chunk;
  int vector, swizzle;  // which vector of a row this lane reads

  __device__ __forceinline__ uint4 unit(int quad, int) const {
    // Of rows four apart the exchange is the same.
    return *reinterpret_cast<const uint4*>(row + quad * 4 * 128 + (vector ^ swizzle) * 16);
  }
  __device__ __forceinline__ uint2 sums(int quad) const { return chunk.sums(quad); }
  __device__ __forceinline__ float scale(int quad) const { return chunk.scale(quad); }
};

// The rows of x for a chunk in a product's form; at(stage): as they are in a stage.
template <DType kType>
struct StagedX {
  static constexpr bool kPlanes = Layout<kType>::kPlanes;
  using Rows = std::conditional_t<kPlanes, StagedPlanes, StagedRows>;
  Rows rows;
  int offset;

  __device__ __forceinline__ StagedX(const LinearArgs& a, int chunk, int lane) {
    const int g = lane / 4, t = lane % 4, first = kPlanes ? g / 2 : g;
    offset = first * 128;
    if constexpr (kPlanes) {
      rows = {nullptr, global_planes(a, chunk, lane), g % 2 * 4 + t, swizzle_of(first)};
    } else {
      rows = {nullptr, global_columns<kType>(a, chunk, lane), t, swizzle_of(first)};
    }
  }
  __device__ __forceinline__ const Rows& at(const uint8_t* stage) {
    rows.row = stage + offset;
    return rows;
  }
};

// 16 bytes a copy; rows beyond m are zeros.
template <DType kType>
__device__ __forceinline__ void copy_rows(const LinearArgs& a, int32_t first, int unit, uint8_t* stage) {
  constexpr int kRows = ManyRows<kType>::kRows;
  const auto* x = static_cast<const uint8_t*>(a.x.values) + static_cast<int64_t>(unit) * kUnitCols * 2;
  int64_t pitch = a.x.ld * 2;
  if constexpr (Layout<kType>::kPlanes) {
    x = plane_record(a.x, unit / kChunkUnits, 0) + unit % kChunkUnits * (2 * kPlaneBytes);
    pitch = kRecordBytes;
  }
#pragma unroll
  for (int i = 0; i < kRows * 8 / kLinearThreads; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * kLinearThreads, row = index / 8, chunk = index % 8;
    const bool there = first + row < a.m;
    const uint8_t* from = x + (there ? first + row : 0) * pitch + chunk * 16;
    copy_async_16(stage + row * 128 + (chunk ^ swizzle_of(row)) * 16, from, there);
  }
}

// Where the codes of a tile's units are.
template <DType kType>
__device__ __forceinline__ void load_codes(const uint8_t* tile, int n_units, int unit, int lane,
                                           UnitCodes<kType>& codes) {
  using L = Layout<kType>;
  if constexpr (L::kScaled) {
    codes.load(tile + static_cast<int64_t>(unit / kChunkUnits) * L::kChunkBytes + L::kCodesAt +
                   unit % kChunkUnits * L::kUnitBytes,
               lane);
  } else {
    const int64_t row_bytes = static_cast<int64_t>(n_units) * kUnitCols * 2;
    const uint8_t* at = tile + unit * kUnitCols * 2 + lane / 4 * row_bytes + lane % 4 * 16;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      codes.set_vector(j, *reinterpret_cast<const uint4*>(at + j % 2 * 8 * row_bytes + j / 2 * 64));
  }
}

// What a chunk's groups come to.
template <DType kType, bool kPlanes = Layout<kType>::kPlanes>
struct ManySums {
  float sums[ManyRows<kType>::kNt][4];
};
template <DType kType>
struct ManySums<kType, true> {
  int32_t sums[1][2 * ManyRows<kType>::kNt][4];
};

template <DType kType>
__device__ __forceinline__ void many_rows_total(const LinearArgs& a, int64_t tile, int32_t first, uint8_t* stages,
                                                float (&total)[ManyRows<kType>::kNt][4]) {
  using L = Layout<kType>;
  constexpr int kNt = ManyRows<kType>::kNt, kStageBytes = ManyRows<kType>::kStageBytes;
  constexpr int kUnits = WarpChunk<kType>::kUnits;
  const int n_units = static_cast<int>(units_of(a.n_cols)), lane = static_cast<int>(threadIdx.x % 32);
  const uint8_t* weights = static_cast<const uint8_t*>(a.weights) + tile * L::tile_bytes(n_units);
  UnitCodes<kType> codes, next_codes;
  load_codes<kType>(weights, n_units, 0, lane, codes);
  wait_for_previous_kernel();
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < n_units) copy_rows<kType>(a, first, i, stages + i * kStageBytes);
    commit_copies();
  }
  LinearArgs rows = a;  // of this CTA alone
  rows.m = a.m - first;
  rows.x = rows_from<L::kForm>(a.x, first);
  for (int from = 0; from < n_units; from += kUnits) {
    [[maybe_unused]] ChunkScales<kType> scales[1];
    if constexpr (L::kScaled) scales[0].load(weights + static_cast<int64_t>(from / kUnits) * L::kChunkBytes, lane);
    StagedX<kType> x(rows, from / kUnits, lane);
    [[maybe_unused]] ManySums<kType> acc = {};
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int unit = from + u;
      if (unit >= n_units) break;
      if (unit + 1 < n_units) load_codes<kType>(weights, n_units, unit + 1, lane, next_codes);
      wait_for_copies<kStages - 2>();
      __syncthreads();
      const int ahead = unit + kStages - 1;
      if (ahead < n_units) copy_rows<kType>(a, first, ahead, stages + ahead % kStages * kStageBytes);
      commit_copies();
      const auto& columns = x.at(stages + unit % kStages * kStageBytes);
      if constexpr (L::kPlanes) {
        UnitBytes<kType> tile[1];
        tile[0].set(codes);
        multiply_unit_planes<kType, kNt>(tile, scales, u, columns, acc.sums);
      } else if constexpr (L::kScaled) {
        multiply_unit<kType, kNt>(codes, scales[0], u, columns, acc.sums);
      } else {
        multiply_row_major<kType, kNt>(codes, columns, total);
      }
      codes = next_codes;
    }
    if constexpr (L::kPlanes) {
      finish_planes<kType, kNt>(scales[0], x.rows, acc.sums[0], total);
    } else if constexpr (L::kScaled) {
      finish_chunk<kType, kNt>(scales[0], x.rows, acc.sums, total);
    }
  }
  wait_for_copies<0>();
  __syncthreads();
}

// Tile `tile` times the rows from `first` on, by a warp of a CTA that has the same rows; a tile beyond the last one
// takes part in what the CTA does together.
template <DType kType>
__device__ __forceinline__ void many_rows(const LinearArgs& a, int32_t tile, int32_t first, uint8_t* shared) {
  constexpr int kNt = ManyRows<kType>::kNt;
  const auto n_tiles = static_cast<int32_t>((a.n_rows + kTileRows - 1) / kTileRows);
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  float total[kNt][4] = {};
  many_rows_total<kType>(a, min(tile, n_tiles - 1), first, shared, total);
  if (tile >= n_tiles) return;
  float* sums = reinterpret_cast<float*>(shared) + warp * ManyRows<kType>::kTileSums;
#pragma unroll
  for (int i = 0; i < 4 * kNt; ++i) {
    sums[column_of<kType>(i / 4, i % 4, lane) * kSumStride + tile_row_of(i % 4, lane)] = total[i / 4][i % 4];
  }
  __syncwarp();
  const int n = min(ManyRows<kType>::kRows, a.m - first) * results_of_tile(a);
  for (int e = lane; e < n; e += 32) {
    ResultPlace place = result_place(a, tile, first, e);
    place.load_before();
    store_result(
        a, FinishedValues(), first, place, [&](int row, int col) { return sums[col * kSumStride + row]; },
        [&](int32_t row) { return a.x.row_scale[row]; });
  }
}

#endif

// blockIdx.x: chunk of rows fastest, so that the CTAs that run together share weights in L2. Not launched below compute
// capability 8.0.
template <DType kType>
__global__ void __launch_bounds__(kLinearThreads, ManyRows<kType>::kCtasPerSm)
    linear_many_rows(const __grid_constant__ LinearArgs a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __shared__ alignas(128) uint8_t shared[ManyRows<kType>::kBytes];
  let_next_kernel_start();
  constexpr int kRows = ManyRows<kType>::kRows;
  const int32_t n_chunks = (a.m + kRows - 1) / kRows, at = static_cast<int32_t>(blockIdx.x);
  many_rows<kType>(a, at / n_chunks * kParts + static_cast<int32_t>(threadIdx.x / 32), at % n_chunks * kRows, shared);
#else
  refuse_to_run();
#endif
}

}  // namespace inlay::cuda
