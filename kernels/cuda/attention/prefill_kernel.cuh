// Attention of the rows of prompts over the paged cache, with matrix instructions (flash attention).
//
//   out[r][h] = sum_t softmax_t(scale * q[r][h] . k[t]) v[t]   for t = 0 .. position of r
//   k, v: head h / (n_heads / n_kv_heads)
//
// Tiling: a CTA of 4 warps per (tile of up to 64 rows of one sequence, KV head, up to 2 of its query heads). A warp has
// 16 rows of each head and goes over the keys in tiles of 64, 0 first: scores by mma.sync, running maximum and sum,
// then the weighted values by mma.sync. The query heads of a CTA share every fragment of K and V that is read from
// shared memory. There is room for one tile of keys and one of values: values arrive while scores are computed, the
// next keys while values are used. No score leaves the registers. Tiles are started in the order of args.tiles; the
// longest first balances the causal triangle.
//
// Kernels of their own for each PrefillKind, so that none pays for what its models do not have:
//   variant    tiles begin where the first row of the CTA sees its first key, and nothing before that is read; scores
//              are capped; a sink of each head joins the sum at the end (AttentionVariant)
//   both_ways  likewise, and rows see keys up to the end of their sequence's part of the step (PromptTile::end), or as
//              far behind them as a window reaches before them
//
// A row's bits depend neither on which rows share its tile nor on its place in it: its key tiles and the sums within
// them are always the same, and keys that it does not see add exact zeros. Where a tile's keys are split
// (prefill_attention_splits), they depend on the number of splits, too: each CTA leaves a record of every row and head
// (weighted values, the largest score in units of log2, the sum of weights), and merge_prefill_kernel adds these in
// their order.
//
// Number formats: q * scale * log2(e) is rounded to FP16 after multiplication by a power of two of its row and head
// that brings its largest component to 2^13..2^14; the weights 2^(score - max + 15) are rounded to FP16, and their sum
// is that of the rounded ones. Measured on the fixtures' eight F32 models (NMSE of the logits against exact evaluation,
// limit 1e-6): FP16 keys and values alone 3e-8 to 1.5e-7, with FP16 queries and weights 4e-8 to 2.3e-7; queries in two
// FP16 parts would bring 3e-8 to 1.7e-7, not worth half as many products again.
//
// Keys and values of one byte become FP16 (code * scale, rounded once) on their way to shared memory; unlike FP16's,
// that way is not asynchronous.
//
// Bound: matrix instructions for head sizes of 128 and more, the exponentials below. cuda_prefill_attention prints
// TFLOP/s.
#pragma once

#include "kernels/cuda/attention/prefill_warp.cuh"
#include "kernels/cuda/attention/split.cuh"
#include "kernels/cuda/attention/variant.cuh"

