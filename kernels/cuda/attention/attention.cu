// Causal attention of single rows over the paged FP16 cache, decode and prefill rows alike.
//
//   out[h] = sum_t softmax_t(scale * q[h] . k[t]) v[t]   for t = 0 .. position;  k, v: head h / (n_heads / n_kv_heads)
//
// Layout: block b of a pool is (n_kv_heads, 32, d_head) halves, so a tile of 32 keys of one head is one contiguous
// piece of the cache and costs one look into the block table. q and out are f32.
//
// Tiling: a CTA of 4 warps per (split of the keys, KV head, row); the query heads of a group (in passes of up to 4)
// share every load of K and V. Warp w of a CTA takes the tiles w, w + 4, ... of the split, each with its own running
// maximum; warps merge through shared memory. A row of one split writes its result; else each split leaves a record in
// scratch and takes a ticket, and the CTA with the last ticket merges the records in order of the splits and sets the
// ticket back to 0. When a step has many rows a CTA does several splits, which changes nothing in any sum. Splits with
// no keys cost a CTA that leaves at once; so do rows whose position is negative or not below max_context (the scratch
// has no room for their splits).
//
// Bound: reading K and V once per row (decode). Share reached: not yet measured. Prefill rows read their keys through
// L2, row by row.
#include "kernels/cuda/cuda_kernels.h"

#include <cuda_fp16.h>

#include "kernels/cuda/attention/merge.cuh"
#include "kernels/cuda/attention/split.cuh"
#include "kernels/cuda/attention/warp_attention.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = kAttentionWarps * 32;
constexpr int kWantedCtas = 4096;  // with more rows than this takes, CTAs do several splits
constexpr float kLog2E = 1.44269504088896341f;

struct AttentionParams {
  AttentionArgs args;
  HeadPasses passes;
  int32_t first_row;      // of the launch
  int32_t record_splits;  // records of a (row, head) in scratch
};

// Where this CTA works. row: of the step; slot: row of this launch, whose scratch it uses.
struct CtaPlace {
  int32_t row, slot, kv_head;
  PassHeads heads;
};

__device__ __forceinline__ CtaPlace cta_place(const AttentionParams& p) {
  CtaPlace at;
  at.slot = static_cast<int32_t>(blockIdx.z);
  at.row = p.first_row + at.slot;
  at.kv_head = static_cast<int32_t>(blockIdx.y) / p.passes.passes;
  const int32_t in_group = static_cast<int32_t>(blockIdx.y) % p.passes.passes * p.passes.heads;
  const int32_t left = p.passes.group - in_group;
  at.heads = {at.kv_head * p.passes.group + in_group, left < p.passes.heads ? left : p.passes.heads,
              p.args.cache.d_head};
  return at;
}

template <int kLanes, int kHeads>
__device__ __forceinline__ void load_queries(const AttentionParams& p, const CtaPlace& at,
                                             const LanePlace<kLanes>& place, WarpAttention<kLanes, kHeads>& state) {
  const int64_t d_head = at.heads.d_head;
  const int64_t row_floats = (static_cast<int64_t>(p.args.n_heads) + 2 * p.args.cache.n_kv_heads) * d_head;
  const float* q = p.args.qkv + at.row * row_floats + at.heads.first * d_head + place.component;
  const float scale = p.args.scale * kLog2E;
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    float4 low = make_float4(0, 0, 0, 0), high = low;
    if (place.inside && h < at.heads.count) {
      low = reinterpret_cast<const float4*>(q + h * d_head)[0];
      high = reinterpret_cast<const float4*>(q + h * d_head)[1];
    }
    const float values[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) state.q[h][i] = values[i] * scale;
  }
}

