// Products with the experts' matrices: instances of expert_products.cuh for F32, F16, BF16.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::f32>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::f16>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::bf16>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
