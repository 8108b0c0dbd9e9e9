// Products with Q6_K and Q8_0 weights: instances of linear.cuh and many_rows.cuh, where formula, layout and bounds are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::q6_k>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::q6_k>(int64_t);
template cudaError_t launch_product<DType::q8_0>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::q8_0>(int64_t);

}  // namespace inlay::cuda
