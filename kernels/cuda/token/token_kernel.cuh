// All layers of a decode step of one row in one launch: every SM holds one CTA for the whole token.
//
// The ops of the step follow one another as phases. Nothing stands between two of them: a value says itself when it is
// there (exchange.cuh). What the launches of few_rows.cuh and row_attention.cuh gain by starting early, a ninth warp
// gains here: it copies weights into the ring (stage_ring.cuh) through all phases, so that they keep coming while the
// other eight wait for values.
//
// Every result has the bits that the launches give: same device functions, same tiles, chunks and parts.
//
// A buffer is written anew in every layer. Nobody who still reads is overtaken: whoever writes a generation has values
// that came, through all ops between, from everybody who read the last one. CTAs without a tile or a split read
// nothing.
//
// Bound: the memory's speed, and the latency from an op's last result to the next op's first product.
#pragma once

#include "kernels/cuda/attention/row_attention.cuh"
#include "kernels/cuda/token/stage_ring.cuh"
#include "kernels/cuda/token/token_phase.h"

namespace inlay::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// The tiles of this CTA. Products of the same x share out the CTAs together: one begins where the last one ended.
__device__ __forceinline__ TileRange tiles_of(const TokenPhase& phase) {
  int cta = static_cast<int>(blockIdx.x) - phase.first_cta;
  if (cta < 0) cta += static_cast<int>(gridDim.x);
  return TileRange(phase.linear, cta);
}

// ---- the warp that copies

template <DType kFirst, DType kSecond>
__device__ __forceinline__ void copy_weights(const TokenParams& p, void* ring, StageBarriers& barriers) {
  StagePlace place(ring, barriers, p.stage_bytes, p.n_stages), landed = place;
  int n_filled = 0;
  for (int i = 0; i < p.n_phases; ++i) {
    const TokenPhase& phase = p.phases[i];
    if (phase.kind != TokenPhaseKind::linear) continue;
    const FewRowsParams& few = phase.linear;
    const TileRange tiles = tiles_of(phase);
    if (few.args.dtype == kFirst) {
      fill_stages<kFirst>(few, tiles, p.stages_ahead, place, landed, n_filled);
    } else {
      fill_stages<kSecond>(few, tiles, p.stages_ahead, place, landed, n_filled);
    }
  }
}

// ---- the warps that compute

// x_ready: whether the CTA has prepared the x of this phase.
template <DType kType>
__device__ __forceinline__ void linear_phase(const TokenPhase& phase, bool x_ready, StagePlace& stages,
                                             uint8_t* shared) {
  const FewRowsParams& p = phase.linear;
  const TaggedValues values{phase.tag_in, phase.tag_out};
  const TileRange tiles = tiles_of(phase);
  const int n_tiles = tiles.end - tiles.first;
  if (!x_ready) {
    RawRow<kType, TaggedValues> raw(p.args, values, shared);
    raw.prepare();
  }
  StageRing<kType> ring(stages, (n_tiles * p.n_chunks + kParts - 1) / kParts);
  multiply_tiles<kType, 1, true>(p, values, MatrixTiles{p.args, tiles.first, n_tiles}, ring, shared);
  ring.finish();
  stages = ring.stages;
}

template <int kChunks, KvType kKvType>
__device__ __forceinline__ void attention_phase(const TokenPhase& phase, int32_t position, uint8_t* shared) {
  if (threadIdx.x >= kAttentionWarps<kChunks> * 32) return;
  const RowParams& p = phase.attention;
  const TaggedValues values{phase.tag_in, phase.tag_out};
  const RowSplits splits = row_splits(position, p.cache.n_kv_heads);
  const int32_t n_passes = p.cache.n_kv_heads * p.passes.passes, n_items = n_passes * splits.n_splits;
  auto& memory = *reinterpret_cast<RowMemory<kChunks, kKvType>*>(shared);
  // From the last CTA on: it has the fewest tiles of the product before, and finds its keys while others multiply.
  for (auto item = static_cast<int32_t>(gridDim.x - 1 - blockIdx.x); item < n_items;
       item += static_cast<int32_t>(gridDim.x)) {
    int32_t split = 0, head_pass = item;
    while (head_pass >= n_passes) head_pass -= n_passes, ++split;  // a division takes longer
    const RowPart part{0, head_pass, split, splits.n_splits};
    attend_part<kChunks, kKvType, true>(p, values, part, position, splits, memory, [] {});
  }
}

