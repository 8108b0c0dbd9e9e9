// Packed matrices of BF16 as F16, whose 11 bits hold BF16's 8: exact but for what lies beyond F16's exponents. Products of F16 take activations of
// 11 bits, those of BF16 of 8, in the same time. Bound: the matrix's bytes, read twice and written once.
#include <cuda_fp16.h>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256, kMostCtas = 1024;

__device__ __forceinline__ float value_of(uint32_t pair, int i) { return __uint_as_float(i == 0 ? pair << 16 : pair & 0xffff0000u); }

__device__ __forceinline__ uint32_t as_halves(uint32_t pair) {
  return static_cast<uint32_t>(__half_as_ushort(__float2half_rn(value_of(pair, 0)))) |
         static_cast<uint32_t>(__half_as_ushort(__float2half_rn(value_of(pair, 1)))) << 16;
}

// Infinities and NaNs stay what they are. row_vectors: of a row.
__global__ void __launch_bounds__(kThreads) measure(const uint4* packed, int64_t n, int64_t row_vectors, float* sums) {
  float squares[2] = {}, errors[2] = {};  // of a tile's upper and lower rows
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += int64_t{gridDim.x} * kThreads) {
    const uint4 four = packed[i];
    float square = 0.0f, lost = 0.0f;
    for (const uint32_t pair : {four.x, four.y, four.z, four.w}) {
      for (int k = 0; k < 2; ++k) {
        const float value = value_of(pair, k);
        if (!isfinite(value)) continue;
        const float error = value - __half2float(__float2half_rn(value));
        square = fmaf(value, value, square);
        lost = fmaf(error, error, lost);
      }
    }
    const bool is_lower = i / row_vectors % kTileRows >= kTileRows / 2;
    squares[0] += is_lower ? 0.0f : square, squares[1] += is_lower ? square : 0.0f;
    errors[0] += is_lower ? 0.0f : lost, errors[1] += is_lower ? lost : 0.0f;
  }
  for (int half = 0; half < 2; ++half) {
    const float square = warp_sum(squares[half]), error = warp_sum(errors[half]);
    if (threadIdx.x % 32 != 0) continue;
    atomicAdd(sums + 2 * half, square);
    atomicAdd(sums + 2 * half + 1, error);
  }
}

__global__ void __launch_bounds__(kThreads) convert(uint4* packed, int64_t n) {
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += int64_t{gridDim.x} * kThreads) {
    const uint4 four = packed[i];
    packed[i] = {as_halves(four.x), as_halves(four.y), as_halves(four.z), as_halves(four.w)};
  }
}

unsigned ctas_for(int64_t n) {
  const int64_t wanted = (n + kThreads - 1) / kThreads;
  return static_cast<unsigned>(wanted < kMostCtas ? wanted : kMostCtas);
}

}  // namespace

cudaError_t launch_f16_loss(const void* packed, int64_t n_rows, int64_t n_cols, float* sums, cudaStream_t stream) {
  const int64_t row_vectors = units_of(n_cols) * kUnitCols * static_cast<int64_t>(sizeof(uint16_t)) / static_cast<int64_t>(sizeof(uint4));
  const auto n = static_cast<int64_t>(packed_bytes(DType::bf16, n_rows, n_cols) / sizeof(uint4));
  if (n == 0) return cudaSuccess;
  measure<<<ctas_for(n), kThreads, 0, stream>>>(static_cast<const uint4*>(packed), n, row_vectors, sums);
  return cudaGetLastError();
}

cudaError_t launch_bf16_to_f16(void* packed, int64_t n_rows, int64_t n_cols, cudaStream_t stream) {
  const auto n = static_cast<int64_t>(packed_bytes(DType::bf16, n_rows, n_cols) / sizeof(uint4));
  if (n == 0) return cudaSuccess;
  convert<<<ctas_for(n), kThreads, 0, stream>>>(static_cast<uint4*>(packed), n);
  return cudaGetLastError();
}

}  // namespace inlay::cuda
