// Products with F32, F16 and BF16 weights: instances of linear.cuh and many_rows.cuh, where formula, layout and bounds
// are.
#include "kernels/cuda/linear/launch.cuh"

namespace inlay::cuda {

template cudaError_t launch_product<DType::f32>(const LinearArgs&, cudaStream_t);
template cudaError_t launch_product<DType::f16>(const LinearArgs&, cudaStream_t);
template cudaError_t launch_product<DType::bf16>(const LinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
