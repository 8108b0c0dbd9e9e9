// The attention kernels of single rows that know windows, soft caps and sinks, over a cache of fp8.
#include "kernels/cuda/attention/row_attention.cuh"

namespace inlay::cuda {

template RowKernel row_kernel<KvType::fp8_e4m3, true>(int32_t d_head, bool fused);

}  // namespace inlay::cuda
