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

#include "kernels/cuda/linear/activations.cuh"
#include "kernels/cuda/linear/chunk.cuh"
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
  int32_t group_tiles;        // tiles between two barriers, a power of two
  int32_t n_parts;            // min(8, n_chunks)
  int32_t ring_at, parts_at;  // bytes into shared memory; a raw row comes first
};

// What a warp copies at a time.
template <DType kType>
struct WarpChunk {
  using L = Layout<kType>;
  static constexpr int kUnits = L::kScaled ? kChunkUnits : 1;
  static constexpr int kBytes = L::kScaled ? L::kChunkBytes : L::kUnitBytes;
  static constexpr int kCols = kUnits * kUnitCols;
};

// A raw row in shared memory: values, sums, scales and squares of n chunks of 256 columns.
struct RawRowPlaces {
  int n_chunks;
  __host__ __device__ constexpr int values() const { return 0; }
  __host__ __device__ constexpr int sums() const { return n_chunks * kChunkCols * 2; }
  __host__ __device__ constexpr int scales() const { return sums() + n_chunks * 64; }
  __host__ __device__ constexpr int squares() const { return scales() + n_chunks * 4; }
  __host__ __device__ constexpr int bytes() const { return (squares() + n_chunks * 4 + 127) / 128 * 128; }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// The place of a warp in the sequence of its CTA's chunks.
struct ChunkCursor {
  int tile, chunk;  // tile counted from the CTA's first
  int step_tiles, step_chunks, n_chunks;

  __device__ __forceinline__ ChunkCursor(int index, int chunks)
      : tile(index / chunks),
        chunk(index % chunks),
        step_tiles(kParts / chunks),
        step_chunks(kParts % chunks),
        n_chunks(chunks) {}
  // Whether it went over the end of a tile's chunks.
  __device__ __forceinline__ bool advance() {
    tile += step_tiles, chunk += step_chunks;
    const bool wraps = chunk >= n_chunks;
    if (wraps) chunk -= n_chunks, ++tile;
    return wraps;
  }
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

// At most depth - 1 groups of copies stay pending. Depths: fit_few_rows.
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

// A warp's ring of chunks.
template <DType kType>
struct WarpRing {
  using L = Layout<kType>;
  static constexpr int kPlaceBytes = WarpChunk<kType>::kBytes;
  static constexpr int kStride =
      L::kScaled ? L::kChunkBytes : kUnitCols * L::kElementBytes;  // between chunks of a tile
  ChunkCursor next;                                                // to copy
  const uint8_t* from;                                             // its bytes
  int64_t step, wrap;                                              // of `from`
  uint8_t *places, *place, *end;                                   // the place in use next
  int n_units, n_tiles, lane;

