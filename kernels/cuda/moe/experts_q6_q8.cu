// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for Q6_K, Q8_0, F8_E4M3.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q6_k>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q6_k>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q6_k>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::q8_0>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q8_0>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q8_0>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::f8_e4m3>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::f8_e4m3>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::f8_e4m3>(const ExpertRowArgs&);

}  // namespace inlay::cuda
