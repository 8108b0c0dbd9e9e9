// The token kernel for models of BF16.
#include "kernels/cuda/token/token_kernel.cuh"

namespace inlay::cuda {

template TokenKernel token_kernel_of<DType::bf16, DType::bf16, false>(int32_t d_head);

}  // namespace inlay::cuda
