// launch_moe_combine: a thread has a column of a row. Bound: bandwidth, n_used + 2 floats for each result.
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/moe_kernels.h"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) moe_combine(const __grid_constant__ MoeCombineArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int64_t column = static_cast<int64_t>(blockIdx.y) * kThreads + threadIdx.x, row = blockIdx.x;
  const int32_t n_used = a.shape.n_used;
  const int32_t* places = a.routing.pair_place + row * n_used;
  if (column >= a.n_cols || places[0] < 0) return;
  float sum = 0.0f;
#pragma unroll 4
  for (int i = 0; i < n_used; ++i) {
    sum = fmaf(a.routing.weights[row * n_used + i], a.values[places[i] * a.n_cols + column], sum);
  }
  if (a.shared != nullptr) sum = fmaf(a.routing.shared_weight[row], a.shared[row * a.n_cols + column], sum);
  float* x = a.x + row * a.n_cols + column;
  *x = __fadd_rn(*x, sum);
}

}  // namespace

cudaError_t launch_moe_combine(const MoeCombineArgs& args, LaunchTarget target) {
  const int64_t chunks = (args.n_cols + kThreads - 1) / kThreads;
  if (args.n_cols <= 0 || chunks > 65535 || args.shape.m < 0) return cudaErrorInvalidValue;
  if (args.shape.m == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(args.shape.m), static_cast<unsigned>(chunks));
  return launch_early(moe_combine, grid, kThreads, target, args);
}

}  // namespace inlay::cuda
