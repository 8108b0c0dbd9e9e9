// Moves what the cache has of a sequence to the front, and turns the keys to where they are then.
//
//   K[p] = turned(K[p + distance]), V[p] = V[p + distance]   for first <= p < end - distance
//   turned: the pair (x[i], x[i + n_rot / 2]) of each head by the angle -turn * inv_freq[i]
//
// Layout: attention/kv_element.cuh. Keys of one byte types are dequantized, turned and quantized again; values and keys
// without RoPE keep their bits.
//
// Tiling: a CTA of 8 warps per (KV head, layer, keys or values), which goes through the positions in order, kTile at a time:
// all of a tile is read before any of it is written, and no later tile reads what an earlier one wrote. Bound: memory.
#include "kernels/cuda/attention/kv_element.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/norm_rope/head.cuh"

namespace inlay::cuda {
namespace {

constexpr int kWarps = 8, kPerWarp = 4, kTile = kWarps * kPerWarp;
constexpr int kMaxHead = 256;

template <KvType kType>
__device__ __forceinline__ float element_of(const void* head, int i, float scale) {
  if constexpr (kType == KvType::f16) {
    return __half2float(static_cast<const __half*>(head)[i]);
  } else {
    const uint32_t code = static_cast<const uint8_t*>(head)[i];
    constexpr bool kInt8 = kType == KvType::int8;
    return __low2float(as_half2(KvElement<kType>::pair(kInt8 ? code ^ 0x80u : code, kInt8 ? 0x4140 : 0x1404))) * scale;
  }
}

struct HeadPlace {
  char* elements;
  float* scale;
};

template <KvType kType>
__device__ __forceinline__ HeadPlace place_of(const MoveKvArgs& a, const CacheView& c, char* pool, int32_t head, int32_t position) {
  const int64_t block = a.block_table[position / c.block_tokens];
  const int32_t token = position % c.block_tokens;
  HeadPlace at{pool + head_offset<kType>(c, block, head, token), nullptr};
  if constexpr (KvElement<kType>::kScaled) at.scale = reinterpret_cast<float*>(pool + scale_offset<kType>(c, block, head, token));
  return at;
}

template <KvType kType>
__global__ __launch_bounds__(kWarps * 32) void move_kv_kernel(const __grid_constant__ MoveKvArgs a) {
  __shared__ float tile[kWarps][kPerWarp][kMaxHead];
  __shared__ float2 turns[kMaxHead / 2];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const bool turned = blockIdx.z == 0 && a.n_rot > 0;
  const int half = a.n_rot / 2, head = static_cast<int>(blockIdx.x);
  char* const pool = static_cast<char*>(a.pools) + (2 * static_cast<int64_t>(blockIdx.y) + blockIdx.z) * static_cast<int64_t>(a.pool_bytes);
  const CacheView c{.block_tokens = a.block_tokens, .n_kv_heads = a.n_kv_heads, .d_head = a.d_head};
  for (int i = static_cast<int>(threadIdx.x); turned && i < half; i += kWarps * 32) turns[i] = turn(-a.turn, a.inv_freq[i], 1.0f);

  const int n_words = a.d_head * KvElement<kType>::kBytes / 2;  // of 16 bits: d_head is even
  for (int32_t first = a.first; first + a.distance < a.end; first += kTile) {
    float scales[kPerWarp] = {};
#pragma unroll
    for (int j = 0; j < kPerWarp; ++j) {
      const int32_t from = first + warp * kPerWarp + j + a.distance;
      if (from >= a.end) continue;
      const HeadPlace at = place_of<kType>(a, c, pool, head, from);
      if constexpr (KvElement<kType>::kScaled) scales[j] = *at.scale;
      float* const x = tile[warp][j];
      if (turned) {
        for (int i = lane; i < a.d_head; i += 32) x[i] = element_of<kType>(at.elements, i, scales[j]);
      } else {
        for (int i = lane; i < n_words; i += 32) reinterpret_cast<uint16_t*>(x)[i] = reinterpret_cast<const uint16_t*>(at.elements)[i];
      }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kPerWarp; ++j) {
      const int32_t to = first + warp * kPerWarp + j;
      if (to + a.distance >= a.end) continue;
      const HeadPlace at = place_of<kType>(a, c, pool, head, to);
      float* const x = tile[warp][j];
      if (turned) {
        for (int i = lane; i < half; i += 32) {
          const float x0 = x[i], x1 = x[i + half];
          x[i] = fmaf(x0, turns[i].x, -__fmul_rn(x1, turns[i].y));
          x[i + half] = fmaf(x0, turns[i].y, __fmul_rn(x1, turns[i].x));
        }
        __syncwarp();
        store_head<kType>(x, a.d_head, lane, at.elements, at.scale);
      } else {
        for (int i = lane; i < n_words; i += 32) reinterpret_cast<uint16_t*>(at.elements)[i] = reinterpret_cast<const uint16_t*>(x)[i];
        if constexpr (KvElement<kType>::kScaled) {
          if (lane == 0) *at.scale = scales[j];
        }
      }
      __syncwarp();
    }
  }
}

using Kernel = void (*)(MoveKvArgs);

Kernel kernel_of(KvType type) {
  if (type == KvType::fp8_e4m3) return move_kv_kernel<KvType::fp8_e4m3>;
  if (type == KvType::int8) return move_kv_kernel<KvType::int8>;
  return move_kv_kernel<KvType::f16>;
}

}  // namespace

cudaError_t launch_move_kv(const MoveKvArgs& a, LaunchTarget target) {
  if (a.n_layers < 0 || a.n_kv_heads < 1 || a.block_tokens < 1 || a.d_head < 2 || a.d_head > kMaxHead || a.d_head % 2 != 0 ||
      a.n_rot < 0 || a.n_rot > a.d_head || a.n_rot % 2 != 0 || a.first < 0 || a.distance < 0) {
    return cudaErrorInvalidValue;
  }
  if (a.n_layers == 0 || a.first + a.distance >= a.end) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(a.n_kv_heads), static_cast<unsigned>(a.n_layers), 2);
  return launch_kernel(target, grid, kWarps * 32, kernel_of(a.kv_type), a);
}

}  // namespace inlay::cuda
