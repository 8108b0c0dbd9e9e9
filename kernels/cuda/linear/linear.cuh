// out[row][r] = row_scale[row] * sum_k W[r][k] x[row][k] + bias[r]; the kernels behind launch_linear. Weights:
// layout.cuh.
//
// mma.m16n8k16 with the weights as A. Codes become exact FP16: 1024 + code is one bit operation, minus (1024 + offset)
// one subtraction; types without an offset enter as FP16 subnormals code * 2^-24 and their scale carries 2^24. Every
// group of columns that shares a scale starts at C = 0, so what is added up in F32 is
//   acc = fma(scale, c, acc), and where the type has minimums acc = fma(minimum, sum of the group's x, acc)
// with the sum from an mma whose A is all ones, because its C lies in the lanes that need it.
//
// The same order of operations for every number of rows: units u, u + 8, u + 16, ... make part u % 8, and the eight
// parts are added in order. Two kernels do that:
//   few rows (m <= 64): CTA = one tile; warp w computes part w; parts meet in shared memory. Bound: bandwidth of the
//   weights;
//     each warp keeps kDepth units in flight. 8 warps on 16 rows give 1536 rows x 8 warps of loads enough to cover
//     memory's latency on 132 SMs. NT (n-tiles of 8 rows of x) changes nothing in a column's arithmetic.
//   many rows: CTA = 8 tiles x 64 rows of x; a warp computes all eight parts of its tile one after another; x goes
//   through
//     shared memory, which 8 tiles share. Bound: mma and unpacking.
// Shares of the bounds: not yet measured.
//
// Weights are read before the previous kernel of the stream has ended (only x and row_scale wait for it), so repacking
// must be complete, by a synchronization, before the first product is launched.
//
// Below compute capability 8.0 and for F32 weights: fma in F32 over single elements (plain_product), correct and slow
// for packed types.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/device/mma.cuh"
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {

inline constexpr int kParts = 8;
inline constexpr int kLinearThreads = 32 * kParts;
inline constexpr int kChunkRows = 64;  // rows of x of a CTA, at most
inline constexpr int kSumStride = 20;  // floats between columns of partial sums: a warp's stores meet 32 banks
inline constexpr int kFewRows = 64;    // up to here the kernel for few rows

// ---- results

// Rows [first, first + n_rows) of x and one tile; total(row of the tile, row of x - first) is the sum. Threads 0 ..
// n_threads - 1.
template <class Total>
__device__ __forceinline__ void store_results(const LinearArgs& a, int64_t tile, int32_t first, int n_rows, int thread,
                                              int n_threads, Total total) {
  if (a.epilogue == Epilogue::silu_mul) {
    const int64_t half = a.n_rows / 2;
    for (int e = thread; e < 8 * n_rows; e += n_threads) {
      const int64_t r = tile * 8 + e % 8;
      const int32_t row = first + e / 8;
      if (r >= half || row >= a.m) continue;
      const float scale = a.row_scale[row];
      const float gate = fmaf(total(e % 8, e / 8), scale, a.bias != nullptr ? a.bias[r] : 0.0f);
      const float up = fmaf(total(e % 8 + 8, e / 8), scale, a.bias != nullptr ? a.bias[half + r] : 0.0f);
      a.out[row * a.ld_out + r] = __fmul_rn(__fdiv_rn(gate, __fadd_rn(1.0f, expf(-gate))), up);
    }
    return;
  }
  for (int e = thread; e < 16 * n_rows; e += n_threads) {
    const int64_t r = tile * 16 + e % 16;
    const int32_t row = first + e / 16;
    if (r >= a.n_rows || row >= a.m) continue;
    const float value = fmaf(total(e % 16, e / 16), a.row_scale[row], a.bias != nullptr ? a.bias[r] : 0.0f);
    float* out = a.out + row * a.ld_out + r;
    *out = a.epilogue == Epilogue::add ? __fadd_rn(*out, value) : value;
  }
}

// ---- plain product

template <DType kType>
__device__ __forceinline__ float activation_at(const void* x, int64_t at) {
  if constexpr (kType == DType::f32)
    return static_cast<const float*>(x)[at];
  else if constexpr (kType == DType::bf16)
    return __bfloat162float(static_cast<const __nv_bfloat16*>(x)[at]);
  else
    return __half2float(static_cast<const __half*>(x)[at]);
}

// Rows 2 w and 2 w + 1 of the tile in warp w, eight rows of x at a time; lane l takes columns 2 l, 2 l + 1 of every
// unit.
template <DType kType>
__device__ __forceinline__ void plain_product(const LinearArgs& a, int64_t tile, int32_t first, float* sums) {
  using L = Layout<kType>;
  const int64_t n_units = units_of(a.n_cols), padded = n_units * kUnitCols;
  const uint8_t* weights = static_cast<const uint8_t*>(a.weights) + tile * L::tile_bytes(n_units);
  const int lane = static_cast<int>(threadIdx.x % 32), row = static_cast<int>(threadIdx.x / 32) * 2;
  const int n = min(kChunkRows, a.m - first);
  for (int from = 0; from < n; from += 8) {
    float acc[2][8] = {};
#pragma unroll 2
    for (int64_t u = 0; u < n_units; ++u) {
      for (int i = 0; i < 2; ++i) {
        const int64_t column = u * kUnitCols + 2 * lane + i;
        const float w0 = element_of<kType>(weights, n_units, row, column);
        const float w1 = element_of<kType>(weights, n_units, row + 1, column);
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          const float x = from + j < n ? activation_at<kType>(a.x, (first + from + j) * padded + column) : 0.0f;
          acc[0][j] = fmaf(w0, x, acc[0][j]);
          acc[1][j] = fmaf(w1, x, acc[1][j]);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      float sum = acc[j / 8][j % 8];
      for (int step = 16; step > 0; step /= 2) sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, step));
      if (lane == 0) sums[(from + j % 8) * kSumStride + row + j / 8] = sum;
    }
  }
  __syncthreads();
  store_results(a, tile, first, n, static_cast<int>(threadIdx.x), kLinearThreads,
                [&](int r, int col) { return sums[col * kSumStride + r]; });
}

