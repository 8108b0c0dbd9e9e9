// A ring of stages of weights in shared memory: one warp of the CTA fills it by bulk copies, running ahead through the
// phases of a token, the others empty it. A stage holds one chunk for each of the eight warps that multiply.
#pragma once

#include "kernels/cuda/device/barriers.cuh"
#include "kernels/cuda/token/token_phase.h"

namespace inlay::cuda {

inline constexpr int kMaxStages = 32;  // at a time: a lane of the warp that copies keeps account of each

// Row-major types: a stage is 16 rows of 512 columns of one tile, warp w has columns 64 w ..; rows are kept apart so
// that the rows that a load meets lie in different banks.
inline constexpr int kStageRowBytes = kParts * 128;
inline constexpr int kStageRowPitch = kStageRowBytes + 64;

template <DType kType>
__host__ __device__ constexpr int stage_bytes_of() {
  constexpr int kBytes = Layout<kType>::kScaled ? kParts * WarpChunk<kType>::kBytes : kTileRows * kStageRowPitch;
  static_assert(kBytes % 128 == 0);
  return kBytes;
}

// Between chunks of a tile in the device's memory; of row-major types the chunk's columns of a row.
template <DType kType>
__host__ __device__ constexpr int token_chunk_bytes() {
  return Layout<kType>::kScaled ? Layout<kType>::kChunkBytes : 128;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// Bulk copy whose bytes complete at a barrier; weights are read once, so they leave the L2 first.
__device__ __forceinline__ void copy_bulk(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  constexpr uint64_t kEvictFirst = 0x12F0000000000000ull;
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0],[%1],%2,[%3],%4;" ::"r"(
          to),
      "l"(from), "r"(bytes), "r"(barrier), "l"(kEvictFirst)
      : "memory");
}

// ---- the ring

struct StageBarriers {
  alignas(8) uint64_t full[kMaxStages], empty[kMaxStages];
};

// Where a side of the ring is: the next stage's barriers with their parity in this round, and its memory. Stages follow
// one another in memory, each as long as its type asks for; one that does not fit behind the last begins anew.
struct StagePlace {
  uint32_t memory, full, empty;  // addresses in shared memory: of the ring, of barrier 0
  int ring_bytes;
  int stage = 0, offset = 0;
  uint32_t round = 0;

  __device__ __forceinline__ StagePlace(void* ring, StageBarriers& barriers, int bytes)
      : memory(shared_address(ring)),
        full(shared_address(barriers.full)),
        empty(shared_address(barriers.empty)),
        ring_bytes(bytes) {}
  // The place in one word, for times when registers are few. Stages are multiples of 128 bytes.
  __device__ __forceinline__ int32_t packed() const {
    static_assert(kMaxStages == 32);
    return offset / 128 << 6 | stage << 1 | static_cast<int32_t>(round);
  }
  __device__ __forceinline__ void unpack(int32_t from) {
    offset = (from >> 6) * 128, stage = from >> 1 & 31, round = static_cast<uint32_t>(from & 1);
  }
  __device__ __forceinline__ uint32_t full_barrier() const { return full + static_cast<uint32_t>(stage) * 8; }
  __device__ __forceinline__ uint32_t empty_barrier() const { return empty + static_cast<uint32_t>(stage) * 8; }
  // Of a stage of so many bytes.
  __device__ __forceinline__ uint32_t begin(int bytes) {
    if (offset + bytes > ring_bytes) offset = 0;
    return memory + static_cast<uint32_t>(offset);
  }
  __device__ __forceinline__ void advance_barriers() {
    if (++stage == kMaxStages) stage = 0, round ^= 1;
  }
  __device__ __forceinline__ void advance(int bytes) {
    offset += bytes;
    advance_barriers();
  }
};

// The warp that fills: its place, the first stage that may still be read, the first that may still be under way, and
// the one that tells whether the CTA is fed. kThrifty: then fewer are under way.
template <bool kThrifty>
struct StageWriter {
  StagePlace place, read, landed, watched;
  const StagesAhead& ahead;                    // where the kernel's parameters are: a copy would take registers
  int n_filled = 0, n_landed = 0, n_held = 0;  // stages so far; of them there; those that may still be read
  int first = 0, end = 0;                      // lane i: of stage i, in bytes of the ring

