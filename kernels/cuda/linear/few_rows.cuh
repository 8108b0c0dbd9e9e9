// out[row][r] = row_scale[row] * sum_k W[r][k] x[row][k] + bias[r] for up to 64 rows of x: decode.
//
// Bound: reading the weights once at the memory's speed, and in a chain of small products the latency between them.
// Hence
//   - CTA c of at most two an SM has the tiles [c n / C, (c + 1) n / C). The chunks of its tiles (256 columns; 64 of
//     row-major types) form one sequence, chunk i is warp i % 8's. Each warp copies its own chunks through a ring of
//     `depth` places in shared memory, so that 64 to 96 KB of weights are under way in every CTA, and no CTA-wide
//     barrier stands between copy and use;
//   - the ring is filled before the kernel waits for its predecessor, while that one still runs;
//   - a single row of F32 is prepared by the CTA itself (norm, FP16, sums), instead of by a launch of its own.
//
// Order of operations: chunk c of a tile belongs to part c % 8; a part adds its chunks in order, the parts are added in
// order. Neither the number of rows nor the number of CTAs changes it. NT: n-tiles of 8 rows of x.
#pragma once

#include "kernels/cuda/linear/planes.cuh"
#include "kernels/cuda/linear/results.cuh"

namespace inlay::cuda {

inline constexpr int kParts = 8;
inline constexpr int kLinearThreads = 32 * kParts;
inline constexpr int kFewRows = 64;
inline constexpr int kMaxDepth = 6;

struct FewRowsParams {
  LinearArgs args;
  int32_t n_tiles, n_chunks;  // chunks of a tile
  int32_t depth;              // of the ring
  int32_t group_tiles;        // tiles between two barriers, a power of two: 1 << group_bits
  int32_t group_bits;
  int32_t step_tiles, step_chunks;  // 8 chunks further in a CTA's sequence
  int32_t cta_tiles, n_longer;      // tiles of a CTA; the first n_longer CTAs have one more
  int32_t n_parts;                  // min(8, n_chunks)
  int32_t ring_at, parts_at;        // bytes into shared memory; a raw row comes first
};

// What a warp copies at a time.
template <DType kType>
struct WarpChunk {
  using L = Layout<kType>;
  static constexpr int kUnits = L::kScaled ? kChunkUnits : 1;
  static constexpr int kBytes = L::kScaled ? L::kChunkBytes : L::kUnitBytes;
  static constexpr int kCols = kUnits * kUnitCols;
};

// A raw row in shared memory: values, sums, scales and squares of n chunks of 256 columns, then what its products have
// to be multiplied by.
struct RawRowPlaces {
  int n_chunks;
  __host__ __device__ constexpr int values() const { return 0; }
  __host__ __device__ constexpr int sums() const { return n_chunks * kChunkCols * 2; }
  __host__ __device__ constexpr int scales() const { return sums() + n_chunks * 64; }
  __host__ __device__ constexpr int squares() const { return scales() + n_chunks * 4; }
  __host__ __device__ constexpr int row_scale() const { return squares() + n_chunks * 4; }
  __host__ __device__ constexpr int bytes() const { return (row_scale() + 4 + 127) / 128 * 128; }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// The place of a warp in the sequence of its CTA's chunks.
struct ChunkCursor {
  int tile = 0, chunk;  // tile counted from the CTA's first
  int step_tiles, step_chunks, n_chunks;

