// Products with the experts' matrices: instances of expert_products.cuh for IQ3_XXS, IQ3_S.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::iq3_xxs>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::iq3_s>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