template <DType kType>
__global__ void __launch_bounds__(kLinearThreads) linear_plain(const __grid_constant__ LinearArgs a) {
  __shared__ float sums[kChunkRows * kSumStride];
  let_next_kernel_start();
  wait_for_previous_kernel();
  plain_product<kType>(a, blockIdx.x, static_cast<int32_t>(blockIdx.y) * kChunkRows, sums);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// ---- weights of one unit

template <int n>
inline constexpr int kAtLeastOne = n > 0 ? n : 1;

// What a lane holds of a unit.
template <DType kType>
struct UnitWords {
  using L = Layout<kType>;
  uint4 low[L::kVectors];
  uint32_t high[kAtLeastOne<L::kFormat.high_bits>];
  uint32_t scale[kAtLeastOne<L::kScaleWords>];
  uint32_t super[kAtLeastOne<L::kSuperWords>];

  __device__ __forceinline__ void load(const uint8_t* tile, int n_units, int u, int lane) {
    const uint8_t* unit = tile + static_cast<int64_t>(u) * L::kUnitBytes;
#pragma unroll
    for (int j = 0; j < L::kVectors; ++j) low[j] = load_once(reinterpret_cast<const uint4*>(unit + j * 512) + lane);
    constexpr int kHigh = L::kFormat.high_bits;
    if constexpr (kHigh > 0) load_words<kHigh>(unit + L::kLowBytes + lane * 4 * kHigh, high);
    const int g = lane / 4;
    if constexpr (L::kScaleWords > 0) {
      load_words<L::kScaleWords>(
          tile + L::scales_at(n_units) + static_cast<int64_t>(u) * L::kScaleBytes + g * 4 * L::kScaleWords, scale);
    }
    if constexpr (L::kSuperWords > 0) {
      load_words<L::kSuperWords>(
          tile + L::supers_at(n_units) + u / kUnitsPerSuper * L::kSuperBytes + g * 4 * L::kSuperWords, super);
    }
  }
};

__device__ __forceinline__ uint32_t word_of(const uint4& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
__device__ __forceinline__ uint32_t shift_right(uint32_t v, int n) { return n >= 0 ? v >> n : v << -n; }

// Two FP16 1024 + code minus (1024 + offset): exact.
template <int kOffset>
__device__ __forceinline__ uint32_t without_offset(uint32_t v) {
  constexpr uint32_t kHalf = 0x6400u + kOffset;
  const __half2 offset = __halves2half2(__ushort_as_half(kHalf), __ushort_as_half(kHalf));
  const __half2 value = __hsub2(*reinterpret_cast<const __half2*>(&v), offset);
  return *reinterpret_cast<const uint32_t*>(&value);
}

// The A fragment of k-step s: code - offset, or code * 2^-24 where there is no offset.
template <DType kType>
__device__ __forceinline__ void fragment_of(const UnitWords<kType>& w, int s, uint32_t (&a)[4]) {
  constexpr Format kFormat = Layout<kType>::kFormat;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kFormat.low_bits == 16) {
      a[i] = word_of(w.low[s], i);
    } else if constexpr (kFormat.low_bits == 8) {
      const uint32_t word = word_of(w.low[s / 2], s % 2 * 2 + i / 2);
      a[i] = without_offset<kFormat.offset>(__byte_perm(word, 0x64646464u, i % 2 == 0 ? 0x4140 : 0x4342));
    } else {
      constexpr uint32_t kBase = kFormat.offset > 0 ? 0x64006400u : 0u;
      uint32_t v = (word_of(w.low[0], s) >> (4 * i) & 0x000f000fu) | kBase;
      if constexpr (kFormat.high_bits == 1) v |= shift_right(w.high[0], 4 * s + i - 4) & 0x00100010u;
      if constexpr (kFormat.high_bits == 2) v |= shift_right(w.high[s / 2], 2 * (s % 2 * 4 + i) - 4) & 0x00300030u;
      if constexpr (kFormat.offset > 0) v = without_offset<kFormat.offset>(v);
      a[i] = v;
    }
  }
}

