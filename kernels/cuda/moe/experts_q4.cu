// Products with the experts' matrices: instances of expert_products.cuh for Q4_0, Q4_1, Q4_K.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q4_0>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::q4_1>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::q4_k>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
