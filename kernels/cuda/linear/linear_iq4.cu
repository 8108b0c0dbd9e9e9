// Products with IQ4_NL and IQ4_XS weights: instances of few_rows.cuh and many_rows.cuh, where formula, layout and
// bounds are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::iq4_nl>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::iq4_nl>(int64_t);
template cudaError_t launch_product<DType::iq4_xs>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::iq4_xs>(int64_t);

}  // namespace inlay::cuda
