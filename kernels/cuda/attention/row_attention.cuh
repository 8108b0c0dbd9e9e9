// Causal attention of single rows over the paged cache; with kFused the row's own key and value come straight from the
// product, and queries and key are normed and rotated here.
//
//   out[h] = sum_t softmax_t(scale * q[h] . k[t]) v[t]   for t = 0 .. position;  k, v: head h / (n_heads / n_kv_heads)
//
// With kVariant, kernels of their own: t from position - window + 1 on, what lies before is not read; scores are
// capped; a sink of each head joins the sum of weights when all parts of a row are merged (AttentionVariant).
//
// Layout: kv_element.cuh. A tile of 32 keys of one head is one contiguous piece of the cache. q and out are f32.
//
// Tiling: a CTA of 8 warps (4 for wide heads) per (split of the keys, KV head, row); the query heads of a group (in
// passes of up to 8) share every load of K and V. Warp w of a CTA takes the steps of 16 keys w, w + 8, ... of the
// split, each with its own running maximum; warps merge through shared memory. A row of one split (up to 256 keys)
// writes its result; else each split leaves a record in scratch, each CTA adds its records to a ticket, and the one
// that completes it merges them in order of the splits and sets the ticket back to 0; in the token kernel records say
// themselves when they are there, and every CTA that left one merges a share of the components, in the same order. When
// a step has many rows a CTA does several splits, which changes nothing in any sum. CTAs without keys leave at once; so
// do rows whose position is negative or not below max_context.
//
// Latency: a warp's first keys and values are on their way, and its next step asked from DRAM, before the kernel waits
// for its predecessor; while it works on a step, the next is on its way to registers and the third to L2.
//
// Bound: at many rows, reading K and V once per row; at one row, the latency of loads: up to 16k keys a cache of half
// the bytes is not faster (docs/performance.md). cuda_decode_attention speed prints GB/s.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention/merge.cuh"
#include "kernels/cuda/attention/queries.cuh"
#include "kernels/cuda/attention/row_params.cuh"
#include "kernels/cuda/attention/warp_attention.cuh"
#include "kernels/cuda/device/loads.cuh"

namespace inlay::cuda {

// A row's keys in splits; steps are counted from the first one that the row reads.
struct RowSplits {
  int32_t chunk, n_splits, n_steps;  // chunk: tiles

  __device__ __forceinline__ int32_t first_step(int32_t split) const { return split * chunk * kStepsOfTile; }
  __device__ __forceinline__ int32_t end_step(int32_t split) const {
    const int32_t end = first_step(split + 1);
    return end < n_steps ? end : n_steps;
  }
  // Steps of one of n_warps in a split; the last split may have fewer.
  __device__ __forceinline__ int32_t rounds(int32_t n_warps) const { return chunk * kStepsOfTile / n_warps; }
};

// Splits of a row: those of a CTA, every step-th in [first, end).
struct SplitRange {
  int32_t first, end, step;

  // What CTA `cta` of n_ctas has of n splits if they are to follow one another.
  __device__ __forceinline__ static SplitRange share(int32_t n, int32_t cta, int32_t n_ctas) {
    const int32_t each = n / n_ctas, more = n % n_ctas, first = cta * each + min(cta, more);
    return {first, first + each + (cta < more ? 1 : 0), 1};
  }
  __device__ __forceinline__ int32_t count() const { return (end - first + step - 1) / step; }
  __device__ __forceinline__ bool has_last(int32_t n_splits) const {
    return end == n_splits && (step == 1 || (end - 1 - first) % step == 0);
  }
};

// What a CTA works on at a time: splits of a row and a pass of a KV head.
struct SplitRun {
  RowSplits splits;
  SplitRange range;
  CtaPlace place;
};

template <int kChunks, KvType kType>
struct RowMemory {
  MergeMemory<kChunks> merge;  // its acc also stages the heads before the first step
  QueryMemory<kChunks> queries;
  FreshHead<kChunks, kType> fresh;
  static_assert(kAttentionWarps<kChunks> * 64 * kChunks <= sizeof(merge.acc) / sizeof(float));
};

__device__ __forceinline__ RowSplits row_splits(int32_t position, int32_t n_kv_heads) {
  const int32_t n_tiles = position / kTileKeys + 1, chunk = split_tiles(n_tiles, n_kv_heads);
  return {chunk, (n_tiles + chunk - 1) / chunk, position / kStepKeys + 1};
}

// The step of the first key that a row sees through its window.
__device__ __forceinline__ int32_t first_seen_step(const RowParams& p, int32_t position) {
  const int32_t first_key = first_seen_key(p.score, position);
  return first_key > 0 ? first_key / kStepKeys : 0;
}

template <bool kVariant>
__device__ __forceinline__ RowSplits row_splits(const RowParams& p, int32_t position) {
  if constexpr (kVariant) {
    const int32_t n_steps = position / kStepKeys + 1 - first_seen_step(p, position);
    const int32_t n_tiles = (n_steps + kStepsOfTile - 1) / kStepsOfTile;
    const int32_t chunk = split_tiles(n_tiles, p.cache.n_kv_heads);
    return {chunk, (n_tiles + chunk - 1) / chunk, n_steps};
  } else {
    return row_splits(position, p.cache.n_kv_heads);
  }
}

// What a warp reads of a split.
template <int kChunks, KvType kType, bool kFused, bool kVariant>
struct SplitReader {
  static_assert(kRoundTiles * kStepsOfTile % kAttentionWarps<kChunks> == 0, "splits are whole rounds");
  const RowParams& p;
  StepLane lane;
  int32_t in_block, scale_in_block;  // bytes to the first key of this warp's steps: each begins at the same token
  StepWalk<kAttentionWarps<kChunks>> walk;
  StepTile<kChunks, kType> tile;