  __device__ __forceinline__ ChunkCursor(const FewRowsParams& p, int warp)
      : chunk(warp), step_tiles(p.step_tiles), step_chunks(p.step_chunks), n_chunks(p.n_chunks) {
    while (chunk >= n_chunks) chunk -= n_chunks, ++tile;  // a division takes longer
  }
  // Whether it went over the end of a tile's chunks.
  __device__ __forceinline__ bool advance() {
    tile += step_tiles, chunk += step_chunks;
    const bool wraps = chunk >= n_chunks;
    if (wraps) chunk -= n_chunks, ++tile;
    return wraps;
  }
};

// The tiles [first, end) of a CTA.
struct TileRange {
  int32_t first, end;
  template <class Cut>  // has cta_tiles and n_longer
  __device__ __forceinline__ TileRange(const Cut& p, int32_t cta)
      : first(cta * p.cta_tiles + min(cta, p.n_longer)), end(first + p.cta_tiles + (cta < p.n_longer ? 1 : 0)) {}
};

// from: the chunk, or of a row-major type the chunk's columns of the tile's first row.
template <DType kType>
__device__ __forceinline__ void copy_chunk(const uint8_t* from, int n_units, int chunk, uint8_t* to, int lane) {
  using L = Layout<kType>;
  if constexpr (L::kScaled) {
    constexpr int kWhole = L::kChunkBytes / 16;
    int n = kWhole;
    if constexpr (!L::kFormat.super) {
      n = (L::kCodesAt + min(kChunkUnits, n_units - chunk * kChunkUnits) * L::kUnitBytes) / 16;
    }
#pragma unroll
    for (int i = 0; i < (kWhole + 31) / 32; ++i) {
      if (i * 32 + lane < n) copy_async_16(to + (i * 32 + lane) * 16, from + (i * 32 + lane) * 16);
    }
  } else {
    const int64_t row_bytes = static_cast<int64_t>(n_units) * kUnitCols * L::kElementBytes;
    const uint8_t* at = from + lane / 4 * row_bytes + lane % 4 * 16;
#pragma unroll
    for (int j = 0; j < 4; ++j) copy_async_16(to + j * 512 + lane * 16, at + j % 2 * 8 * row_bytes + j / 2 * 64);
  }
}

// At most depth - 1 groups of copies stay pending. Depths: fit_ring.
__device__ __forceinline__ void wait_for_oldest(int depth) {
  if (depth >= 4) {
    if (depth >= 6) {
      wait_for_copies<5>();
    } else {
      wait_for_copies<3>();
    }
  } else if (depth == 3) {
    wait_for_copies<2>();
  } else if (depth == 2) {
    wait_for_copies<1>();
  } else {
    wait_for_copies<0>();
  }
}

// From a chunk of a tile to the next.
template <DType kType>
inline constexpr int kChunkStride =
    Layout<kType>::kScaled ? Layout<kType>::kChunkBytes : kUnitCols * Layout<kType>::kElementBytes;

// A warp's ring of chunks. Source: which ones, in their order. It has the next one's ChunkCursor `next`, has_next(), and
// take(), which gives the next one's address and goes on to the one behind it.
template <DType kType, class Source>
struct ChunkRing {
  static constexpr bool kGroupsApart = true;  // of a single row, chunk.cuh
  static constexpr int kPlaceBytes = WarpChunk<kType>::kBytes;
  Source source;
  uint8_t *places, *place, *end;  // the place in use next
  int n_units, lane, depth;

  __device__ __forceinline__ ChunkRing(const FewRowsParams& p, const Source& chunks, uint8_t* memory)
      : source(chunks),
        n_units(static_cast<int>(units_of(p.args.n_cols))),
        lane(static_cast<int>(threadIdx.x % 32)),
        depth(p.depth) {
    places = place = memory + threadIdx.x / 32 * p.depth * kPlaceBytes;
    end = places + p.depth * kPlaceBytes;
    for (int i = 0; i < p.depth; ++i) refill();
  }
  __device__ __forceinline__ void load_codes(UnitCodes<kType>& codes) const { codes.load(place, lane); }

  // Until the chunk in the place in use is there.
  __device__ __forceinline__ void wait() const {
    wait_for_oldest(depth);
    __syncwarp();
  }
  __device__ __forceinline__ void release() {
    __syncwarp();
    refill();
  }
  // Fills the place in use, with nothing beyond the last chunk, and goes on to the next; one group of copies either
  // way.
  __device__ __forceinline__ void refill() {
    if (source.has_next()) {
      const int chunk = source.next.chunk;
      copy_chunk<kType>(source.take(), n_units, chunk, place, lane);
    }
    commit_copies();
    place += kPlaceBytes;
    if (place == end) place = places;
  }
};

// The chunks of tiles that follow one another in memory.
template <DType kType>
struct MatrixChunks {
  ChunkCursor next;
  const uint8_t* from;  // the next one's bytes
  int64_t step, wrap;   // of `from`
  int n_tiles;

