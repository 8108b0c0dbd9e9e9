// Products with F8_E4M3 weights: instances of few_rows.cuh and many_rows.cuh, where formula, layout and bounds are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::f8_e4m3>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::f8_e4m3>(int64_t);

}  // namespace inlay::cuda
