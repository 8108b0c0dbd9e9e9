// What products of several sessions' rows take as x within the token kernel.
//
// One row is prepared by every CTA for itself. Of several rows every CTA would take longer to prepare all than to
// multiply, so each (row, chunk of 256 columns) is prepared once, by a warp somewhere, which stores what
// launch_activations would and then a flag: the generation's tag. A chunk depends on no other; the norm's factor is the
// epilogue's, from the squares that come with the chunks.
//
// A chunk's record has the form in which products read it from shared memory. Where all records of a product fit there,
// each comes once for all tiles of the CTA; else every warp copies those of its own chunks, two ahead, for every tile
// or for two tiles side by side.
#pragma once

#include "kernels/cuda/token/stage_ring.cuh"

namespace inlay::cuda {

inline constexpr int kMostSessionRows = 8;  // of a step
// Between the flags of two chunks, which all CTAs look at again and again: close together in the L2 they would wait for
// one another. 1.5B, eight sessions: 5450 tokens/s with 8, 6100 with 16, 6310 with 32.
inline constexpr int kFlagStride = 256;

// A chunk of all rows: for each its values and their sums; then the rows' scales and squares. Rows are apart so that
// those that a load meets lie in different banks.
struct ChunkRecord {
  static constexpr int kRows = kMostSessionRows;
  static constexpr int kSumsAt = kChunkCols * 2, kPitch = kSumsAt + 64;
  static constexpr int kScalesAt = kRows * kPitch, kSquaresAt = kScalesAt + kRows * 4;
  static constexpr int kBytes = kSquaresAt + kRows * 4;
  static_assert(kPitch % 128 == 64 && kBytes % 16 == 0);
};
inline constexpr int kLeastRecords = 2 * kParts;  // in shared memory: two for each warp

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// The rows of a step that are there, the first n of them. Padding comes after them.
struct SessionRows {
  int32_t n;
  int32_t position[kMostSessionRows];
  float scale[kMostSessionRows];  // what a row's products have to be multiplied by

  __device__ __forceinline__ void find(const int32_t* positions, int32_t n_rows, int32_t max_context) {
    n = 0;
    for (int32_t i = 0; i < n_rows; ++i) {
      position[i] = positions[i];
      if (n == i && position[i] >= 0 && position[i] < max_context) ++n;
    }
  }
};

// ---- who prepares

// One chunk of a row by a warp, from the values of the op before.
template <ActivationForm kForm>
__device__ __forceinline__ void prepare_chunk(const TokenPhase& phase, int row, int chunk) {
  const LinearArgs& a = phase.linear.args;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const TaggedValues values{phase.tag_in, phase.tag_out};
  const int column = chunk * kChunkCols + lane * 8;
  const bool normed = a.norm_weight != nullptr;
  const float* from = a.raw + static_cast<int64_t>(a.raw_row != nullptr ? max(a.raw_row[row], 0) : row) * a.n_cols;
  const OctetsAt<0> at{from + column, static_cast<int>(a.n_cols) - column};
  uint4 asked[2];
  Octet x[1], norm = {};
  at.ask<1>(values, asked);
  if (normed && at.n_cols > 0) norm = octet_at(a.norm_weight + column);
  at.take(values, asked, x);
  float squares[1] = {};
  if (normed) {
    squares_of(x, squares);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[0].v[i] = __fmul_rn(x[0].v[i], norm.v[i]);
  }
  uint8_t *record = phase.prepared.records + chunk * ChunkRecord::kBytes, *of_row = record + row * ChunkRecord::kPitch;
  const float scale = store_chunk<kForm>(x[0], lane, true, of_row, of_row + ChunkRecord::kSumsAt);
  if (lane == 0) {
    reinterpret_cast<float*>(record + ChunkRecord::kScalesAt)[row] = scale;
    reinterpret_cast<float*>(record + ChunkRecord::kSquaresAt)[row] = squares[0];
  }
  __syncwarp();
  if (lane == 0) {
    asm volatile("st.release.gpu.global.u32 [%0],%1;" ::"l"(phase.prepared.flags + chunk * kFlagStride + row),
                 "r"(phase.tag_in)
                 : "memory");
  }
}

// This CTA's share of a product's x: all CTAs have one, also those without a tile of the product.
template <ActivationForm kForm>
__device__ __forceinline__ void prepare_share(const TokenPhase& phase, int n_rows) {
  const int n_chunks = phase.linear.n_chunks, n = n_chunks * n_rows;
  const auto n_ctas = static_cast<int>(gridDim.x);
#pragma unroll 1
  for (int i = static_cast<int>(blockIdx.x) + static_cast<int>(threadIdx.x / 32) * n_ctas; i < n;
       i += kParts * n_ctas) {
    prepare_chunk<kForm>(phase, i / n_chunks, i % n_chunks);
  }
}

// ---- who takes

// Until the warp's chunks, every eighth, are prepared. An acquiring load empties the L1, so lanes look with relaxed
// ones until a first flag is set; most of the others are set when they look again.
__device__ __forceinline__ void wait_for_chunks(const PreparedX& x, int n_chunks, int n_rows, uint32_t tag) {
  constexpr int kPatience = 1 << 24;  // as in exchange.cuh
  constexpr int kRows = ChunkRecord::kRows, kAtOnce = 32 / kRows;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const int row = lane % kRows;
  for (int first = static_cast<int>(threadIdx.x / 32); first < n_chunks; first += kAtOnce * kParts) {
    const int chunk = first + lane / kRows * kParts;
    const uint32_t* flag = x.flags + chunk * kFlagStride + row;
    const bool is_there = chunk < n_chunks && row < n_rows;
    uint32_t seen = ~tag;
    int n_tries = 0;
    do {
      if (is_there) asm volatile("ld.relaxed.gpu.global.u32 %0,[%1];" : "=r"(seen) : "l"(flag) : "memory");
      if (++n_tries > kPatience) __trap();
    } while (!__any_sync(0xffffffffu, seen == tag));
    seen = is_there ? ~tag : tag;
    do {
      if (seen != tag) asm volatile("ld.acquire.gpu.global.u32 %0,[%1];" : "=r"(seen) : "l"(flag) : "memory");
      if (++n_tries > kPatience) __trap();
    } while (__any_sync(0xffffffffu, seen != tag));
  }
  __syncwarp();
}

// The rows of a chunk, by a warp.
__device__ __forceinline__ void copy_record(const PreparedX& x, int chunk, int n_rows, uint8_t* to) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const uint8_t* from = x.records + chunk * ChunkRecord::kBytes;
  const int n = n_rows * (ChunkRecord::kPitch / 16);
#pragma unroll 3
  for (int i = lane; i < n; i += 32) copy_async_16(to + i * 16, from + i * 16);
  constexpr int kTail = (ChunkRecord::kBytes - ChunkRecord::kScalesAt) / 16;
  if (lane < kTail) copy_async_16(to + ChunkRecord::kScalesAt + lane * 16, from + ChunkRecord::kScalesAt + lane * 16);
}

