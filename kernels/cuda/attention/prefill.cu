// Causal attention of the rows of prompts over the paged cache, with matrix instructions (flash attention).
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
// A row's bits depend neither on which rows share its tile nor on its place in it: its key tiles and the sums within
// them are always the same, and keys past its position add exact zeros.
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
#include "kernels/cuda/attention/prefill_warp.cuh"

namespace inlay::cuda {
namespace {

struct PrefillParams {
  PrefillAttentionArgs args;
  int32_t group, passes;  // query heads of a KV head, and CTAs that they take
};

// CTAs of a multiprocessor that the registers shall allow.
template <int kDim, int kHeads>
inline constexpr int kWantedCtas = kHeads == 1 && kDim <= 128 ? 3 : 2;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// What a CTA works on.
struct CtaPlace {
  PromptTile rows;
  int32_t kv_head, head, n_heads;  // query heads from `head` on; n_heads: left in the group
};

template <int kHeads>
__device__ __forceinline__ CtaPlace cta_place(const PrefillParams& p) {
  const int32_t kv_head = static_cast<int32_t>(blockIdx.x) / p.passes;
  const int32_t in_group = static_cast<int32_t>(blockIdx.x) % p.passes * kHeads;
  return {p.args.tiles[blockIdx.y], kv_head, kv_head * p.group + in_group, p.group - in_group};
}

// The warp's first row in the tile.
__device__ __forceinline__ int32_t warp_row() { return static_cast<int32_t>(threadIdx.x / 32 * 16); }

constexpr float kLog2E = 1.44269504088896341f;

template <int kDim, int kHeads>
__device__ __forceinline__ void load_queries(const PrefillParams& p, const CtaPlace& at, char* to) {
  const int64_t d_head = p.args.cache.d_head;
  const int64_t row_floats = (static_cast<int64_t>(p.args.n_heads) + 2 * p.args.cache.n_kv_heads) * d_head;
  const float* q = p.args.qkv + (at.rows.first_row + warp_row()) * row_floats + at.head * d_head;
  stage_queries<kDim, kHeads>(
      {q, row_floats, at.rows.n_rows - warp_row(), at.n_heads, p.args.cache.d_head, p.args.scale * kLog2E}, to);
}

template <int kDim, int kHeads>
__device__ __forceinline__ void store_rows(const PrefillParams& p, const CtaPlace& at,
                                           const PrefillWarp<kDim, kHeads>& warp) {
  const int64_t d_head = p.args.cache.d_head, row_floats = p.args.n_heads * d_head;
  warp.store(p.args.out + (at.rows.first_row + warp_row()) * row_floats + at.head * d_head, row_floats,
             at.rows.n_rows - warp_row(), at.n_heads, p.args.cache.d_head);
}

#endif

template <int kDim, int kHeads>
__global__ __launch_bounds__(kPrefillThreads, kWantedCtas<kDim, kHeads>) void prefill_attention_kernel(
    const __grid_constant__ PrefillParams p) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  using Shared = PrefillShared<kDim, kHeads>;
  extern __shared__ uint4 prefill_shared[];
  char* const shared = reinterpret_cast<char*>(prefill_shared);
  let_next_kernel_start();
  wait_for_previous_kernel();

  const CacheView& cache = p.args.cache;
  const CtaPlace at = cta_place<kHeads>(p);
  const int32_t first_position = cache.positions[at.rows.first_row];
  const int32_t n_keys = first_position + at.rows.n_rows;
  const KvSource source{cache.row_sequence[at.rows.first_row], at.kv_head, n_keys};
  TileBlocks blocks = tile_blocks(cache, source, 0);
  copy_tile<kDim>(cache, source, cache.k_pool, blocks, 0, shared + Shared::kKeys);
  commit_copies();

