// out[row][r] = row_scale[row] * sum_k W[r][k] x[row][k] + bias[r] for up to 64 rows of x: decode.
//
// Bound: reading the weights once at the memory's speed, and in a chain of small products the latency between them. Hence
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
inline constexpr int kMaxDepth = 8;

struct FewRowsParams {
  LinearArgs args;
  int32_t n_tiles, n_chunks;  // chunks of a tile
  int32_t depth;              // of the ring
  int32_t group_tiles;        // tiles between two barriers
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
  int tile, chunk;           // tile counted from the CTA's first
  int step_tiles, step_chunks, n_chunks;

  __device__ __forceinline__ ChunkCursor(int index, int chunks)
      : tile(index / chunks), chunk(index % chunks), step_tiles(kParts / chunks), step_chunks(kParts % chunks), n_chunks(chunks) {}
  __device__ __forceinline__ void advance() {
    tile += step_tiles, chunk += step_chunks;
    if (chunk >= n_chunks) chunk -= n_chunks, ++tile;
  }
};

template <DType kType>
__device__ __forceinline__ void copy_chunk(const uint8_t* tile, int n_units, int chunk, uint8_t* to, int lane) {
  using L = Layout<kType>;
  if constexpr (L::kScaled) {
    const uint8_t* from = tile + static_cast<int64_t>(chunk) * L::kChunkBytes;
    const int units = min(kChunkUnits, n_units - chunk * kChunkUnits);
    const int n = (L::kCodesAt + units * L::kUnitBytes) / 16;
#pragma unroll
    for (int i = 0; i < (L::kChunkBytes / 16 + 31) / 32; ++i) {
      if (i * 32 + lane < n) copy_async_16(to + (i * 32 + lane) * 16, from + (i * 32 + lane) * 16);
    }
  } else {
    const int64_t row_bytes = static_cast<int64_t>(n_units) * kUnitCols * L::kElementBytes;
    const uint8_t* from = tile + chunk * kUnitCols * L::kElementBytes + lane / 4 * row_bytes + lane % 4 * 16;
#pragma unroll
    for (int j = 0; j < 4; ++j) copy_async_16(to + j * 512 + lane * 16, from + j % 2 * 8 * row_bytes + j / 2 * 64);
  }
}

// At most depth - 1 groups of copies stay pending.
__device__ __forceinline__ void wait_for_oldest(int depth) {
  switch (depth) {
    case 1: wait_for_copies<0>(); break;
    case 2: wait_for_copies<1>(); break;
    case 3: wait_for_copies<2>(); break;
    case 4: wait_for_copies<3>(); break;
    case 5: wait_for_copies<4>(); break;
    case 6: wait_for_copies<5>(); break;
    case 7: wait_for_copies<6>(); break;
    default: wait_for_copies<7>(); break;
  }
}

// A warp's ring of chunks.
template <DType kType>
struct WarpRing {
  static constexpr int kBytes = WarpChunk<kType>::kBytes;
  const uint8_t* weights;  // of the CTA's first tile
  int64_t tile_bytes;
  uint8_t* places;
  ChunkCursor next;  // to copy
  int n_units, n_tiles, depth, slot, lane;

  // Fills the place in use, or nothing beyond the last chunk; one group of copies either way.
  __device__ __forceinline__ void refill() {
    if (next.tile < n_tiles) {
      copy_chunk<kType>(weights + next.tile * tile_bytes, n_units, next.chunk, places + slot * kBytes, lane);
      next.advance();
    }
    commit_copies();
  }
  __device__ __forceinline__ void turn() { slot = slot + 1 == depth ? 0 : slot + 1; }
};

// total += one chunk in shared memory times x.
template <DType kType, int NT, class Columns>
__device__ __forceinline__ void multiply_chunk(const uint8_t* place, int units, const Columns& columns, int lane,
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
      if (u >= units) break;
      UnitCodes<kType> codes;
      codes.load(place + L::kCodesAt + u * L::kUnitBytes, lane);
      multiply_unit<kType, NT>(codes, scales, u, columns, acc);
    }
    finish_chunk<kType, NT>(scales, columns, acc, total);
  }
}

// Prepares a raw row; a warp takes every eighth chunk.
template <DType kType>
__device__ __forceinline__ void prepare_raw_row(const LinearArgs& a, uint8_t* shared) {
  const RawRowPlaces places{static_cast<int>((a.x.ld + kChunkCols - 1) / kChunkCols)};
  const int lane = static_cast<int>(threadIdx.x % 32);
  auto* scales = reinterpret_cast<float*>(shared + places.scales());
  auto* squares = reinterpret_cast<float*>(shared + places.squares());
  const int64_t row = a.raw_row != nullptr ? max(*a.raw_row, 0) : 0;
  for (int chunk = static_cast<int>(threadIdx.x / 32); chunk < places.n_chunks; chunk += kParts) {
    const int64_t column = static_cast<int64_t>(chunk) * kChunkCols + lane * 8;
    Octet x = load_octet(a.raw + row * a.n_cols, column, a.n_cols);
    if (a.norm_weight != nullptr) {
      const Octet weight = load_octet(a.norm_weight, column, a.n_cols);
      const float sum = squares_of(x);
      if (lane == 0) squares[chunk] = sum;
#pragma unroll
      for (int i = 0; i < 8; ++i) x.v[i] = __fmul_rn(x.v[i], weight.v[i]);
    }
    uint8_t* values = shared + places.values() + chunk * kChunkCols * 2;
    if constexpr (kType == DType::bf16) {
      store_chunk_bf16(x, lane, true, values);
    } else {
      const float scale = store_chunk_f16(x, lane, true, values, shared + places.sums() + chunk * 64);
      if (lane == 0) scales[chunk] = scale;
    }
  }
  __syncthreads();
}

