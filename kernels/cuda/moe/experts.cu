// launch_expert_linear: checks its arguments and hands over to the type's instances (experts_<group>.cu).
#include "kernels/cuda/linear/layout.cuh"
#include "kernels/cuda/moe_kernels.h"

namespace inlay::cuda {

template <DType kType>
cudaError_t launch_experts(const ExpertLinearArgs& args, cudaStream_t stream);

cudaError_t launch_expert_linear(const ExpertLinearArgs& args, cudaStream_t stream) {
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
                   [&](auto tag) { return launch_experts<decltype(tag)::kType>(args, stream); });
}

}  // namespace inlay::cuda
