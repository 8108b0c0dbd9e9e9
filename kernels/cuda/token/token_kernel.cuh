// All layers of a decode step of one row, or of up to eight, in one launch: every SM holds one CTA for the whole
// token.
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
#include "kernels/cuda/token/session_rows.cuh"
#include "kernels/cuda/token/stage_ring.cuh"
#include "kernels/cuda/token/token_phase.h"

namespace inlay::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// The tiles of this CTA. Products of the same x share out the CTAs together: one begins where the last one ended.
template <class Cut>
__device__ __forceinline__ TileRange tiles_of(const Cut& cut, int32_t first_cta) {
  int cta = static_cast<int>(blockIdx.x) - first_cta;
  if (cta < 0) cta += static_cast<int>(gridDim.x);
  return TileRange(cut, cta);
}

// ---- the warp that copies

// Every CTA asks the L2 for a line of a vector that all will read: it comes from the device's memory but once a token.
__device__ __forceinline__ void fetch_line(const float* vector, int64_t n) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * 32;
  if (vector == nullptr || at >= n || threadIdx.x % 32 != 0) return;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(vector + at));
}

// What the warp is told of a product, and of the next one, which comes while weights of this one are copied: a pause
// between two products would be a pause of the memory.
struct CopyMemory {
  static constexpr int kVectors = sizeof(TokenWeights) / sizeof(uint4);
  alignas(TokenWeights) uint4 vectors[2][kVectors];

  __device__ __forceinline__ const TokenWeights& product(int i) const {
    return *reinterpret_cast<const TokenWeights*>(vectors[i % 2]);
  }
  __device__ __forceinline__ void fetch(const TokenParams& p, int i) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    if (i >= p.n_weights || lane >= kVectors) return;
    copy_async_16(vectors[i % 2] + lane, reinterpret_cast<const uint4*>(p.weights + i) + lane);
  }
  __device__ __forceinline__ void arrive() const {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
  }
};

// The L2 is asked for what the ring takes first, while the kernel before this one still runs.
__device__ __forceinline__ void ask_for_first_weights(const TokenParams& p) {
  if (threadIdx.x % 32 != 0) return;
  const TokenWeights& weights = p.weights[0];
  const TileRange tiles = tiles_of(weights, weights.first_cta);
  const auto* from =
      reinterpret_cast<const char*>(weights.weights + static_cast<int64_t>(tiles.first) * weights.tile_bytes);
  const int64_t bytes =
      min(static_cast<int64_t>(tiles.end - tiles.first) * weights.tile_bytes, static_cast<int64_t>(p.ring_bytes));
  if (bytes > 0) fetch_to_l2(from, static_cast<int32_t>(bytes / 16 * 16));
}

template <DType kFirst, DType kSecond, bool kSeveral>
__device__ __forceinline__ void copy_weights(const TokenParams& p, void* ring, StageBarriers& barriers,
                                             CopyMemory& memory) {
  StageWriter<!kSeveral> writer(ring, barriers, p.ring_bytes, p.ahead);
  memory.fetch(p, 0);
  for (int i = 0; i < p.n_weights; ++i) {
    memory.arrive();
    memory.fetch(p, i + 1);
    const TokenWeights& weights = memory.product(i);
    const TileRange tiles = tiles_of(weights, weights.first_cta);
    for (int v = 0; v < 2; ++v) fetch_line(weights.vectors[v], weights.vector_cols[v]);
    if (kFirst == kSecond || weights.dtype == kFirst) {
      fill_stages<kFirst, kSeveral>(weights, tiles, writer);
    } else {
      fill_stages<kSecond, kSeveral>(weights, tiles, writer);
    }
  }
}

// ---- the warps that compute

