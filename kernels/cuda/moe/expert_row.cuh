// x += sum over the pairs of a step's only row, best first, of weight * (W[expert] y + bias) [+ shared_weight *
// shared], where y is what the pair's gate and up left: the products of launch_expert_linear, what prepares their rows
// and their sum in one launch, with the bits of three.
//
// CTA c of at most two an SM has some of the tiles of 16 results, each for all pairs, so that it can add them up. The
// chunks of (tile, pair, chunk) form one sequence that the warps share as in few_rows.cuh. Bound: reading the chosen
// experts' matrices, and latency. The routing is older than the predecessor (see moe_kernels.h), so that the weights
// are requested before that one has ended.
#pragma once

#include "kernels/cuda/linear/launch.cuh"
#include "kernels/cuda/moe_kernels.h"

namespace inlay::cuda {

struct ExpertRowParams {
  FewRowsParams few;  // of one expert, m = 1; args.x.n_chunks as of a raw row
  ExpertRowArgs row;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// Lane i knows pair i.
struct PairsOfRow {
  int32_t expert = -1, place = -1;
  float weight = 0.0f;
  int n;  // 0: the row is padding

  // Past L1, for this may be read before the predecessor has ended.
  __device__ __forceinline__ PairsOfRow(const MoeCombineArgs& a, int lane) {
    if (lane < a.shape.n_used) {
      expert = __ldcg(a.routing.experts + lane);
      place = __ldcg(a.routing.pair_place + lane);
      weight = __ldcg(a.routing.weights + lane);
    }
    n = __shfl_sync(0xffffffffu, expert, 0) < 0 ? 0 : a.shape.n_used;
  }
};

// The chunks of every tile and pair.
template <DType kType>
struct PairChunks {
  const FewRowsParams& few;
  const PairsOfRow& pairs;
  ChunkCursor next;  // tile: of (tile, pair)
  const uint8_t* from = nullptr;
  int32_t first_tile;
  int n, at = -1;  // at: which (tile, pair) `from` belongs to

  __device__ __forceinline__ PairChunks(const FewRowsParams& p, const PairsOfRow& of, const TileRange& tiles)
      : few(p),
        pairs(of),
        next(p, static_cast<int>(threadIdx.x / 32)),
        first_tile(tiles.first),
        n((tiles.end - tiles.first) * of.n) {}
  __device__ __forceinline__ bool has_next() const { return next.tile < n; }
  __device__ __forceinline__ const uint8_t* take() {
    if (next.tile != at) begin(next.tile);
    const uint8_t* taken = from + next.chunk * kChunkStride<kType>;
    next.advance();
    return taken;
  }
  __device__ __forceinline__ void begin(int tile_and_pair) {
    at = tile_and_pair;
    const int64_t expert = __shfl_sync(0xffffffffu, pairs.expert, at % pairs.n);
    from = static_cast<const uint8_t*>(few.args.weights) +
           (expert * few.n_tiles + first_tile + at / pairs.n) * Layout<kType>::tile_bytes(static_cast<int>(units_of(few.args.n_cols)));
  }
};

// The pairs' rows as products take them, one after another in shared memory; a warp takes a chunk at a time.
template <DType kType>
__device__ __forceinline__ void prepare_pairs(const ExpertRowParams& p, const PairsOfRow& pairs, uint8_t* rows) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const RawRowPlaces places{p.few.args.x.n_chunks};
  for (int i = warp; i < pairs.n * places.n_chunks; i += kParts) {
    const int pair = i / places.n_chunks, chunk = i % places.n_chunks;
    const float* from = p.row.values + __shfl_sync(0xffffffffu, pairs.place, pair) * p.few.args.n_cols;
    const int column = chunk * kChunkCols + lane * 8;
    const Octet x = finished_octet(from + column, static_cast<int>(p.few.args.n_cols) - column);
    uint8_t *row = rows + pair * places.bytes(), *to = row + places.values() + chunk * kChunkCols * 2;
    constexpr ActivationForm kForm = Layout<kType>::kForm;
    const float scale = store_chunk<kForm>(x, lane, true, to, row + places.sums() + chunk * 64);
    if (kForm != ActivationForm::bf16 && lane == 0) reinterpret_cast<float*>(row + places.scales())[chunk] = scale;
  }
}

// Two of a tile's results by every warp, lane i for pair i: what does not depend on the products.
struct TwoResults {
  int row[2];  // of the tile
  int64_t result[2];
  float bias[2], before[2], shared[2];

