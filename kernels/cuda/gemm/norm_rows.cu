// x += addend * addend_scale, or with kShaped x += factor * (norm)(addend * addend_scale + bias); y = x /
// sqrt(mean(x^2) + epsilon) * w * factor, or y = x * 2^s (power_scale); y in F16 or BF16. One CTA a row, the row in
// registers (rows.cuh): everything is read and written once. Bound: bandwidth, of the L2 cache for the results of a
// product that has just ended; 14 bytes a value with an addend. cuda_gemm speed prints GB/s.
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

// The row over its root mean square, times weight.
template <int kQuads>
__device__ __forceinline__ void norm_row(const NormRowsArgs& a, const float* weight, RowValues<kQuads>& row,
                                         float* shared) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 4 * kQuads; ++i) sum = fmaf(row.v[i / 4][i % 4], row.v[i / 4][i % 4], sum);
  sum = over_row(sum, shared, [](float p, float q) { return p + q; });
  const float inverse = 1.0f / sqrtf(sum / static_cast<float>(a.n_cols) + a.epsilon);
#pragma unroll
  for (int j = 0; j < kQuads; ++j) {
    const int64_t column = row.column(j);
    if (column >= a.n_cols) continue;
    const float4 w = load_quad(weight, column, a.n_cols);
    float(&v)[4] = row.v[j];
    v[0] = v[0] * inverse * w.x, v[1] = v[1] * inverse * w.y;
    v[2] = v[2] * inverse * w.z, v[3] = v[3] * inverse * w.w;
  }
}

// shared: as over_row wants it, and nothing else uses it.
template <int kQuads>
__device__ __forceinline__ void add_shaped_rows(const NormRowsArgs& a, float* x, RowValues<kQuads>& row,
                                                float* shared) {
  const int64_t at = blockIdx.x;
  const float scale = a.addend_scale != nullptr ? a.addend_scale[at] : 1.0f;
  RowValues<kQuads> more;
  more.fill(a.n_cols, [&](int64_t column) {
    const float4 v = load_quad(a.addend + at * a.n_cols, column, a.n_cols);
    const float4 b = a.addend_bias != nullptr ? load_quad(a.addend_bias, column, a.n_cols) : float4{0, 0, 0, 0};
    return float4{fmaf(v.x, scale, b.x), fmaf(v.y, scale, b.y), fmaf(v.z, scale, b.z), fmaf(v.w, scale, b.w)};
  });
  if (a.addend_norm != nullptr) norm_row(a, a.addend_norm, more, shared);
#pragma unroll
  for (int j = 0; j < kQuads; ++j) {
    const int64_t column = row.column(j);
    if (column >= a.n_cols) continue;
#pragma unroll
    for (int i = 0; i < 4; ++i) row.v[j][i] = fmaf(more.v[j][i], a.addend_factor, row.v[j][i]);
    store_quad(x, column, a.n_cols, row.v[j]);
  }
  __syncthreads();  // row_scale may be addend_scale
}

template <class Element, int kQuads, bool kShaped>
__global__ void __launch_bounds__(kMaxRowThreads) norm_rows(const __grid_constant__ NormRowsArgs a) {
  __shared__ float shared[kMaxRowThreads / 32];
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int64_t at = blockIdx.x, padded = (a.n_cols + kUnitCols - 1) / kUnitCols * kUnitCols;
  float* x = a.x + at * a.n_cols;
  RowValues<kQuads> row;
  row.fill(a.n_cols, [&](int64_t column) { return load_quad(x, column, a.n_cols); });
  if constexpr (kShaped) {
    __shared__ float of_addend[kMaxRowThreads / 32];
    add_shaped_rows(a, x, row, of_addend);
  } else {
    if (a.addend != nullptr) add_rows(a, x, row);
  }
  if (a.out == nullptr) return;
  if (a.norm_weight == nullptr) {
    store_scaled_row<Element>(row, a.out, a.row_scale, padded, a.order, shared);
  } else {
    norm_row(a, a.norm_weight, row, shared);
    store_row<Element>(row, a.factor, static_cast<Element*>(a.out) + at * padded, padded, a.order);
  }
}

template <bool kShaped>
cudaError_t launch(const NormRowsArgs& args, LaunchTarget target) {
  const auto kernel_of = [&](auto tag) {
    constexpr int kQuads = decltype(tag)::kQuads;
    return args.form == ActivationForm::f16 ? norm_rows<__half, kQuads, kShaped>
                                            : norm_rows<__nv_bfloat16, kQuads, kShaped>;
  };
  return launch_row_kernel(args, kernel_of, target);
}

}  // namespace

cudaError_t launch_norm_rows(const NormRowsArgs& args, LaunchTarget target) {
  const bool shaped = args.addend_bias != nullptr || args.addend_norm != nullptr || args.addend_factor != 1.0f ||
                      (args.addend_scale != nullptr && args.norm_weight == nullptr && args.out != nullptr);
  if (shaped && args.addend == nullptr) return cudaErrorInvalidValue;
  return shaped ? launch<true>(args, target) : launch<false>(args, target);
}

}  // namespace inlay::cuda
