// Products with TQ2_0 and TQ1_0 weights: instances of few_rows.cuh and many_rows.cuh, where formula, layout and bounds
// are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::tq2_0>(const LinearArgs&, LaunchTarget);
template bool product_takes_raw<DType::tq2_0>(int64_t);

}  // namespace inlay::cuda
