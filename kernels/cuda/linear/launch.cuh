// Which kernel a product of one type runs on. Included by the linear_<group>.cu files, which compile in parallel.
#pragma once

#include "kernels/cuda/linear/many_rows.cuh"

namespace inlay::cuda {

template <DType kType>
cudaError_t launch_product(const LinearArgs& args, cudaStream_t stream) {
  const auto n_tiles = static_cast<unsigned>((args.n_rows + kTileRows - 1) / kTileRows);
  const auto n_chunks = static_cast<unsigned>((args.m + kChunkRows - 1) / kChunkRows);
  if (n_chunks > 65535) return cudaErrorInvalidValue;
  const dim3 few(n_tiles, n_chunks);
  if constexpr (kType == DType::f32) {
    return launch_early(linear_plain<kType>, few, kLinearThreads, stream, args);
  } else {
    int device = 0, major = 0;
    if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
    if (const cudaError_t e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
        e != cudaSuccess) {
      return e;
    }
    if (args.m > kFewRows && major >= 8) {
      const uint64_t n_ctas = static_cast<uint64_t>((n_tiles + kParts - 1) / kParts) * n_chunks;
      if (n_ctas > 0x7fffffff) return cudaErrorInvalidValue;
      return launch_early(linear_many_rows<kType>, dim3(static_cast<unsigned>(n_ctas)), kLinearThreads, stream, args);
    }
    if (args.m <= 8) return launch_early(linear_few_rows<kType, 1>, few, kLinearThreads, stream, args);
    if (args.m <= 16) return launch_early(linear_few_rows<kType, 2>, few, kLinearThreads, stream, args);
    if (args.m <= 32) return launch_early(linear_few_rows<kType, 4>, few, kLinearThreads, stream, args);
    return launch_early(linear_few_rows<kType, 8>, few, kLinearThreads, stream, args);
  }
}

}  // namespace inlay::cuda