// x_ready: whether the CTA has prepared the x of this phase. What products of both types do alike stands once: the code
// of a whole layer goes through the instruction caches for every token.
template <DType kFirst, DType kSecond>
__device__ __forceinline__ void linear_phase(const TokenPhase& phase, const TileRange& tiles, bool x_ready,
                                             StagePlace& stages, uint8_t* shared) {
  const TaggedValues values{phase.tag_in, phase.tag_out};
  const FewRowsParams p = phase.linear;  // a copy: what is needed of it is read at once, before values are awaited
  const int n_tiles = tiles.end - tiles.first;
  const MatrixTiles matrix{p.args, tiles.first, n_tiles};
  const bool is_first = kFirst == kSecond || p.args.dtype == kFirst;
  StageReader reader{stages, is_first ? stage_bytes_of<kFirst>() : stage_bytes_of<kSecond>(),
                     (n_tiles * p.n_chunks + kParts - 1) / kParts};
  const auto ready = [&] {
    if (!x_ready) RawRow<Layout<kFirst>::kForm, TaggedValues>(p.args, values, shared).prepare();
  };
  const auto multiply = [&](int group, int group_end, ChunkCursor& now, float* parts) {
    if (is_first) {
      StageRing<kFirst> ring(reader);
      multiply_group<kFirst, 1, true>(p, matrix, group, group_end, now, ring, shared, parts);
    } else {
      StageRing<kSecond> ring(reader);
      multiply_group<kSecond, 1, true>(p, matrix, group, group_end, now, ring, shared, parts);
    }
  };
  multiply_tiles<true>(p, values, matrix, shared, reinterpret_cast<float*>(shared + p.parts_at), ready, multiply);
  reader.finish();
}

// The same of several rows. x is prepared.
template <DType kFirst, DType kSecond>
__device__ __forceinline__ void session_phase(const TokenPhase& phase, const TileRange& tiles, bool x_ready,
                                              const TokenParams& params, SessionRows& rows, StagePlace& stages,
                                              uint8_t* shared) {
  FewRowsParams p = phase.linear;
  p.args.m = rows.n, p.args.x.row_scale = rows.scale;
  const TaggedValues values{phase.tag_in, phase.tag_out};
  const int n_tiles = tiles.end - tiles.first;
  const MatrixTiles matrix{p.args, tiles.first, n_tiles};
  const bool is_first = kFirst == kSecond || p.args.dtype == kFirst;
  StageReader reader{stages, is_first ? stage_bytes_of<kFirst>() : stage_bytes_of<kSecond>(),
                     (n_tiles * p.n_chunks + kParts - 1) / kParts};
  SessionX x(phase, p, n_tiles, rows.n, shared, params.n_records);
  const auto ready = [&] { x.take(x_ready, rows.scale); };
  const auto multiply = [&](int group, int group_end, ChunkCursor& now, float* parts) {
    if (is_first) {
      StageRing<kFirst> ring(reader);
      multiply_sessions<kFirst>(p, group, group_end, phase.pairs, now, ring, x, parts);
    } else {
      StageRing<kSecond> ring(reader);
      multiply_sessions<kSecond>(p, group, group_end, phase.pairs, now, ring, x, parts);
    }
  };
  multiply_tiles<false>(p, values, matrix, shared, reinterpret_cast<float*>(shared + p.parts_at), ready, multiply);
  reader.finish();
}

// What a CTA has of every attention: the same in all layers, so it is found once. All splits of the step, in order of
// rows, passes and splits, are shared out among the CTAs, so that most of what a CTA has belongs to the same queries.
template <bool kSeveral>
struct AttentionRuns {
  static constexpr int kFound = kSeveral ? 8 : 1;  // runs that are found once, and room for one after them
  SplitRun runs[kFound + 1];
  RowSplits of_row[kSeveral ? kMostSessionRows : 1];
  SplitRange mine;  // counting splits of all rows and passes
  int32_t n_runs, most_splits;

  // By a warp. From the last CTA on: it has the fewest tiles of the product before, and finds its keys while others
  // multiply. A call: what it computes of threads takes registers through all phases otherwise.
  __device__ __noinline__ void find(const RowParams& p, const SessionRows& rows) {
    const auto lane = static_cast<int32_t>(threadIdx.x % 32), n_ctas = static_cast<int32_t>(gridDim.x);
    if (lane < rows.n) of_row[lane] = row_splits(rows.position[lane], p.cache.n_kv_heads);
    __syncwarp();
    if (lane == 0) {
      int32_t n = 0, most = 1;
      for (int32_t row = 0; row < rows.n; ++row) {
        n += passes_of(p) * of_row[row].n_splits, most = max(most, of_row[row].n_splits);
      }
      mine = SplitRange::share(n, n_ctas - 1 - static_cast<int32_t>(blockIdx.x), n_ctas);
      most_splits = most;  // of a row
    }
    __syncwarp();
    if (lane < kFound) find_run(p, rows, lane, runs[lane]);
    if (lane == 31) n_runs = find_run(p, rows, INT32_MAX, runs[kFound]);
  }
  // use(run) for every run that this CTA has.
  template <int kThreads, class Use>
  __device__ __forceinline__ void for_each(const RowParams& p, const SessionRows& rows, const Use& use) {
    for (int i = 0; i < n_runs; ++i) {
      if (i > 0) sync_threads<kThreads>();
      if (i >= kFound) {
        if (threadIdx.x == 0) find_run(p, rows, i, runs[kFound]);
        sync_threads<kThreads>();
      }
      use(runs[min(i, kFound)]);
    }
  }

