// Products of rows with the matrices of the experts that they go to: the kernels of kernels/cuda/linear, each tile of
// which finds its expert, rows and results through the step's blocks of rows.
//
// Few rows: the tiles of all blocks form one sequence, of which every CTA has a part, as in few_rows.cuh; so an
// expert's weights are read once for each of its blocks, and those of experts that nobody goes to are not read. Bound:
// that reading; weights are requested as soon as the routing is known, before the predecessor has ended. Many rows: CTA
// = 8 tiles x one block, as in many_rows.cuh. Without tensor cores: CTA = one tile x one block. A row's bits are those
// of the same product in kernels/cuda/linear, whatever else is in the step.
#pragma once

#include "kernels/cuda/linear/launch.cuh"
#include "kernels/cuda/moe_kernels.h"

namespace inlay::cuda {

__host__ __device__ __forceinline__ int32_t tiles_of(const LinearArgs& a) {
  return static_cast<int32_t>((a.n_rows + kTileRows - 1) / kTileRows);
}

// The next kernel may start only now: what it reads of the routing before this one has ended (expert_row.cuh) is there.
__device__ __forceinline__ void wait_for_routing() {
  wait_for_previous_kernel();
  let_next_kernel_start();
}

// The product of one block.
template <DType kType>
__device__ __forceinline__ LinearArgs block_args(const ExpertLinearArgs& e, const ExpertBlock& block) {
  LinearArgs a = e.linear;
  const int64_t n_units = units_of(a.n_cols), first = block.first_place;
  const int64_t n_results = a.epilogue == Epilogue::gate_up ? a.n_rows / 2 : a.n_rows;
  a.weights =
      static_cast<const uint8_t*>(a.weights) + int64_t{block.expert} * tiles_of(a) * Layout<kType>::tile_bytes(n_units);
  a.x = rows_from<Layout<kType>::kForm>(a.x, block.first_place);
  a.out += first * a.ld_out;
  if (a.bias != nullptr) a.bias += block.expert * n_results;
  if (a.up_bias != nullptr) a.up_bias += block.expert * n_results;
  a.m = block.n_rows;
  return a;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// The tiles of a CTA in the sequence of all blocks' tiles. What it takes to request weights is read past L1, for it may
// be read before the predecessor has ended.
template <DType kType>
struct BlockTiles {
  const ExpertLinearArgs& e;
  int32_t n_tiles;  // of a matrix
  int32_t first;
  int n;
  int32_t first_block, first_expert;

  __device__ __forceinline__ explicit BlockTiles(const ExpertLinearArgs& args)
      : e(args), n_tiles(tiles_of(args.linear)) {
    const auto n_ctas = static_cast<int32_t>(gridDim.x), cta = static_cast<int32_t>(blockIdx.x);
    // With as many blocks as there can be, which a single row always has, the CTA's first one is this: it is requested
    // together with their number.
    const int32_t most = e.most_blocks * n_tiles, likely = share_of(most, cta, n_ctas) / n_tiles;
    const int32_t likely_expert = expert_of(likely);
    const int32_t all = __ldcg(e.n_blocks) * n_tiles;
    first = share_of(all, cta, n_ctas);
    n = share_of(all, cta + 1, n_ctas) - first;
    first_block = first / n_tiles;
    first_expert = first_block == likely ? likely_expert : n > 0 ? expert_of(first_block) : 0;
  }
  __device__ __forceinline__ static int32_t share_of(int32_t all, int32_t cta, int32_t n_ctas) {
    return cta * (all / n_ctas) + min(cta, all % n_ctas);
  }
  __device__ __forceinline__ int32_t expert_of(int32_t block) const { return __ldcg(&e.blocks[block].expert); }
  __device__ __forceinline__ const ExpertBlock& block(int i) const { return e.blocks[(first + i) / n_tiles]; }
  __device__ __forceinline__ LinearArgs args(int i) const { return block_args<kType>(e, block(i)); }
  __device__ __forceinline__ int64_t at(int i) const { return (first + i) % n_tiles; }
};

// The chunks of tiles of several experts.
template <DType kType>
struct BlockChunks {
  const BlockTiles<kType>& tiles;
  ChunkCursor next;
  const uint8_t* from = nullptr;  // the tile that is copied now
  int tile = 0;                   // which one it is
  int32_t block, expert, at;      // where that is: tile `at` of the block
  int n_units;

  __device__ __forceinline__ BlockChunks(const FewRowsParams& p, const BlockTiles<kType>& of)
      : tiles(of),
        next(p, static_cast<int>(threadIdx.x / 32)),
        block(of.first_block),
        expert(of.first_expert),
        at(of.first - of.first_block * of.n_tiles),
        n_units(static_cast<int>(units_of(p.args.n_cols))) {}
  __device__ __forceinline__ bool has_next() const { return next.tile < tiles.n; }
  __device__ __forceinline__ const uint8_t* take() {
    if (next.tile != tile || from == nullptr) go_to(next.tile);
    const uint8_t* taken = from + next.chunk * kChunkStride<kType>;
    next.advance();
    return taken;
  }
  __device__ __forceinline__ void go_to(int to) {
    at += to - tile;
    tile = to;
    if (at >= tiles.n_tiles) {
      while (at >= tiles.n_tiles) at -= tiles.n_tiles, ++block;
      expert = tiles.expert_of(block);
    }
    from = static_cast<const uint8_t*>(tiles.e.linear.weights) +
           (int64_t{expert} * tiles.n_tiles + at) * Layout<kType>::tile_bytes(n_units);
  }
};

template <DType kType>
using BlockRing = ChunkRing<kType, BlockChunks<kType>>;

#endif

struct ExpertFewRowsParams {
  FewRowsParams few;  // args: the product of an expert, with the most rows of a block
  ExpertLinearArgs experts;
};

template <DType kType, int NT, bool kRaw>
__global__ void __launch_bounds__(kLinearThreads, 2) experts_few_rows(const __grid_constant__ ExpertFewRowsParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) uint8_t experts_memory[];
  const FinishedValues values;
  if constexpr (kRaw) {
    RawRow<Layout<kType>::kForm, FinishedValues> raw(p.few.args, values, experts_memory);
    wait_for_routing();
    const BlockTiles<kType> tiles(p.experts);
    BlockRing<kType> ring(p.few, {p.few, tiles}, experts_memory + p.few.ring_at);
    raw.prepare();
    multiply_tiles<kType, NT, true>(p.few, values, tiles, ring, experts_memory);
  } else {
    if (!p.experts.routing_is_older) wait_for_routing();
    const BlockTiles<kType> tiles(p.experts);
    BlockRing<kType> ring(p.few, {p.few, tiles}, experts_memory + p.few.ring_at);
    if (p.experts.routing_is_older) wait_for_routing();
    multiply_tiles<kType, NT, false>(p.few, values, tiles, ring, experts_memory);
  }
#else
  refuse_to_run();
#endif
}

// blockIdx: eight tiles, block, rows of it.
template <DType kType>
__global__ void __launch_bounds__(kLinearThreads, ManyRows<kType>::kCtasPerSm)
    experts_many_rows(const __grid_constant__ ExpertLinearArgs e) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __shared__ alignas(128) uint8_t shared[ManyRows<kType>::kBytes];
  wait_for_routing();
  const auto block = static_cast<int32_t>(blockIdx.y);
  if (block >= *e.n_blocks) return;
  const LinearArgs a = block_args<kType>(e, e.blocks[block]);
  const int32_t first = static_cast<int32_t>(blockIdx.z) * ManyRows<kType>::kRows;
  if (first >= a.m) return;
  many_rows<kType>(a, static_cast<int32_t>(blockIdx.x) * kParts + static_cast<int32_t>(threadIdx.x / 32), first,
                   shared);
#else
  refuse_to_run();
#endif
}

