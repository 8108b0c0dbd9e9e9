// Packed quantized tiles (linear/layout.cuh) -> row-major F16, and the largest magnitude of a matrix. A value is
// rounded once, from the F32 value that dequantizing the file's block gives. One warp: 64 columns of a tile's 16 rows
// at a time, a row's 128 bytes in one store. Bound: bandwidth, the packed bytes read and 2 bytes a value written (not
// yet measured).
#include <cuda_fp16.h>

#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// Calls visit(row of the tile, column, two values) for all pairs of neighbouring columns of the units of one warp.
template <DType kType, class Visit>
__device__ __forceinline__ void visit_tile(const void* packed, int64_t n_cols, Visit visit) {
  const int64_t n_units = units_of(n_cols);
  const auto* tile = static_cast<const uint8_t*>(packed) + blockIdx.x * Layout<kType>::tile_bytes(n_units);
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int64_t unit = blockIdx.y * kWarps + threadIdx.x / 32; unit < n_units; unit += gridDim.y * kWarps) {
#pragma unroll 4
    for (int row = 0; row < kTileRows; ++row) {
      const int64_t column = unit * kUnitCols + 2 * lane;
      const float a = element_of<kType>(tile, n_units, row, column);
      const float b = element_of<kType>(tile, n_units, row, column + 1);
      visit(row, column, a, b);
    }
  }
}

template <DType kType>
__global__ void __launch_bounds__(kThreads) dequantize(const __grid_constant__ DequantizeArgs a) {
  const int64_t padded = units_of(a.n_cols) * kUnitCols;
  auto* out = static_cast<__half*>(a.out) + static_cast<int64_t>(blockIdx.x) * kTileRows * padded;
  visit_tile<kType>(a.packed, a.n_cols, [&](int row, int64_t column, float v0, float v1) {
    *reinterpret_cast<__half2*>(out + row * padded + column) = __floats2half2_rn(v0 * a.factor, v1 * a.factor);
  });
}

// Magnitudes of F32 are in the order of their bits; NaN has larger bits than infinity.
template <DType kType>
__global__ void __launch_bounds__(kThreads) largest_magnitude(const __grid_constant__ LargestArgs a) {
  uint32_t largest = 0;
  visit_tile<kType>(a.packed, a.n_cols, [&](int, int64_t, float v0, float v1) {
    largest = max(largest, max(__float_as_uint(fabsf(v0)), __float_as_uint(fabsf(v1))));
  });
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) largest = max(largest, __shfl_xor_sync(kAllLanes, largest, mask));
  if (threadIdx.x % 32 == 0) atomicMax(reinterpret_cast<unsigned*>(a.largest), min(largest, 0x7f800000u));
}

// Tiles along x; along y as many CTAs as a wide tile keeps busy.
template <class Args>
cudaError_t launch(const Args& args, const void* other, auto kernel_of, cudaStream_t stream) {
  if (args.packed == nullptr || other == nullptr || args.dtype >= DType::count || !is_quantized(args.dtype))
    return cudaErrorInvalidValue;
  if (args.n_rows < 0 || args.n_cols <= 0 || args.n_cols % traits(args.dtype).block_elements != 0)
    return cudaErrorInvalidValue;
  const int64_t n_tiles = (args.n_rows + kTileRows - 1) / kTileRows;
  if (n_tiles > 0x7fffffff) return cudaErrorInvalidValue;
  if (n_tiles == 0) return cudaSuccess;
  const int64_t n_warps = units_of(args.n_cols);
  const dim3 grid(static_cast<unsigned>(n_tiles), static_cast<unsigned>(n_warps < 64 ? 1 : n_warps < 512 ? 4 : 16));
  return with_type(args.dtype, [&](auto tag) {
    constexpr DType kType = decltype(tag)::kType;
    if constexpr (Layout<kType>::kScaled) {
      kernel_of(tag)<<<grid, kThreads, 0, stream>>>(args);
      return cudaGetLastError();
    } else {
      return cudaErrorInvalidValue;
    }
  });
}

}  // namespace

cudaError_t launch_dequantize(const DequantizeArgs& args, cudaStream_t stream) {
  return launch(
      args, args.out, [](auto tag) { return dequantize<decltype(tag)::kType>; }, stream);
}

cudaError_t launch_largest(const LargestArgs& args, cudaStream_t stream) {
  return launch(
      args, args.largest, [](auto tag) { return largest_magnitude<decltype(tag)::kType>; }, stream);
}

}  // namespace inlay::cuda
