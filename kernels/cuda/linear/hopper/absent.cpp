// In place of group_rows.cu where nothing is built for GPUs of compute capability 9.0.
#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

int32_t group_rows(DType, int32_t) { return 0; }
bool has_group_pair(DType, DType) { return false; }
cudaError_t launch_group_rows(const LinearArgs&, LaunchTarget) { return cudaErrorNotSupported; }
cudaError_t launch_group_pair(const LinearArgs&, const LinearArgs&, LaunchTarget) { return cudaErrorNotSupported; }

}  // namespace inlay::cuda