  __device__ __forceinline__ MatrixChunks(const FewRowsParams& p, int32_t first_tile, int tiles)
      : next(p, static_cast<int>(threadIdx.x / 32)), n_tiles(tiles) {
    constexpr int kStride = kChunkStride<kType>;
    const int64_t tile_bytes = Layout<kType>::tile_bytes(static_cast<int>(units_of(p.args.n_cols)));
    from = static_cast<const uint8_t*>(p.args.weights) + (first_tile + next.tile) * tile_bytes + next.chunk * kStride;
    step = next.step_tiles * tile_bytes + next.step_chunks * kStride;
    wrap = tile_bytes - static_cast<int64_t>(p.n_chunks) * kStride;
  }
  __device__ __forceinline__ bool has_next() const { return next.tile < n_tiles; }
  __device__ __forceinline__ const uint8_t* take() {
    const uint8_t* taken = from;
    from += next.advance() ? step + wrap : step;
    return taken;
  }
};

// total += the chunk in the ring's place times x. What stands behind a short chunk's units meets zeros of x.
template <DType kType, int NT, class Ring, class Columns>
__device__ __forceinline__ void multiply_chunk(const Ring& ring, const Columns& columns, int lane,
                                               float (&total)[NT][4]) {
  if constexpr (!Layout<kType>::kScaled) {
    UnitCodes<kType> codes;
    ring.load_codes(codes);
    multiply_row_major<kType, NT>(codes, columns, total);
  } else if constexpr (Layout<kType>::kPlanes && __is_same(Columns, OneRow)) {
    multiply_row_planes<kType>(ring.place, columns, lane, total);
  } else if constexpr (Layout<kType>::kPlanes) {
    multiply_planes<kType, NT>(ring.place, columns, lane, total);
  } else if constexpr (__is_same(Columns, OneRow)) {
    multiply_row_chunk<kType, Ring::kGroupsApart>(ring.place, columns, lane, total);
  } else {
    multiply_scaled_chunk<kType, NT>(ring.place, columns, lane, total);
  }
}

// Prepares a raw row. A warp takes every eighth chunk, from the last one on: the last CTAs have the fewest tiles of the
// op before, so their results come first. Two at a time where it has two: the next two are asked for before these are
// prepared. Rolled up, for instruction caches.
template <ActivationForm kForm, class Values>
class RawRow {
 public:
  __device__ __forceinline__ RawRow(const LinearArgs& args, const Values& source, uint8_t* memory)
      : a_(args),
        values_(source),
        shared_(memory),
        places_{args.x.n_chunks},
        lane_(static_cast<int>(threadIdx.x % 32)),
        chunk_(last_chunk(args.x.n_chunks, static_cast<int>(threadIdx.x / 32))) {}

  __device__ __forceinline__ void prepare() {
    row_ = a_.raw + (a_.raw_row != nullptr ? static_cast<int64_t>(max(*a_.raw_row, 0)) * a_.n_cols : 0);
    ask();
#pragma unroll 1
    while (chunk_ >= kParts) prepare_next<2>();
    if (chunk_ >= 0) prepare_next<1>();
    sync_threads<kLinearThreads>();
  }

 private:
  static constexpr int kStep = kParts * kChunkCols;  // columns between the warp's chunks