  __device__ __forceinline__ WarpRing(const FewRowsParams& p, ChunkCursor first, int32_t first_tile, int tiles,
                                      uint8_t* memory)
      : next(first),
        n_units(static_cast<int>(units_of(p.args.n_cols))),
        n_tiles(tiles),
        lane(static_cast<int>(threadIdx.x % 32)) {
    const int64_t tile_bytes = L::tile_bytes(n_units);
    from = static_cast<const uint8_t*>(p.args.weights) + (first_tile + first.tile) * tile_bytes + first.chunk * kStride;
    step = first.step_tiles * tile_bytes + first.step_chunks * kStride;
    wrap = tile_bytes - static_cast<int64_t>(p.n_chunks) * kStride;
    places = place = memory + threadIdx.x / 32 * p.depth * kPlaceBytes;
    end = places + p.depth * kPlaceBytes;
    for (int i = 0; i < p.depth; ++i) refill();
  }
  // Fills the place in use, with nothing beyond the last chunk, and goes on to the next; one group of copies either
  // way.
  __device__ __forceinline__ void refill() {
    if (next.tile < n_tiles) {
      copy_chunk<kType>(from, n_units, next.chunk, place, lane);
      from += next.advance() ? step + wrap : step;
    }
    commit_copies();
    place += kPlaceBytes;
    if (place == end) place = places;
  }
};

// total += one chunk in shared memory times x. What stands behind a short chunk's units meets zeros of x.
template <DType kType, int NT, class Columns>
__device__ __forceinline__ void multiply_chunk(const uint8_t* place, const Columns& columns, int lane,
                                               float (&total)[NT][4]) {
  using L = Layout<kType>;
  if constexpr (!L::kScaled) {
    UnitCodes<kType> codes;
    codes.load(place, lane);
    multiply_row_major<kType, NT>(codes, columns, total);
  } else {
    ChunkScales<kType> scales;
    scales.load(place, lane);
    float acc[NT][4] = {};
#pragma unroll
    for (int u = 0; u < kChunkUnits; ++u) {
      UnitCodes<kType> codes;
      codes.load(place + L::kCodesAt + u * L::kUnitBytes, lane);
      multiply_unit<kType, NT>(codes, scales, u, columns, acc);
    }
    finish_chunk<kType, NT>(scales, columns, acc, total);
  }
}

// Prepares a raw row; a warp takes every eighth chunk.
template <DType kType>
struct RawRow {
  const LinearArgs& a;
  uint8_t* shared;
  RawRowPlaces places;
  int warp, lane;
  Octet weight;  // of the first chunk: it does not depend on the previous kernel

