// RMS norm of each query and key head, rotary embedding, and the way of keys and values into the cache.
//
// Formula: norm_rope/head.cuh; stored elements: attention/kv_element.cuh.
//
// Layout: a row of qkv is (n_heads + 2 n_kv_heads, d_head) f32: q, k, v. q and k are changed in place; k and v also go
// to slot position % block_tokens of block block_tables[sequence][position / block_tokens].
//
// Tiling: a CTA of 8 warps per (row, 8 heads), a warp per head. Every CTA computes the row's n_rot / 2 angles once, in
// shared memory.
//
// Bound: latency at one row, reading and writing qkv once at many.
#include "kernels/cuda/norm_rope/head.cuh"

#include "kernels/cuda/attention/kv_element.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/device/loads.cuh"

namespace inlay::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kMaxHead = 256;

struct ShapeMemory {
  float2 turns[kMaxHead / 2];
  float head[kWarps][kMaxHead];
};

template <KvType kType>
__device__ __forceinline__ void cache_head(const CacheView& c, void* pool, int32_t row, int32_t kv_head, const float* x,
                                           int lane) {
  const int32_t position = c.positions[row], token = position % c.block_tokens;
  const int64_t entry = static_cast<int64_t>(c.row_sequence[row]) * c.max_blocks + position / c.block_tokens;
  const int64_t block = c.block_tables[entry];
  char* bytes = static_cast<char*>(pool);
  float* scale = nullptr;
  if constexpr (KvElement<kType>::kScaled) {
    scale = reinterpret_cast<float*>(bytes + scale_offset<kType>(c, block, kv_head, token));
  }
  store_head<kType>(x, c.d_head, lane, bytes + head_offset<kType>(c, block, kv_head, token), scale);
}

// One head by one warp; head counts q, then k, then v.
template <KvType kType>
__device__ __forceinline__ void shape_one(const ShapeHeadsArgs& a, int32_t row, int32_t head, ShapeMemory& memory) {
  const CacheView& cache = a.cache;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int32_t first_value = a.n_heads + cache.n_kv_heads;
  const bool is_query = head < a.n_heads, is_value = head >= first_value;
  float* from = a.qkv + (static_cast<int64_t>(row) * (first_value + cache.n_kv_heads) + head) * cache.d_head;
  float* x = memory.head[threadIdx.x / 32];
  for (int i = lane; i < cache.d_head; i += 32) x[i] = FinishedValues().load(from + i);
  __syncwarp();
  if (is_value) return cache_head<kType>(cache, cache.v_pool, row, head - first_value, x, lane);
  const HeadShape shape{is_query ? a.q_norm : a.k_norm, memory.turns, cache.d_head, a.n_rot / 2, a.epsilon};
  HeadShaper<kMaxHead / 32> shaper(shape, lane);
  shaper.load();
  shaper.apply(x, x);
  for (int i = lane; i < cache.d_head; i += 32) from[i] = x[i];
  if (!is_query) cache_head<kType>(cache, cache.k_pool, row, head - a.n_heads, x, lane);
}

template <KvType kType>
__global__ __launch_bounds__(kWarps * 32) void shape_heads_kernel(const __grid_constant__ ShapeHeadsArgs a) {
  wait_for_previous_kernel();  // attention starts when this has ended: CTAs placed before, while a product holds SMs, would share the few others
  const int32_t row = static_cast<int32_t>(blockIdx.x);
  const int32_t position = a.cache.positions[row];
  if (position < 0) return;
  __shared__ ShapeMemory memory;
  for (int i = static_cast<int>(threadIdx.x); i < a.n_rot / 2; i += kWarps * 32) {
    memory.turns[i] = turn(position, a.inv_freq[i], a.magnitude);
  }
  __syncthreads();
  const int32_t head = static_cast<int32_t>(blockIdx.y) * kWarps + static_cast<int32_t>(threadIdx.x) / 32;
  if (head < a.n_heads + 2 * a.cache.n_kv_heads) shape_one<kType>(a, row, head, memory);
}

bool supported(const ShapeHeadsArgs& a) {
  const CacheView& c = a.cache;
  if (a.m < 0 || a.n_heads < 1 || c.n_kv_heads < 1 || c.max_blocks < 1 || c.block_tokens < 1) return false;
  if (c.d_head < 2 || c.d_head > kMaxHead || c.d_head % 2 != 0) return false;
  return a.n_rot >= 0 && a.n_rot <= c.d_head && a.n_rot % 2 == 0;
}

using Kernel = void (*)(ShapeHeadsArgs);

Kernel kernel_of(KvType type) {
  if (type == KvType::fp8_e4m3) return shape_heads_kernel<KvType::fp8_e4m3>;
  if (type == KvType::int8) return shape_heads_kernel<KvType::int8>;
  return shape_heads_kernel<KvType::f16>;
}

}  // namespace

cudaError_t launch_shape_heads(const ShapeHeadsArgs& args, LaunchTarget target) {
  if (!supported(args)) return cudaErrorInvalidValue;
  if (args.m == 0) return cudaSuccess;
  const int32_t heads = args.n_heads + 2 * args.cache.n_kv_heads;
  const dim3 grid(static_cast<unsigned>(args.m), static_cast<unsigned>((heads + kWarps - 1) / kWarps));
  return launch_early(kernel_of(args.cache.kv_type), grid, kWarps * 32, target, args);
}

}  // namespace inlay::cuda
