// The attention kernels of single rows that know windows, soft caps and sinks, over a cache of f16.
#include "kernels/cuda/attention/row_attention.cuh"

namespace inlay::cuda {

template RowKernel row_kernel<KvType::f16, true>(int32_t d_head, bool fused);

}  // namespace inlay::cuda
