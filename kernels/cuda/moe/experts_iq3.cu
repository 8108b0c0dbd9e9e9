// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for IQ3_XXS, IQ3_S.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::iq3_xxs>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::iq3_xxs>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::iq3_xxs>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::iq3_s>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::iq3_s>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::iq3_s>(const ExpertRowArgs&);

}  // namespace inlay::cuda