  __device__ __forceinline__ static int last_chunk(int n_chunks, int warp) {
    return warp < n_chunks ? (n_chunks - 1 - warp) / kParts * kParts + warp : -1;
  }
  __device__ __forceinline__ OctetsAt<kStep> octets() const {
    const int column = chunk_ * kChunkCols + lane_ * 8;
    return {row_ + column, chunk_ >= 0 ? static_cast<int>(a_.n_cols) - column : 0, chunk_ >= kParts};
  }
  // Norm weights after the values, which would wait for them.
  __device__ __forceinline__ void ask() {
    const OctetsAt<kStep> at = octets();
    at.template ask<2>(values_, asked_);
    if (a_.norm_weight == nullptr) return;
    const float* weights = a_.norm_weight + (at.from - row_);
    if (at.n_cols > 0) norm_[0] = octet_at(weights);
    if (at.two) norm_[1] = octet_at(weights - kStep);
  }
  // The next n of the warp's chunks, side by side.
  template <int n>
  __device__ __forceinline__ void prepare_next() {
    const OctetsAt<kStep> at = octets();
    values_.wait_for_any(at.from, asked_[0].x, at.n_cols > 0, lane_ % 8 == 0 && at.n_cols > 0);
    Octet x[n];
    at.take(values_, asked_, x);
    const int first = chunk_;
    if (a_.norm_weight != nullptr) apply_norm(first, x);
    chunk_ -= n * kParts;
    if (n == 2 && chunk_ >= 0) ask();
#pragma unroll
    for (int i = 0; i < n; ++i) store(x[i], first - i * kParts);
  }
  template <int n>
  __device__ __forceinline__ void apply_norm(int first, Octet (&x)[n]) const {
    float sums[n];
    squares_of(x, sums);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (lane_ == 0) reinterpret_cast<float*>(shared_ + places_.squares())[first - i * kParts] = sums[i];
    }
#pragma unroll
    for (int i = 0; i < 8 * n; ++i) x[i / 8].v[i % 8] = __fmul_rn(x[i / 8].v[i % 8], norm_[i / 8].v[i % 8]);
  }
  __device__ __forceinline__ void store(const Octet& x, int chunk) const {
    uint8_t* to = shared_ + places_.values() + chunk * kChunkCols * 2;
    const float scale = store_chunk<kForm>(x, lane_, true, to, shared_ + places_.sums() + chunk * 64);
    if (kForm != ActivationForm::bf16 && lane_ == 0)
      reinterpret_cast<float*>(shared_ + places_.scales())[chunk] = scale;
  }

