// A row in the registers of one CTA: thread t holds columns 4 (t + j T) .. + 3 for j = 0 .. kQuads - 1, T threads.
// Columns beyond the row are zeros. One CTA a row, fixed orders of addition: a row's bits depend on that row alone.
#pragma once

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/halves.cuh"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/device/reduce.cuh"

namespace inlay::cuda {

inline constexpr int kMaxRowThreads = 1024;

// How many threads and quads a row of padded columns takes: as few quads as 256 threads allow, more threads beyond 8.
struct RowShape {
  int threads, quads;
};
inline RowShape row_shape(int64_t padded) {
  const int64_t all = padded / 4;
  for (int threads = 256; threads <= kMaxRowThreads; threads *= 2) {
    for (int quads = 1; quads <= 8; quads *= 2) {
      if (all <= static_cast<int64_t>(threads) * quads) return {threads, quads};
    }
  }
  return {0, 0};
}

template <int kQuads>
struct RowValues {
  float v[kQuads][4];

  __device__ __forceinline__ static int64_t column(int j) {
    return 4 * (static_cast<int64_t>(threadIdx.x) + j * static_cast<int64_t>(blockDim.x));
  }
  // load(column) for every quad that begins within n_cols; it returns zeros where single columns are beyond.
  template <class Load>
  __device__ __forceinline__ void fill(int64_t n_cols, Load load) {
#pragma unroll
    for (int j = 0; j < kQuads; ++j) {
      const float4 quad = column(j) < n_cols ? load(column(j)) : float4{0, 0, 0, 0};
      v[j][0] = quad.x, v[j][1] = quad.y, v[j][2] = quad.z, v[j][3] = quad.w;
    }
  }
};

// Four columns of a row at `column`, zeros from n_cols on. Rows of a multiple of 4 columns are read at once.
__device__ __forceinline__ float4 load_quad(const float* row, int64_t column, int64_t n_cols) {
  if (n_cols % 4 == 0) return *reinterpret_cast<const float4*>(row + column);
  float v[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) v[c] = column + c < n_cols ? row[column + c] : 0.0f;
  return {v[0], v[1], v[2], v[3]};
}
__device__ __forceinline__ void store_quad(float* row, int64_t column, int64_t n_cols, const float (&v)[4]) {
  if (n_cols % 4 == 0) {
    *reinterpret_cast<float4*>(row + column) = {v[0], v[1], v[2], v[3]};
    return;
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    if (column + c < n_cols) row[column + c] = v[c];
  }
}

// The same value in every thread. shared: a float a warp; free again after the next __syncthreads.
template <class Merge>
__device__ __forceinline__ float over_row(float value, float* shared, Merge merge) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value = merge(value, __shfl_xor_sync(kAllLanes, value, mask));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float result = shared[0];
  for (unsigned i = 1; i < blockDim.x / 32; ++i) result = merge(result, shared[i]);
  return result;
}

// 2^s that brings `largest` into [2^7, 2^8), and 2^-s: nothing overflows, and small rows keep their digits. A row of
// zeros, or one with an infinity, keeps s = 0.
__host__ __device__ inline float2 power_scale(float largest) {
  const int exponent = static_cast<int>(__builtin_bit_cast(uint32_t, largest) >> 23) - 127;
  if (largest == 0.0f || exponent > 127) return {1.0f, 1.0f};
  const int s = 7 - (exponent > -110 ? exponent : -110);
  const uint32_t up = static_cast<uint32_t>(127 + s) << 23, down = static_cast<uint32_t>(127 - s) << 23;
  return {__builtin_bit_cast(float, up), __builtin_bit_cast(float, down)};
}

// Where columns c and c + 1 stand, c even.
__device__ __forceinline__ int64_t place_of_pair(ColumnOrder order, int64_t c) {
  if (order == ColumnOrder::plain) return c;
  const int64_t second = 8 * (c % 4 / 2);  // half of a k-step
  if (order == ColumnOrder::runs_of_4) return c / 16 * 16 + second + 2 * (c % 16 / 4);
  return c / 32 * 32 + 16 * (c % 8 / 4) + second + 2 * (c % 32 / 8);
}

// Values times factor to a row of `padded` elements.
template <class Element, int kQuads>
__device__ __forceinline__ void store_row(const RowValues<kQuads>& row, float factor, Element* out, int64_t padded,
                                          ColumnOrder order) {
#pragma unroll
  for (int j = 0; j < kQuads; ++j) {
    const int64_t column = RowValues<kQuads>::column(j);
    if (column >= padded) continue;
    const float(&v)[4] = row.v[j];
    const auto pack = [](float a, float b) { return __is_same(Element, __half) ? pack_halves(a, b) : pack_bf16(a, b); };
    const uint2 two = {pack(v[0] * factor, v[1] * factor), pack(v[2] * factor, v[3] * factor)};
    if (order == ColumnOrder::plain) {
      *reinterpret_cast<uint2*>(out + column) = two;
    } else {
      *reinterpret_cast<uint32_t*>(out + place_of_pair(order, column)) = two.x;
      *reinterpret_cast<uint32_t*>(out + place_of_pair(order, column + 2)) = two.y;
    }
  }
}

// F16: scaled so that nothing overflows, and row_scale says by what; BF16 needs no scale.
template <class Element, int kQuads>
__device__ __forceinline__ void store_scaled_row(const RowValues<kQuads>& row, void* out, float* row_scale,
                                                 int64_t padded, ColumnOrder order, float* shared) {
  float2 scale{1.0f, 1.0f};
  if constexpr (!__is_same(Element, __nv_bfloat16)) {
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < 4 * kQuads; ++i) largest = fmaxf(largest, fabsf(row.v[i / 4][i % 4]));
    scale = power_scale(over_row(largest, shared, [](float p, float q) { return fmaxf(p, q); }));
  }
  const int64_t at = blockIdx.x;
  store_row<Element>(row, scale.x, static_cast<Element*>(out) + at * padded, padded, order);
  if (threadIdx.x == 0) row_scale[at] = scale.y;
}

template <int quads>
struct QuadsTag {
  static constexpr int kQuads = quads;
};
// Calls call(tag with ::kQuads).
template <class Call>
cudaError_t with_quads(int quads, Call&& call) {
  switch (quads) {
    case 1:
      return call(QuadsTag<1>{});
    case 2:
      return call(QuadsTag<2>{});
    case 4:
      return call(QuadsTag<4>{});
    case 8:
      return call(QuadsTag<8>{});
    default:
      return cudaErrorInvalidValue;
  }
}

// One CTA for every row of args (n_rows, n_cols, form). kernel_of(QuadsTag) is the kernel for rows of so many quads; it waits for its
// predecessor.
template <class Args, class KernelOf>
cudaError_t launch_row_kernel(const Args& args, KernelOf kernel_of, LaunchTarget target) {
  if (args.n_rows < 0 || args.n_rows > 0x7fffffff || args.n_cols <= 0 || args.n_cols > kMaxRowCols)
    return cudaErrorInvalidValue;
  if (args.form != ActivationForm::f16 && args.form != ActivationForm::bf16) return cudaErrorInvalidValue;
  if (args.n_rows == 0) return cudaSuccess;
  const RowShape shape = row_shape(padded_cols(args.n_cols));
  return with_quads(shape.quads, [&](auto tag) {
    const auto n_ctas = static_cast<unsigned>(args.n_rows);
    return launch_early<Args>(kernel_of(tag), dim3(n_ctas), shape.threads, target, args);
  });
}

}  // namespace inlay::cuda
