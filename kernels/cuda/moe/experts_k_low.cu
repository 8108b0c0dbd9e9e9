// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for Q2_K, Q3_K.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::q2_k>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q2_k>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q2_k>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::q3_k>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::q3_k>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::q3_k>(const ExpertRowArgs&);

}  // namespace inlay::cuda
