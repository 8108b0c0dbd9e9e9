// launch_expert_linear, launch_expert_row: check their arguments and hand over to the type's instances
// (experts_type.cu.in).
#include "kernels/cuda/linear/layout.cuh"
#include "kernels/cuda/moe_kernels.h"

namespace inlay::cuda {

template <DType kType>
cudaError_t launch_experts(const ExpertLinearArgs& args, LaunchTarget target);
template <DType kType>
cudaError_t launch_expert_row_of(const ExpertRowArgs& args, LaunchTarget target);
template <DType kType>
bool runs_expert_row(const ExpertRowArgs& args);

cudaError_t launch_expert_linear(const ExpertLinearArgs& args, LaunchTarget target) {
  const LinearArgs& a = args.linear;
  const bool halves = a.epilogue == Epilogue::gate_up;
  if (!has_kernels(a.dtype) || a.m < 1 || a.m > kMostBlockRows || a.n_rows < 0 || a.n_cols <= 0)
    return cudaErrorInvalidValue;
  if (a.n_cols % traits(a.dtype).block_elements != 0 || a.n_rows % kTileRows != 0) return cudaErrorInvalidValue;
  if (a.ld_out < (halves ? a.n_rows / 2 : a.n_rows) || a.n_rows > 0x7fffffff) return cudaErrorInvalidValue;
  if (a.out_rows != nullptr || (a.raw != nullptr && a.m != 1)) return cudaErrorInvalidValue;
  if (args.most_blocks < 0 || args.most_blocks > 65535) return cudaErrorInvalidValue;
  if (args.most_blocks == 0 || a.n_rows == 0) return cudaSuccess;
  return with_form(a.dtype, cudaErrorInvalidValue,
                   [&](auto tag) { return launch_experts<decltype(tag)::kType>(args, target); });
}

bool expert_row_runs(const ExpertRowArgs& args) {
  const LinearArgs& a = args.linear;
  if (!has_kernels(a.dtype) || args.sum.shape.m != 1 || args.sum.shape.n_used < 1 || args.sum.shape.n_used > kMaxChosen)
    return false;
  return with_form(a.dtype, false, [&](auto tag) { return runs_expert_row<decltype(tag)::kType>(args); });
}

cudaError_t launch_expert_row(const ExpertRowArgs& args, LaunchTarget target) {
  const LinearArgs& a = args.linear;
  if (a.m != 1 || a.raw != nullptr || a.n_rows <= 0 || a.n_cols <= 0 || a.n_rows % kTileRows != 0 ||
      a.n_rows > 0x7fffffff)
    return cudaErrorInvalidValue;
  if (a.n_cols % traits(a.dtype).block_elements != 0 || !expert_row_runs(args)) return cudaErrorInvalidValue;
  return with_form(a.dtype, cudaErrorInvalidValue,
                   [&](auto tag) { return launch_expert_row_of<decltype(tag)::kType>(args, target); });
}

}  // namespace inlay::cuda
