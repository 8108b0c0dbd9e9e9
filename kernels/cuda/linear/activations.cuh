// What a product takes as x, made from F32 by whole warps: a chunk of 256 columns is one warp's, a lane has eight of
// them.
//
// FP16: values * 2^s with s so that the chunk's largest magnitude lies in [2^7, 2^8): nothing overflows, and small
// chunks keep their digits; the chunk's scale is 2^-s. A chunk of zeros, or one with an infinity, keeps s = 0. The sum
// of every 16 stored values is kept as two halves whose sum is exact to 2^-22 (chunk.cuh says what for). BF16 and F32
// need neither. RMS norm: the weights are applied here, 1 / sqrt(mean(x^2) + epsilon) by the product's epilogue; the
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

// Octets that an op handed over, kStep columns apart, of which the columns before n_cols are there; else zeros.
template <int kStep>
struct OctetsAt {
  const float* from;
  int n_cols;  // from `from` on

  __device__ __forceinline__ static int offset(int i) { return i / 2 * kStep + i % 2 * 4; }
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
    for (int i = 0; i < 2 * n; ++i) there[i] = i / 2 * kStep < n_cols;
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

__device__ __forceinline__ uint32_t bits_of(__half2 v) { return *reinterpret_cast<const uint32_t*>(&v); }
__device__ __forceinline__ uint32_t bits_of(__nv_bfloat162 v) { return *reinterpret_cast<const uint32_t*>(&v); }

// The sums of 16 columns of a chunk: vector t holds columns 2 t, 2 t + 1, 2 t + 8, 2 t + 9 (in sixteens), high parts
// before low parts.
__device__ __forceinline__ void store_sums(const float (&rounded)[8], int lane, bool kept, void* sums) {
  float sum = __fadd_rn(__fadd_rn(__fadd_rn(rounded[0], rounded[1]), __fadd_rn(rounded[2], rounded[3])),
                        __fadd_rn(__fadd_rn(rounded[4], rounded[5]), __fadd_rn(rounded[6], rounded[7])));
  sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, 1));
  const __half high = __float2half_rn(sum), low = __float2half_rn(__fsub_rn(sum, __half2float(high)));
  const int j = lane / 2;
  auto* to = static_cast<__half*>(sums) + j % 8 / 2 * 8 + j / 8 * 2 + j % 2;
  if (kept && lane % 2 == 0) to[0] = high, to[4] = low;
}

// One chunk by one warp, FP16; nothing is stored unless it is to be kept. values: where the chunk's values go, this
// lane's eight at lane * 16 bytes. sums: 64 bytes. Returns the chunk's scale.
__device__ __forceinline__ float store_chunk_f16(const Octet& x, int lane, bool kept, uint8_t* values, void* sums) {
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < 8; ++i) largest = fmaxf(largest, fabsf(x.v[i]));
  const float2 scale = scale_for(max_of_warp(largest));
  float rounded[8];
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half2 pair = __floats2half2_rn(__fmul_rn(x.v[2 * i], scale.x), __fmul_rn(x.v[2 * i + 1], scale.x));
    rounded[2 * i] = __low2float(pair), rounded[2 * i + 1] = __high2float(pair);
    words[i] = bits_of(pair);
  }
  if (kept) reinterpret_cast<uint4*>(values)[lane] = {words[0], words[1], words[2], words[3]};
  store_sums(rounded, lane, kept, sums);
  return scale.y;
}

__device__ __forceinline__ void store_chunk_bf16(const Octet& x, int lane, bool kept, uint8_t* values) {
  uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = bits_of(__floats2bfloat162_rn(x.v[2 * i], x.v[2 * i + 1]));
  if (kept) reinterpret_cast<uint4*>(values)[lane] = {words[0], words[1], words[2], words[3]};
}

// The rows from `first` on, an even number.
__device__ __forceinline__ Activations rows_from(const Activations& x, int32_t first, int element_bytes) {
  Activations rows = x;
  rows.values = static_cast<uint8_t*>(x.values) + first * x.ld * element_bytes;
  rows.sums = static_cast<uint8_t*>(x.sums) + static_cast<int64_t>(first) * x.n_chunks * 64;
  rows.chunk_scale = x.chunk_scale + first;
  rows.row_scale = x.row_scale + first;
  return rows;
}

}  // namespace inlay::cuda
