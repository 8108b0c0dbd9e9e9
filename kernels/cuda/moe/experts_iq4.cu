// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for IQ4_NL, IQ4_XS.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::iq4_nl>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::iq4_nl>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::iq4_nl>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::iq4_xs>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::iq4_xs>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::iq4_xs>(const ExpertRowArgs&);

}  // namespace inlay::cuda