// For multiply_scaled_chunk: a record in shared memory.
struct RecordColumns {
  const uint8_t *record, *values;  // values: of row g
  int t;

  __device__ __forceinline__ RecordColumns(const uint8_t* from, int lane)
      : record(from), values(from + lane / 4 * ChunkRecord::kPitch), t(lane % 4) {}
  template <int kSteps>
  __device__ __forceinline__ void fetch(int nt, int u, int first_step, uint2 (&b)[kSteps]) const {
    const uint8_t* at = values + nt * 8 * ChunkRecord::kPitch + u * 128;
    fetch_steps<kSteps>(
        first_step, b, [&](int j) { return *reinterpret_cast<const uint4*>(at + 64 * j + 16 * t); },
        [&](int s) { return *reinterpret_cast<const uint2*>(at + 32 * s + 8 * t); });
  }
  __device__ __forceinline__ uint4 sums(int nt) const {
    return *reinterpret_cast<const uint4*>(values + nt * 8 * ChunkRecord::kPitch + ChunkRecord::kSumsAt + 16 * t);
  }
  __device__ __forceinline__ float2 scale(int nt) const {
    return *reinterpret_cast<const float2*>(record + ChunkRecord::kScalesAt + 32 * nt + 8 * t);
  }
};

// A record in a product's form.
template <DType kType>
__device__ __forceinline__ auto record_rows(const uint8_t* record, int lane) {
  if constexpr (Layout<kType>::kPlanes) {
    static_assert(ChunkRecord::kPitch == kRecordBytes && ChunkRecord::kSumsAt == kRecordSumsAt);
    return SharedPlanes(record, record + ChunkRecord::kScalesAt, lane);
  } else {
    return RecordColumns(record, lane);
  }
}

// The records of a product in a CTA's shared memory, where there is room for n_records.
class SessionX {
 public:
  __device__ __forceinline__ SessionX(const TokenPhase& of, const FewRowsParams& p, int n_tiles, int n_rows,
                                      uint8_t* memory, int n_records)
      : phase_(of),
        next_(p, warp()),
        n_passes_((n_tiles + of.pairs) >> of.pairs),
        n_rows_(n_rows),
        memory_(memory),
        streams_(n_chunks() > n_records) {}

