// x += addend * addend_scale; y = x / sqrt(mean(x^2) + epsilon) * w * factor, or y = x * 2^s (power_scale); y in F16 or
// BF16. One CTA a row, the row in registers (rows.cuh): everything is read and written once. Bound: bandwidth, of the
// L2 cache for the results of a product that has just ended; 14 bytes a value with an addend. cuda_gemm speed prints
// GB/s.
#include "kernels/cuda/gemm/rows.cuh"

namespace inlay::cuda {
namespace {

template <int kQuads>
__device__ __forceinline__ void add_rows(const NormRowsArgs& a, float* x, RowValues<kQuads>& row) {
  const int64_t at = blockIdx.x;
  const float* addend = a.addend + at * a.n_cols;
  const float scale = a.addend_scale != nullptr ? a.addend_scale[at] : 1.0f;
#pragma unroll
  for (int j = 0; j < kQuads; ++j) {
    const int64_t column = row.column(j);
    if (column >= a.n_cols) continue;
    const float4 more = load_quad(addend, column, a.n_cols);
    float(&v)[4] = row.v[j];
    v[0] = fmaf(more.x, scale, v[0]), v[1] = fmaf(more.y, scale, v[1]);
    v[2] = fmaf(more.z, scale, v[2]), v[3] = fmaf(more.w, scale, v[3]);
    store_quad(x, column, a.n_cols, v);
  }
}

template <int kQuads>
__device__ __forceinline__ void norm_row(const NormRowsArgs& a, RowValues<kQuads>& row, float* shared) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 4 * kQuads; ++i) sum = fmaf(row.v[i / 4][i % 4], row.v[i / 4][i % 4], sum);
  sum = over_row(sum, shared, [](float p, float q) { return p + q; });
  const float inverse = 1.0f / sqrtf(sum / static_cast<float>(a.n_cols) + a.epsilon);
#pragma unroll
  for (int j = 0; j < kQuads; ++j) {
    const int64_t column = row.column(j);
    if (column >= a.n_cols) continue;
    const float4 w = load_quad(a.norm_weight, column, a.n_cols);
    float(&v)[4] = row.v[j];
    v[0] = v[0] * inverse * w.x, v[1] = v[1] * inverse * w.y;
    v[2] = v[2] * inverse * w.z, v[3] = v[3] * inverse * w.w;
  }
}

template <class Element, int kQuads>
__global__ void __launch_bounds__(kMaxRowThreads) norm_rows(const __grid_constant__ NormRowsArgs a) {
  __shared__ float shared[kMaxRowThreads / 32];
  const int64_t at = blockIdx.x, padded = (a.n_cols + kUnitCols - 1) / kUnitCols * kUnitCols;
  float* x = a.x + at * a.n_cols;
  RowValues<kQuads> row;
  row.fill(a.n_cols, [&](int64_t column) { return load_quad(x, column, a.n_cols); });
  if (a.addend != nullptr) add_rows(a, x, row);
  if (a.out == nullptr) return;
  if (a.norm_weight == nullptr) {
    store_scaled_row<Element>(row, a.out, a.row_scale, padded, shared);
  } else {
    norm_row(a, row, shared);
    store_row<Element>(row, a.factor, static_cast<Element*>(a.out) + at * padded, padded);
  }
}

}  // namespace

cudaError_t launch_norm_rows(const NormRowsArgs& args, cudaStream_t stream) {
  const auto kernel_of = [&](auto tag) {
    constexpr int kQuads = decltype(tag)::kQuads;
    return args.form == ActivationForm::f16 ? norm_rows<__half, kQuads> : norm_rows<__nv_bfloat16, kQuads>;
  };
  return launch_row_kernel(args, kernel_of, stream);
}

}  // namespace inlay::cuda
