// Products with the experts' matrices: instances of expert_products.cuh for IQ4_NL, IQ4_XS.
#include "kernels/cuda/moe/expert_products.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::iq4_nl>(const ExpertLinearArgs&, cudaStream_t);
template cudaError_t launch_experts<DType::iq4_xs>(const ExpertLinearArgs&, cudaStream_t);

}  // namespace inlay::cuda