  __device__ __forceinline__ StageWriter(void* ring, StageBarriers& barriers, int bytes, const StagesAhead& stages)
      : place(ring, barriers, bytes), read(place), landed(place), watched(place), ahead(stages) {}

  // Until nobody reads [begins, ends) of the ring. Stages are read in the order in which they lie there.
  __device__ __forceinline__ void wait_until_free(int begins, int ends) {
    while (n_held > 0) {
      const int held = __shfl_sync(0xffffffffu, first, read.stage),
                held_end = __shfl_sync(0xffffffffu, end, read.stage);
      if (n_held < kMaxStages && (held >= ends || held_end <= begins)) return;
      wait_for(read.empty_barrier(), read.round);
      read.advance_barriers();
      --n_held;
    }
  }
  // How many stages may be under way with the next one. To be asked once for every stage.
  __device__ __forceinline__ int most_ahead() {
    if (n_filled <= ahead.hungry) return ahead.hungry;
    const bool hungry = __any_sync(0xffffffffu, is_complete(watched.empty_barrier(), watched.round));
    watched.advance_barriers();
    return hungry ? ahead.hungry : ahead.fed;
  }
  __device__ __forceinline__ void wait_for_landing() {
    wait_for(landed.full_barrier(), landed.round);
    landed.advance_barriers();
  }
  // Until there is room for a stage, and no more than may be are under way with it. Returns where it begins. What comes
  // after the last wait delays the memory's next bytes.
  __device__ __forceinline__ uint32_t make_room(int bytes) {
    const int left_off = place.offset;
    const uint32_t at = place.begin(bytes);
    const int begins = place.offset, ends = place.offset + bytes;
    // The end of the ring is left out, and what still lies there comes before what lies at the beginning.
    if (begins < left_off) wait_until_free(left_off, place.ring_bytes);
    wait_until_free(begins, ends);
    if (static_cast<int>(threadIdx.x % 32) == place.stage) first = begins, end = ends;
    if constexpr (kThrifty) {
      for (const int most = most_ahead(); n_filled - n_landed >= most; ++n_landed) wait_for_landing();
    } else if (n_filled >= ahead.hungry) {
      wait_for_landing();
    }
    return at;
  }
  __device__ __forceinline__ void advance(int bytes) {
    place.advance(bytes);
    ++n_filled, ++n_held;
  }
};

// One lane of the warp, the same every time: the compiler knows that it is alone.
__device__ __forceinline__ bool is_elected() {
  uint32_t elected;
  asm volatile("{.reg .pred p; elect.sync _|p,0xffffffff; selp.u32 %0,1,0,p;}" : "=r"(elected));
  return elected != 0;
}

// The weights of a CTA's tiles as what follows without a gap: the chunks of a tile, or of all tiles. One lane copies.
template <DType kType>
struct WeightRun {
  using L = Layout<kType>;
  static constexpr int kStep = token_chunk_bytes<kType>();
  const TokenWeights& weights;
  const uint8_t* from;
  int64_t pitch;          // of rows, row-major types
  int run, left, n_left;  // chunks of a run; of this one that are left; of all

  __device__ __forceinline__ WeightRun(const TokenWeights& w, const TileRange& tiles)
      : weights(w),
        from(w.weights + static_cast<int64_t>(tiles.first) * w.tile_bytes),
        pitch(w.tile_bytes / kTileRows),
        run(w.n_chunks) {
    n_left = (tiles.end - tiles.first) * w.n_chunks;
    if (w.gap == 0) run = n_left;
    left = run;
  }
  __device__ __forceinline__ void advance(int n) {
    left -= n, n_left -= n, from += n * kStep;
    if (left == 0) left = run, from += weights.gap;
  }
  // The next chunks, eight at most.
  __device__ __forceinline__ void copy_stage(uint32_t at, uint32_t barrier) {
    if constexpr (L::kScaled) {
      for (int slot = 0; slot < kParts && n_left > 0;) {
        const int n = min(kParts - slot, left);
        auto bytes = static_cast<uint32_t>(n * kStep);
        if (!L::kFormat.super && n == left) bytes -= static_cast<uint32_t>(weights.missing);
        expect_bytes(barrier, bytes);
        copy_bulk(at + static_cast<uint32_t>(slot * kStep), from, bytes, barrier);
        slot += n;
        advance(n);
      }
    } else {
      expect_bytes(barrier, kTileRows * kStageRowBytes);
#pragma unroll
      for (int row = 0; row < kTileRows; ++row)
        copy_bulk(at + static_cast<uint32_t>(row * kStageRowPitch), from + row * pitch, kStageRowBytes, barrier);
      advance(kParts);
    }
    arrive(barrier);
  }
};