  char* const queries = shared + warp_row() * kTilePitch<kDim>;
  load_queries<kDim, kHeads>(p, at, queries);
  PrefillWarp<kDim, kHeads> warp;
  warp.clear();
  const int32_t lane = static_cast<int32_t>(threadIdx.x % 32);
  // A warp without rows only copies: no tile of keys is before the end of its positions.
  const int32_t warp_position = warp_row() < at.rows.n_rows ? first_position + warp_row() : -16;
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  for (int32_t first_key = 0; first_key < n_keys; first_key += kPrefillKeys) {
    wait_for_copies<0>();
    __syncthreads();  // the tile's keys are there, and all warps have left the last tile's values
    copy_tile<kDim>(cache, source, cache.v_pool, blocks, first_key, shared + Shared::kValues);
    commit_copies();
    if (first_key < warp_position + 16) {
      warp.add_scores(base + warp_row() * kTilePitch<kDim> + query_offset<kDim>(lane),
                      base + Shared::kKeys + key_offset<kDim>(lane));
      if (first_key + kPrefillKeys - 1 > warp_position) warp.mask_scores(warp_position + lane / 4 - first_key);
      warp.weigh(queries);
    }
    blocks = tile_blocks(cache, source, first_key + kPrefillKeys);
    wait_for_copies<0>();
    __syncthreads();  // the tile's values are there, and all warps have left its keys
    if (first_key + kPrefillKeys < n_keys)
      copy_tile<kDim>(cache, source, cache.k_pool, blocks, first_key + kPrefillKeys, shared + Shared::kKeys);
    commit_copies();
    if (first_key < warp_position + 16) warp.add_values(base + Shared::kValues + value_offset<kDim>(lane));
  }
  store_rows(p, cta_place<kHeads>(p), warp);  // computed anew: the loop has no register to spare
#endif
}

bool supported(const PrefillAttentionArgs& a) {
  const CacheView& c = a.cache;
  if (a.n_tiles < 0 || a.n_tiles > 65535 || c.max_blocks < 1 || c.block_tokens != kBlockKeys) return false;
  if (c.d_head < 16 || c.d_head > 256 || c.d_head % 8 != 0) return false;
  return c.n_kv_heads >= 1 && a.n_heads >= 1 && a.n_heads % c.n_kv_heads == 0;
}

// Row by row, for devices without these matrix instructions or without the shared memory.
cudaError_t launch_rows(const PrefillAttentionArgs& a, cudaStream_t stream) {
  return launch_attention({.qkv = a.qkv,
                           .out = a.out,
                           .cache = a.cache,
                           .scratch = a.scratch,
                           .m = a.m,
                           .n_heads = a.n_heads,
                           .max_context = a.max_context,
                           .scale = a.scale},
                          stream);
}

template <int kDim, int kHeads>
cudaError_t launch(const PrefillAttentionArgs& args, const DeviceTraits& device, cudaStream_t stream) {
  constexpr int kBytes = PrefillShared<kDim, kHeads>::kBytes;
  if (device.block_shared_bytes < kBytes) return launch_rows(args, stream);
  const int32_t group = args.n_heads / args.cache.n_kv_heads, passes = (group + kHeads - 1) / kHeads;
  const dim3 grid(static_cast<unsigned>(args.cache.n_kv_heads * passes), static_cast<unsigned>(args.n_tiles));
  return launch_early(prefill_attention_kernel<kDim, kHeads>, grid, kPrefillThreads, stream,
                      PrefillParams{args, group, passes}, kBytes);
}

template <int kDim>
cudaError_t launch_heads(const PrefillAttentionArgs& args, const DeviceTraits& device, cudaStream_t stream) {
  if (args.n_heads == args.cache.n_kv_heads) return launch<kDim, 1>(args, device, stream);
  return launch<kDim, 2>(args, device, stream);
}

}  // namespace

cudaError_t launch_prefill_attention(const PrefillAttentionArgs& args, cudaStream_t stream) {
  if (!supported(args)) return cudaErrorInvalidValue;
  if (args.n_tiles == 0) return cudaSuccess;
  DeviceTraits device;
  if (const cudaError_t e = current_device(device); e != cudaSuccess) return e;
  if (device.major < 8) return launch_rows(args, stream);
  if (args.cache.d_head <= 64) return launch_heads<64>(args, device, stream);
  if (args.cache.d_head <= 96) return launch_heads<96>(args, device, stream);
  if (args.cache.d_head <= 128) return launch_heads<128>(args, device, stream);
  return launch<256, 1>(args, device, stream);  // two heads would need twice the registers there are
}

}  // namespace inlay::cuda