// The phase at hand and the next one, which is read from global memory meanwhile, by one word a thread.
struct PhaseMemory {
  static constexpr int kWords = sizeof(TokenPhase) / sizeof(uint32_t);
  static_assert(sizeof(TokenPhase) % sizeof(uint32_t) == 0 && kWords <= kLinearThreads);
  alignas(TokenPhase) uint32_t words[2][kWords];

  __device__ __forceinline__ const TokenPhase& phase(int i) const {
    return *reinterpret_cast<const TokenPhase*>(words[i % 2]);
  }
  __device__ __forceinline__ static uint32_t word_of(const TokenParams& p, int i) {
    if (i >= p.n_phases || threadIdx.x >= kWords) return 0;
    return reinterpret_cast<const uint32_t*>(p.phases + i)[threadIdx.x];
  }
  __device__ __forceinline__ void store(int i, uint32_t word) {
    if (threadIdx.x < kWords) words[i % 2][threadIdx.x] = word;
  }
};

template <DType kFirst, DType kSecond, int kChunks, KvType kKvType>
__device__ __forceinline__ void compute_phases(const TokenParams& p, PhaseMemory& memory, uint8_t* shared,
                                               int32_t position, StagePlace stages) {
  bool x_ready = false;
  memory.store(0, PhaseMemory::word_of(p, 0));
  sync_threads<kLinearThreads>();
  for (int i = 0; i < p.n_phases; ++i) {
    const uint32_t next = PhaseMemory::word_of(p, i + 1);
    const TokenPhase& phase = memory.phase(i);
    if (phase.kind == TokenPhaseKind::attention) {
      attention_phase<kChunks, kKvType>(phase, position, shared);
      x_ready = false;
    } else {
      x_ready = x_ready && phase.same_x != 0;
      const TileRange tiles = tiles_of(phase);
      if (tiles.end > tiles.first) {
        if (phase.linear.args.dtype == kFirst) {
          linear_phase<kFirst>(phase, x_ready, stages, shared);
        } else {
          linear_phase<kSecond>(phase, x_ready, stages, shared);
        }
        x_ready = true;
      }
    }
    memory.store(i + 1, next);
    sync_threads<kLinearThreads>();
  }
}

#endif

template <DType kFirst, DType kSecond, int kChunks, KvType kKvType>
__global__ void __launch_bounds__(kLinearThreads + 32, 1) token_kernel(const __grid_constant__ TokenParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) uint8_t token_memory[];
  const int32_t position = *p.position;
  if (position < 0 || position >= p.max_context) return;  // padding
  __shared__ StageBarriers barriers;
  __shared__ PhaseMemory phases;
  if (threadIdx.x == 0) {
    for (int i = 0; i < p.n_stages; ++i) {
      init_barrier(&barriers.full[i], kCopyLanes);
      init_barrier(&barriers.empty[i], kParts);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  uint8_t* ring = token_memory + p.ring_at;
  if (threadIdx.x >= kLinearThreads) {
    copy_weights<kFirst, kSecond>(p, ring, barriers);
    return;
  }
  compute_phases<kFirst, kSecond, kChunks, kKvType>(p, phases, token_memory, position,
                                                    StagePlace(ring, barriers, p.stage_bytes, p.n_stages));
#endif
}

template <DType kFirst, DType kSecond>
TokenKernel token_kernel_of(int32_t d_head) {
  return d_head <= 64 ? token_kernel<kFirst, kSecond, 1, KvType::f16> : token_kernel<kFirst, kSecond, 2, KvType::f16>;
}

}  // namespace inlay::cuda