namespace inlay::cuda {

enum class PrefillKind : uint8_t { plain, variant, both_ways };

struct PrefillParams {
  PrefillAttentionArgs args;
  int32_t group, passes;  // query heads of a KV head, and CTAs that they take
  ScoreParams score;
  int32_t n_splits;
  float* records;  // (rows, n_heads, n_splits) of d_head + kRecordTail floats
};

inline constexpr int32_t kLeastSplitTiles = 2;  // of keys: more of them than a tile has rows
// A CTA for each KV head, pass and tile.
template <int kHeads>
inline int32_t prefill_passes(const PrefillAttentionArgs& a) {
  return (a.n_heads / a.cache.n_kv_heads + kHeads - 1) / kHeads;
}
// Two heads of a wide one would need twice the registers there are.
inline int32_t prefill_heads(const PrefillAttentionArgs& a) { return a.n_heads == a.cache.n_kv_heads || a.cache.d_head > 128 ? 1 : 2; }
cudaError_t merge_prefill_splits(const PrefillParams& params, LaunchTarget target);

// CTAs of a multiprocessor that the registers shall allow.
template <int kDim, int kHeads>
inline constexpr int kPrefillCtas = kHeads == 1 && kDim <= 128 ? 3 : 2;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// What a CTA works on.
struct PrefillPlace {
  PromptTile rows;
  int32_t kv_head, head, n_heads;  // query heads from `head` on; n_heads: left in the group
};

template <int kHeads>
__device__ __forceinline__ PrefillPlace prefill_place(const PrefillParams& p) {
  const int32_t kv_head = static_cast<int32_t>(blockIdx.x) / p.passes;
  const int32_t in_group = static_cast<int32_t>(blockIdx.x) % p.passes * kHeads;
  return {p.args.tiles[blockIdx.y], kv_head, kv_head * p.group + in_group, p.group - in_group};
}

// The warp's first row in the tile.
__device__ __forceinline__ int32_t warp_row() { return static_cast<int32_t>(threadIdx.x / 32 * 16); }

template <int kDim, int kHeads>
__device__ __forceinline__ void load_queries(const PrefillParams& p, const PrefillPlace& at, char* to) {
  const int64_t d_head = p.args.cache.d_head;
  const int64_t row_floats = (static_cast<int64_t>(p.args.n_heads) + 2 * p.args.cache.n_kv_heads) * d_head;
  const float* q = p.args.qkv + (at.rows.first_row + warp_row()) * row_floats + at.head * d_head;
  stage_queries<kDim, kHeads>(
      {q, row_floats, at.rows.n_rows - warp_row(), at.n_heads, p.args.cache.d_head, p.score.scale}, to);
}

// capped: scores are in units of log2.
template <int kDim, int kHeads>
__device__ __forceinline__ void store_rows(const PrefillParams& p, const PrefillPlace& at, const char* queries,
                                           bool capped, const PrefillWarp<kDim, kHeads>& warp) {
  const int64_t d_head = p.args.cache.d_head, first = (at.rows.first_row + warp_row()) * static_cast<int64_t>(p.args.n_heads) + at.head;
  const auto store = [&]<bool kRecord>(float* to, int64_t head_floats) {
    warp.template store<kRecord>(to + first * head_floats, head_floats, p.args.n_heads * head_floats, at.rows.n_rows - warp_row(), at.n_heads,
                                 p.args.cache.d_head, queries, capped);
  };
  if (p.n_splits == 1) return store.template operator()<false>(p.args.out, d_head);
  store.template operator()<true>(p.records + blockIdx.z * (d_head + kRecordTail), (d_head + kRecordTail) * p.n_splits);
}

// Behind the last key that a row at `position` sees. end: of its sequence's rows in the step.
template <PrefillKind kKind>
__device__ __forceinline__ int32_t end_key(const ScoreParams& s, int32_t position, int32_t end) {
  if constexpr (kKind == PrefillKind::both_ways) return min(position + s.window, end);
  return position + 1;
}

// A tile's scores, as add_scores left them, become what weigh takes. warp_position: of the warp's first row.
template <int kDim, int kHeads>
__device__ __forceinline__ void shape_scores(const PrefillParams& p, const char* queries, int32_t warp_position,
                                             int32_t first_key, PrefillWarp<kDim, kHeads>& warp) {
  if (p.score.soft_cap != 0.0f) warp.cap_scores(queries, p.score.soft_cap);
  const int32_t first_seen = first_seen_key(p.score, warp_position) - first_key;
  const int32_t first = first_seen + static_cast<int32_t>(threadIdx.x % 32 / 4);
  if (first_seen + 15 > 0) warp.mask_scores([=](int32_t key, int32_t row) { return key >= first + row; });
}

#endif

template <int kDim, int kHeads, PrefillKind kKind>
__global__ __launch_bounds__(kPrefillThreads, kPrefillCtas<kDim, kHeads>) void prefill_attention_kernel(
    const __grid_constant__ PrefillParams p) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  using Shared = PrefillShared<kDim, kHeads>;
  constexpr bool kVariant = kKind != PrefillKind::plain;
  extern __shared__ uint4 prefill_shared[];
  char* const shared = reinterpret_cast<char*>(prefill_shared);
  let_next_kernel_start();
  wait_for_previous_kernel();

  const CacheView& cache = p.args.cache;
  const PrefillPlace at = prefill_place<kHeads>(p);
  const int32_t first_position = cache.positions[at.rows.first_row];
  int32_t n_keys = end_key<kKind>(p.score, first_position + at.rows.n_rows - 1, at.rows.end);
  const int32_t first_seen = kVariant ? max(first_seen_key(p.score, first_position), 0) : 0;
  int32_t begin = first_seen / kPrefillKeys * kPrefillKeys;
  if (p.n_splits > 1) {
    const int32_t n_tiles = (n_keys - begin + kPrefillKeys - 1) / kPrefillKeys;
    const int32_t share = max((n_tiles + p.n_splits - 1) / p.n_splits, kLeastSplitTiles) * kPrefillKeys;
    begin += static_cast<int32_t>(blockIdx.z) * share;
    n_keys = min(n_keys, begin + share);  // none, if it begins behind the last
  }
  const KvSource source{cache.row_sequence[at.rows.first_row], at.kv_head, n_keys, first_seen};
  TileBlocks blocks = tile_blocks(cache, source, begin);
  copy_tile<kDim, kVariant>(cache, source, cache.k_pool, blocks, begin, shared + Shared::kKeys);
  commit_copies();

