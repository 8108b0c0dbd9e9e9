// Products without tensor cores: F32 weights, and every type below compute capability 8.0. fma in F32 over single
// elements: correct, and slow for packed types. CTA = one tile x 64 rows of x; rows 2 w and 2 w + 1 of the tile are
// warp w's, eight rows of x at a time; lane l takes columns 2 l, 2 l + 1 of every unit.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/linear/activations.cuh"
#include "kernels/cuda/linear/codes.cuh"
#include "kernels/cuda/linear/results.cuh"

namespace inlay::cuda {

inline constexpr int kPlainThreads = 256;
inline constexpr int kPlainRows = 64;

template <DType kType>
__device__ __forceinline__ float activation_at(const Activations& x, int64_t row, int64_t column) {
  const int64_t at = row * x.ld + column;
  if constexpr (kType == DType::f32) {
    return static_cast<const float*>(x.values)[at];
  } else if constexpr (kType == DType::bf16) {
    return __bfloat162float(static_cast<const __nv_bfloat16*>(x.values)[at]);
  } else if constexpr (Layout<kType>::kPlanes) {
    const auto chunk = static_cast<int32_t>(column / kChunkCols);
    const auto* high = reinterpret_cast<const int8_t*>(plane_record(x, chunk, row)) +
                       plane_place(static_cast<int>(column % kChunkCols));
    return static_cast<float>(256 * high[0] + high[kPlaneBytes]) * kPlaneUnit *
           x.chunk_scale[chunk * x.scale_stride + row];
  } else {
    const float scale = x.chunk_scale[column / kChunkCols * x.scale_stride + row];
    return __half2float(static_cast<const __half*>(x.values)[at]) * scale;
  }
}

template <DType kType>
__device__ __forceinline__ void plain_sums(const LinearArgs& a, int64_t tile, int32_t first, float* sums) {
  using L = Layout<kType>;
  const int64_t n_units = units_of(a.n_cols);
  const uint8_t* weights = static_cast<const uint8_t*>(a.weights) + tile * L::tile_bytes(n_units);
  const int lane = static_cast<int>(threadIdx.x % 32), row = static_cast<int>(threadIdx.x / 32) * 2;
  const int n = min(kPlainRows, a.m - first);
  for (int from = 0; from < n; from += 8) {
    float acc[2][8] = {};
#pragma unroll 2
    for (int64_t u = 0; u < n_units; ++u) {
      for (int i = 0; i < 2; ++i) {
        const int64_t column = u * kUnitCols + 2 * lane + i;
        const float w0 = element_of<kType>(weights, n_units, row, column);
        const float w1 = element_of<kType>(weights, n_units, row + 1, column);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const float x = from + j < n ? activation_at<kType>(a.x, first + from + j, column) : 0.0f;
          acc[0][j] = fmaf(w0, x, acc[0][j]);
          acc[1][j] = fmaf(w1, x, acc[1][j]);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      float sum = acc[j / 8][j % 8];
      for (int step = 16; step > 0; step /= 2) sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, step));
      if (lane == 0) sums[(from + j % 8) * kTileRows + row + j / 8] = sum;
    }
  }
}

// sums: kPlainRows * kTileRows.
template <DType kType>
__device__ __forceinline__ void plain_rows(const LinearArgs& a, int64_t tile, int32_t first, float* sums) {
  plain_sums<kType>(a, tile, first, sums);
  __syncthreads();
  const int n = min(kPlainRows, a.m - first) * results_of_tile(a);
  for (int e = static_cast<int>(threadIdx.x); e < n; e += kPlainThreads) {
    ResultPlace place = result_place(a, tile, first, e);
    place.load_before();
    store_result(
        a, FinishedValues(), first, place, [&](int row, int col) { return sums[col * kTileRows + row]; },
        [&](int32_t row) { return a.x.row_scale[row]; });
  }
}

template <DType kType>
__global__ void __launch_bounds__(kPlainThreads) linear_plain(const __grid_constant__ LinearArgs a) {
  __shared__ float sums[kPlainRows * kTileRows];
  let_next_kernel_start();
  wait_for_previous_kernel();
  plain_rows<kType>(a, blockIdx.x, static_cast<int32_t>(blockIdx.y) * kPlainRows, sums);
}

}  // namespace inlay::cuda
