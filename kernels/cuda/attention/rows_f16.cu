// The attention kernels of single rows over a cache of f16.
#include "kernels/cuda/attention/row_attention.cuh"

namespace inlay::cuda {

template RowKernel row_kernel<KvType::f16, false>(int32_t d_head, bool fused);

}  // namespace inlay::cuda
