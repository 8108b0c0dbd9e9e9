// hasty_kernels.cu for programs whose `inlay` is the true one.
#pragma once

#include <cuda_runtime.h>

// As launch_linear, without waiting for the launch before. args: LinearArgs of a raw row and Q8_0 weights.
cudaError_t launch_hasty_product(const void* args, cudaStream_t stream);

// For TokenLaunch::kernel, of ops with Q8_0 weights and no attention.
const void* hasty_token_kernel(int n_rows);
