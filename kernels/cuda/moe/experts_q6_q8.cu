// Products with the experts' matrices: instances of expert_products.cuh for Q6_K, Q8_0, F8_E4M3.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q6_k>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::q8_0>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::f8_e4m3>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
