// launch_linear: checks its arguments and hands over to the type's instances (linear_<group>.cu). Formula, layout and
// bounds: linear.cuh, many_rows.cuh.
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {

template <DType kType>
cudaError_t launch_product(const LinearArgs& args, cudaStream_t stream);

cudaError_t launch_linear(const LinearArgs& args, cudaStream_t stream) {
  if (args.dtype >= DType::count || args.m < 0 || args.n_rows < 0 || args.n_cols <= 0) return cudaErrorInvalidValue;
  if (args.n_cols % traits(args.dtype).block_elements != 0) return cudaErrorInvalidValue;
  const bool halves = args.epilogue == Epilogue::silu_mul;
  if ((halves && args.n_rows % 2 != 0) || args.ld_out < (halves ? args.n_rows / 2 : args.n_rows))
    return cudaErrorInvalidValue;
  if (args.n_rows > 0x7fffffff) return cudaErrorInvalidValue;
  if (args.m == 0 || args.n_rows == 0) return cudaSuccess;
  return with_type(args.dtype, [&](auto tag) { return launch_product<decltype(tag)::kType>(args, stream); });
}

}  // namespace inlay::cuda
