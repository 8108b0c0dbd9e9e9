// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for F32, F16, BF16.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::f32>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::f32>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::f32>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::f16>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::f16>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::f16>(const ExpertRowArgs&);
template cudaError_t launch_experts<DType::bf16>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::bf16>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::bf16>(const ExpertRowArgs&);

}  // namespace inlay::cuda