 private:
  __device__ __forceinline__ static int32_t passes_of(const RowParams& p) {
    return p.cache.n_kv_heads * p.passes.passes;
  }
  // Returns how many runs there are up to the wanted one, which it finds if there are so many.
  __device__ __forceinline__ int32_t find_run(const RowParams& p, const SessionRows& rows, int32_t wanted,
                                              SplitRun& run) const {
    int32_t at = mine.first, n = 0, before = 0;  // before: splits of the rows before
    for (int32_t row = 0; row < rows.n; ++row) {
      const RowSplits splits = of_row[row];
      const int32_t row_end = before + passes_of(p) * splits.n_splits;
      for (; at < min(row_end, mine.end); ++n) {
        const int32_t pass = (at - before) / splits.n_splits, first = at - before - pass * splits.n_splits;
        const int32_t length = min(splits.n_splits - first, mine.end - at);
        if (n == wanted) {
          run = {splits, {first, first + length, 1}, cta_place(p, row, pass, rows.position[row])};
          return n;
        }
        at += length;
      }
      before = row_end;
    }
    return n;
  }
};

// A row of several splits is merged by all of them, once each CTA has left all of its records: nobody waits for one
// that waits.
template <int kChunks, KvType kKvType, bool kSeveral>
__device__ __noinline__ void attention_phase(const TokenPhase& phase, AttentionRuns<kSeveral>& attention,
                                             const SessionRows& rows, uint8_t* shared) {
  constexpr int kThreads = kAttentionWarps<kChunks> * 32;
  if (threadIdx.x >= kThreads) return;
  const RowParams& p = phase.attention;
  const TaggedValues values{phase.tag_in, phase.tag_out};
  auto& memory = *reinterpret_cast<RowMemory<kChunks, kKvType>*>(shared);
  attention.template for_each<kThreads>(
      p, rows, [&](const SplitRun& run) { attend_run<kChunks, kKvType, true>(p, values, run, run, memory, [] {}); });
  if (attention.most_splits == 1) return;
  attention.template for_each<kThreads>(p, rows, [&](const SplitRun& run) {
    if (kSeveral && run.splits.n_splits == 1) return;
    finish_records<kSeveral ? kSharesAtATime<kChunks> : 1>(p, values, run, memory.merge);
  });
}

// The phase at hand and the next one, which is copied from global memory meanwhile, a word a thread.
struct PhaseMemory {
  static constexpr int kWords = sizeof(TokenPhase) / sizeof(uint32_t);
  static_assert(sizeof(TokenPhase) % sizeof(uint32_t) == 0 && kWords <= kLinearThreads);
  alignas(TokenPhase) uint32_t words[2][kWords];
  // What every warp knows of its place while it attends, when registers are few: the phase, and where it is in the
  // ring.
  int32_t at[kParts], ring[kParts];

  __device__ __forceinline__ const TokenPhase& phase(int i) const {
    return *reinterpret_cast<const TokenPhase*>(words[i % 2]);
  }
  __device__ __forceinline__ void fetch(const TokenParams& p, int i) {
    const uint32_t word = thread();
    if (i >= p.n_phases || word >= kWords) return;
    copy_async_4(words[i % 2] + word, reinterpret_cast<const uint32_t*>(p.phases + i) + word);
  }
  // Packs up where a warp is in the ring, and finds it again.
  __device__ __forceinline__ void leave(const StagePlace& stages) {
    if (threadIdx.x % 32 == 0) ring[warp()] = stages.packed();
    __syncwarp();
  }
  __device__ __forceinline__ void come_back(StagePlace& stages) const { stages.unpack(ring[warp()]); }
  __device__ __forceinline__ int32_t now() const { return at[warp()]; }
  // Until phase i, which was fetched, is there, for all; nobody needs the phase before it any more.
  __device__ __forceinline__ void arrive(int i) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) at[warp()] = i;
    asm volatile("cp.async.wait_all;" ::: "memory");
    sync_threads<kLinearThreads>();
  }

 private:
  // Found out every time: what depends on it would else be kept through all phases, in memory for want of registers.
  __device__ __forceinline__ static uint32_t thread() {
    uint32_t thread;
    asm volatile("mov.u32 %0,%%tid.x;" : "=r"(thread));
    return thread;
  }
  __device__ __forceinline__ static uint32_t warp() { return thread() / 32; }
};

