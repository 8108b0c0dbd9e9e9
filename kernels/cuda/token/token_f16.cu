// The token kernel for models of F16, and of BF16 that is held as F16.
#include "kernels/cuda/token/token_kernel.cuh"

namespace inlay::cuda {

template TokenKernel token_kernel_of<DType::f16, DType::f16, false>(int32_t d_head);

}  // namespace inlay::cuda