  char* const queries = shared + warp_row() * kTilePitch<kDim>;
  load_queries<kDim, kHeads>(p, at, queries);
  PrefillWarp<kDim, kHeads> warp;
  warp.clear();
  const int32_t lane = static_cast<int32_t>(threadIdx.x % 32);
  // A warp without rows only copies: no tile of keys is before the end of what it sees.
  const bool has_rows = warp_row() < at.rows.n_rows;
  const int32_t warp_position = has_rows ? first_position + warp_row() : -16, end = has_rows ? at.rows.end : 0;
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const auto sees = [&](int32_t first_key) {
    if (kVariant && first_key + kPrefillKeys <= first_seen_key(p.score, warp_position)) return false;
    return first_key < end_key<kKind>(p.score, warp_position + 15, end);
  };
  for (int32_t first_key = begin; first_key < n_keys; first_key += kPrefillKeys) {
    wait_for_copies<0>();
    __syncthreads();  // the tile's keys are there, and all warps have left the last tile's values
    copy_tile<kDim, kVariant>(cache, source, cache.v_pool, blocks, first_key, shared + Shared::kValues);
    commit_copies();
    if (sees(first_key)) {
      warp.add_scores(base + warp_row() * kTilePitch<kDim> + query_offset<kDim>(lane),
                      base + Shared::kKeys + key_offset<kDim>(lane));
      if constexpr (kVariant) shape_scores(p, queries, warp_position, first_key, warp);
      const int32_t last_seen = warp_position + (kKind == PrefillKind::both_ways ? p.score.window - 1 : 0);
      if (first_key + kPrefillKeys - 1 > last_seen) warp.mask_scores([last = last_seen + lane / 4 - first_key](int32_t key, int32_t row) { return key <= last + row; });
      if (kKind == PrefillKind::both_ways && first_key + kPrefillKeys > end) warp.mask_scores([last = end - first_key](int32_t key, int32_t) { return key < last; });
      warp.weigh(queries, kVariant && p.score.soft_cap != 0.0f);
    }
    blocks = tile_blocks(cache, source, first_key + kPrefillKeys);
    wait_for_copies<0>();
    __syncthreads();  // the tile's values are there, and all warps have left its keys
    if (first_key + kPrefillKeys < n_keys)
      copy_tile<kDim, kVariant>(cache, source, cache.k_pool, blocks, first_key + kPrefillKeys, shared + Shared::kKeys);
    commit_copies();
    if (sees(first_key)) warp.add_values(base + Shared::kValues + value_offset<kDim>(lane));
  }
  wait_for_copies<0>();  // of a split without keys
  if constexpr (kVariant) {
    if (p.score.sinks != nullptr && blockIdx.z == 0) {  // every row sees a key of the first split
      const PrefillPlace place = prefill_place<kHeads>(p);
      warp.join_sinks(p.score.sinks + place.head, queries, place.n_heads, p.score.soft_cap != 0.0f);
    }
  }
  // The place is computed anew: the loop has no register to spare.
  store_rows(p, prefill_place<kHeads>(p), queries, kVariant && p.score.soft_cap != 0.0f, warp);
#else
  refuse_to_run();
#endif
}

// Row by row, for devices without these matrix instructions or without the shared memory. Single rows see no later keys.
inline cudaError_t launch_prefill_rows(const PrefillAttentionArgs& a, LaunchTarget target) {
  if (a.both_ways) return cudaErrorNotSupported;  // attends_both_ways says so before
  return launch_attention({.qkv = a.qkv,
                           .out = a.out,
                           .cache = a.cache,
                           .scratch = a.scratch,
                           .m = a.m,
                           .n_heads = a.n_heads,
                           .max_context = a.max_context,
                           .scale = a.scale,
                           .variant = a.variant},
                          target);
}

template <int kDim, int kHeads, PrefillKind kKind>
cudaError_t launch_prefill_kernel(const PrefillAttentionArgs& args, const DeviceTraits& device, LaunchTarget target) {
  constexpr int kBytes = PrefillShared<kDim, kHeads>::kBytes;
  if (device.block_shared_bytes < kBytes) return launch_prefill_rows(args, target);
  const int32_t passes = prefill_passes<kHeads>(args), n_splits = prefill_attention_splits(args);
  const dim3 grid(static_cast<unsigned>(args.cache.n_kv_heads * passes), static_cast<unsigned>(args.n_tiles), static_cast<unsigned>(n_splits));
  const PrefillParams params{.args = args,
                             .group = args.n_heads / args.cache.n_kv_heads,
                             .passes = passes,
                             .score = score_params(args.variant, args.scale),
                             .n_splits = n_splits,
                             .records = reinterpret_cast<float*>(static_cast<char*>(args.scratch) + ticket_bytes(args.n_heads))};
  const cudaError_t e = launch_early(prefill_attention_kernel<kDim, kHeads, kKind>, grid, kPrefillThreads, target, params, kBytes);
  return e != cudaSuccess || n_splits == 1 ? e : merge_prefill_splits(params, target);
}

template <int kDim, PrefillKind kKind>
cudaError_t launch_prefill_heads(const PrefillAttentionArgs& args, const DeviceTraits& device, LaunchTarget target) {
  if (prefill_heads(args) == 1) return launch_prefill_kernel<kDim, 1, kKind>(args, device, target);
  return launch_prefill_kernel<kDim, 2, kKind>(args, device, target);
}

template <PrefillKind kKind>
cudaError_t launch_prefill_tiles(const PrefillAttentionArgs& args, const DeviceTraits& device, LaunchTarget target) {
  if (device.code < 80) return launch_prefill_rows(args, target);
  if (args.cache.d_head <= 64) return launch_prefill_heads<64, kKind>(args, device, target);
  if (args.cache.d_head <= 96) return launch_prefill_heads<96, kKind>(args, device, target);
  if (args.cache.d_head <= 128) return launch_prefill_heads<128, kKind>(args, device, target);
  return launch_prefill_kernel<256, 1, kKind>(args, device, target);
}

}  // namespace inlay::cuda
