// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for Q5_0, Q5_1, Q5_K.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q5_0>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q5_0>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q5_0>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::q5_1>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q5_1>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q5_1>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::q5_k>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q5_k>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q5_k>(const ExpertRowArgs&);

}  // namespace inlay::cuda