__device__ __forceinline__ float half_at(uint32_t word, int upper) {
  return __half2float(__ushort_as_half(static_cast<uint16_t>(upper == 0 ? word & 0xffffu : word >> 16)));
}
// Byte i of a word as a float: 2^23 + byte, then minus 2^23. Cheaper than a conversion.
__device__ __forceinline__ float byte_at(uint32_t word, int i) {
  return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u | static_cast<uint32_t>(i))) - 8388608.0f;
}

// Factor of a group's mma in row g (upper = 0) or g + 8 (1); exact but for one rounding of the file's d * sc at most.
template <DType kType>
__device__ __forceinline__ float scale_of(const UnitWords<kType>& w, int group, int upper) {
  constexpr Format kFormat = Layout<kType>::kFormat;
  constexpr float kUnit = kFormat.offset > 0 ? 1.0f : 16777216.0f;
  if constexpr (!kFormat.super) {
    return __fmul_rn(half_at(w.scale[group], upper), kUnit);
  } else if constexpr (kFormat.minimum) {
    return __fmul_rn(__fmul_rn(half_at(w.super[0], upper), kUnit), byte_at(w.scale[0], 2 * group + upper));
  } else {
    const float sub = byte_at(w.scale[group / 2] ^ 0x80808080u, group % 2 * 2 + upper) - 128.0f;
    return __fmul_rn(half_at(w.super[0], upper), sub);
  }
}

// What every element of the group has added to its product.
template <DType kType>
__device__ __forceinline__ float minimum_of(const UnitWords<kType>& w, int group, int upper) {
  if constexpr (Layout<kType>::kFormat.super) {
    return -__fmul_rn(half_at(w.super[1], upper), byte_at(w.scale[1], 2 * group + upper));
  } else {
    return half_at(w.scale[2 + group], upper);
  }
}

// ---- one unit times NT n-tiles. Columns: pair(nt, s) gives the B fragments of k-step s (s even: of s and s + 1 too).

template <DType kType, int NT, class Columns>
__device__ __forceinline__ void multiply_unit(const UnitWords<kType>& w, const Columns& columns, float (&acc)[NT][4]) {
  using L = Layout<kType>;
  constexpr Format kFormat = L::kFormat;
  constexpr bool kBf16 = kType == DType::bf16;
  constexpr int kSteps = L::kStepsPerGroup;
  constexpr uint32_t kOnes[4] = {0x3c003c00u, 0x3c003c00u, 0x3c003c00u, 0x3c003c00u};
#pragma unroll
  for (int group = 0; group < L::kGroups; ++group) {
    uint32_t a[kSteps][4];
#pragma unroll
    for (int s = 0; s < kSteps; ++s) fragment_of<kType>(w, group * kSteps + s, a[s]);
    [[maybe_unused]] float scale[2], minimum[2];
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      if constexpr (L::kScaled) scale[upper] = scale_of<kType>(w, group, upper);
      if constexpr (kFormat.minimum) minimum[upper] = minimum_of<kType>(w, group, upper);
    }
#pragma unroll
    for (int nt = 0; nt < NT; ++nt) {
      uint2 b[kSteps];
      columns.template fetch<kSteps>(nt, group * kSteps, b);
      float c[4] = {}, sum[4] = {};
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        mma_16x8x16<kBf16>(c, a[s], b[s]);
        if constexpr (kFormat.minimum) mma_16x8x16<false>(sum, kOnes, b[s]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if constexpr (!L::kScaled) {
          acc[nt][i] = __fadd_rn(acc[nt][i], c[i]);
        } else {
          acc[nt][i] = fmaf(scale[i / 2], c[i], acc[nt][i]);
          if constexpr (kFormat.minimum) acc[nt][i] = fmaf(minimum[i / 2], sum[i], acc[nt][i]);
        }
      }
    }
  }
}

// Splits 16 bytes at a time (groups of 32 and more) or takes 8 (groups of 16); see the order of columns in layout.cuh.
template <int kSteps, class At16, class At8>
__device__ __forceinline__ void fetch_steps(int first_step, uint2 (&b)[kSteps], At16 at16, At8 at8) {
  if constexpr (kSteps == 1) {
    b[0] = at8(first_step);
  } else {
#pragma unroll
    for (int j = 0; j < kSteps; j += 2) {
      const uint4 v = at16((first_step + j) / 2);
      b[j] = {v.x, v.y};
      b[j + 1] = {v.z, v.w};
    }
  }
}

