// Products with F32, F16 and BF16 weights: instances of linear.cuh and many_rows.cuh, where formula, layout and bounds
// are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::f32>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::f32>(int64_t);
template cudaError_t launch_product<DType::f16>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::f16>(int64_t);
template cudaError_t launch_product<DType::bf16>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::bf16>(int64_t);

}  // namespace inlay::cuda
