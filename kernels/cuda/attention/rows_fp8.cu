// The attention kernels of single rows over a cache of fp8_e4m3.
#include "kernels/cuda/attention/row_attention.cuh"

namespace inlay::cuda {

template RowKernel row_kernel<KvType::fp8_e4m3, false>(int32_t d_head, bool fused);

}  // namespace inlay::cuda