  __device__ __forceinline__ RawRow(const LinearArgs& args, uint8_t* memory)
      : a(args),
        shared(memory),
        places{args.x.n_chunks},
        warp(static_cast<int>(threadIdx.x / 32)),
        lane(static_cast<int>(threadIdx.x % 32)) {
    if (a.norm_weight != nullptr) weight = octet(a.norm_weight, warp);
  }
  __device__ __forceinline__ Octet octet(const float* row, int chunk) const {
    return load_octet(row, static_cast<int64_t>(chunk) * kChunkCols + lane * 8, a.n_cols);
  }
  __device__ __forceinline__ void store(int chunk, Octet x) const {
    if (a.norm_weight != nullptr) {
      const float sum = squares_of(x);
      if (lane == 0) reinterpret_cast<float*>(shared + places.squares())[chunk] = sum;
#pragma unroll
      for (int i = 0; i < 8; ++i) x.v[i] = __fmul_rn(x.v[i], weight.v[i]);
    }
    uint8_t* values = shared + places.values() + chunk * kChunkCols * 2;
    if constexpr (kType == DType::bf16) {
      store_chunk_bf16(x, lane, true, values);
    } else {
      const float scale = store_chunk_f16(x, lane, true, values, shared + places.sums() + chunk * 64);
      if (lane == 0) reinterpret_cast<float*>(shared + places.scales())[chunk] = scale;
    }
  }
  __device__ __forceinline__ void prepare() {
    const float* row = a.raw + (a.raw_row != nullptr ? static_cast<int64_t>(max(*a.raw_row, 0)) * a.n_cols : 0);
    Octet x = octet(row, warp);
#pragma unroll 1
    for (int chunk = warp; chunk < places.n_chunks; chunk += kParts) {
      const Octet now = x;
      x = octet(row, chunk + kParts);
      store(chunk, now);
      if (a.norm_weight != nullptr) weight = octet(a.norm_weight, chunk + kParts);
    }
    __syncthreads();
  }
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

// A group's results: a part of the threads for each of its tiles.
struct ResultThreads {
  int tile, first, step;
  __device__ __forceinline__ explicit ResultThreads(int group_tiles)
      : tile(static_cast<int>(threadIdx.x) * group_tiles / kLinearThreads),
        first(static_cast<int>(threadIdx.x) % (kLinearThreads / group_tiles)),
        step(kLinearThreads / group_tiles) {}
};

// before: what is at the place of this thread's first result.
template <bool kRaw>
__device__ __forceinline__ void store_tile(const FewRowsParams& p, const float* parts, const uint8_t* shared,
                                           int64_t tile, const ResultThreads& threads, float before) {
  const LinearArgs& a = p.args;
  const int n = results_of_tile(a) * a.m, part_floats = a.m * kTileRows;
  for (int e = threads.first; e < n; e += threads.step) {
    if (e != threads.first) before = result_before(a, tile, 0, e);
    store_result(
        a, tile, 0, e, before,
        [&](int row, int col) {
          float total = 0.0f;
          for (int part = 0; part < p.n_parts; ++part) {
            total = __fadd_rn(total, parts[part * part_floats + col * kTileRows + row]);
          }
          return total;
        },
        [&](int32_t row) {
          if constexpr (!kRaw) return a.x.row_scale[row];
          if (a.norm_weight == nullptr) return 1.0f;
          const auto* squares = reinterpret_cast<const float*>(shared + RawRowPlaces{a.x.n_chunks}.squares());
          return inverse_rms(squares, a.x.n_chunks, a.n_cols, a.epsilon);
        });
  }
}

template <DType kType, int NT, bool kRaw>
__device__ __forceinline__ void few_rows(const FewRowsParams& p, uint8_t* shared) {
  const LinearArgs& a = p.args;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const auto first_tile = static_cast<int32_t>(static_cast<int64_t>(blockIdx.x) * p.n_tiles / gridDim.x);
  const auto end_tile = static_cast<int32_t>(static_cast<int64_t>(blockIdx.x + 1) * p.n_tiles / gridDim.x);
  const int n_tiles = end_tile - first_tile;
  ChunkCursor now(warp, p.n_chunks);
  WarpRing<kType> ring(p, now, first_tile, n_tiles, shared + p.ring_at);
  if constexpr (kRaw) {
    RawRow<kType> raw(a, shared);
    wait_for_previous_kernel();
    raw.prepare();
  } else {
    wait_for_previous_kernel();
  }
  const int part_floats = a.m * kTileRows, tile_floats = p.n_parts * part_floats;
  const ResultThreads threads(p.group_tiles);
  auto* parts = reinterpret_cast<float*>(shared + p.parts_at);
  int other_parts = p.group_tiles * tile_floats;  // groups use two sets of parts in turn
  for (int group = 0; group < n_tiles; group += p.group_tiles) {
    const int group_end = min(group + p.group_tiles, n_tiles);
    const bool has_results = group + threads.tile < group_end && threads.first < results_of_tile(a) * a.m;
    const float before = has_results ? result_before(a, first_tile + group + threads.tile, 0, threads.first) : 0.0f;
    while (now.tile < group_end) {
      const int tile = now.tile;
      float* part = parts + (tile - group) * tile_floats + now.chunk % kParts * part_floats;
      float total[NT][4] = {};
      do {
        wait_for_oldest(p.depth);
        __syncwarp();
        if constexpr (kRaw) {
          multiply_chunk<kType, NT>(ring.place, raw_columns<kType>(a, shared, now.chunk, lane), lane, total);
        } else {
          multiply_chunk<kType, NT>(ring.place, global_columns<kType>(a, now.chunk, lane), lane, total);
        }
        __syncwarp();
        ring.refill();
        now.advance();
      } while (now.tile == tile);
      store_part<NT>(total, a.m, lane, part);
    }
    __syncthreads();
    if (has_results) {
      store_tile<kRaw>(p, parts + threads.tile * tile_floats, shared, first_tile + group + threads.tile, threads,
                       before);
    }
    parts += other_parts;
    other_parts = -other_parts;
  }
}

#endif

template <DType kType, int NT, bool kRaw>
__global__ void __launch_bounds__(kLinearThreads, NT <= 2 ? 2 : 1)
    linear_few_rows(const __grid_constant__ FewRowsParams p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) uint8_t few_rows_memory[];
  let_next_kernel_start();
  few_rows<kType, NT, kRaw>(p, few_rows_memory);
#endif
}

}  // namespace inlay::cuda
