// Products with Q4_0, Q4_1 and Q4_K weights: instances of few_rows.cuh and many_rows.cuh, where formula,
// layout and bounds are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::q4_0>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::q4_0>(int64_t);
template cudaError_t launch_product<DType::q4_1>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::q4_1>(int64_t);
template cudaError_t launch_product<DType::q4_k>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::q4_k>(int64_t);

}  // namespace inlay::cuda
