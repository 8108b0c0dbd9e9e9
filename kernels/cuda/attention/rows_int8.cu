// The attention kernels of single rows over a cache of int8.
#include "kernels/cuda/attention/row_attention.cuh"

namespace inlay::cuda {

template RowKernel row_kernel<KvType::int8, false>(int32_t d_head, bool fused);

}  // namespace inlay::cuda