  __device__ __forceinline__ explicit SplitReader(const RowParams& params)
      : p(params), lane(static_cast<int>(threadIdx.x) % 32) {}

  // Keys that the row sees, counted from step `ahead` on, and those that the cache has of them.
  __device__ __forceinline__ StepKeys<kVariant> seen(int ahead) const {
    return {kVariant ? walk.keys(ahead) - p.score.window : 0, walk.keys(ahead)};
  }
  __device__ __forceinline__ StepKeys<kVariant> cached(int ahead) const {
    StepKeys<kVariant> keys = seen(ahead);
    if constexpr (kFused) --keys.end;
    return keys;
  }
  __device__ __forceinline__ const char* block(const void* pool, int ahead) const {
    return static_cast<const char*>(pool) + static_cast<int64_t>(walk.blocks[ahead]) * p.block_bytes;
  }

  __device__ __forceinline__ void load_keys(int ahead) {
    if (!walk.has(ahead)) return;
    const char* from = block(p.cache.k_pool, ahead);
    tile.load_keys(from + in_block, from + scale_in_block, p.cache.d_head, cached(ahead), lane);
  }
  __device__ __forceinline__ void load_values(int ahead) {
    if (!walk.has(ahead)) return;
    const char* from = block(p.cache.v_pool, ahead);
    tile.load_values(from + in_block, from + scale_in_block, p.cache.d_head, cached(ahead), lane);
  }
  __device__ __forceinline__ void fetch(int ahead) const {
    if (!walk.has(ahead) || threadIdx.x % 32 != 0) return;
    const int32_t bytes = kStepKeys * p.cache.d_head * KvElement<kType>::kBytes;
    fetch_to_l2(block(p.cache.k_pool, ahead) + in_block, bytes);
    fetch_to_l2(block(p.cache.v_pool, ahead) + in_block, bytes);
  }

  // Splits [first_split, end_split) of the run's row, which are walked through without a pause. asks: the L2 for all of
  // the first step at once, ahead of loads, of which there cannot be as many under way.
  __device__ __forceinline__ void begin(const SplitRun& run, int32_t first_split, int32_t end_split, bool asks) {
    const CtaPlace& at = run.place;
    const int32_t begin = kVariant ? first_seen_step(p, at.position) : 0;
    // The same in all lanes, said so that it is kept in uniform registers: there are none of the others left.
    const int32_t warp = __shfl_sync(kAllLanes, static_cast<int32_t>(threadIdx.x) / 32, 0);
    const int32_t first = begin + run.splits.first_step(first_split) + warp;
    const int32_t token = first % kStepsOfTile * kStepKeys;
    walk.begin(at.table, first, begin + run.splits.end_step(end_split - 1), at.position);
    in_block = static_cast<int32_t>(head_offset<kType>(p.cache, 0, at.kv_head, token));
    scale_in_block = static_cast<int32_t>(scale_offset<kType>(p.cache, 0, at.kv_head, token));
    tile.clear();  // a tile that has values only where there is a step would keep its registers from other phases
    if (asks) fetch(0);
    load_keys(0);
    load_values(0);
    fetch(1);
  }