  __device__ __forceinline__ TwoResults(const ExpertRowParams& p, const PairsOfRow& pairs, int32_t tile, int lane) {
    const LinearArgs& a = p.few.args;
    const bool has_pair = lane < pairs.n;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      row[k] = static_cast<int>(threadIdx.x / 32) * 2 + k;
      result[k] = static_cast<int64_t>(tile) * kTileRows + row[k];
      const bool is_there = result[k] < a.n_rows;
      bias[k] = is_there && has_pair && a.bias != nullptr ? a.bias[pairs.expert * a.n_rows + result[k]] : 0.0f;
      before[k] = is_there ? __ldcg(p.row.sum.x + result[k]) : 0.0f;
      shared[k] = is_there && p.row.sum.shared != nullptr ? __ldcg(p.row.sum.shared + result[k]) : 0.0f;
    }
  }
  // parts: (pairs, n_parts, 16)
  __device__ __forceinline__ void store(const ExpertRowParams& p, const PairsOfRow& pairs, const float* parts,
                                        float shared_weight, int lane) const {
    const int n_parts = p.few.n_parts;
    float value[2], sum[2] = {};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      float total = 0.0f;
      for (int part = 0; lane < pairs.n && part < n_parts; ++part) {
        total = __fadd_rn(total, parts[(lane * n_parts + part) * kTileRows + row[k]]);
      }
      value[k] = __fadd_rn(total, bias[k]);
    }
    for (int i = 0; i < pairs.n; ++i) {
      const float weight = __shfl_sync(0xffffffffu, pairs.weight, i);
#pragma unroll
      for (int k = 0; k < 2; ++k) sum[k] = fmaf(weight, __shfl_sync(0xffffffffu, value[k], i), sum[k]);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (p.row.sum.shared != nullptr) sum[k] = fmaf(shared_weight, shared[k], sum[k]);
      if (lane == 0 && result[k] < p.few.args.n_rows) p.row.sum.x[result[k]] = __fadd_rn(before[k], sum[k]);
    }
  }
};

#endif

template <DType kType>
__global__ void __launch_bounds__(kLinearThreads, 2) expert_row(const __grid_constant__ ExpertRowParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) uint8_t expert_row_memory[];
  let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const PairsOfRow pairs(p.row.sum, lane);
  const TileRange tiles(p.few, static_cast<int32_t>(blockIdx.x));
  ChunkRing<kType, PairChunks<kType>> ring(p.few, {p.few, pairs, tiles}, expert_row_memory + p.few.ring_at);
  wait_for_previous_kernel();
  if (pairs.n == 0) return;
  prepare_pairs<kType>(p, pairs, expert_row_memory);
  const float shared_weight = p.row.sum.shared != nullptr ? *p.row.sum.routing.shared_weight : 0.0f;
  sync_threads<kLinearThreads>();
  ChunkCursor now(p.few, static_cast<int>(threadIdx.x / 32));
  const int row_bytes = RawRowPlaces{p.few.args.x.n_chunks}.bytes(), set_floats = pairs.n * p.few.n_parts * kTileRows;
  auto* parts = reinterpret_cast<float*>(expert_row_memory + p.few.parts_at);
  int other_set = set_floats;  // tiles use two sets of parts in turn
  for (int first = 0; first < ring.source.n; first += pairs.n) {
    const TwoResults results(p, pairs, tiles.first + first / pairs.n, lane);
    while (now.tile < first + pairs.n) {
      const int at = now.tile, pair = at - first;
      float* part = parts + (pair * p.few.n_parts + now.chunk % kParts) * kTileRows;
      float total[1][4] = {};
      do {
        ring.wait();
        multiply_chunk<kType, 1>(
            ring, raw_columns<kType>(p.few.args, expert_row_memory + pair * row_bytes, now.chunk, lane), lane, total);
        ring.release();
        now.advance();
      } while (now.tile == at);
      store_part<kType, 1>(total, 1, lane, part);
    }
    sync_threads<kLinearThreads>();
    results.store(p, pairs, parts, shared_weight, lane);
    parts += other_set;
    other_set = -other_set;
  }
#else
  refuse_to_run();
#endif
}

// depth 0: it does not run.
template <DType kType>
FewRowsFit fit_expert_row(const ExpertRowArgs& row, const DeviceTraits& device) {
  if (kType == DType::f32 || device.code < 80 || row.linear.n_cols % 8 != 0) return {};
  const int n_pairs = row.sum.shape.n_used;
  FewRowsParams p = cut_few_rows<kType>(row.linear);
  p.args.x.n_chunks = static_cast<int32_t>((row.linear.n_cols + kChunkCols - 1) / kChunkCols);
  const int parts_bytes = 2 * n_pairs * p.n_parts * kTileRows * static_cast<int>(sizeof(float));
  return fit_ring<kType>(p, n_pairs * RawRowPlaces{p.args.x.n_chunks}.bytes(), parts_bytes, device);
}

template <DType kType>
bool runs_expert_row(const ExpertRowArgs& row) {
  DeviceTraits device;
  return current_device(device) == cudaSuccess && fit_expert_row<kType>(row, device).params.depth >= 1;
}

template <DType kType>
cudaError_t launch_expert_row_of(const ExpertRowArgs& row, LaunchTarget target) {
  if constexpr (kType == DType::f32) {
    return cudaErrorInvalidValue;
  } else {
    DeviceTraits device;
    if (const cudaError_t error = current_device(device); error != cudaSuccess) return error;
    FewRowsFit fit = fit_expert_row<kType>(row, device);
    if (fit.params.depth < 1) return cudaErrorInvalidValue;
    const int most = fit.ctas_per_sm * device.n_multiprocessors, n_tiles = fit.params.n_tiles;
    const int n = n_tiles < most ? n_tiles : most;
    share_tiles(fit.params, n);
    return launch_early(expert_row<kType>, dim3(static_cast<unsigned>(n)), kLinearThreads, target,
                        ExpertRowParams{fit.params, row}, fit.shared_bytes);
  }
}

}  // namespace inlay::cuda
