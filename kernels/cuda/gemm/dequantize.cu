// Packed quantized tiles (linear/layout.cuh) -> row-major F16, and the largest magnitude in a matrix. A value is
// rounded once, from the F32 value that dequantizing the file's block gives. One warp a chunk of 256 columns: a lane
// reads its codes as they are stored, 16 bytes at a time, all units of the chunk at once, and writes 8 neighbouring
// columns of a row with one store, so that a warp's store fills whole sectors. Bound:
// bandwidth, the packed bytes read and 2 bytes a value written; about 6 instructions a value. cuda_gemm speed prints
// GB/s.
#include "kernels/cuda/device/halves.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/linear/codes.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// What the codes of the four columns of k-step s in row g + 8 * upper stand for.
template <DType kType>
__device__ __forceinline__ void unpack(const UnitCodes<kType>& w, int s, int upper, float* to) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    float2 v;
    if constexpr (kHalves<kType>) {
      v = __half22float2(as_half2(halves_of<kType>(w.words, s, upper + 2 * j)));
      v.x *= kHalvesUnit<kType>, v.y *= kHalvesUnit<kType>;
    } else {
      constexpr uint32_t kBase = (0x6400 + Layout<kType>::kFormat.offset) * 0x00010001u;  // FP16 of 1024 + offset
      v = __half22float2(__hsub2(as_half2(codes_of<kType>(w, s, upper + 2 * j)), as_half2(kBase)));
    }
    to[2 * j] = v.x, to[2 * j + 1] = v.y;
  }
}

// Neighbouring columns of a row in one lane, and how many such runs of a row a lane has in a unit.
template <DType kType>
inline constexpr int kRun = Layout<kType>::kBySteps ? 4 : 8;
template <DType kType>
inline constexpr int kUnitRuns = kUnitCols / (4 * kRun<kType>);

// Calls visit(row of the tile, column of the chunk, kRun values of that row, as many of the one eight below, the
// group's factors in both rows) for all of a lane's values.
template <DType kType, class Visit>
__device__ __forceinline__ void visit_chunk(const uint8_t* chunk, int n_units, int lane, float factor, Visit visit) {
  using L = Layout<kType>;
  constexpr int kGroupCols = L::kFormat.group_cols, kRunCols = 4 * kRun<kType>;
  UnitCodes<kType> codes[kChunkUnits];
#pragma unroll
  for (int u = 0; u < kChunkUnits; ++u) {
    if (u < n_units) codes[u].load(chunk + L::kCodesAt + u * L::kUnitBytes, lane);
  }
#pragma unroll
  for (int u = 0; u < kChunkUnits; ++u) {
    if (u >= n_units) break;
    GroupFactors f[2];  // once a group: for all that the compiler knows, what is stored in between might change them
#pragma unroll
    for (int run = 0; run < kUnitRuns<kType>; ++run) {
      const int column = u * kUnitCols + run * kRunCols;
      float v[2][kRun<kType>];
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        if (run == 0 || column % kGroupCols == 0)
          f[upper] = factors_of<kType>(chunk, lane / 4, upper, column / kGroupCols, factor);
#pragma unroll
        for (int s = 0; s < kRun<kType> / 4; ++s)
          unpack(codes[u], run * (kRun<kType> / 4) + s, upper, v[upper] + 4 * s);
#pragma unroll
        for (float& value : v[upper]) {
          value = __fmul_rn(f[upper].scale, value);
          if constexpr (L::kFormat.minimum) value = __fadd_rn(value, f[upper].minimum);
        }
      }
      visit(lane / 4, column + kRun<kType> * (lane % 4), v[0], v[1], f);
    }
  }
}

// Which chunk a warp has.
struct Place {
  int64_t tile, chunk;
  int n_units;
};

__device__ __forceinline__ bool place_of_warp(int64_t n_rows, int64_t n_cols, Place& place) {
  const int64_t n_units = units_of(n_cols);
  const auto n_chunks = static_cast<uint32_t>((n_units + kChunkUnits - 1) / kChunkUnits);
  const uint32_t index = blockIdx.x * kWarps + threadIdx.x / 32;
  place.tile = index / n_chunks, place.chunk = index % n_chunks;
  const int64_t left = n_units - place.chunk * kChunkUnits;
  place.n_units = static_cast<int>(left < kChunkUnits ? left : kChunkUnits);
  return place.tile < (n_rows + kTileRows - 1) / kTileRows;
}

template <DType kType>
__device__ __forceinline__ const uint8_t* chunk_at(const void* packed, int64_t n_cols, const Place& place) {
  return static_cast<const uint8_t*>(packed) + place.tile * Layout<kType>::tile_bytes(units_of(n_cols)) +
         place.chunk * Layout<kType>::kChunkBytes;
}

