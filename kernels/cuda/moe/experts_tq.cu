// Products with the experts' matrices: instances of expert_products.cuh and expert_row.cuh for TQ2_0.
#include "kernels/cuda/moe/expert_products.cuh"
#include "kernels/cuda/moe/expert_row.cuh"

namespace inlay::cuda {

template cudaError_t launch_experts<DType::tq2_0>(const ExpertLinearArgs&, LaunchTarget);
template cudaError_t launch_expert_row_of<DType::tq2_0>(const ExpertRowArgs&, LaunchTarget);
template bool runs_expert_row<DType::tq2_0>(const ExpertRowArgs&);

}  // namespace inlay::cuda
