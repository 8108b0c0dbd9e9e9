// launch_linear: checks its arguments and hands over to the type's instances (linear_type.cu.in). Formula, layout and
// bounds: few_rows.cuh, many_rows.cuh, plain.cuh.
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {

template <DType kType>
cudaError_t launch_product(const LinearArgs& args, LaunchTarget target);
template <DType kType>
bool product_takes_raw(int64_t n_cols);

static bool is_valid(const LinearArgs& args) {
  if (!has_kernels(args.dtype) || args.m < 0 || args.n_rows < 0 || args.n_cols <= 0) return false;
  if (args.n_cols % traits(args.dtype).block_elements != 0) return false;
  const bool halves = args.epilogue == Epilogue::gate_up;
  if ((halves && args.n_rows % 2 != 0) || args.ld_out < (halves ? args.n_rows / 2 : args.n_rows)) return false;
  return args.n_rows <= 0x7fffffff && (args.raw == nullptr || args.m == 1);
}

static bool is_by_groups(const LinearArgs& args) {
  return args.x.group_rows != 0 && args.raw == nullptr && args.m > 0 && args.n_rows > 0;
}

cudaError_t launch_linear(const LinearArgs& args, LaunchTarget target) {
  if (!is_valid(args)) return cudaErrorInvalidValue;
  if (args.m == 0 || args.n_rows == 0) return cudaSuccess;
  if (is_by_groups(args)) return launch_group_rows(args, target);
  return with_form(args.dtype, cudaErrorInvalidValue,
                   [&](auto tag) { return launch_product<decltype(tag)::kType>(args, target); });
}

cudaError_t launch_linear_pair(const LinearArgs& args, const LinearArgs& beside, LaunchTarget target) {
  if (!is_valid(args) || !is_valid(beside)) return cudaErrorInvalidValue;
  if (is_by_groups(args) && is_by_groups(beside) && has_group_pair(args.dtype, beside.dtype))
    return launch_group_pair(args, beside, target);
  const cudaError_t e = launch_linear(args, target);
  return e != cudaSuccess ? e : launch_linear(beside, target);
}

bool linear_takes_raw(DType weights, int64_t n_cols) {
  return with_form(weights, false, [&](auto tag) { return product_takes_raw<decltype(tag)::kType>(n_cols); });
}

}  // namespace inlay::cuda
