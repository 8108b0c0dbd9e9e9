// The token kernel for models of Q4_K and Q6_K.
#include "kernels/cuda/token/token_kernel.cuh"

namespace inlay::cuda {

template TokenKernel token_kernel_of<DType::q4_k, DType::q6_k, false>(int32_t d_head);
template TokenKernel token_kernel_of<DType::q4_k, DType::q6_k, true>(int32_t d_head);

}  // namespace inlay::cuda
