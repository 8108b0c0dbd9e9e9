// How the mixed-input GEMM of one type is loaded and launched. Each type's kernels are compiled in a file of their own.
#pragma once

#include <cuda.h>

#include "kernels/cuda/gemm/hopper/mixed_gemm.cuh"

namespace inlay::cuda {

template <DType kType, int kTokens>
cudaError_t load_tokens() {
  return cudaFuncSetAttribute(mixed_gemm<kType, kTokens>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              GemmStages<kType, kTokens>::kBytes);
}

template <DType kType, int kTokens>
cudaError_t launch_tokens(const GemmTask& task, const CUtensorMap& x, const GemmLaunch& launch) {
  if (const cudaError_t e = load_tokens<kType, kTokens>(); e != cudaSuccess) return e;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(launch.n_ctas));
  config.blockDim = dim3(kGemmThreads);
  config.dynamicSmemBytes = GemmStages<kType, kTokens>::kBytes;
  config.stream = launch.stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, mixed_gemm<kType, kTokens>, task, x);
}

template <DType kType>
cudaError_t load_mixed_gemm_of() {
  for (const auto load : {load_tokens<kType, 64>, load_tokens<kType, 128>, load_tokens<kType, 256>}) {
    if (const cudaError_t e = load(); e != cudaSuccess) return e;
  }
  return cudaSuccess;
}

template <DType kType>
cudaError_t launch_mixed_gemm_of(const GemmTask& task, const CUtensorMap& x, const GemmLaunch& launch) {
  if (launch.n_tokens == 256) return launch_tokens<kType, 256>(task, x, launch);
  if (launch.n_tokens == 128) return launch_tokens<kType, 128>(task, x, launch);
  return launch_tokens<kType, 64>(task, x, launch);
}

}  // namespace inlay::cuda
