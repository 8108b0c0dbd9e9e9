// In place of mixed_gemm.cu where nothing is built for GPUs of compute capability 9.0.
#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

bool has_mixed_gemm(int) { return false; }
uint64_t mixed_gemm_scratch_bytes(int) { return 0; }
cudaError_t load_mixed_gemm(DType) { return cudaErrorNotSupported; }
cudaError_t launch_mixed_gemm(const MixedGemmArgs&, cudaStream_t) { return cudaErrorNotSupported; }

}  // namespace inlay::cuda
