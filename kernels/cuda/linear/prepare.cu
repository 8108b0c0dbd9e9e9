// y = x * 1 / sqrt(mean(x^2) + epsilon) * w (with a norm weight; else y = x), then to the form of a product's
// activations. FP16: y * 2^s with s so that the row's largest magnitude lies in [2^7, 2^8): nothing overflows, and
// small rows keep their digits; row_scale = 2^-s. A row of zeros, or one with an infinity, keeps s = 0. One CTA a row,
// so a row's bits depend on that row alone. Three passes over the row (sum of squares, maximum, store), the later ones
// from the caches. Bound: latency at a few rows, bandwidth in prefill (not yet measured).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/loads.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The same value in every thread; merge is applied in a fixed order.
template <class Merge>
__device__ float over_cta(float value, float* shared, Merge merge) {
  for (int step = 16; step > 0; step /= 2) value = merge(value, __shfl_xor_sync(0xffffffffu, value, step));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float result = shared[0];
  for (int i = 1; i < kWarps; ++i) result = merge(result, shared[i]);
  return result;
}

// 2^s that brings `largest` into [2^7, 2^8), and 2^-s.
__device__ float2 scale_for(float largest) {
  const int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - 127;
  if (largest == 0.0f || exponent > 127) return {1.0f, 1.0f};
  const int s = 7 - max(exponent, -110);
  return {__uint_as_float(static_cast<uint32_t>(127 + s) << 23), __uint_as_float(static_cast<uint32_t>(127 - s) << 23)};
}

__device__ void put(__half* to, float v) { *to = __float2half_rn(v); }
__device__ void put(__nv_bfloat16* to, float v) { *to = __float2bfloat16_rn(v); }
__device__ void put(float* to, float v) { *to = v; }

template <class Element>
__global__ void __launch_bounds__(kThreads) prepare(const __grid_constant__ PrepareArgs a) {
  __shared__ float shared[kWarps];
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int64_t row = blockIdx.x, padded = (a.n_cols + kUnitCols - 1) / kUnitCols * kUnitCols;
  const float* x = a.x + row * a.n_cols;
  float inverse = 1.0f;
  if (a.norm_weight != nullptr) {
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < a.n_cols; i += kThreads) sum = fmaf(x[i], x[i], sum);
    sum = over_cta(sum, shared, [](float p, float q) { return p + q; });
    inverse = 1.0f / sqrtf(sum / static_cast<float>(a.n_cols) + a.epsilon);
  }
  auto value = [&](int64_t i) { return a.norm_weight != nullptr ? x[i] * inverse * a.norm_weight[i] : x[i]; };
  float2 scale{1.0f, 1.0f};
  if constexpr (sizeof(Element) == 2 && !__is_same(Element, __nv_bfloat16)) {
    float largest = 0.0f;
    for (int64_t i = threadIdx.x; i < a.n_cols; i += kThreads) largest = fmaxf(largest, fabsf(value(i)));
    scale = scale_for(over_cta(largest, shared, [](float p, float q) { return fmaxf(p, q); }));
  }
  auto* out = static_cast<Element*>(a.out) + row * padded;
  for (int64_t i = threadIdx.x; i < padded; i += kThreads) put(out + i, i < a.n_cols ? value(i) * scale.x : 0.0f);
  if (threadIdx.x == 0) a.row_scale[row] = scale.y;
}

}  // namespace

cudaError_t launch_prepare(const PrepareArgs& args, cudaStream_t stream) {
  if (args.n_rows < 0 || args.n_rows > 0x7fffffff || args.n_cols <= 0) return cudaErrorInvalidValue;
  if (args.n_rows == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(args.n_rows));
  switch (args.form) {
    case ActivationForm::f16:
      return launch_early(prepare<__half>, grid, kThreads, stream, args);
    case ActivationForm::bf16:
      return launch_early(prepare<__nv_bfloat16>, grid, kThreads, stream, args);
    case ActivationForm::f32:
      return launch_early(prepare<float>, grid, kThreads, stream, args);
  }
  return cudaErrorInvalidValue;
}

}  // namespace inlay::cuda
