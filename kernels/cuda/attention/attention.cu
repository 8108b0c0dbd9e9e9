// launch_attention, launch_decode_attention: checks, and the kernel for a head size and a type of cache. The kernels
// are in row_attention.cuh.
#include "kernels/cuda/attention/row_params.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/loads.cuh"

namespace inlay::cuda {
namespace {

constexpr int kWantedCtas = 256;  // about what is resident at a time; with more rows a CTA does several splits

size_t block_bytes(const CacheView& c) { return kv_block_bytes(c.kv_type, c.n_kv_heads, c.d_head, c.block_tokens); }

bool supported(const CacheView& c, int32_t m, int32_t n_heads, int32_t max_context) {
  if (m < 0 || max_context < 1 || c.max_blocks < 1 || c.block_tokens != kTileKeys) return false;
  if (c.d_head < 16 || c.d_head > 256 || c.d_head % 8 != 0) return false;
  if (c.n_kv_heads < 1 || n_heads < 1 || n_heads % c.n_kv_heads != 0 || block_bytes(c) > INT32_MAX) return false;
  return static_cast<int64_t>(c.n_kv_heads) * head_passes(n_heads, c.n_kv_heads).passes <= 65535;  // grid y
}

template <bool kVariant>
RowKernel kernel_of(const CacheView& c, bool fused) {
  if (c.kv_type == KvType::fp8_e4m3) return row_kernel<KvType::fp8_e4m3, kVariant>(c.d_head, fused);
  if (c.kv_type == KvType::int8) return row_kernel<KvType::int8, kVariant>(c.d_head, fused);
  return row_kernel<KvType::f16, kVariant>(c.d_head, fused);
}

// The keys that a row of a window can read, and those of its first and last step that it does not see.
int32_t longest_row(const RowParams& p) {
  const int32_t most = p.score.window + 2 * kTileKeys;
  return most < p.max_context ? most : p.max_context;
}

void complete(RowParams& p, const AttentionVariant& variant, float scale) {
  p.passes = head_passes(p.n_heads, p.cache.n_kv_heads);
  p.block_bytes = static_cast<int32_t>(block_bytes(p.cache));
  p.score = score_params(variant, scale);
  p.record_splits = max_splits(longest_row(p), p.cache.n_kv_heads);
}

cudaError_t launch_rows(RowParams p, int32_t m, bool fused, bool plain, LaunchTarget target) {
  const RowKernel chosen = plain ? kernel_of<false>(p.cache, fused) : kernel_of<true>(p.cache, fused);
  for (p.first_row = 0; p.first_row < m; p.first_row += kRowsPerLaunch) {
    const int32_t rows = m - p.first_row < kRowsPerLaunch ? m - p.first_row : kRowsPerLaunch;
    const int32_t heads = p.cache.n_kv_heads * p.passes.passes, columns = (kWantedCtas - 1) / (rows * heads) + 1;
    const dim3 grid(static_cast<unsigned>(columns < p.record_splits ? columns : p.record_splits),
                    static_cast<unsigned>(heads), static_cast<unsigned>(rows));
    if (fused) {
      if (const cudaError_t e = launch_early(chosen.kernel, grid, chosen.threads, target, p); e != cudaSuccess)
        return e;
      continue;
    }
    if (const cudaError_t e = launch_kernel(target, grid, chosen.threads, chosen.kernel, p); e != cudaSuccess) return e;
  }
  return cudaSuccess;
}

}  // namespace

size_t attention_scratch_bytes(int32_t max_rows, int32_t n_heads, int32_t n_kv_heads, int32_t d_head,
                               int32_t max_context) {
  const size_t rows = static_cast<size_t>(max_rows < kRowsPerLaunch ? max_rows : kRowsPerLaunch);
  const size_t records = rows * n_heads * max_splits(max_context, n_kv_heads);
  return ticket_bytes(n_heads) + records * (d_head + kRecordTail) * sizeof(float);
}

cudaError_t launch_attention(const AttentionArgs& args, LaunchTarget target) {
  if (!supported(args.cache, args.m, args.n_heads, args.max_context)) return cudaErrorInvalidValue;
  if (!supported(args.variant)) return cudaErrorInvalidValue;
  RowParams p{};
  p.qkv = args.qkv;
  p.out = args.out;
  p.scratch = args.scratch;
  p.cache = args.cache;
  p.n_heads = args.n_heads;
  p.max_context = args.max_context;
  complete(p, args.variant, args.scale);
  return launch_rows(p, args.m, false, args.variant.is_plain(), target);
}

cudaError_t decode_row_params(const DecodeAttentionArgs& args, RowParams& p) {
  if (!supported(args.cache, args.m, args.n_heads, args.max_context)) return cudaErrorInvalidValue;
  if (!supported(args.variant)) return cudaErrorInvalidValue;
  if (args.n_rot < 0 || args.n_rot > args.cache.d_head || args.n_rot % 2 != 0) return cudaErrorInvalidValue;
  p = {};
  p.qkv = args.qkv;
  p.q_norm = args.q_norm;
  p.k_norm = args.k_norm;
  p.rope = args.rope;
  p.out = args.out;
  p.scratch = args.scratch;
  p.cache = args.cache;
  p.n_heads = args.n_heads;
  p.n_rot = args.n_rot;
  p.max_context = args.max_context;
  p.epsilon = args.epsilon;
  complete(p, args.variant, args.scale);
  return cudaSuccess;
}

cudaError_t launch_decode_attention(const DecodeAttentionArgs& args, LaunchTarget target) {
  RowParams p;
  if (const cudaError_t e = decode_row_params(args, p); e != cudaSuccess) return e;
  return launch_rows(p, args.m, true, args.variant.is_plain(), target);
}

}  // namespace inlay::cuda