  const LinearArgs& a_;
  const Values& values_;
  uint8_t* shared_;
  RawRowPlaces places_;
  int lane_, chunk_;  // the next chunk; below 0: there is none
  const float* row_ = nullptr;
  uint4 asked_[4] = {};  // set in any case: else it would keep its registers from other phases
  Octet norm_[2] = {};   // of those asked for
};

template <DType kType>
__device__ __forceinline__ OneRow raw_columns(const LinearArgs& a, const uint8_t* shared, int chunk, int lane) {
  const RawRowPlaces places{a.x.n_chunks};
  const int x_chunk = chunk * WarpChunk<kType>::kCols / kChunkCols;
  return {shared + places.values() + chunk * WarpChunk<kType>::kCols * 2,
          reinterpret_cast<const uint4*>(shared + places.sums() + x_chunk * 64),
          reinterpret_cast<const float*>(shared + places.scales())[x_chunk], lane % 4};
}

template <DType kType>
__device__ __forceinline__ GlobalRows global_columns(const LinearArgs& a, int chunk, int lane) {
  const int g = lane / 4, t = lane % 4, x_chunk = chunk * WarpChunk<kType>::kCols / kChunkCols;
  const int left = a.m - g;
  const int64_t row = left > 0 ? g : 0;
  return {static_cast<const uint8_t*>(a.x.values) + (row * a.x.ld + chunk * WarpChunk<kType>::kCols) * 2,
          static_cast<const uint4*>(a.x.sums) + (row * a.x.n_chunks + x_chunk) * 4 + t,
          a.x.chunk_scale + x_chunk * a.x.scale_stride + 2 * t,
          8 * a.x.ld * 2,
          8 * static_cast<int64_t>(a.x.n_chunks) * 4,
          t,
          left > 0 ? (left + 7) / 8 : 0};
}

__device__ __forceinline__ GlobalPlanes global_planes(const LinearArgs& a, int chunk, int lane) {
  const int g = lane / 4, t = lane % 4, left = a.m - g / 2;
  const int64_t row = left > 0 ? g / 2 : 0;
  const uint8_t* record = plane_record(a.x, chunk, row);
  return {record + g % 2 * kPlaneBytes + t * 16, record + kRecordSumsAt + t * 16 + g % 2 * 8,
          a.x.chunk_scale + chunk * a.x.scale_stride + t, left > 0 ? (left + 3) / 4 : 0};
}

// Rows of x in global memory, in a product's form.
template <DType kType>
__device__ __forceinline__ auto global_rows(const LinearArgs& a, int chunk, int lane) {
  if constexpr (Layout<kType>::kPlanes) {
    return global_planes(a, chunk, lane);
  } else {
    return global_columns<kType>(a, chunk, lane);
  }
}

// A group's results: a part of the threads for each of its tiles.
struct ResultThreads {
  int tile, first, step;
  __device__ __forceinline__ explicit ResultThreads(int group_bits)
      : tile((static_cast<int>(threadIdx.x) << group_bits) / kLinearThreads), step(kLinearThreads >> group_bits) {
    first = static_cast<int>(threadIdx.x) & (step - 1);
  }
};

// The sum of the parts of one result, in order.
struct PartSums {
  const float* parts;
  int n_parts, part_floats;
  __device__ __forceinline__ float operator()(int row, int col) const {
    const float* from = parts + col * kTileRows + row;
    int n = n_parts;
    asm volatile("" : "+r"(n));  // else eight predicates are kept from one sum to the next
    float of_part[kParts], sum = 0.0f;
#pragma unroll
    for (int part = 0; part < kParts; ++part) of_part[part] = part < n ? from[part * part_floats] : 0.0f;
#pragma unroll
    for (int part = 0; part < kParts; ++part) sum = __fadd_rn(sum, of_part[part]);
    return sum;
  }
};

// at: this thread's first result; scale(row of x): what the sums have to be multiplied by.
template <bool kRaw, class Values, class Scale>
__device__ __forceinline__ void store_tile(const LinearArgs& a, int n_parts, const Values& values, const float* parts,
                                           int64_t tile, const ResultThreads& threads, const ResultPlace& at,
                                           const Scale& scale) {
  const int part_floats = (kRaw ? 1 : a.m) * kTileRows;
  store_result(a, values, 0, at, PartSums{parts, n_parts, part_floats}, scale);
  if constexpr (!kRaw) {  // of a raw row no thread has more than one
    const int n = results_of_tile(a) * a.m;
    for (int e = threads.first + threads.step; e < n; e += threads.step) {
      ResultPlace place = result_place(a, tile, 0, e);
      place.load_before();
      store_result(a, values, 0, place, PartSums{parts, n_parts, part_floats}, scale);
    }
  }
}

// Of a raw row that has been prepared. By the last warp, which has the fewest chunks: all read it after a barrier.
__device__ __forceinline__ void find_raw_scale(const LinearArgs& a, uint8_t* shared) {
  if (threadIdx.x / 32 != kParts - 1) return;
  const RawRowPlaces places{a.x.n_chunks};
  float scale = 1.0f;
  if (a.norm_weight != nullptr)
    scale = inverse_rms(reinterpret_cast<const float*>(shared + places.squares()), a.x.n_chunks, a.n_cols, a.epsilon);
  if (threadIdx.x % 32 == 0) *reinterpret_cast<float*>(shared + places.row_scale()) = scale;
}
__device__ __forceinline__ float raw_scale(const LinearArgs& a, const uint8_t* shared) {
  return *reinterpret_cast<const float*>(shared + RawRowPlaces{a.x.n_chunks}.row_scale());
}

// The tiles of a CTA: which matrix, rows of x and results tile i has, and which tile of the matrix it is.
struct MatrixTiles {
  const LinearArgs& a;
  int32_t first;
  int n;
  __device__ __forceinline__ const LinearArgs& args(int) const { return a; }
  __device__ __forceinline__ int64_t at(int i) const { return first + i; }
};

// The tiles [group, group_end) of a CTA: this warp's chunks of them, which are the ring's next, to parts.
template <DType kType, int NT, bool kRaw, class Ring, class Tiles>
__device__ __forceinline__ void multiply_group(const FewRowsParams& p, const Tiles& tiles, int group, int group_end,
                                               ChunkCursor& now, Ring& ring, const uint8_t* shared, float* parts) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  while (now.tile < group_end) {
    const int tile = now.tile;
    const auto& a = tiles.args(tile);
    const int m = kRaw ? 1 : p.args.m, of_tile = kRaw ? 1 : a.m;
    float* part = parts + ((tile - group) * p.n_parts * m + now.chunk % kParts * of_tile) * kTileRows;
    float total[NT][4] = {};
    do {
      ring.wait();
      if constexpr (kRaw) {
        multiply_chunk<kType, NT>(ring, raw_columns<kType>(p.args, shared, now.chunk, lane), lane, total);
      } else {
        multiply_chunk<kType, NT>(ring, global_rows<kType>(a, now.chunk, lane), lane, total);
      }
      ring.release();
      now.advance();
    } while (now.tile == tile);
    store_part<kType, NT>(total, kRaw ? 1 : a.m, lane, part);
  }
}

