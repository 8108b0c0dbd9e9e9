// y = activation(gate, up), scaled and converted for the product that follows; the bias of a product, and soft caps.
// gate and up stand in groups of 16 columns, 8 of each, as gate_up tiles leave them. One CTA a row (rows.cuh); two
// neighbouring threads read one group. Bound: bandwidth, 8 bytes read and 2 written for a value; cuda_gemm speed prints
// GB/s.
#include "kernels/cuda/device/activation.cuh"
#include "kernels/cuda/gemm/rows.cuh"

namespace inlay::cuda {
namespace {

__device__ __forceinline__ float silu_mul(float gate, float up) {
  return __fmul_rn(__fdiv_rn(gate, __fadd_rn(1.0f, expf(-gate))), up);
}

__device__ __forceinline__ float4 silu_mul(const float4& gate, const float4& up) {
  return {silu_mul(gate.x, up.x), silu_mul(gate.y, up.y), silu_mul(gate.z, up.z), silu_mul(gate.w, up.w)};
}

// Of gate or up: product * scale + bias.
__device__ __forceinline__ float4 biased(const float4& v, float scale, const float* bias, int64_t column, int64_t n) {
  const float4 b = bias != nullptr ? load_quad(bias, column, n) : float4{0, 0, 0, 0};
  return {fmaf(v.x, scale, b.x), fmaf(v.y, scale, b.y), fmaf(v.z, scale, b.z), fmaf(v.w, scale, b.w)};
}

__device__ __forceinline__ float4 activate_quad(const GateUpRowsArgs& a, float scale, int64_t column,
                                                const float4& gate_sums, const float4& up_sums) {
  const float4 gate = biased(gate_sums, scale, a.gate_bias, column, a.n_cols);
  const float4 up = biased(up_sums, scale, a.up_bias, column, a.n_cols);
  if (a.activation == Activation::silu) return silu_mul(gate, up);
  return {activate(a.activation, gate.x, up.x), activate(a.activation, gate.y, up.y),
          activate(a.activation, gate.z, up.z), activate(a.activation, gate.w, up.w)};
}

// kVariant: everything but silu of the products as they are.
template <class Element, int kQuads, bool kVariant>
__global__ void __launch_bounds__(kMaxRowThreads) gate_up_rows(const __grid_constant__ GateUpRowsArgs a) {
  __shared__ float shared[kMaxRowThreads / 32];
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int64_t at = blockIdx.x, padded = (a.n_cols + kUnitCols - 1) / kUnitCols * kUnitCols;
  const float* groups = a.gate_up + at * ((a.n_cols + 7) / 8 * 16);
  [[maybe_unused]] const float scale = kVariant && a.scale != nullptr ? a.scale[at] : 1.0f;
  RowValues<kQuads> row;
  row.fill(a.n_cols, [&](int64_t column) {
    const float* quad = groups + column / 8 * 16 + column % 8;
    const float4 gate = *reinterpret_cast<const float4*>(quad), up = *reinterpret_cast<const float4*>(quad + 8);
    return kVariant ? activate_quad(a, scale, column, gate, up) : silu_mul(gate, up);
  });
  if constexpr (kVariant) __syncthreads();  // row_scale may be scale
  if (a.n_cols % 4 != 0) {                  // what stands in the last group beyond the matrix
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
  store_scaled_row<Element>(row, a.out, a.row_scale, padded, a.order, shared);
}

constexpr int kBiasThreads = 256;

__global__ void __launch_bounds__(kBiasThreads) add_bias(const __grid_constant__ AddBiasArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  float* x = a.x + static_cast<int64_t>(blockIdx.x) * a.ld;
  const float scale = a.scale != nullptr ? a.scale[blockIdx.x] : 1.0f;
  for (int64_t i = threadIdx.x; i < a.n_cols; i += kBiasThreads) {
    x[i] = fmaf(x[i], scale, a.bias != nullptr ? a.bias[i] : 0.0f);
  }
}

constexpr int kCapThreads = 256;

__global__ void __launch_bounds__(kCapThreads) soft_cap(const __grid_constant__ SoftCapArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kCapThreads + threadIdx.x;
  if (i < a.n) a.x[i] = soft_capped(a.x[i], a.cap);
}

template <bool kVariant>
cudaError_t launch(const GateUpRowsArgs& args, LaunchTarget target) {
  const auto kernel_of = [&](auto tag) {
    constexpr int kQuads = decltype(tag)::kQuads;
    return args.form == ActivationForm::f16 ? gate_up_rows<__half, kQuads, kVariant>
                                            : gate_up_rows<__nv_bfloat16, kQuads, kVariant>;
  };
  return launch_row_kernel(args, kernel_of, target);
}

}  // namespace

cudaError_t launch_gate_up_rows(const GateUpRowsArgs& args, LaunchTarget target) {
  const bool plain = args.activation == Activation::silu && args.scale == nullptr && args.gate_bias == nullptr &&
                     args.up_bias == nullptr;
  return plain ? launch<false>(args, target) : launch<true>(args, target);
}

cudaError_t launch_soft_cap(const SoftCapArgs& args, LaunchTarget target) {
  const int64_t n_ctas = (args.n + kCapThreads - 1) / kCapThreads;
  if (args.n < 0 || n_ctas > 0x7fffffff || !(args.cap > 0)) return cudaErrorInvalidValue;
  if (args.n == 0) return cudaSuccess;
  return launch_early(soft_cap, dim3(static_cast<unsigned>(n_ctas)), kCapThreads, target, args);
}

cudaError_t launch_add_bias(const AddBiasArgs& args, LaunchTarget target) {
  if (args.n_rows < 0 || args.n_rows > 0x7fffffff || args.n_cols <= 0 || args.ld < args.n_cols)
    return cudaErrorInvalidValue;
  if (args.n_rows == 0) return cudaSuccess;
  return launch_early(add_bias, dim3(static_cast<unsigned>(args.n_rows)), kBiasThreads, target, args);
}

}  // namespace inlay::cuda