template <DType kType>
__device__ __forceinline__ OneRow raw_columns(const LinearArgs& a, const uint8_t* shared, int chunk, int lane) {
  const RawRowPlaces places{static_cast<int>((a.x.ld + kChunkCols - 1) / kChunkCols)};
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

// The results of `tiles` tiles from first_tile on, out of their parts.
template <bool kRaw>
__device__ __forceinline__ void store_group(const FewRowsParams& p, const float* parts, const uint8_t* shared,
                                            int64_t first_tile, int tiles) {
  const LinearArgs& a = p.args;
  const int per_tile = results_of_tile(a) * a.m, part_floats = a.m * kTileRows;
  for (int e = static_cast<int>(threadIdx.x); e < tiles * per_tile; e += kLinearThreads) {
    const int tile = e / per_tile;
    const float* sums = parts + tile * p.n_parts * part_floats;
    store_result(
        a, first_tile + tile, 0, e - tile * per_tile,
        [&](int row, int col) {
          float total = 0.0f;
          for (int part = 0; part < p.n_parts; ++part) {
            total = __fadd_rn(total, sums[part * part_floats + col * kTileRows + row]);
          }
          return total;
        },
        [&](int32_t row) {
          if constexpr (!kRaw) return a.x.row_scale[row];
          if (a.norm_weight == nullptr) return 1.0f;
          const RawRowPlaces places{static_cast<int>((a.x.ld + kChunkCols - 1) / kChunkCols)};
          const auto* squares = reinterpret_cast<const float*>(shared + places.squares());
          return inverse_rms(squares, places.n_chunks, a.n_cols, a.epsilon);
        });
  }
}

template <DType kType, int NT, bool kRaw>
__device__ __forceinline__ void few_rows(const FewRowsParams& p, uint8_t* shared) {
  using L = Layout<kType>;
  const LinearArgs& a = p.args;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const auto first_tile = static_cast<int32_t>(static_cast<int64_t>(blockIdx.x) * p.n_tiles / gridDim.x);
  const auto end_tile = static_cast<int32_t>(static_cast<int64_t>(blockIdx.x + 1) * p.n_tiles / gridDim.x);
  const int n_tiles = end_tile - first_tile, n_units = static_cast<int>(units_of(a.n_cols));
  const int64_t tile_bytes = L::tile_bytes(n_units);
  ChunkCursor now(warp, p.n_chunks);
  WarpRing<kType> ring{static_cast<const uint8_t*>(a.weights) + first_tile * tile_bytes,
                       tile_bytes,
                       shared + p.ring_at + warp * p.depth * WarpChunk<kType>::kBytes,
                       now,
                       n_units,
                       n_tiles,
                       p.depth,
                       0,
                       lane};
  for (int i = 0; i < p.depth; ++i) ring.refill(), ring.turn();
  wait_for_previous_kernel();
  if constexpr (kRaw) prepare_raw_row<kType>(a, shared);
  const int part_floats = a.m * kTileRows, group_floats = p.group_tiles * p.n_parts * part_floats;
  auto* parts = reinterpret_cast<float*>(shared + p.parts_at);
  for (int group = 0; group < n_tiles; group += p.group_tiles) {
    const int group_end = min(group + p.group_tiles, n_tiles);
    while (now.tile < group_end) {
      const int tile = now.tile;
      float* part = parts + ((tile - group) * p.n_parts + now.chunk % kParts) * part_floats;
      float total[NT][4] = {};
      do {
        wait_for_oldest(p.depth);
        __syncwarp();
        const uint8_t* place = ring.places + ring.slot * WarpChunk<kType>::kBytes;
        const int units = min(WarpChunk<kType>::kUnits, n_units - now.chunk * WarpChunk<kType>::kUnits);
        if constexpr (kRaw) {
          multiply_chunk<kType, NT>(place, units, raw_columns<kType>(a, shared, now.chunk, lane), lane, total);
        } else {
          multiply_chunk<kType, NT>(place, units, global_columns<kType>(a, now.chunk, lane), lane, total);
        }
        __syncwarp();
        ring.refill();
        ring.turn();
        now.advance();
      } while (now.tile == tile);
      store_part<NT>(total, a.m, lane, part);
    }
    __syncthreads();
    store_group<kRaw>(p, parts, shared, first_tile + group, group_end - group);
    // The next group's parts go elsewhere; the one after it comes behind another barrier.
    parts = reinterpret_cast<float*>(shared + p.parts_at) + (parts == reinterpret_cast<float*>(shared + p.parts_at) ? group_floats : 0);
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