// Tiles first_tile + warp, + 4, ... before end_tile.
template <int kLanes, int kHeads>
__device__ __forceinline__ void add_split(const CacheView& cache, const CtaPlace& at, const LanePlace<kLanes>& place,
                                          int32_t first_tile, int32_t end_tile, WarpAttention<kLanes, kHeads>& state) {
  const int32_t n_keys = cache.positions[at.row] + 1;
  const int32_t* table = cache.block_tables + static_cast<int64_t>(cache.row_sequence[at.row]) * cache.max_blocks;
  const int64_t in_tile = static_cast<int64_t>(place.key) * cache.d_head + place.component;
  for (int32_t tile = first_tile + static_cast<int32_t>(threadIdx.x) / 32; tile < end_tile; tile += kAttentionWarps) {
    const int64_t block = table[tile];
    const int64_t offset = (block * cache.n_kv_heads + at.kv_head) * kTileKeys * cache.d_head + in_tile;
    const int32_t left = n_keys - tile * kTileKeys;
    const int32_t valid = left < kTileKeys ? left : kTileKeys;
    const int32_t stride = LanePlace<kLanes>::kKeys * cache.d_head;
    const TileView keys{static_cast<const __half*>(cache.k_pool) + offset, stride, valid};
    const TileView values{static_cast<const __half*>(cache.v_pool) + offset, stride, valid};
    state.add_tile(keys, values, place);
  }
}

__device__ __forceinline__ SplitRecords split_records(const AttentionParams& p, const CtaPlace& at, int32_t n_splits) {
  const int32_t record_floats = at.heads.d_head + kRecordTail;
  const int64_t head_stride = static_cast<int64_t>(p.record_splits) * record_floats;
  float* base = reinterpret_cast<float*>(static_cast<char*>(p.args.scratch) + ticket_bytes(p.args.n_heads));
  base += (static_cast<int64_t>(at.slot) * p.args.n_heads + at.heads.first) * head_stride;
  return {base, head_stride, record_floats, n_splits};
}

// Writes the record of a split and says whether it was the row's last; then the ticket is 0 again and all records can
// be read.
template <int kLanes, int kHeads>
__device__ __forceinline__ bool leave_record(const AttentionParams& p, const CtaPlace& at, const SplitRecords& s,
                                             int32_t split, MergeMemory<kLanes, kHeads>& memory) {
  for_merged(memory, at.heads, [&](int head, int component, const Merged& m) {
    float* record = s.records + head * s.head_stride + static_cast<int64_t>(split) * s.record_floats;
    record[component] = m.acc;
    if (component == 0) {
      record[at.heads.d_head] = m.max;
      record[at.heads.d_head + 1] = m.sum;
    }
  });
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned* ticket =
        static_cast<unsigned*>(p.args.scratch) + static_cast<int64_t>(at.slot) * p.args.n_heads + at.heads.first;
    memory.last = atomicAdd(ticket, 1u) == static_cast<unsigned>(s.n_splits - 1);
    if (memory.last) *ticket = 0;
    __threadfence();
  }
  __syncthreads();
  return memory.last;
}

template <int kLanes, int kHeads>
__global__ __launch_bounds__(kThreads) void attention_kernel(const __grid_constant__ AttentionParams p) {
  const CtaPlace at = cta_place(p);
  const int32_t position = p.args.cache.positions[at.row];
  if (position < 0 || position >= p.args.max_context) return;
  const int32_t n_tiles = position / kTileKeys + 1;
  const int32_t chunk = split_tiles(n_tiles, p.args.cache.n_kv_heads);
  const int32_t n_splits = (n_tiles + chunk - 1) / chunk;
  if (static_cast<int32_t>(blockIdx.x) >= n_splits) return;

  __shared__ __align__(16) MergeMemory<kLanes, kHeads> memory;
  const LanePlace<kLanes> place(static_cast<int>(threadIdx.x) % 32, at.heads.d_head);
  WarpAttention<kLanes, kHeads> state;
  load_queries(p, at, place, state);
  float* out = p.args.out + (static_cast<int64_t>(at.row) * p.args.n_heads + at.heads.first) * at.heads.d_head;
  for (int32_t split = static_cast<int32_t>(blockIdx.x); split < n_splits; split += static_cast<int32_t>(gridDim.x)) {
    const int32_t end = (split + 1) * chunk;
    state.clear();
    add_split(p.args.cache, at, place, split * chunk, end < n_tiles ? end : n_tiles, state);
    state.finish();
    store_warp(state, place, static_cast<int>(threadIdx.x) / 32, memory);
    __syncthreads();
    if (n_splits == 1) {
      for_merged(memory, at.heads, [&](int head, int component, const Merged& m) {
        out[static_cast<int64_t>(head) * at.heads.d_head + component] = m.acc / m.sum;
      });
      return;
    }
    const SplitRecords records = split_records(p, at, n_splits);
    if (leave_record(p, at, records, split, memory)) merge_splits(records, at.heads, memory, out);
  }
}

