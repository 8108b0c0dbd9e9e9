// y = gate / (1 + exp(-gate)) * up, scaled and converted for the product that follows; and the bias of a product. gate
// and up stand in groups of 16 columns, 8 of each, as gate_up tiles leave them. One CTA a row (rows.cuh); two
// neighbouring threads read one group. Bound: bandwidth, 8 bytes read and 2 written for a value; cuda_gemm speed prints
// GB/s.
#include "kernels/cuda/gemm/rows.cuh"

namespace inlay::cuda {
namespace {

__device__ __forceinline__ float silu_mul(float gate, float up) {
  return __fmul_rn(__fdiv_rn(gate, __fadd_rn(1.0f, expf(-gate))), up);
}

template <class Element, int kQuads>
__global__ void __launch_bounds__(kMaxRowThreads) silu_mul_rows(const __grid_constant__ SiluMulRowsArgs a) {
  __shared__ float shared[kMaxRowThreads / 32];
  const int64_t at = blockIdx.x, padded = (a.n_cols + kUnitCols - 1) / kUnitCols * kUnitCols;
  const float* groups = a.gate_up + at * ((a.n_cols + 7) / 8 * 16);
  RowValues<kQuads> row;
  row.fill(a.n_cols, [&](int64_t column) {
    const float* quad = groups + column / 8 * 16 + column % 8;
    const float4 gate = *reinterpret_cast<const float4*>(quad), up = *reinterpret_cast<const float4*>(quad + 8);
    return float4{silu_mul(gate.x, up.x), silu_mul(gate.y, up.y), silu_mul(gate.z, up.z), silu_mul(gate.w, up.w)};
  });
  if (a.n_cols % 4 != 0) {  // what stands in the last group beyond the matrix
#pragma unroll
    for (int i = 0; i < 4 * kQuads; ++i) {
      if (row.column(i / 4) + i % 4 >= a.n_cols) row.v[i / 4][i % 4] = 0.0f;
    }
  }
  if (a.values != nullptr) {
#pragma unroll
    for (int j = 0; j < kQuads; ++j) {
      if (row.column(j) < a.n_cols) store_quad(a.values + at * a.n_cols, row.column(j), a.n_cols, row.v[j]);
    }
  }
  store_scaled_row<Element>(row, a.out, a.row_scale, padded, shared);
}

constexpr int kBiasThreads = 256;

__global__ void __launch_bounds__(kBiasThreads) add_bias(const __grid_constant__ AddBiasArgs a) {
  float* x = a.x + static_cast<int64_t>(blockIdx.x) * a.ld;
  for (int64_t i = threadIdx.x; i < a.n_cols; i += kBiasThreads) x[i] = __fadd_rn(x[i], a.bias[i]);
}

}  // namespace

cudaError_t launch_silu_mul_rows(const SiluMulRowsArgs& args, cudaStream_t stream) {
  const auto kernel_of = [&](auto tag) {
    constexpr int kQuads = decltype(tag)::kQuads;
    return args.form == ActivationForm::f16 ? silu_mul_rows<__half, kQuads> : silu_mul_rows<__nv_bfloat16, kQuads>;
  };
  return launch_row_kernel(args, kernel_of, stream);
}

cudaError_t launch_add_bias(const AddBiasArgs& args, cudaStream_t stream) {
  if (args.n_rows < 0 || args.n_rows > 0x7fffffff || args.n_cols <= 0 || args.ld < args.n_cols)
    return cudaErrorInvalidValue;
  if (args.n_rows == 0) return cudaSuccess;
  add_bias<<<static_cast<unsigned>(args.n_rows), kBiasThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace inlay::cuda
