// Products with IQ2 and IQ1 weights: instances of few_rows.cuh and many_rows.cuh, where formula, layout and bounds are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::iq2_s>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::iq2_s>(int64_t);
template cudaError_t launch_product<DType::iq1_m>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::iq1_m>(int64_t);

}  // namespace inlay::cuda
