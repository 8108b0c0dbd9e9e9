// Products with IQ3_XXS and IQ3_S weights: instances of few_rows.cuh and many_rows.cuh, where formula, layout and
// bounds are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::iq3_xxs>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::iq3_xxs>(int64_t);
template cudaError_t launch_product<DType::iq3_s>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::iq3_s>(int64_t);

}  // namespace inlay::cuda
