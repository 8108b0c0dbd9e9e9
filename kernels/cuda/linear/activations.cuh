// What a product takes as x, made from F32 by whole warps: a chunk of 256 columns is one warp's, a lane has eight of
// them.
//
// FP16: values * 2^s with s so that the chunk's largest magnitude lies in [2^7, 2^8): nothing overflows, and small
// chunks keep their digits; the chunk's scale is 2^-s. A chunk of zeros, or one with an infinity, keeps s = 0. The sum
// of every 16 stored values is kept as two halves whose sum is exact to 2^-22 (chunk.cuh says what for). Planes: the
// same values as integers, in units of 2^-6, so that the largest lies in [2^13, 2^14): 256 * high + low, two signed
// bytes, which are kept apart; the sums of infinities and NaNs are still what they are. BF16 and F32 need no sums and
// scales. RMS norm: the weights are applied here, 1 / sqrt(mean(x^2) + epsilon) by the product's epilogue; the
// chunks' sums of squares are added in a fixed order.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/linear/layout.cuh"

namespace inlay::cuda {

struct Octet {
  float v[8];
};

__device__ __forceinline__ Octet octet_of(const float4& low, const float4& high) {
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

__device__ __forceinline__ Octet octet_at(const float* from) {
  return octet_of(*reinterpret_cast<const float4*>(from), *reinterpret_cast<const float4*>(from + 4));
}

// An octet that an op handed over, and another one kStep columns before it; zeros where they are not there.
template <int kStep>
struct OctetsAt {
  const float* from;
  int n_cols;        // from `from` on
  bool two = false;  // the other one is there

  __device__ __forceinline__ static int offset(int i) { return i % 2 * 4 - i / 2 * kStep; }
  template <int n, class Values>
  __device__ __forceinline__ void ask(const Values& values, uint4 (&asked)[2 * n]) const {
    bool there[2 * n];
    find<n>(there);
    values.ask4(from, there, offset, asked);
  }
  template <int n, class Values, int kAsked>
  __device__ __forceinline__ void take(const Values& values, uint4 (&asked)[kAsked], Octet (&x)[n]) const {
    bool there[2 * n];
    float4 quads[2 * n];
    find<n>(there);
    values.take4(from, there, offset, asked, quads);
#pragma unroll
    for (int i = 0; i < n; ++i) x[i] = octet_of(quads[2 * i], quads[2 * i + 1]);
  }

 private:
  template <int n>
  __device__ __forceinline__ void find(bool (&there)[2 * n]) const {
#pragma unroll
    for (int i = 0; i < 2 * n; ++i) there[i] = i < 2 ? n_cols > 0 : two;
  }
};

__device__ __forceinline__ Octet finished_octet(const float* from, int n_cols) {
  const OctetsAt<0> at{from, n_cols};
  uint4 asked[2];
  Octet x[1];
  at.ask<1>(FinishedValues(), asked);
  at.take(FinishedValues(), asked, x);
  return x[0];
}

// An octet for any n_cols.
template <class Load>
__device__ __forceinline__ Octet load_any_octet(int64_t column, int64_t n_cols, const Load& load) {
  Octet x;
#pragma unroll
  for (int i = 0; i < 8; ++i) x.v[i] = column + i < n_cols ? load(column + i) : 0.0f;
  return x;
}

// Chunks' sums of squares, in every lane.
template <int n>
__device__ __forceinline__ void squares_of(const Octet (&x)[n], float (&sums)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    sums[i] = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; ++j) sums[i] = fmaf(x[i].v[j], x[i].v[j], sums[i]);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {  // side by side
    float others[n];
#pragma unroll
    for (int i = 0; i < n; ++i) others[i] = __shfl_xor_sync(0xffffffffu, sums[i], step);
#pragma unroll
    for (int i = 0; i < n; ++i) sums[i] = __fadd_rn(sums[i], others[i]);
  }
}

// By a whole warp, in every lane. The order of the sums depends on the number of chunks alone. Squares are kStride
// apart.
template <int kStride = 1>
__device__ __forceinline__ float inverse_rms(const float* chunk_squares, int n_chunks, int64_t n_cols, float epsilon) {
  float sum = 0.0f;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x % 32); i < n_chunks; i += 32)
    sum = __fadd_rn(sum, chunk_squares[i * kStride]);
  return rsqrtf(__fadd_rn(__fdividef(warp_sum(sum), static_cast<float>(n_cols)), epsilon));
}

// 2^s that brings `largest` into [2^7, 2^8), and 2^-s.
__device__ __forceinline__ float2 scale_for(float largest) {
  constexpr uint32_t kExponent = 0x7f800000u, kTop = (127u + 7) << 23;
  const uint32_t exponent = max(__float_as_uint(largest) & kExponent, (127u - 110) << 23);
  if (largest == 0.0f || exponent == kExponent) return {1.0f, 1.0f};
  return {__uint_as_float(kTop + (127u << 23) - exponent), __uint_as_float(exponent - (7u << 23))};
}

