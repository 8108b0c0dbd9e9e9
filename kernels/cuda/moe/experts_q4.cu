// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for Q4_0, Q4_1, Q4_K.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q4_0>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q4_0>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q4_0>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::q4_1>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q4_1>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q4_1>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::q4_k>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q4_k>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q4_k>(const ExpertRowArgs&);

}  // namespace inlay::cuda
