// The rotations of a step's rows: table[row][i] = magnitude * {cos, sin}(position * inv_freq[i]), once for all layers.
//
// Tiling: a thread per pair, a CTA per row. Padding rows are left alone. Bound: latency.
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/norm_rope/head.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 128;

__global__ __launch_bounds__(kThreads) void rope_table_kernel(const __grid_constant__ RopeTableArgs a) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int32_t row = static_cast<int32_t>(blockIdx.x), half = a.n_rot / 2;
  const int32_t position = a.positions[row];
  if (position < 0) return;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < half; i += kThreads) {
    a.table[static_cast<int64_t>(row) * half + i] = turn(position, a.inv_freq[i], a.magnitude);
  }
}

}  // namespace

cudaError_t launch_rope_table(const RopeTableArgs& args, LaunchTarget target) {
  if (args.m < 0 || args.n_rot < 0 || args.n_rot % 2 != 0) return cudaErrorInvalidValue;
  if (args.m == 0 || args.n_rot == 0) return cudaSuccess;
  return launch_early(rope_table_kernel, dim3(static_cast<unsigned>(args.m)), kThreads, target, args);
}

}  // namespace inlay::cuda