  // The next n steps, or as many as there are; begin() has been called.
  __device__ __forceinline__ void attend(int32_t n_steps, const QueryMemory<kChunks>& queries,
                                         const FreshHead<kChunks, kType>& fresh, WarpAttention<kChunks, kType>& state) {
    for (; n_steps > 0 && walk.has(0); --n_steps, walk.advance()) {
      const int32_t n = walk.keys(0);
      if (kFused && n <= kStepKeys) tile.insert_key(fresh, n - 1, p.cache.d_head, lane);
      float weight[4];
      state.scores(tile, queries, seen(0), lane, weight);
      if (kVariant && p.score.soft_cap != 0.0f) state.cap_scores(p.score.soft_cap, weight);
      state.weigh(lane, weight);
      load_keys(1);
      if (kFused && n <= kStepKeys) tile.insert_value(fresh, n - 1, p.cache.d_head, lane);
      state.add_values(tile, weight);
      load_values(1);
      fetch(2);
    }
  }
};

template <int kChunks, class Values, class Sinks>
__device__ __forceinline__ void write_row(const PassHeads& heads, const Values& values, const Sinks& sinks,
                                          const MergeMemory<kChunks>& memory, float* out) {
  for_components<kChunks>(heads, [&](int head, int component) {
    const Merged m = merge_warps(memory, head, component);
    values.store4(out + static_cast<int64_t>(head) * heads.d_head + component,
                  divided(m.acc, sinks.join(head, m.max, m.sum)));
  });
}

// The record of a split.
template <int kChunks, class Values>
__device__ __forceinline__ void leave_record(const PassHeads& heads, const Values& values, const SplitRecords& s,
                                             int32_t split, const MergeMemory<kChunks>& memory) {
  for_components<kChunks>(heads, [&](int head, int component) {
    const Merged m = merge_warps(memory, head, component);
    float* record = s.record(head, split);
    values.store4(record + component, m.acc);
    if (component == 0) values.store4(record + heads.d_head, RecordTail{m.max, m.sum}.packed());
  });
}

// Whether the n records of this CTA were the row's last; then the ticket is 0 again and all records can be read.
template <int kChunks>
__device__ __forceinline__ bool were_last(const SplitRecords& s, int32_t n, unsigned* ticket,
                                          MergeMemory<kChunks>& memory) {
  sync_threads<kAttentionWarps<kChunks> * 32>();
  if (threadIdx.x == 0) {
    __threadfence();
    memory.last = atomicAdd(ticket, static_cast<unsigned>(n)) == static_cast<unsigned>(s.n_splits - n);
    if (memory.last) *ticket = 0;
    __threadfence();
  }
  sync_threads<kAttentionWarps<kChunks> * 32>();
  return memory.last;
}

__device__ __forceinline__ SplitRecords split_records(const RowParams& p, const CtaPlace& at, int32_t n_splits) {
  const int32_t record_floats = at.heads.d_head + kRecordTail;
  const int64_t head_stride = static_cast<int64_t>(p.record_splits) * record_floats;
  float* base = reinterpret_cast<float*>(static_cast<char*>(p.scratch) + ticket_bytes(p.n_heads));
  base += (static_cast<int64_t>(at.slot) * p.n_heads + at.heads.first) * head_stride;
  return {base, head_stride, record_floats, n_splits};
}

__device__ __forceinline__ float* row_result(const RowParams& p, const CtaPlace& at) {
  return p.out + (static_cast<int64_t>(at.row) * p.n_heads + at.heads.first) * at.heads.d_head;
}

template <bool kVariant>
__device__ __forceinline__ HeadSinks<kVariant> sinks_of(const RowParams& p, const PassHeads& heads) {
  return HeadSinks<kVariant>(kVariant && p.score.sinks != nullptr ? p.score.sinks + heads.first : nullptr);
}

// What the warps have left in memory becomes the row's result, or a record of it.
template <bool kVariant, int kChunks, class Values>
__device__ __forceinline__ void finish_split(const RowParams& p, const Values& values, const CtaPlace& at,
                                             int32_t split, int32_t n_splits, const MergeMemory<kChunks>& memory) {
  if (n_splits == 1) return write_row(at.heads, values, sinks_of<kVariant>(p, at.heads), memory, row_result(p, at));
  leave_record(at.heads, values, split_records(p, at, n_splits), split, memory);
}

// The last CTA of a row that leaves its n records merges them all.
template <bool kVariant, int kChunks>
__device__ __forceinline__ void finish_row(const RowParams& p, const CtaPlace& at, int32_t n, int32_t n_splits,
                                           MergeMemory<kChunks>& memory) {
  unsigned* ticket = static_cast<unsigned*>(p.scratch) + static_cast<int64_t>(at.slot) * p.n_heads + at.heads.first;
  const SplitRecords records = split_records(p, at, n_splits);
  if (were_last(records, n, ticket, memory)) {
    merge_splits(records, at.heads, FinishedValues(), sinks_of<kVariant>(p, at.heads), memory, row_result(p, at));
  }
}

// This CTA's share of a row of several splits, of which it has left those of a run. kMost: shares at a time.
template <int kMost, int kChunks>
__device__ __forceinline__ void finish_records(const RowParams& p, const TaggedValues& values, const SplitRun& run,
                                               MergeMemory<kChunks>& memory) {
  const CtaPlace& at = run.place;
  const SplitRecords records = split_records(p, at, run.splits.n_splits);
  for (int32_t split = run.range.first; split < run.range.end; split += kMost) {
    sync_threads<kAttentionWarps<kChunks> * 32>();
    merge_share(records, at.heads, values, values.written(), HeadSinks<false>(nullptr), split,
                min(kMost, run.range.end - split), memory, row_result(p, at));
  }
}

// A run of splits, by the first kAttentionWarps warps of a CTA. Of tagged values the splits follow one another, and
// finish_records merges the row. In a launch two CTAs share an SM, and a pause of one at the end of a split leaves the
// memory to the other. kept: the run in shared memory, for there are no registers for it while the steps need all of
// them; wait(): until qkv is there.
template <int kChunks, KvType kType, bool kFused, bool kVariant = false, class Values, class Wait>
__device__ __forceinline__ void attend_run(const RowParams& p, const Values& values, const SplitRun& run,
                                           const SplitRun& kept, RowMemory<kChunks, kType>& memory, const Wait& wait) {
  constexpr int kThreads = kAttentionWarps<kChunks> * 32;
  SplitReader<kChunks, kType, kFused, kVariant> reader(p);
  reader.begin(run, run.range.first, Values::kTagged ? run.range.end : run.range.first + 1, !Values::kTagged);
  const bool newest = kFused && run.range.has_last(run.splits.n_splits);
  clear_queries<kChunks>(run.place.heads.count, memory.queries);
  wait();
  prepare_heads<kChunks, kType, kFused>(p, values, run.place, newest, &memory.merge.acc[0][0][0], memory.queries,
                                        memory.fresh);
  sync_threads<kThreads>();

  const int32_t step = Values::kTagged ? 1 : kept.range.step;
  for (int32_t split = kept.range.first; split < kept.range.end; split += step) {
    WarpAttention<kChunks, kType> state;
    state.clear();
    reader.attend(Values::kTagged ? kept.splits.rounds(kAttentionWarps<kChunks>) : INT32_MAX, memory.queries,
                  memory.fresh, state);
    state.finish();
    if (split > kept.range.first) sync_threads<kThreads>();  // nobody reads any more what the last split left
    store_warp(state, reader.lane, static_cast<int>(threadIdx.x) / 32, kept.place.heads.count, memory.merge);
    sync_threads<kThreads>();
    if (!Values::kTagged && split + step < kept.range.end) reader.begin(kept, split + step, split + step + 1, false);
    finish_split<kVariant>(p, values, kept.place, split, kept.splits.n_splits, memory.merge);
  }
  if (!Values::kTagged && kept.splits.n_splits > 1) {
    finish_row<kVariant>(p, kept.place, kept.range.count(), kept.splits.n_splits, memory.merge);
  }
  if (kFused && kept.range.has_last(kept.splits.n_splits)) {
    append_fresh<kChunks, kType>(p, kept.place, memory.fresh);  // last: nobody waits for it
  }
}

template <int kChunks, KvType kType, bool kFused, bool kVariant>
__global__ __launch_bounds__(kAttentionWarps<kChunks> * 32,
                             2) void row_attention_kernel(const __grid_constant__ RowParams p) {
  if constexpr (kFused) let_next_kernel_start();
  const auto slot = static_cast<int32_t>(blockIdx.z), head_pass = static_cast<int32_t>(blockIdx.y);
  const int32_t position = row_position(p, slot);
  const RowSplits splits = row_splits<kVariant>(p, position < 0 ? 0 : position);
  const SplitRange range{static_cast<int32_t>(blockIdx.x), splits.n_splits, static_cast<int32_t>(gridDim.x)};
  if (position < 0 || range.first >= range.end) {
    // The launch must not be over before its predecessor, for whose end its successor waits through it.
    if (kFused && blockIdx.x == 0) wait_for_previous_kernel();
    return;
  }
  __shared__ RowMemory<kChunks, kType> memory;
  __shared__ SplitRun kept;
  const SplitRun run{splits, range, cta_place(p, slot, head_pass, position)};
  if (threadIdx.x == 0) kept = run;
  attend_run<kChunks, kType, kFused, kVariant>(p, FinishedValues(), run, kept, memory, [] {
    if constexpr (kFused) wait_for_previous_kernel();
  });
}

template <int kChunks, KvType kType, bool kVariant>
RowKernel row_kernel_of(bool fused) {
  return {fused ? row_attention_kernel<kChunks, kType, true, kVariant>
                : row_attention_kernel<kChunks, kType, false, kVariant>,
          kAttentionWarps<kChunks> * 32};
}

template <KvType kType, bool kVariant>
RowKernel row_kernel(int32_t d_head, bool fused) {
  if (d_head <= 64) return row_kernel_of<1, kType, kVariant>(fused);
  if (d_head <= 128) return row_kernel_of<2, kType, kVariant>(fused);
  return row_kernel_of<4, kType, kVariant>(fused);
}

}  // namespace inlay::cuda
