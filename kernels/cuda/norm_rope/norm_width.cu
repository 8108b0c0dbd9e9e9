// RMS norm of all queries of a row together, and of all its keys: q' = q * w / sqrt(mean(q^2) + epsilon), in place on
// qkv.
//
// Tiling: a CTA for the queries and one for the keys of every row. A thread adds its own columns, then the warps' sums
// are added in order: a row's bits depend on the row alone. Bound: latency; the columns are read twice, from L1.
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;

__global__ __launch_bounds__(kThreads) void norm_width_kernel(const __grid_constant__ NormWidthArgs a) {
  __shared__ float sums[kThreads / 32];
  let_next_kernel_start();
  wait_for_previous_kernel();
  const bool of_keys = blockIdx.y == 1;
  const int32_t n = of_keys ? a.n_k : a.n_q;
  const int64_t row_floats = static_cast<int64_t>(a.n_q) + 2 * static_cast<int64_t>(a.n_k);
  float* x = a.qkv + blockIdx.x * row_floats + (of_keys ? a.n_q : 0);
  const float* weight = of_keys ? a.k_norm : a.q_norm;
  float sum = 0.0f;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < n; i += kThreads) sum = fmaf(x[i], x[i], sum);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (const float of_warp : sums) total = __fadd_rn(total, of_warp);
  const float inverse = 1.0f / sqrtf(__fadd_rn(total / static_cast<float>(n), a.epsilon));
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < n; i += kThreads) {
    x[i] = __fmul_rn(__fmul_rn(x[i], inverse), weight[i]);
  }
}

}  // namespace

cudaError_t launch_norm_width(const NormWidthArgs& args, LaunchTarget target) {
  if (args.m < 0 || args.n_q < 1 || args.n_k < 1) return cudaErrorInvalidValue;
  if (args.m == 0) return cudaSuccess;
  return launch_early(norm_width_kernel, dim3(static_cast<unsigned>(args.m), 2), kThreads, target, args);
}

}  // namespace inlay::cuda
