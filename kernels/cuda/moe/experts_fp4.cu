// Products with the experts' matrices: instances of expert_products.cuh for MXFP4.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::mxfp4>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
