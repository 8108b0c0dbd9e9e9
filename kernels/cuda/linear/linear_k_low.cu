// Products with Q2_K and Q3_K weights: instances of few_rows.cuh and many_rows.cuh, where formula, layout and bounds
// are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::q2_k>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::q2_k>(int64_t);
template cudaError_t launch_product<DType::q3_k>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::q3_k>(int64_t);

}  // namespace inlay::cuda
