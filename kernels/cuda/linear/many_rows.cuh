// The product for many rows of x (see linear.cuh): CTA = 8 tiles x 64 rows of x, one tile a warp. A warp walks through
// the units part by part, 0, 8, 16, ..., 1, 9, 17, ..., and adds each part to the total when it is complete: the
// additions, and so the bits, of the kernel for few rows. x of a unit is 64 rows x 128 bytes in shared memory, four
// such stages in a ring filled by asynchronous copies. The 16-byte chunks of row r are exchanged by xor with 4 * (r &
// 1) + (r & 2), so that neither 16-byte nor 8-byte reads of a warp collide. Two CTAs an SM at 128 registers; what the
// compiler spills (at most 120 bytes) is the price of the second CTA. Bound: mma and unpacking, about 250 instructions
// for 16 x 64 x 64 products of Q4_K (not yet measured).
#pragma once

#include "kernels/cuda/linear/linear.cuh"

namespace inlay::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

inline constexpr int kStages = 4;
inline constexpr int kStageBytes = kChunkRows * kUnitCols * 2;
inline constexpr int kManyNt = kChunkRows / 8;

__device__ __forceinline__ int swizzle_of(int row) { return 4 * (row & 1) + (row & 2); }

struct SharedColumns {
  const uint8_t* row;  // row g of the stage
  int t, swizzle;

  template <int kSteps>
  __device__ __forceinline__ void fetch(int nt, int first_step, uint2 (&b)[kSteps]) const {
    const uint8_t* at = row + nt * 8 * 128;
    fetch_steps<kSteps>(
        first_step, b, [&](int j) { return *reinterpret_cast<const uint4*>(at + ((4 * j + t) ^ swizzle) * 16); },
        [&](int s) { return *reinterpret_cast<const uint2*>(at + ((2 * s + t / 2) ^ swizzle) * 16 + t % 2 * 8); });
  }
};

// Units in the order of the parts.
struct UnitOrder {
  int n_units, unit;
  __device__ __forceinline__ void step() {
    unit += kParts;
    if (unit >= n_units) unit = unit % kParts + 1;  // at the end of the last part: some unit that nobody asks for
  }
  __device__ __forceinline__ bool starts_part() const { return unit < kParts; }
};

// 16 bytes a copy, two copies a thread; rows beyond m are zeros.
__device__ __forceinline__ void copy_columns(const LinearArgs& a, int32_t first, int64_t ld, int unit, uint8_t* stage) {
  const auto* x = static_cast<const uint8_t*>(a.x);
#pragma unroll
  for (int i = 0; i < kChunkRows * 8 / kLinearThreads; ++i) {
    const int index = static_cast<int>(threadIdx.x) + i * kLinearThreads, row = index / 8, chunk = index % 8;
    const bool there = first + row < a.m;
    const uint8_t* from =
        x + (there ? first + row : 0) * ld + static_cast<int64_t>(unit) * (kUnitCols * 2) + chunk * 16;
    copy_async_16(stage + row * 128 + (chunk ^ swizzle_of(row)) * 16, from, there);
  }
}

template <DType kType>
__device__ __forceinline__ void many_rows_total(const LinearArgs& a, int64_t tile, int32_t first, uint8_t* stages,
                                                float (&total)[kManyNt][4]) {
  using L = Layout<kType>;
  const int n_units = static_cast<int>(units_of(a.n_cols));
  const int64_t ld = static_cast<int64_t>(n_units) * kUnitCols * 2;
  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4;
  const uint8_t* weights = static_cast<const uint8_t*>(a.weights) + tile * L::tile_bytes(n_units);
  UnitOrder now{n_units, 0}, copied = now, loaded = now;
  UnitWords<kType> words, next_words;
  words.load(weights, n_units, 0, lane);
  wait_for_previous_kernel();
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < n_units) copy_columns(a, first, ld, copied.unit, stages + i * kStageBytes);
    commit_copies();
    copied.step();
  }
  float acc[kManyNt][4] = {};
  for (int j = 0; j < n_units; ++j) {
    loaded.step();
    if (j + 1 < n_units) next_words.load(weights, n_units, loaded.unit, lane);
    wait_for_copies<kStages - 2>();
    __syncthreads();
    const int ahead = j + kStages - 1;
    if (ahead < n_units) copy_columns(a, first, ld, copied.unit, stages + ahead % kStages * kStageBytes);
    commit_copies();
    copied.step();
    if (j > 0 && now.starts_part()) {
#pragma unroll
      for (int i = 0; i < 4 * kManyNt; ++i) {
        total[i / 4][i % 4] = __fadd_rn(total[i / 4][i % 4], acc[i / 4][i % 4]);
        acc[i / 4][i % 4] = 0.0f;
      }
    }
    const SharedColumns columns{stages + j % kStages * kStageBytes + g * 128, lane % 4, swizzle_of(g)};
    multiply_unit<kType, kManyNt>(words, columns, acc);
    words = next_words;
    now.step();
  }
#pragma unroll
  for (int i = 0; i < 4 * kManyNt; ++i) total[i / 4][i % 4] = __fadd_rn(total[i / 4][i % 4], acc[i / 4][i % 4]);
  wait_for_copies<0>();
  __syncthreads();
}

#endif

// blockIdx.x: chunk of rows fastest, so that the CTAs that run together share weights in L2. Not launched below compute
// capability 8.0.
template <DType kType>
__global__ void __launch_bounds__(kLinearThreads, Layout<kType>::kScaled ? 2 : 1)
    linear_many_rows(const __grid_constant__ LinearArgs a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  constexpr int kPart = kChunkRows * kSumStride;
  __shared__ alignas(128) uint8_t shared[kParts * kPart * sizeof(float)];
  static_assert(kStages * kStageBytes <= sizeof(shared));
  let_next_kernel_start();
  const auto n_tiles = static_cast<int32_t>((a.n_rows + kTileRows - 1) / kTileRows);
  const int32_t n_chunks = (a.m + kChunkRows - 1) / kChunkRows;
  const int32_t first = static_cast<int32_t>(blockIdx.x) % n_chunks * kChunkRows;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int32_t tile = static_cast<int32_t>(blockIdx.x) / n_chunks * kParts + warp;
  float total[kManyNt][4] = {};
  many_rows_total<kType>(a, min(tile, n_tiles - 1), first, shared, total);
  if (tile >= n_tiles) return;
  float* sums = reinterpret_cast<float*>(shared) + warp * kPart;
#pragma unroll
  for (int i = 0; i < 4 * kManyNt; ++i) sums[sum_at(i / 4, lane, i % 4)] = total[i / 4][i % 4];
  __syncwarp();
  store_results(a, tile, first, kChunkRows, lane, 32, [&](int row, int col) { return sums[col * kSumStride + row]; });
#endif
}

}  // namespace inlay::cuda
