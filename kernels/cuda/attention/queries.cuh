// What a CTA makes of a row of qkv before it attends: its queries as halves, and in a fused launch the row's new key
// and value in the form in which the cache keeps them.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention/merge.cuh"
#include "kernels/cuda/attention/row_params.cuh"
#include "kernels/cuda/attention/warp_attention.cuh"
#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/norm_rope/head.cuh"

namespace inlay::cuda {

// x: a head in shared memory, of this warp. The power of two brings the largest magnitude into [2^7, 2^8): neither half
// can overflow, and the rest of every component that matters is a normal half.
template <int kChunks>
__device__ __forceinline__ void cut_query(const float* x, int d_head, float scale, int column, int lane,
                                          QueryMemory<kChunks>& memory) {
  constexpr int kPer = 2 * kChunks;
  float q[kPer], largest = 0.0f;
  load_head(x, d_head, lane, q);
#pragma unroll
  for (int j = 0; j < kPer; ++j) {
    q[j] = __fmul_rn(q[j], scale);
    largest = fmaxf(largest, fabsf(q[j]));
  }
  const int raw = static_cast<int>(__float_as_uint(max_of_warp(largest)) >> 23) - 127;
  const int exponent = raw < -100 ? -100 : raw > 100 ? 100 : raw;
  const float grow = __uint_as_float(static_cast<uint32_t>(7 - exponent + 127) << 23);
#pragma unroll
  for (int j = 0; j < kPer; ++j) {
    const int component = lane + 32 * j;
    const float grown = __fmul_rn(q[j], grow);
    const __half high = __float2half_rn(grown);
    __half* part = reinterpret_cast<__half*>(&memory.part[column][query_part(component)]);
    const int place = component % 4 / 2 * 4 + component % 2;
    part[place] = high;
    part[place + 2] = __float2half_rn(__fsub_rn(grown, __half2float(high)));
  }
  if (lane == 0) memory.factor[column] = __uint_as_float(static_cast<uint32_t>(exponent - 7 + 127) << 23);
}

// Columns past the pass take part in every product.
template <int kChunks>
__device__ __forceinline__ void clear_queries(int n_heads, QueryMemory<kChunks>& memory) {
  for (int column = n_heads; column < kColumns; ++column) {
    for (int i = static_cast<int>(threadIdx.x); i < 16 * kChunks; i += kAttentionWarps<kChunks> * 32) {
      memory.part[column][i] = make_uint4(0, 0, 0, 0);
    }
    if (threadIdx.x == 0) memory.factor[column] = 0.0f;
  }
}

// From shared memory to the slot of the row's position.
template <KvType kType>
__device__ __forceinline__ void append_head(const CacheView& c, void* pool, const CtaPlace& at, int64_t block, int lane,
                                            const typename KvElement<kType>::Packed* packed, float scale) {
  const int32_t token = at.position % c.block_tokens;
  char* bytes = static_cast<char*>(pool);
  auto* to =
      reinterpret_cast<typename KvElement<kType>::Packed*>(bytes + head_offset<kType>(c, block, at.kv_head, token));
  for (int i = lane; i < c.d_head / 8; i += 32) to[i] = packed[i];
  if constexpr (KvElement<kType>::kScaled) {
    if (lane == 0) *reinterpret_cast<float*>(bytes + scale_offset<kType>(c, block, at.kv_head, token)) = scale;
  }
}

// The new key and value join the cache, by a warp each.
template <int kChunks, KvType kType>
__device__ __forceinline__ void append_fresh(const RowParams& p, const CtaPlace& at,
                                             const FreshHead<kChunks, kType>& fresh) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  if (warp > 1 || !at.appends) return;
  const bool is_key = warp == 0;
  const int64_t block = at.table[at.position / kTileKeys];
  const float scale = !KvElement<kType>::kScaled ? 0.0f : is_key ? fresh.k_scale : fresh.v_scale;
  append_head<kType>(p.cache, is_key ? p.cache.k_pool : p.cache.v_pool, at, block, lane, is_key ? fresh.k : fresh.v,
                     scale);
}

// A head that an op has handed over, to shared memory of this warp.
template <int kPer, class Values, class Beside>
__device__ __forceinline__ void take_head(const Values& values, const float* from, int d_head, int lane, float* x,
                                          const Beside& beside) {
  constexpr int kQuads = (kPer + 3) / 4;  // a lane has four components in a row
  bool there[kQuads];
  float4 taken[kQuads];
#pragma unroll
  for (int i = 0; i < kQuads; ++i) there[i] = 4 * lane + 128 * i < d_head;
  load4(
      values, from + 4 * lane, there, [](int i) { return 128 * i; }, taken, beside);
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    if (there[i]) *reinterpret_cast<float4*>(x + 4 * lane + 128 * i) = taken[i];
  }
  __syncwarp();
}

// A warp per head: the queries of the pass, then in a fused launch (if `newest`) the key and the value. staging: 64
// kChunks floats for every warp.
template <int kChunks, KvType kType, bool kFused, class Values>
__device__ __forceinline__ void prepare_heads(const RowParams& p, const Values& values, const CtaPlace& at, bool newest,
                                              float* staging, QueryMemory<kChunks>& queries,
                                              FreshHead<kChunks, kType>& fresh) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int32_t d_head = p.cache.d_head, n_kv = p.cache.n_kv_heads, half = p.n_rot / 2;
  const float* row = p.qkv + static_cast<int64_t>(at.row) * (p.n_heads + 2 * n_kv) * d_head;
  float* x = staging + warp * 64 * kChunks;
  const int n_items = at.heads.count + (newest ? 2 : 0);
  for (int item = warp; item < n_items; item += kAttentionWarps<kChunks>) {
    const bool is_query = item < at.heads.count, is_key = item == at.heads.count;
    const int32_t head = is_query ? at.heads.first + item : p.n_heads + (is_key ? 0 : n_kv) + at.kv_head;
    const float* from = row + static_cast<int64_t>(head) * d_head;
    if constexpr (kFused) {
      const HeadShape shape{is_query ? p.q_norm : p.k_norm, p.rope + static_cast<int64_t>(at.row) * half, d_head, half,
                            p.epsilon};
      HeadShaper<2 * kChunks> shaper(shape, lane);
      take_head<2 * kChunks>(values, from, d_head, lane, x, [&] { shaper.load(); });
      if (is_query || is_key) shaper.apply(x, x);
      from = x;
    }
    if (is_query) {
      cut_query<kChunks>(from, d_head, p.score.scale, item, lane, queries);
    } else {
      store_head<kType>(from, d_head, lane, is_key ? fresh.k : fresh.v, is_key ? &fresh.k_scale : &fresh.v_scale);
    }
    __syncwarp();
  }
}

}  // namespace inlay::cuda