// Of a chunk, in every lane.
__device__ __forceinline__ float2 scale_of(const Octet& x) {
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, fabsf(x.v[i]));
  return scale_for(max_of_warp(largest));
}

__device__ __forceinline__ uint32_t bits_of(__half2 v) { return *reinterpret_cast<const uint32_t*>(&v); }
__device__ __forceinline__ uint32_t bits_of(__nv_bfloat162 v) { return *reinterpret_cast<const uint32_t*>(&v); }

// The sums of 16 columns of a chunk: vector t holds columns 2 t, 2 t + 1, 2 t + 8, 2 t + 9 (in sixteens), high parts
// before low parts. Values are in units of `unit`.
__device__ __forceinline__ void store_sums(const float (&rounded)[8], float unit, int lane, bool kept, void* sums) {
  float sum = __fadd_rn(__fadd_rn(__fadd_rn(rounded[0], rounded[1]), __fadd_rn(rounded[2], rounded[3])),
                        __fadd_rn(__fadd_rn(rounded[4], rounded[5]), __fadd_rn(rounded[6], rounded[7])));
  sum = __fmul_rn(__fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 1)), unit);
  const __half high = __float2half_rn(sum), low = __float2half_rn(__fsub_rn(sum, __half2float(high)));
  const int j = lane / 2;
  auto* to = static_cast<__half*>(sums) + j % 8 / 2 * 8 + j / 8 * 2 + j % 2;
  if (kept && lane % 2 == 0) to[0] = high, to[4] = low;
}

// One chunk by one warp, FP16; nothing is stored unless it is to be kept. values: where the chunk's values go, this
// lane's eight at lane * 16 bytes. sums: 64 bytes. Returns the chunk's scale.
__device__ __forceinline__ float store_chunk_f16(const Octet& x, int lane, bool kept, uint8_t* values, void* sums) {
  const float2 scale = scale_of(x);
  float rounded[8];
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 pair = __floats2half2_rn(__fmul_rn(x.v[2 * i], scale.x), __fmul_rn(x.v[2 * i + 1], scale.x));
    rounded[2 * i] = __low2float(pair), rounded[2 * i + 1] = __high2float(pair);
    words[i] = bits_of(pair);
  }
  if (kept) reinterpret_cast<uint4*>(values)[lane] = {words[0], words[1], words[2], words[3]};
  store_sums(rounded, 1.0f, lane, kept, sums);
  return scale.y;
}

// ---- planes. A chunk is four units of 64 columns; of each the high bytes, then the low ones. Lane t's 16 bytes of a
// plane are four words, word s of columns 16 s + 4 t and up in the order of the bytes of codes (codes.cuh): 0, 2, 1, 3.
inline constexpr float kPlaneUnit = 1.0f / 64.0f;
inline constexpr int kPlaneBytes = 64;  // of a unit

// A row's chunk in the device's memory: its planes, then its sums. The rows of a chunk follow one another, so that they
// are one piece.
inline constexpr int kRecordSumsAt = kChunkCols * 2, kRecordBytes = kRecordSumsAt + 64;

__host__ __device__ __forceinline__ uint8_t* plane_record(const Activations& x, int64_t chunk, int64_t row) {
  return static_cast<uint8_t*>(x.values) + (chunk * x.scale_stride + row) * kRecordBytes;
}

// Where a column's high byte lies in its chunk; the low one comes kPlaneBytes later.
__host__ __device__ constexpr int plane_place(int column) {
  const int in_word = column % 4 == 1 ? 2 : column % 4 == 2 ? 1 : column % 4;
  return column / 64 * (2 * kPlaneBytes) + column % 16 / 4 * 16 + column % 64 / 16 * 4 + in_word;
}

// Bytes `at` of four words, in the order of a word.
__device__ __forceinline__ uint32_t gather_bytes(const uint32_t* words, int at) {
  const auto pair = static_cast<uint32_t>(at | (4 + at) << 4);
  return __byte_perm(__byte_perm(words[0], words[2], pair), __byte_perm(words[1], words[3], pair), 0x5410);
}