  // is_there: a product before this one has taken the same. scale: of each row, to be read after the next barrier.
  __device__ __forceinline__ void take(bool is_there, float* scale) {
    if (!is_there) {
      wait_for_chunks(phase_.prepared, n_chunks(), n_rows_, phase_.tag_in);
      if (!streams_) copy_all();
      sync_threads<kLinearThreads>();
      find_scale(scale);
    }
    if (!streams_) return;
    place_ = first_place();
    for (int i = 0; i < 2; ++i) copy_next();
  }

  __device__ __forceinline__ const uint8_t* record(int chunk) const {
    return streams_ ? place_ : memory_ + chunk * ChunkRecord::kBytes;
  }
  __device__ __forceinline__ void wait() const {
    if (!streams_) return;
    wait_for_copies<1>();
    __syncwarp();
  }
  __device__ __forceinline__ void release() {
    if (!streams_) return;
    __syncwarp();
    copy_next();
  }

 private:
  __device__ __forceinline__ static int warp() { return static_cast<int>(threadIdx.x / 32); }
  __device__ __forceinline__ int n_chunks() const { return phase_.linear.n_chunks; }
  __device__ __forceinline__ uint8_t* first_place() const { return memory_ + warp() * 2 * ChunkRecord::kBytes; }

  __device__ __forceinline__ void copy_all() const {
    for (int chunk = warp(); chunk < n_chunks(); chunk += kParts)
      copy_record(phase_.prepared, chunk, n_rows_, memory_ + chunk * ChunkRecord::kBytes);
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  // Squares are asked for only where all records are there.
  __device__ __forceinline__ void find_scale(float* scale) const {
    const LinearArgs& a = phase_.linear.args;
    for (int row = warp(); row < n_rows_; row += kParts) {
      float of_row = 1.0f;
      if (a.norm_weight != nullptr) {
        const auto* squares = reinterpret_cast<const float*>(memory_ + ChunkRecord::kSquaresAt) + row;
        of_row = inverse_rms<ChunkRecord::kBytes / 4>(squares, n_chunks(), a.n_cols, a.epsilon);
      }
      if (threadIdx.x % 32 == 0) scale[row] = of_row;
    }
  }
  // Fills the place in use, with nothing beyond the last chunk, and goes on to the other.
  __device__ __forceinline__ void copy_next() {
    if (next_.tile < n_passes_) {
      copy_record(phase_.prepared, next_.chunk, n_rows_, place_);
      next_.advance();
    }
    commit_copies();
    place_ = place_ == first_place() ? first_place() + ChunkRecord::kBytes : first_place();
  }

  const TokenPhase& phase_;
  ChunkCursor next_;       // of a stream: what is copied next
  int n_passes_, n_rows_;  // how often the chunks stream by
  uint8_t* memory_;
  bool streams_;
  uint8_t* place_ = nullptr;  // of a stream: in use
};

// ---- products

// The tiles [group, group_end) of a CTA, as multiply_group of few_rows.cuh has them. pairs: the ring brings eight
// chunks of a tile, then of the next one, in turns, so that a chunk of x that streams by serves both; `now` counts
// pairs then.
template <DType kType>
__device__ __forceinline__ void multiply_sessions(const FewRowsParams& p, int group, int group_end, int pairs,
                                                  ChunkCursor& now, StageRing<kType>& ring, SessionX& x, float* parts) {
  const int lane = static_cast<int>(threadIdx.x % 32), m = p.args.m, tile_floats = p.n_parts * m * kTileRows;
  while (now.tile << pairs < group_end) {
    const int first = now.tile, tile = first << pairs;
    const bool two = pairs != 0 && tile + 1 < group_end;
    float* part = parts + (tile - group) * tile_floats + now.chunk % kParts * m * kTileRows;
    float total[1][4] = {}, other[1][4] = {};
    do {
      x.wait();
      const auto columns = record_rows<kType>(x.record(now.chunk), lane);
#pragma unroll 1
      for (int left = 2;;) {
        ring.wait();
        multiply_chunk<kType, 1>(ring, columns, lane, total);
        ring.release();
        if (!two) break;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float of_other = other[0][i];
          other[0][i] = total[0][i], total[0][i] = of_other;
        }
        if (--left == 0) break;
      }
      x.release();
      now.advance();
    } while (now.tile == first);
    store_part<kType, 1>(total, m, lane, part);
    if (two) store_part<kType, 1>(other, m, lane, part + tile_floats);
  }
}

#endif

}  // namespace inlay::cuda
