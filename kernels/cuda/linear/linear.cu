// launch_linear: checks its arguments and hands over to the type's instances (linear_<group>.cu). Formula, layout and
// bounds: few_rows.cuh, many_rows.cuh, plain.cuh.
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {

template <DType kType>
cudaError_t launch_product(const LinearArgs& args, cudaStream_t stream);
template <DType kType>
bool product_takes_raw(int64_t n_cols);

cudaError_t launch_linear(const LinearArgs& args, cudaStream_t stream) {
  if (!has_kernels(args.dtype) || args.m < 0 || args.n_rows < 0 || args.n_cols <= 0) return cudaErrorInvalidValue;
  if (args.n_cols % traits(args.dtype).block_elements != 0) return cudaErrorInvalidValue;
  const bool halves = args.epilogue == Epilogue::gate_up;
  if ((halves && args.n_rows % 2 != 0) || args.ld_out < (halves ? args.n_rows / 2 : args.n_rows))
    return cudaErrorInvalidValue;
  if (args.n_rows > 0x7fffffff || (args.raw != nullptr && args.m != 1)) return cudaErrorInvalidValue;
  if (args.m == 0 || args.n_rows == 0) return cudaSuccess;
  if (args.x.group_rows != 0 && args.raw == nullptr) return launch_group_rows(args, stream);
  return with_form(args.dtype, cudaErrorInvalidValue,
                   [&](auto tag) { return launch_product<decltype(tag)::kType>(args, stream); });
}

bool linear_takes_raw(DType weights, int64_t n_cols) {
  return with_form(weights, false, [&](auto tag) { return product_takes_raw<decltype(tag)::kType>(n_cols); });
}

}  // namespace inlay::cuda