// As store_chunk_f16; place(i, plane): where the bytes of this lane's columns 4 i .. + 3 go, high ones for plane 0.
template <class Place>
__device__ __forceinline__ float store_planes(const Octet& x, int lane, bool kept, const Place& place, void* sums) {
  constexpr float kInteger = 12582912.0f;  // 1.5 * 2^23: what is added to it becomes an integer, in the lower bits
  const float2 scale = scale_of(x);
  const float to_integer = __fmul_rn(scale.x, 1.0f / kPlaneUnit);
  float rounded[8];
  uint32_t low[8], high[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float sum = fmaf(x.v[i], to_integer, kInteger);
    rounded[i] = __fsub_rn(sum, kInteger);
    low[i] = __float_as_uint(sum);
    high[i] = low[i] + 128;  // byte 0 is signed
  }
#pragma unroll
  for (int i = 0; kept && i < 2; ++i) {
    *reinterpret_cast<uint32_t*>(place(i, 0)) = gather_bytes(high + 4 * i, 1);
    *reinterpret_cast<uint32_t*>(place(i, 1)) = gather_bytes(low + 4 * i, 0);
  }
  store_sums(rounded, kPlaneUnit, lane, kept, sums);
  return scale.y;
}

// A record; values: of the chunk.
__device__ __forceinline__ float store_chunk_planes(const Octet& x, int lane, bool kept, uint8_t* values, void* sums) {
  uint8_t* to = values + plane_place(lane * 8);
  return store_planes(
      x, lane, kept, [&](int i, int plane) { return to + i * 16 + plane * kPlaneBytes; }, sums);
}

// ---- planes as warp groups multiply them (hopper/group_rows.cuh), 16 or 32 rows together, whatever there are

// A chunk: 16 bytes of columns (a k-step of 16) at a time, of these the planes of all rows, high and low in turn; then
// the rows' sums and scales.
struct GroupPlanes {
  int rows;
  __host__ __device__ constexpr int columns() const { return 2 * rows; }  // of B
  __host__ __device__ constexpr int sums_at() const { return kChunkCols * columns(); }
  __host__ __device__ constexpr int scales_at() const { return sums_at() + 64 * rows; }
  __host__ __device__ constexpr int bytes() const { return scales_at() + 4 * rows; }
};

// A row of the chunk at `chunk`. Of 16 columns one lane writes the high bytes and its neighbour the low ones.
__device__ __forceinline__ void store_group_planes(const Octet& x, int lane, bool kept, GroupPlanes form, int row,
                                                   uint8_t* chunk) {
  uint32_t words[2][2] = {};  // of a plane, columns 4 i .. + 3
  const float scale = store_planes(
      x, lane, kept, [&](int i, int plane) { return &words[plane][i]; }, chunk + form.sums_at() + row * 64);
  const int plane = lane % 2;
  uint32_t mine[2], other[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    mine[i] = plane == 0 ? words[0][i] : words[1][i];
    other[i] = __shfl_xor_sync(0xffffffffu, plane == 0 ? words[1][i] : words[0][i], 1);
  }
  auto* to = reinterpret_cast<uint4*>(chunk + (lane / 2 * form.columns() + 2 * row + plane) * 16);
  if (kept)
    *to = plane == 0 ? uint4{mine[0], mine[1], other[0], other[1]} : uint4{other[0], other[1], mine[0], mine[1]};
  if (lane == 0) *reinterpret_cast<float*>(chunk + form.scales_at() + row * 4) = scale;
}

__device__ __forceinline__ void store_chunk_bf16(const Octet& x, int lane, bool kept, uint8_t* values) {
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = bits_of(__floats2bfloat162_rn(x.v[2 * i], x.v[2 * i + 1]));
  if (kept) reinterpret_cast<uint4*>(values)[lane] = {words[0], words[1], words[2], words[3]};
}

// A chunk in the form of a product; values: of the chunk. Returns its scale; BF16 has none.
template <ActivationForm kForm>
__device__ __forceinline__ float store_chunk(const Octet& x, int lane, bool kept, uint8_t* values, void* sums) {
  if constexpr (kForm == ActivationForm::bf16) {
    store_chunk_bf16(x, lane, kept, values);
    return 1.0f;
  } else if constexpr (kForm == ActivationForm::planes) {
    return store_chunk_planes(x, lane, kept, values, sums);
  } else {
    return store_chunk_f16(x, lane, kept, values, sums);
  }
}

// The rows from `first` on, an even number.
template <ActivationForm kForm>
__device__ __forceinline__ Activations rows_from(const Activations& x, int32_t first) {
  Activations rows = x;
  rows.values = kForm == ActivationForm::planes
                    ? plane_record(x, 0, first)
                    : static_cast<uint8_t*>(x.values) + first * x.ld * (kForm == ActivationForm::f32 ? 4 : 2);
  rows.sums = static_cast<uint8_t*>(x.sums) + static_cast<int64_t>(first) * x.n_chunks * 64;
  rows.chunk_scale = x.chunk_scale + first;
  rows.row_scale = x.row_scale + first;
  return rows;
}

}  // namespace inlay::cuda