__device__ __forceinline__ void store(__half* to, const float (&v)[8]) {
  *reinterpret_cast<uint4*>(to) = {pack_halves(v[0], v[1]), pack_halves(v[2], v[3]), pack_halves(v[4], v[5]),
                                   pack_halves(v[6], v[7])};
}
// `to`: of the first value of `v`; those of `below` belong eight rows further.
__device__ __forceinline__ void store_runs(__half* to, int64_t pitch, int, const float (&v)[8],
                                           const float (&below)[8]) {
  store(to, v);
  store(to + 8 * pitch, below);
}
// Neighbouring lanes exchange half of their values: one has eight columns of the upper row then, the other of the
// lower.
__device__ __forceinline__ void store_runs(__half* to, int64_t pitch, int lane, const float (&v)[4],
                                           const float (&below)[4]) {
  const bool odd = lane % 2 != 0;
  const uint2 upper = {pack_halves(v[0], v[1]), pack_halves(v[2], v[3])},
              lower = {pack_halves(below[0], below[1]), pack_halves(below[2], below[3])};
  const uint2 kept = odd ? lower : upper, sent = odd ? upper : lower;
  const uint2 got = {__shfl_xor_sync(kAllLanes, sent.x, 1), __shfl_xor_sync(kAllLanes, sent.y, 1)};
  if (odd) to += 8 * pitch - 4;
  *reinterpret_cast<uint4*>(to) = odd ? uint4{got.x, got.y, kept.x, kept.y} : uint4{kept.x, kept.y, got.x, got.y};
}

template <DType kType>
__global__ void __launch_bounds__(kThreads) dequantize(const __grid_constant__ DequantizeArgs a) {
  Place place;
  if (!place_of_warp(a.n_rows, a.n_cols, place)) return;
  const int64_t padded = units_of(a.n_cols) * kUnitCols;
  __half* out = static_cast<__half*>(a.out) + place.tile * kTileRows * padded + place.chunk * kChunkCols;
  const int lane = static_cast<int>(threadIdx.x % 32);
  visit_chunk<kType>(chunk_at<kType>(a.packed, a.n_cols, place), place.n_units, lane, a.factor,
                     [&](int row, int column, const auto& v, const auto& below, const auto&) {
                       store_runs(out + row * padded + column, padded, lane, v, below);
                     });
}

// Magnitudes of F32 are in the order of their bits; NaN has larger bits than infinity.
template <DType kType>
__global__ void __launch_bounds__(kThreads) largest_magnitude(const __grid_constant__ LargestArgs a) {
  Place place;
  if (!place_of_warp(a.n_rows, a.n_cols, place)) return;
  uint32_t largest = 0;
  visit_chunk<kType>(chunk_at<kType>(a.packed, a.n_cols, place), place.n_units, static_cast<int>(threadIdx.x % 32),
                     1.0f, [&](int, int, const auto& v, const auto& below, const auto& factors) {
                       const auto meet = [&](float f) { largest = max(largest, __float_as_uint(fabsf(f))); };
                       for (const float value : v) meet(value);
                       for (const float value : below) meet(value);
                       for (const GroupFactors& f : factors) meet(f.scale), meet(f.minimum);
                     });
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) largest = max(largest, __shfl_xor_sync(kAllLanes, largest, mask));
  auto* to = reinterpret_cast<unsigned*>(a.largest);
  largest = min(largest, 0x7f800000u);
  if (threadIdx.x % 32 == 0 && largest > *static_cast<volatile unsigned*>(to)) atomicMax(to, largest);
}

template <class Args>
cudaError_t launch(const Args& args, const void* other, auto kernel_of, cudaStream_t stream) {
  if (args.packed == nullptr || other == nullptr || !has_kernels(args.dtype) || !is_quantized(args.dtype))
    return cudaErrorInvalidValue;
  if (args.n_rows < 0 || args.n_cols <= 0 || args.n_cols % traits(args.dtype).block_elements != 0)
    return cudaErrorInvalidValue;
  const int64_t n_tiles = (args.n_rows + kTileRows - 1) / kTileRows,
                n_chunks = (args.n_cols + kChunkCols - 1) / kChunkCols;
  const int64_t n_ctas = (n_tiles * n_chunks + kWarps - 1) / kWarps;
  if (n_ctas > 0x7fffffff / kWarps) return cudaErrorInvalidValue;
  if (n_ctas == 0) return cudaSuccess;
  return with_form(args.dtype, cudaErrorInvalidValue, [&](auto tag) {
    constexpr DType kType = decltype(tag)::kType;
    if constexpr (Layout<kType>::kScaled) {
      kernel_of(tag)<<<static_cast<unsigned>(n_ctas), kThreads, 0, stream>>>(args);
      return cudaGetLastError();
    } else {
      return cudaErrorInvalidValue;
    }
  });
}

}  // namespace

cudaError_t launch_dequantize(const DequantizeArgs& args, cudaStream_t stream) {
  return launch(
      args, args.out, [](auto tag) { return dequantize<decltype(tag)::kType>; }, stream);
}

cudaError_t launch_largest(const LargestArgs& args, cudaStream_t stream) {
  return launch(
      args, args.largest, [](auto tag) { return largest_magnitude<decltype(tag)::kType>; }, stream);
}

}  // namespace inlay::cuda