// B fragments from global memory. row: this lane's row of x at the unit's first column (2-byte elements).
struct GlobalColumns {
  const uint8_t* row;
  int64_t tile_stride;  // bytes between rows of x eight apart
  int t, n_valid;       // n-tile nt is there for this lane if nt < n_valid

  template <int kSteps>
  __device__ __forceinline__ void fetch(int nt, int first_step, uint2 (&b)[kSteps]) const {
    const uint8_t* at = row + nt * tile_stride;
    const bool there = nt < n_valid;
    fetch_steps<kSteps>(
        first_step, b,
        [&](int j) {
          return there ? *reinterpret_cast<const uint4*>(at + 64 * j + 16 * t) : uint4{0, 0, 0, 0};
        },
        [&](int s) {
          return there ? *reinterpret_cast<const uint2*>(at + 32 * s + 8 * t) : uint2{0, 0};
        });
  }
};

// ---- few rows of x

template <DType kType, int NT>
struct FewRowsShape {
  static constexpr int kBits = Layout<kType>::kFormat.low_bits;
  static constexpr int kDepth = kBits >= 8 ? 2 : NT == 1 ? 3 : NT == 2 ? 4 : 2;
};

template <DType kType, int NT>
__device__ __forceinline__ void few_rows_part(const LinearArgs& a, int64_t tile, int32_t first, float (&acc)[NT][4]) {
  using L = Layout<kType>;
  constexpr int kDepth = FewRowsShape<kType, NT>::kDepth;
  const int n_units = static_cast<int>(units_of(a.n_cols));
  const int64_t ld = static_cast<int64_t>(n_units) * kUnitCols * 2;
  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4;
  const uint8_t* weights = static_cast<const uint8_t*>(a.weights) + tile * L::tile_bytes(n_units);
  const int left = a.m - first - g;  // rows of x from this lane's first one on
  GlobalColumns columns{nullptr, 8 * ld, lane % 4, left > 0 ? (left + 7) / 8 : 0};
  const uint8_t* x = static_cast<const uint8_t*>(a.x) + (left > 0 ? first + g : 0) * ld;
  UnitWords<kType> words[kDepth];
  int u = static_cast<int>(threadIdx.x / 32);
#pragma unroll
  for (int d = 0; d < kDepth; ++d) {
    if (u + d * kParts < n_units) words[d].load(weights, n_units, u + d * kParts, lane);
  }
  wait_for_previous_kernel();
  for (; u < n_units; u += kDepth * kParts) {
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      const int now = u + d * kParts, next = now + kDepth * kParts;
      if (now >= n_units) break;
      columns.row = x + static_cast<int64_t>(now) * (kUnitCols * 2);
      multiply_unit<kType, NT>(words[d], columns, acc);
      if (next < n_units) words[d].load(weights, n_units, next, lane);
    }
  }
}

// Where lane 4 g + t keeps c[i] of n-tile nt.
__device__ __forceinline__ int sum_at(int nt, int lane, int i) {
  return (8 * nt + 2 * (lane % 4) + i % 2) * kSumStride + lane / 4 + 8 * (i / 2);
}

#endif

template <DType kType, int NT>
__global__ void __launch_bounds__(kLinearThreads, NT == 1   ? 3
                                                  : NT <= 4 ? 2
                                                            : 1) linear_few_rows(const __grid_constant__ LinearArgs a) {
  const int64_t tile = blockIdx.x;
  const int32_t first = static_cast<int32_t>(blockIdx.y) * kChunkRows;
  let_next_kernel_start();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  constexpr int kPart = NT * 8 * kSumStride;
  __shared__ float sums[kParts * kPart];
  const int lane = static_cast<int>(threadIdx.x % 32);
  float acc[NT][4] = {};
  few_rows_part<kType, NT>(a, tile, first, acc);
  float* part = sums + threadIdx.x / 32 * kPart;
#pragma unroll
  for (int i = 0; i < 4 * NT; ++i) part[sum_at(i / 4, lane, i % 4)] = acc[i / 4][i % 4];
  __syncthreads();
  store_results(a, tile, first, NT * 8, static_cast<int>(threadIdx.x), kLinearThreads, [&](int row, int col) {
    float total = 0.0f;
#pragma unroll
    for (int p = 0; p < kParts; ++p) total = __fadd_rn(total, sums[p * kPart + col * kSumStride + row]);
    return total;
  });
#else
  __shared__ float sums[kChunkRows * kSumStride];
  plain_product<kType>(a, tile, first, sums);
#endif
}

}  // namespace inlay::cuda
