// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for IQ2_S, IQ1_M.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::iq2_s>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::iq2_s>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::iq2_s>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::iq1_m>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::iq1_m>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::iq1_m>(const ExpertRowArgs&);

}  // namespace inlay::cuda