// The tiles of a CTA. No tile has more rows of x than p.args says. ready(): until x is there.
// multiply(group, group_end, cursor, parts): multiply_group.
template <bool kRaw, class Values, class Tiles, class Ready, class Multiply>
__device__ __forceinline__ void multiply_tiles(const FewRowsParams& p, const Values& values, const Tiles& tiles,
                                               uint8_t* shared, float* parts, const Ready& ready,
                                               const Multiply& multiply) {
  const int n_tiles = tiles.n, n_parts = p.n_parts, group_tiles = p.group_tiles;
  const int tile_floats = n_parts * (kRaw ? 1 : p.args.m) * kTileRows;
  const ResultThreads threads(p.group_bits);
  ChunkCursor now(p, static_cast<int>(threadIdx.x / 32));
  int other_parts = group_tiles * tile_floats;  // groups use two sets of parts in turn
  const auto place_in = [&](int group) {        // of this thread's first result
    const int mine = group + threads.tile;
    if (mine >= min(group + group_tiles, n_tiles)) return ResultPlace{};
    const auto& a = tiles.args(mine);
    if (threads.first >= results_of_tile(a) * a.m) return ResultPlace{};
    return result_place(a, tiles.at(mine), 0, threads.first);
  };
  ResultPlace at = place_in(0);
  ready();
  for (int group = 0; group < n_tiles; group += group_tiles) {
    const int group_end = min(group + group_tiles, n_tiles), mine = group + threads.tile;
    if (group > 0) at = place_in(group);
    at.load_before();
    multiply(group, group_end, now, parts);
    if (kRaw && group == 0) find_raw_scale(p.args, shared);
    sync_threads<kLinearThreads>();
    if (at.to != nullptr || (!kRaw && mine < group_end)) {
      const auto& a = tiles.args(mine);
      store_tile<kRaw>(a, n_parts, values, parts + threads.tile * tile_floats, tiles.at(mine), threads, at,
                       [&](int32_t row) { return kRaw ? raw_scale(p.args, shared) : a.x.row_scale[row]; });
    }
    parts += other_parts;
    other_parts = -other_parts;
  }
}

// The same of one type, x being there.
template <DType kType, int NT, bool kRaw, class Ring, class Values, class Tiles>
__device__ __forceinline__ void multiply_tiles(const FewRowsParams& p, const Values& values, const Tiles& tiles,
                                               Ring& ring, uint8_t* shared) {
  multiply_tiles<kRaw>(
      p, values, tiles, shared, reinterpret_cast<float*>(shared + p.parts_at), [] {},
      [&](int group, int group_end, ChunkCursor& now, float* parts) {
        multiply_group<kType, NT, kRaw>(p, tiles, group, group_end, now, ring, shared, parts);
      });
}

template <DType kType, int NT, bool kRaw>
__device__ __forceinline__ void few_rows(const FewRowsParams& p, uint8_t* shared) {
  const LinearArgs& a = p.args;
  const TileRange tiles(p, static_cast<int32_t>(blockIdx.x));
  const int n_tiles = tiles.end - tiles.first;
  ChunkRing<kType, MatrixChunks<kType>> ring(p, {p, tiles.first, n_tiles}, shared + p.ring_at);
  const FinishedValues values;
  if constexpr (kRaw) {
    RawRow<Layout<kType>::kForm, FinishedValues> raw(a, values, shared);
    wait_for_previous_kernel();
    raw.prepare();
  } else {
    wait_for_previous_kernel();
  }
  multiply_tiles<kType, NT, kRaw>(p, values, MatrixTiles{p.args, tiles.first, n_tiles}, ring, shared);
}

#endif

template <DType kType, int NT, bool kRaw>
__global__ void __launch_bounds__(kLinearThreads, NT <= 2 ? 2 : 1)
    linear_few_rows(const __grid_constant__ FewRowsParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) uint8_t few_rows_memory[];
  let_next_kernel_start();
  few_rows<kType, NT, kRaw>(p, few_rows_memory);
#else
  refuse_to_run();
#endif
}

}  // namespace inlay::cuda
