// Products with the experts' matrices: instances of expert_products.cuh for Q2_K, Q3_K.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q2_k>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::q3_k>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
