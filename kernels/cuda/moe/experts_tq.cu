// Products with the experts' matrices: instances of expert_products.cuh for TQ2_0.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::tq2_0>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