using Kernel = void (*)(AttentionParams);

template <int kLanes>
Kernel kernel_of_heads(int32_t heads) {
  if (heads <= 1) return attention_kernel<kLanes, 1>;
  if (heads <= 2) return attention_kernel<kLanes, 2>;
  return attention_kernel<kLanes, 4>;
}

Kernel kernel_of(int32_t d_head, int32_t heads) {
  if (d_head <= 16) return kernel_of_heads<2>(heads);
  if (d_head <= 32) return kernel_of_heads<4>(heads);
  if (d_head <= 64) return kernel_of_heads<8>(heads);
  if (d_head <= 128) return kernel_of_heads<16>(heads);
  return kernel_of_heads<32>(heads);
}

bool supported(const AttentionArgs& a) {
  const CacheView& c = a.cache;
  if (a.m < 0 || a.max_context < 1 || c.max_blocks < 1 || c.block_tokens != kTileKeys) return false;
  if (c.d_head < 16 || c.d_head > 256 || c.d_head % 8 != 0) return false;
  if (c.n_kv_heads < 1 || a.n_heads < 1 || a.n_heads % c.n_kv_heads != 0) return false;
  return static_cast<int64_t>(c.n_kv_heads) * head_passes(a.n_heads, c.n_kv_heads).passes <= 65535;  // grid y
}

}  // namespace

size_t attention_scratch_bytes(int32_t max_rows, int32_t n_heads, int32_t n_kv_heads, int32_t d_head,
                               int32_t max_context) {
  const size_t rows = static_cast<size_t>(max_rows < kRowsPerLaunch ? max_rows : kRowsPerLaunch);
  const size_t records = rows * n_heads * max_splits(max_context, n_kv_heads);
  return ticket_bytes(n_heads) + records * (d_head + kRecordTail) * sizeof(float);
}

cudaError_t launch_attention(const AttentionArgs& args, cudaStream_t stream) {
  if (!supported(args)) return cudaErrorInvalidValue;
  const HeadPasses passes = head_passes(args.n_heads, args.cache.n_kv_heads);
  const int32_t splits = max_splits(args.max_context, args.cache.n_kv_heads);
  const Kernel kernel = kernel_of(args.cache.d_head, passes.heads);
  for (int32_t first = 0; first < args.m; first += kRowsPerLaunch) {
    const int32_t rows = args.m - first < kRowsPerLaunch ? args.m - first : kRowsPerLaunch;
    const int32_t pairs = rows * args.cache.n_kv_heads * passes.passes;
    const int32_t columns = (kWantedCtas + pairs - 1) / pairs;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(columns < splits ? columns : splits),
                          static_cast<unsigned>(args.cache.n_kv_heads * passes.passes), static_cast<unsigned>(rows));
    config.blockDim = dim3(kThreads);
    config.stream = stream;
    const cudaError_t status = cudaLaunchKernelEx(&config, kernel, AttentionParams{args, passes, first, splits});
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace inlay::cuda
