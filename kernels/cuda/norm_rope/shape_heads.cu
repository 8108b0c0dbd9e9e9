// RMS norm of each query and key head, rotary embedding, and the way of keys and values into the cache.
//
//   x' = x * w / sqrt(mean(x^2) + epsilon)                                     (only if weights are given)
//   (x'[i], x'[i + n_rot/2]) -> (x'[i] c - x'[i + n_rot/2] s, x'[i] s + x'[i + n_rot/2] c)
//   c, s = magnitude * cos, sin(position * inv_freq[i])
//
// Layout: a row of qkv is (n_heads + 2 n_kv_heads, d_head) f32: q, k, v. q and k are changed in place; k and v are also
// rounded to FP16 (to nearest, ties to even) into slot position % block_tokens of block block_tables[sequence][position
// / block_tokens].
//
// Tiling: a CTA of 8 warps per (row, 8 heads), a warp per head. Every CTA computes the row's n_rot / 2 angles once, in
// shared memory: product and reduction by pi/2 in doubles (a float angle would be off by 0.06 at position 10^6), the
// functions in f32 on |x| <= pi/4.
//
// Bound: latency at one row, reading and writing qkv once at many. Share reached: not yet measured.
#include "kernels/cuda/cuda_kernels.h"

#include <cuda_fp16.h>

#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kMaxHead = 256;

struct ShapeMemory {
  float cosine[kMaxHead / 2];
  float sine[kMaxHead / 2];
  float head[kWarps][kMaxHead];
};

// The angle as n * pi/2 + r: r is exact to 1e-11 for angles up to 2^21 (pi/2 in two parts, fused products), so sine and
// cosine have the error of sincosf near 0.
__device__ __forceinline__ void turn(int32_t position, float inv_freq, float magnitude, float& cosine, float& sine) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kHalfPiHigh = 1.57079632679489655800, kHalfPiLow = 6.12323399573676603587e-17;
  const double angle = static_cast<double>(position) * static_cast<double>(inv_freq);
  const double quarters = rint(angle * kTwoOverPi);
  const double rest = fma(-quarters, kHalfPiLow, fma(-quarters, kHalfPiHigh, angle));
  float s, c;
  sincosf(static_cast<float>(rest), &s, &c);
  const long long quadrant = static_cast<long long>(quarters) & 3;
  const float cosine_of = quadrant == 0 ? c : quadrant == 1 ? -s : quadrant == 2 ? -c : s;
  const float sine_of = quadrant == 0 ? s : quadrant == 1 ? c : quadrant == 2 ? -s : -c;
  cosine = cosine_of * magnitude;
  sine = sine_of * magnitude;
}

// The lanes' sums of squares (components lane, lane + 32, ...) are added by the warp's tree.
__device__ __forceinline__ void norm_head(float* x, const float* weight, int d_head, float epsilon, int lane) {
  float sum = 0.0f;
  for (int i = lane; i < d_head; i += 32) sum = fmaf(x[i], x[i], sum);
  sum = warp_sum(sum);
  const float scale = 1.0f / sqrtf(sum / static_cast<float>(d_head) + epsilon);
  for (int i = lane; i < d_head; i += 32) x[i] = x[i] * scale * weight[i];
  __syncwarp();
}

__device__ __forceinline__ void rotate_head(float* x, const ShapeMemory& memory, int half, int lane) {
  for (int i = lane; i < half; i += 32) {
    const float x0 = x[i], x1 = x[i + half];
    const float c = memory.cosine[i], s = memory.sine[i];
    x[i] = x0 * c - x1 * s;
    x[i + half] = x0 * s + x1 * c;
  }
  __syncwarp();
}

__device__ __forceinline__ void cache_head(const CacheView& cache, void* pool, int32_t row, int32_t kv_head,
                                           const float* x, int lane) {
  const int32_t position = cache.positions[row];
  const int64_t entry =
      static_cast<int64_t>(cache.row_sequence[row]) * cache.max_blocks + position / cache.block_tokens;
  const int64_t block = cache.block_tables[entry];
  const int64_t slot = (block * cache.n_kv_heads + kv_head) * cache.block_tokens + position % cache.block_tokens;
  __half2* to = reinterpret_cast<__half2*>(static_cast<__half*>(pool) + slot * cache.d_head);
  for (int i = lane; i < cache.d_head / 2; i += 32) to[i] = __floats2half2_rn(x[2 * i], x[2 * i + 1]);
}

// One head by one warp; head counts q, then k, then v.
__device__ __forceinline__ void shape_head(const ShapeHeadsArgs& a, int32_t row, int32_t head, ShapeMemory& memory) {
  const CacheView& cache = a.cache;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int32_t first_value = a.n_heads + cache.n_kv_heads;
  const bool is_query = head < a.n_heads, is_value = head >= first_value;
  float* from = a.qkv + (static_cast<int64_t>(row) * (first_value + cache.n_kv_heads) + head) * cache.d_head;
  float* x = memory.head[threadIdx.x / 32];
  for (int i = lane; i < cache.d_head; i += 32) x[i] = from[i];
  __syncwarp();
  if (is_value) return cache_head(cache, cache.v_pool, row, head - first_value, x, lane);
  const float* weight = is_query ? a.q_norm : a.k_norm;
  if (weight != nullptr) norm_head(x, weight, cache.d_head, a.epsilon, lane);
  rotate_head(x, memory, a.n_rot / 2, lane);
  for (int i = lane; i < cache.d_head; i += 32) from[i] = x[i];
  if (!is_query) cache_head(cache, cache.k_pool, row, head - a.n_heads, x, lane);
}

__global__ __launch_bounds__(kWarps * 32) void shape_heads_kernel(const __grid_constant__ ShapeHeadsArgs a) {
  const int32_t row = static_cast<int32_t>(blockIdx.x);
  const int32_t position = a.cache.positions[row];
  if (position < 0) return;
  __shared__ ShapeMemory memory;
  for (int i = static_cast<int>(threadIdx.x); i < a.n_rot / 2; i += kWarps * 32) {
    turn(position, a.inv_freq[i], a.magnitude, memory.cosine[i], memory.sine[i]);
  }
  __syncthreads();
  const int32_t head = static_cast<int32_t>(blockIdx.y) * kWarps + static_cast<int32_t>(threadIdx.x) / 32;
  if (head < a.n_heads + 2 * a.cache.n_kv_heads) shape_head(a, row, head, memory);
}

bool supported(const ShapeHeadsArgs& a) {
  const CacheView& c = a.cache;
  if (a.m < 0 || a.n_heads < 1 || c.n_kv_heads < 1 || c.max_blocks < 1 || c.block_tokens < 1) return false;
  if (c.d_head < 2 || c.d_head > kMaxHead || c.d_head % 2 != 0) return false;
  return a.n_rot >= 0 && a.n_rot <= c.d_head && a.n_rot % 2 == 0;
}

}  // namespace

cudaError_t launch_shape_heads(const ShapeHeadsArgs& args, cudaStream_t stream) {
  if (!supported(args)) return cudaErrorInvalidValue;
  if (args.m == 0) return cudaSuccess;
  const int32_t heads = args.n_heads + 2 * args.cache.n_kv_heads;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(args.m), static_cast<unsigned>((heads + kWarps - 1) / kWarps));
  config.blockDim = dim3(kWarps * 32);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, shape_heads_kernel, args);
}

}  // namespace inlay::cuda
