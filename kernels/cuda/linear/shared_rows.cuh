// The same products as few_rows.cuh, bit for bit, for CTAs that have several tiles of a scaled type.
//
// There every tile reads all of x from the L2, which from 16 rows on is several times the weights. Here the warps of a
// CTA are tile_warps x part_warps: those with the same parts go through the same chunks of x at the same time, each for
// a tile of its own, so that a chunk of x comes to shared memory once for all of them.
//
// A step is one chunk of every warp: part_warps chunks of x and eight of weights make a stage, stages follow one
// another through shared memory, and one barrier a step says that a stage is there and another one is free. The weights
// of the first stages are under way before the kernel waits for its predecessor.
//
// Order of operations: that of few_rows.cuh. A warp takes whole parts, one after the other: those of the first warp of
// a tile are added where they arise, the others are kept apart and added after them, so that the order is by part.
#pragma once

#include "kernels/cuda/linear/few_rows.cuh"

namespace inlay::cuda {

// How a CTA's warps and shared memory are used.
struct SharedRowsCut {
  int32_t tile_warps, tile_bits;    // warps with tiles of their own: 1 << tile_bits
  int32_t group_tiles, group_bits;  // of all warps: 1 << group_bits
  int32_t warp_parts;               // parts of a warp; the last warps of a tile may have fewer
  int32_t n_slots;                  // sums of a tile kept apart
  int32_t steps;                    // of a group of tiles
  int32_t n_stages, stage_bytes;    // in shared memory
  int32_t weights_at;               // bytes into a stage
};

struct SharedRowsParams {
  FewRowsParams few;
  SharedRowsCut cut;
};

// A chunk of x in shared memory: values of NT * 8 rows, their sums, their scales; of planes records. Rows are kept
// apart so that the rows that a load meets lie in different banks.
template <DType kType, int NT>
struct SharedX {
  static constexpr bool kPlanes = Layout<kType>::kPlanes;
  static constexpr int kPitch = kChunkCols * 2 + (Layout<kType>::kFormat.group_cols == 16 ? 32 : 64);
  static constexpr int kSumsAt = NT * 8 * kPitch;
  static constexpr int kScalesAt = kPlanes ? NT * 8 * kRecordBytes : kSumsAt + NT * 8 * 64;
  static constexpr int kBytes = (kScalesAt + NT * 8 * 4 + 127) / 128 * 128;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// For multiply_scaled_chunk. What rows of x that are not there come to is thrown away, and reaches no other row.
template <DType kType, int NT>
struct SharedColumns {
  using X = SharedX<kType, NT>;
  const uint8_t* values;  // of row g
  const uint4* row_sums;
  const float* chunk_scale;
  int t;

  __device__ __forceinline__ SharedColumns(const uint8_t* x, int lane)
      : values(x + lane / 4 * X::kPitch),
        row_sums(reinterpret_cast<const uint4*>(x + X::kSumsAt) + lane),
        chunk_scale(reinterpret_cast<const float*>(x + X::kScalesAt) + lane % 4 * 2),
        t(lane % 4) {}
  template <int kSteps>
  __device__ __forceinline__ void fetch(int nt, int u, int first_step, uint2 (&b)[kSteps]) const {
    const uint8_t* at = values + nt * 8 * X::kPitch + u * 128;
    fetch_steps<kSteps>(
        first_step, b, [&](int j) { return *reinterpret_cast<const uint4*>(at + 64 * j + 16 * t); },
        [&](int s) { return *reinterpret_cast<const uint2*>(at + 32 * s + 8 * t); });
  }
  __device__ __forceinline__ uint4 sums(int nt) const { return row_sums[nt * 32]; }
  __device__ __forceinline__ float2 scale(int nt) const {
    return *reinterpret_cast<const float2*>(chunk_scale + 8 * nt);
  }
};

template <DType kType, int NT>
__device__ __forceinline__ auto shared_columns(const uint8_t* x, int lane) {
  using X = SharedX<kType, NT>;
  if constexpr (Layout<kType>::kPlanes) {
    return SharedPlanes(x, x + X::kScalesAt, lane);
  } else {
    return SharedColumns<kType, NT>(x, lane);
  }
}

// What a warp does in the steps of a group: the chunks of its parts in order, then nothing.
struct PartCursor {
  int first, end;  // parts
  int part, chunk, n_chunks;

