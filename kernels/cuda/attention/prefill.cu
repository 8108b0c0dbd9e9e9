// launch_prefill_attention: checks, and the kernels of models whose attention is plain. prefill_kernel.cuh has the
// rest.
#include "kernels/cuda/attention/prefill_kernel.cuh"

namespace inlay::cuda {

using PrefillLaunch = cudaError_t(const PrefillAttentionArgs&, const DeviceTraits&, LaunchTarget);
template PrefillLaunch launch_prefill_tiles<PrefillKind::plain>;
extern template PrefillLaunch launch_prefill_tiles<PrefillKind::variant>;
extern template PrefillLaunch launch_prefill_tiles<PrefillKind::both_ways>;

namespace {

bool supported(const PrefillAttentionArgs& a) {
  const CacheView& c = a.cache;
  if (!supported(a.variant)) return false;
  if (a.n_tiles < 0 || a.n_tiles > 65535 || c.max_blocks < 1 || c.block_tokens != kBlockKeys) return false;
  if (c.d_head < 16 || c.d_head > 256 || c.d_head % 8 != 0) return false;
  return c.n_kv_heads >= 1 && a.n_heads >= 1 && a.n_heads % c.n_kv_heads == 0;
}

// A warp for each row and query head, a block for four rows of a tile.
constexpr int kMergeRows = 4;

__global__ __launch_bounds__(32 * kMergeRows) void merge_prefill_kernel(const __grid_constant__ PrefillParams p) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  static_assert(kMaxSplits == 64, "a lane weighs two splits");
  let_next_kernel_start();
  wait_for_previous_kernel();
  constexpr auto kParts = static_cast<unsigned>(kPromptTileRows / kMergeRows);
  const PromptTile tile = p.args.tiles[blockIdx.y / kParts];
  const int32_t row = static_cast<int32_t>(blockIdx.y % kParts * kMergeRows + threadIdx.x / 32);
  if (row >= tile.n_rows) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int32_t d_head = p.args.cache.d_head, record_floats = d_head + kRecordTail;
  const int64_t at = static_cast<int64_t>(tile.first_row + row) * p.args.n_heads + blockIdx.x;
  const float* records = p.records + at * p.n_splits * record_floats;
  float2 tails[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    tails[i] = make_float2(-CUDART_INF_F, 0.0f);
    if (lane + 32 * i < p.n_splits) tails[i] = __ldcg(reinterpret_cast<const float2*>(records + (lane + 32 * i) * record_floats + d_head));
  }
  const float top = warp_max(fmaxf(tails[0].x, tails[1].x));  // finite: every row sees a key
  const float weight[2] = {exp2f(tails[0].x - top), exp2f(tails[1].x - top)};
  const float share = 1.0f / warp_sum(fmaf(weight[0], tails[0].y, weight[1] * tails[1].y));
  float4 sum[2] = {};
  for (int32_t split = 0; split < p.n_splits; ++split) {
    const float by = __shfl_sync(kAllLanes, split < 32 ? weight[0] : weight[1], split % 32);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int component = 4 * lane + 128 * i;
      if (component >= d_head) continue;
      const float4 x = __ldcg(reinterpret_cast<const float4*>(records + split * record_floats + component));
      sum[i].x = fmaf(by, x.x, sum[i].x);
      sum[i].y = fmaf(by, x.y, sum[i].y);
      sum[i].z = fmaf(by, x.z, sum[i].z);
      sum[i].w = fmaf(by, x.w, sum[i].w);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int component = 4 * lane + 128 * i;
    if (component < d_head)
      *reinterpret_cast<float4*>(p.args.out + at * d_head + component) = make_float4(sum[i].x * share, sum[i].y * share, sum[i].z * share, sum[i].w * share);
  }
#else
  refuse_to_run();
#endif
}

}  // namespace

// Where one step's CTAs fill the GPU, or no row sees 512 keys, a second kernel would cost more than it brings.
int32_t prefill_attention_splits(const PrefillAttentionArgs& a) {
  constexpr int32_t kLeastKeys = 512, kWantedCtas = 256;
  const int32_t window = a.variant.window > 0 ? a.variant.window + kPromptTileRows : a.max_keys;
  const int32_t n_keys = window < a.max_keys ? window : a.max_keys;
  if (a.both_ways || n_keys < kLeastKeys || a.n_tiles == 0) return 1;
  const int32_t passes = prefill_heads(a) == 1 ? prefill_passes<1>(a) : prefill_passes<2>(a);
  const int64_t n_ctas = static_cast<int64_t>(a.cache.n_kv_heads) * passes * a.n_tiles;
  const int32_t by_keys = n_keys / (kLeastSplitTiles * kPrefillKeys), by_ctas = static_cast<int32_t>(kWantedCtas / n_ctas);
  const int32_t room = max_splits(a.max_context, a.cache.n_kv_heads);  // of the scratch, for kRowsPerLaunch rows
  const int32_t by_room = a.m <= kRowsPerLaunch ? room : kRowsPerLaunch * room / a.m;
  int32_t n = by_keys < by_ctas ? by_keys : by_ctas;
  if (by_room < n) n = by_room;
  return n < 1 ? 1 : n;
}

cudaError_t merge_prefill_splits(const PrefillParams& params, LaunchTarget target) {
  const dim3 grid(static_cast<unsigned>(params.args.n_heads), static_cast<unsigned>(params.args.n_tiles * (kPromptTileRows / kMergeRows)));
  return launch_early(merge_prefill_kernel, grid, 32 * kMergeRows, target, params);
}

cudaError_t launch_prefill_attention(const PrefillAttentionArgs& args, LaunchTarget target) {
  if (!supported(args)) return cudaErrorInvalidValue;
  if (args.n_tiles == 0) return cudaSuccess;
  DeviceTraits device;
  if (const cudaError_t e = current_device(device); e != cudaSuccess) return e;
  if (args.both_ways) return launch_prefill_tiles<PrefillKind::both_ways>(args, device, target);
  return args.variant.is_plain() ? launch_prefill_tiles<PrefillKind::plain>(args, device, target)
                                 : launch_prefill_tiles<PrefillKind::variant>(args, device, target);
}

bool attends_both_ways(int device) {
  int code = 0, shared_bytes = 0;
  if (code_version(device, code) != cudaSuccess || code < 80) return false;
  const cudaError_t e = cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return e == cudaSuccess && shared_bytes >= PrefillShared<256, 1>::kBytes;  // the largest
}

}  // namespace inlay::cuda