template <DType kFirst, DType kSecond, int kChunks, KvType kKvType, bool kSeveral>
__device__ __forceinline__ void compute_phases(const TokenParams& p, PhaseMemory& memory, uint8_t* shared,
                                               AttentionRuns<kSeveral>& attention, SessionRows& rows, void* ring,
                                               StageBarriers& barriers) {
  StagePlace stages(ring, barriers, p.ring_bytes);
  memory.fetch(p, 0);
  if (p.attention >= 0 && threadIdx.x < 32) attention.find(p.phases[p.attention].attention, rows);
  memory.arrive(0);
  for (;;) {
    const int i = memory.now();
    if (i == p.n_phases) return;
    memory.fetch(p, i + 1);
    const TokenPhase& phase = memory.phase(i);
    if (phase.kind == TokenPhaseKind::attention) {
      memory.leave(stages);
      attention_phase<kChunks, kKvType>(phase, attention, rows, shared);
      stages = StagePlace(ring, barriers, p.ring_bytes);
      memory.come_back(stages);
    } else {
      const bool x_ready = static_cast<int>(blockIdx.x) < phase.n_ready;
      const TileRange tiles = tiles_of(phase.linear, phase.first_cta);
      if constexpr (kSeveral) {
        if (phase.n_ready == 0) prepare_share<Layout<kFirst>::kForm>(phase, rows.n);
      }
      if (tiles.end > tiles.first) {
        if constexpr (kSeveral) {
          session_phase<kFirst, kSecond>(phase, tiles, x_ready, p, rows, stages, shared);
        } else {
          linear_phase<kFirst, kSecond>(phase, tiles, x_ready, stages, shared);
        }
      }
    }
    memory.arrive(memory.now() + 1);
  }
}

#endif

template <DType kFirst, DType kSecond, int kChunks, KvType kKvType, bool kSeveral>
__global__ void __launch_bounds__(kLinearThreads + 32, 1) token_kernel(const __grid_constant__ TokenParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) uint8_t token_memory[];
  __shared__ StageBarriers barriers;
  __shared__ CopyMemory products;
  __shared__ PhaseMemory phases;
  __shared__ AttentionRuns<kSeveral> attention;
  __shared__ SessionRows rows;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kMaxStages; ++i) {
      init_barrier(shared_address(&barriers.full[i]), 1);
      init_barrier(shared_address(&barriers.empty[i]), kParts);
    }
    make_barriers_visible();
  }
  if (threadIdx.x >= kLinearThreads) ask_for_first_weights(p);
  wait_for_previous_kernel();
  if (threadIdx.x == 0) rows.find(p.positions, kSeveral ? p.n_rows : 1, p.max_context);
  __syncthreads();
  if (rows.n == 0) return;  // padding
  uint8_t* ring = token_memory + p.ring_at;
  if (threadIdx.x >= kLinearThreads) {
    copy_weights<kFirst, kSecond, kSeveral>(p, ring, barriers, products);
    return;
  }
  compute_phases<kFirst, kSecond, kChunks, kKvType, kSeveral>(p, phases, token_memory, attention, rows, ring, barriers);
#else
  refuse_to_run();
#endif
}

template <DType kFirst, DType kSecond, bool kSeveral>
TokenKernel token_kernel_of(int32_t d_head) {
  return d_head <= 64 ? token_kernel<kFirst, kSecond, 1, KvType::f16, kSeveral>
                      : token_kernel<kFirst, kSecond, 2, KvType::f16, kSeveral>;
}

}  // namespace inlay::cuda