  __device__ __forceinline__ PartCursor(const SharedRowsParams& p, int part_warp)
      : first(part_warp * p.cut.warp_parts),
        end(min(first + p.cut.warp_parts, p.few.n_parts)),
        part(first),
        chunk(first),
        n_chunks(p.few.n_chunks) {}
  __device__ __forceinline__ bool there() const { return part < end; }
  __device__ __forceinline__ bool ends_part() const { return chunk + kParts >= n_chunks; }
  __device__ __forceinline__ void advance() {
    const bool ends = ends_part();
    part += ends ? 1 : 0;
    chunk = ends ? part : chunk + kParts;
  }
  __device__ __forceinline__ void restart() { part = chunk = first; }
};

// This warp's place among the CTA's.
struct WarpPlace {
  int lane, tile, part_warp, tile_warps;
  __device__ __forceinline__ explicit WarpPlace(const SharedRowsCut& cut)
      : lane(static_cast<int>(threadIdx.x % 32)), tile_warps(cut.tile_warps) {
    const int warp = static_cast<int>(threadIdx.x / 32);
    tile = warp & (cut.tile_warps - 1), part_warp = warp >> cut.tile_bits;
  }
};

// The side that copies: where it is among groups, steps and stages.
template <DType kType, int NT, int kRun>
struct SharedStages {
  using L = Layout<kType>;
  using X = SharedX<kType, NT>;
  const SharedRowsParams& p;
  const WarpPlace& warp;
  PartCursor next;
  uint8_t *memory, *stage, *end;
  const uint8_t* weights;  // of this warp's tile in the group
  int64_t tile_bytes;
  int n_units, n_tiles, tile, step = 0;