// The same where tiles come in pairs: eight chunks of the first, then of the second, in turns. The chunks of a tile are
// a multiple of eight.
template <DType kType>
struct PairedRun {
  static constexpr int kStageBytes = kParts * token_chunk_bytes<kType>();
  const uint8_t* from;  // of the first tile
  int64_t tile_bytes;
  int n_stages, left, n_tiles;  // of a tile; of this pair's tiles that are left; tiles from this pair on
  bool second = false;

  __device__ __forceinline__ PairedRun(const TokenWeights& w, const TileRange& tiles)
      : from(w.weights + static_cast<int64_t>(tiles.first) * w.tile_bytes),
        tile_bytes(w.tile_bytes),
        n_stages(w.n_chunks / kParts),
        left(n_stages),
        n_tiles(tiles.end - tiles.first) {}
  __device__ __forceinline__ void copy_stage(uint32_t at, uint32_t barrier) {
    expect_bytes(barrier, kStageBytes);
    copy_bulk(at, second ? from + tile_bytes : from, kStageBytes, barrier);
    arrive(barrier);
    second = !second && n_tiles > 1;
    if (second) return;
    from += kStageBytes;
    if (--left > 0) return;
    left = n_stages;
    if (n_tiles > 1) from += tile_bytes;
    n_tiles -= 2;
  }
};

template <class Run, class Writer>
__device__ __forceinline__ void fill_stages(Run run, int n, int bytes, Writer& writer) {
  for (; n > 0; --n) {
    const uint32_t at = writer.make_room(bytes), full = writer.place.full_barrier();
    if (is_elected()) run.copy_stage(at, full);
    __syncwarp();
    writer.advance(bytes);
  }
}

// The side that fills: a warp, for one phase. kPairs: tiles may come in pairs.
template <DType kType, bool kPairs, class Writer>
__device__ __forceinline__ void fill_stages(const TokenWeights& weights, const TileRange& tiles, Writer& writer) {
  constexpr int kBytes = stage_bytes_of<kType>();
  const int n = ((tiles.end - tiles.first) * weights.n_chunks + kParts - 1) / kParts;
  if (kPairs && weights.pairs != 0) {
    fill_stages(PairedRun<kType>(weights, tiles), n, kBytes, writer);
  } else {
    fill_stages(WeightRun<kType>(weights, tiles), n, kBytes, writer);
  }
}

// The side that empties, for one phase. All eight warps go through all stages.
struct StageReader {
  StagePlace& stages;
  int bytes, n_left;  // of a stage; stages of this phase that are left

  // Until the next stage is there. Returns where it begins.
  __device__ __forceinline__ uint32_t wait() const {
    wait_for(stages.full_barrier(), stages.round);
    return stages.begin(bytes);
  }
  __device__ __forceinline__ void release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(stages.empty_barrier());
    stages.advance(bytes);
    --n_left;
  }
  // A warp that had no chunk in the phase's last stage.
  __device__ __forceinline__ void finish() {
    while (n_left > 0) {
      wait();
      release();
    }
  }
};

// What multiply_group wants of a ring.
template <DType kType>
struct StageRing {
  static constexpr bool kGroupsApart = false;  // chunk.cuh; 1.5B Q4_K_M: 998 tokens/s, apart 975
  StageReader& reader;
  const uint8_t* place = nullptr;

  __device__ __forceinline__ explicit StageRing(StageReader& of) : reader(of) {}
  __device__ __forceinline__ void wait() {
    constexpr int kOffset = Layout<kType>::kScaled ? WarpChunk<kType>::kBytes : 128;
    const uint32_t stage = reader.wait();
    place = static_cast<const uint8_t*>(__cvta_shared_to_generic(stage + threadIdx.x / 32 * kOffset));
  }
  __device__ __forceinline__ void release() { reader.release(); }
  __device__ __forceinline__ void load_codes(UnitCodes<kType>& codes) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const uint8_t* row = place + lane / 4 * kStageRowPitch + lane % 4 * 16;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      codes.set_vector(j, *reinterpret_cast<const uint4*>(row + j % 2 * 8 * kStageRowPitch + j / 2 * 64));
  }
};

#endif

}  // namespace inlay::cuda
