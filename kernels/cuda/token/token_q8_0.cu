// The token kernel for models of Q8_0.
#include "kernels/cuda/token/token_kernel.cuh"

namespace inlay::cuda {

template TokenKernel token_kernel_of<DType::q8_0, DType::q8_0, false>(int32_t d_head);
template TokenKernel token_kernel_of<DType::q8_0, DType::q8_0, true>(int32_t d_head);

}  // namespace inlay::cuda
