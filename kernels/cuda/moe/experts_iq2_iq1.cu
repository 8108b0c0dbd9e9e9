// Products with the experts' matrices: instances of expert_products.cuh for IQ2_S, IQ1_M.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::iq2_s>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::iq1_m>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