// blockIdx: tile, block.
template <DType kType>
__global__ void __launch_bounds__(kPlainThreads) experts_plain(const __grid_constant__ ExpertLinearArgs e) {
  __shared__ float sums[kPlainRows * kTileRows];
  wait_for_routing();
  const auto block = static_cast<int32_t>(blockIdx.y);
  if (block >= *e.n_blocks) return;
  plain_rows<kType>(block_args<kType>(e, e.blocks[block]), blockIdx.x, 0, sums);
}

// Products of the rows of blocks. Most blocks have far fewer rows than they may have, so more tiles than elsewhere lie
// between two barriers, or the warps would wait for one another after a few chunks.
template <DType kType>
FewRowsFit fit_blocks(const LinearArgs& args, const DeviceTraits& device) {
  if (args.raw != nullptr) return fit_few_rows<kType>(args, device);
  constexpr int kMostPartsBytes = 32 * 1024;
  FewRowsParams p = cut_few_rows<kType>(args);
  while (p.group_tiles < 8 && p.group_tiles * p.n_chunks < 64 && 2 * parts_bytes_of(p) <= kMostPartsBytes) {
    p.group_tiles *= 2, ++p.group_bits;
  }
  return fit_ring<kType>(p, 0, parts_bytes_of(p), device);
}

template <DType kType, int NT, bool kRaw>
cudaError_t launch_experts_few_rows(const ExpertLinearArgs& e, const DeviceTraits& device, LaunchTarget target) {
  const FewRowsFit fit = fit_blocks<kType>(e.linear, device);
  if (fit.params.depth < 1) return cudaErrorInvalidValue;
  const int most = fit.ctas_per_sm * device.n_multiprocessors;
  const int64_t n_tiles = int64_t{e.most_blocks} * tiles_of(e.linear);
  const auto n_ctas = static_cast<unsigned>(n_tiles < most ? n_tiles : most);
  return launch_early(experts_few_rows<kType, NT, kRaw>, dim3(n_ctas), kLinearThreads, target,
                      ExpertFewRowsParams{fit.params, e}, fit.shared_bytes);
}

template <DType kType>
cudaError_t launch_experts(const ExpertLinearArgs& e, LaunchTarget target) {
  const auto n_tiles = static_cast<unsigned>(tiles_of(e.linear)), n_blocks = static_cast<unsigned>(e.most_blocks);
  DeviceTraits device;
  if (const cudaError_t error = current_device(device); error != cudaSuccess) return error;
  if (kType == DType::f32 || device.code < 80) {
    if (e.linear.raw != nullptr) return cudaErrorInvalidValue;
    return launch_early(experts_plain<kType>, dim3(n_tiles, n_blocks), kPlainThreads, target, e);
  }
  if constexpr (kType != DType::f32) {
    if (e.linear.raw != nullptr) return launch_experts_few_rows<kType, 1, true>(e, device, target);
    if (e.linear.m <= 8) return launch_experts_few_rows<kType, 1, false>(e, device, target);
    if (e.linear.m <= 16) return launch_experts_few_rows<kType, 2, false>(e, device, target);
    constexpr int kRows = ManyRows<kType>::kRows;
    const dim3 grid((n_tiles + kParts - 1) / kParts, n_blocks, static_cast<unsigned>((e.linear.m + kRows - 1) / kRows));
    return launch_early(experts_many_rows<kType>, grid, kLinearThreads, target, e);
  }
}

}  // namespace inlay::cuda