  __device__ __forceinline__ SharedStages(const SharedRowsParams& params, const WarpPlace& place,
                                          const TileRange& tiles, uint8_t* shared)
      : p(params),
        warp(place),
        next(params, place.part_warp),
        memory(shared),
        stage(shared),
        end(shared + params.cut.n_stages * params.cut.stage_bytes),
        n_units(static_cast<int>(units_of(params.few.args.n_cols))),
        n_tiles(tiles.end - tiles.first),
        tile(place.tile * kRun) {
    tile_bytes = L::tile_bytes(n_units);
    weights = static_cast<const uint8_t*>(p.few.args.weights) + (tiles.first + tile) * tile_bytes;
  }
  __device__ __forceinline__ bool copies() const { return next.there() && tile - warp.tile * kRun < n_tiles; }
  __device__ __forceinline__ void copy_weights() const {
    if (!copies()) return;
    const uint8_t* from = weights + static_cast<int64_t>(next.chunk) * L::kChunkBytes;
    uint8_t* to = stage + p.cut.weights_at + static_cast<int>(threadIdx.x / 32) * kRun * L::kChunkBytes;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      if (tile + i < n_tiles)
        copy_chunk<kType>(from + i * tile_bytes, n_units, next.chunk, to + i * L::kChunkBytes, warp.lane);
    }
  }
  // The warps of the same parts copy their chunk of x together.
  __device__ __forceinline__ void copy_x() const {
    if (!copies()) return;
    const Activations& x = p.few.args.x;
    const int m = p.few.args.m;
    uint8_t* to = stage + warp.part_warp * X::kBytes;
    if constexpr (L::kPlanes) {
      const uint8_t* records = plane_record(x, next.chunk, 0);
      for (int v = warp.tile * 32 + warp.lane; v < m * (kRecordBytes / 16); v += warp.tile_warps * 32)
        copy_async_16(to + v * 16, records + v * 16);
    } else {
      const auto* values = static_cast<const uint8_t*>(x.values) + next.chunk * (kChunkCols * 2) + warp.lane * 16;
      for (int row = warp.tile; row < m; row += warp.tile_warps)
        copy_async_16(to + row * X::kPitch + warp.lane * 16, values + row * x.ld * 2);
      const auto* sums = static_cast<const uint8_t*>(x.sums) + static_cast<int64_t>(next.chunk) * 64;
      for (int v = warp.tile * 32 + warp.lane; v < m * 4; v += warp.tile_warps * 32)
        copy_async_16(to + X::kSumsAt + v * 16, sums + static_cast<int64_t>(v / 4) * x.n_chunks * 64 + v % 4 * 16);
    }
    if (warp.tile == 0 && warp.lane < m)
      copy_async_4(to + X::kScalesAt + warp.lane * 4, x.chunk_scale + next.chunk * x.scale_stride + warp.lane);
  }
  __device__ __forceinline__ void advance() {
    stage += p.cut.stage_bytes;
    if (stage == end) stage = memory;
    next.advance();
    if (++step < p.cut.steps) return;
    step = 0;
    next.restart();
    tile += p.cut.group_tiles;
    weights += p.cut.group_tiles * tile_bytes;
  }
  // Weights of the first stages, which nobody makes; then, once x is there, their x.
  __device__ __forceinline__ void begin() {
    SharedStages ahead = *this;
    for (int i = 0; i + 1 < p.cut.n_stages; ++i) {
      ahead.copy_weights();
      ahead.advance();
    }
    wait_for_previous_kernel();
    for (int i = 0; i + 1 < p.cut.n_stages; ++i) {
      copy_x();
      commit_copies();
      advance();
    }
  }
  __device__ __forceinline__ void copy_next() {
    copy_weights();
    copy_x();
    commit_copies();
    advance();
  }
};

// Adds a part to the first slot, or keeps it in its own.
template <DType kType, int NT>
__device__ __forceinline__ void keep_part(const SharedRowsParams& p, const PartCursor& at, const WarpPlace& warp,
                                          const float (&total)[NT][4], float* slots) {
  const int m = p.few.args.m;
  const bool adds = at.part > 0 && warp.part_warp == 0;
  float* to = slots + (warp.part_warp == 0 ? 0 : at.part - p.cut.warp_parts + 1) * m * kTileRows;
#pragma unroll
  for (int i = 0; i < NT * 4; ++i) {
    const int col = column_of<kType>(i / 4, i % 4, warp.lane), row = tile_row_of(i % 4, warp.lane);
    if (col >= m) continue;
    float& sum = to[col * kTileRows + row];
    sum = adds ? __fadd_rn(sum, total[i / 4][i % 4]) : total[i / 4][i % 4];
  }
}

// The results of a group's tiles, from the slots; a part of the threads for each of them.
__device__ __forceinline__ void store_group(const SharedRowsParams& p, const TileRange& tiles, int group,
                                            const float* slots) {
  constexpr int kAhead = 4;  // what was there before comes from afar
  const LinearArgs& a = p.few.args;
  const ResultThreads threads(p.cut.group_bits);
  const int tile = tiles.first + group + threads.tile, part_floats = a.m * kTileRows;
  if (tile >= tiles.end) return;
  const PartSums sums{slots + threads.tile * p.cut.n_slots * part_floats, p.cut.n_slots, part_floats};
  const int n = results_of_tile(a) * a.m;
  for (int first = threads.first; first < n; first += kAhead * threads.step) {
    ResultPlace places[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int e = first + i * threads.step;
      if (e < n) places[i] = result_place(a, tile, 0, e);
      places[i].load_before();
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      store_result(a, FinishedValues{}, 0, places[i], sums, [&](int32_t row) { return a.x.row_scale[row]; });
  }
}

// total[i] += the chunk of tile i of the warp's run times x
template <DType kType, int NT, int kRun>
__device__ __forceinline__ void multiply_stage(const SharedRowsParams& p, const uint8_t* stage, const WarpPlace& warp,
                                               float (&total)[kRun][NT][4]) {
  constexpr int kChunkBytes = Layout<kType>::kChunkBytes;
  const auto x = shared_columns<kType, NT>(stage + warp.part_warp * SharedX<kType, NT>::kBytes, warp.lane);
  const uint8_t* weights = stage + p.cut.weights_at + static_cast<int>(threadIdx.x / 32) * kRun * kChunkBytes;
  const uint8_t* chunks[kRun];
#pragma unroll
  for (int i = 0; i < kRun; ++i) chunks[i] = weights + i * kChunkBytes;
  if constexpr (Layout<kType>::kPlanes) {
    multiply_planes<kType, NT>(chunks, x, warp.lane, total);
  } else if constexpr (kRun == 1) {
    multiply_scaled_chunk<kType, NT>(weights, x, warp.lane, total[0]);
  } else {
    multiply_scaled_chunks<kType, NT>(chunks, x, warp.lane, total);
  }
}

template <DType kType, int NT, int kRun>
__device__ __forceinline__ void shared_rows(const SharedRowsParams& p, uint8_t* shared) {
  const TileRange tiles(p.few, static_cast<int32_t>(blockIdx.x));
  const WarpPlace warp(p.cut);
  const int n_tiles = tiles.end - tiles.first, tile_slots = p.cut.n_slots * p.few.args.m * kTileRows;
  auto* slots = reinterpret_cast<float*>(shared + p.few.parts_at);
  SharedStages<kType, NT, kRun> copies(p, warp, tiles, shared);
  copies.begin();
  const uint8_t* stage = shared;
  for (int group = 0; group < n_tiles; group += p.cut.group_tiles) {
    const int first = warp.tile * kRun, n_mine = n_tiles - group - first;  // this warp's in the group
    PartCursor now(p, warp.part_warp);
    float total[kRun][NT][4] = {};
    for (int step = 0; step < p.cut.steps; ++step) {
      wait_for_oldest(p.cut.n_stages - 1);
      __syncthreads();
      copies.copy_next();
      if (n_mine > 0 && now.there()) {
        multiply_stage<kType, NT, kRun>(p, stage, warp, total);
        if (now.ends_part()) {
#pragma unroll
          for (int i = 0; i < kRun; ++i) {
            if (i < n_mine) keep_part<kType, NT>(p, now, warp, total[i], slots + (first + i) * tile_slots);
#pragma unroll
            for (int j = 0; j < NT * 4; ++j) total[i][j / 4][j % 4] = 0.0f;
          }
        }
        now.advance();
      }
      stage += p.cut.stage_bytes;
      if (stage == copies.end) stage = shared;
    }
    __syncthreads();
    store_group(p, tiles, group, slots);
  }
}

#endif

template <DType kType, int NT, int kRun>
__global__ void __launch_bounds__(kLinearThreads, NT <= 2 ? 2 : 1)
    linear_shared_rows(const __grid_constant__ SharedRowsParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) uint8_t shared_rows_memory[];
  let_next_kernel_start();
  shared_rows<kType, NT, kRun>(p, shared_rows_memory);
#else
  refuse_to_run();
#endif
}

}  // namespace inlay::cuda
