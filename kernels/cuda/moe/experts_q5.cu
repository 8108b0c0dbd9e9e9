// Products with the experts' matrices: instances of expert_products.cuh for Q5_0, Q5_1, Q5_K.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q5_0>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::q5_1>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::q5_k>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
