// launch_activations: rows of F32 (gathered by a map, if there is one) to what products take; activations.cuh has the
// form. With a norm a row is a CTA's, of as many warps as it has chunks, but at most 16; without one a row's chunks are
// spread over CTAs of eight warps. A warp has a chunk at a time.
// Bound: latency at a few rows.
#include <algorithm>

#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/linear/activations.cuh"

namespace inlay::cuda {
namespace {

constexpr int kMostWarps = 16, kPlainWarps = 8;
// CTAs of 16 warps that a multiprocessor has room for. Four: 32 registers, for which products by clusters
// (hopper/group_rows.cuh) leave room.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
constexpr int kCtas = 4;
#else
constexpr int kCtas = 1;
#endif
constexpr int kMaxChunks = 512;

template <ActivationForm kForm>
__device__ __forceinline__ void store(const ActivationsArgs& a, const Octet& x, int64_t row, int chunk, int lane) {
  const Activations& to = a.out;
  const int64_t column = static_cast<int64_t>(chunk) * kChunkCols + lane * 8;
  const bool inside = column < to.ld;
  if constexpr (kForm == ActivationForm::f32) {
    float* values = static_cast<float*>(to.values) + row * to.ld + column;
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (inside) values[i] = x.v[i];
  } else {
    uint8_t* values = static_cast<uint8_t*>(to.values) + (row * to.ld + static_cast<int64_t>(chunk) * kChunkCols) * 2;
    uint8_t* sums = static_cast<uint8_t*>(to.sums) + (row * to.n_chunks + chunk) * 64;
    if constexpr (kForm == ActivationForm::planes) {
      if (to.group_rows != 0) {
        const GroupPlanes form{to.group_rows};
        uint8_t* at = static_cast<uint8_t*>(to.values) + static_cast<int64_t>(chunk) * form.bytes();
        return store_group_planes(x, lane, inside, form, static_cast<int>(row), at);
      }
      values = plane_record(to, chunk, row);
      sums = values + kRecordSumsAt;
    }
    const float scale = store_chunk<kForm>(x, lane, inside, values, sums);
    if (kForm != ActivationForm::bf16 && lane == 0) to.chunk_scale[chunk * to.scale_stride + row] = scale;
  }
}

template <ActivationForm kForm>
__global__ void __launch_bounds__(kMostWarps * 32, kCtas) activations(const __grid_constant__ ActivationsArgs a) {
  __shared__ float squares[kMaxChunks];
  let_next_kernel_start();
  const int n_warps = static_cast<int>(blockDim.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int first = static_cast<int>(blockIdx.y) * n_warps, step = static_cast<int>(gridDim.y) * n_warps;
  const int64_t row = blockIdx.x;
  wait_for_previous_kernel();
  const int64_t from = a.rows != nullptr ? a.rows[row] : row;
  if (from < 0) return;
  for (int chunk = first + static_cast<int>(threadIdx.x / 32); chunk < a.out.n_chunks; chunk += step) {
    const int64_t column = static_cast<int64_t>(chunk) * kChunkCols + lane * 8;
    const FinishedValues values;
    const float* x_row = a.x + from * a.n_cols;
    Octet of_chunk[1], &x = of_chunk[0];
    if (a.n_cols % 8 == 0) {
      x = finished_octet(x_row + column, static_cast<int>(a.n_cols - column));
    } else {
      x = load_any_octet(column, a.n_cols, [&](int64_t i) { return values.load(x_row + i); });
    }
    if (a.norm_weight != nullptr) {
      float sum[1];
      squares_of(of_chunk, sum);
      if (lane == 0) squares[chunk] = sum[0];
      const Octet weight = a.n_cols % 8 == 0 && column < a.n_cols
                               ? octet_at(a.norm_weight + column)
                               : load_any_octet(column, a.n_cols, [&](int64_t i) { return a.norm_weight[i]; });
#pragma unroll
      for (int i = 0; i < 8; ++i) x.v[i] = __fmul_rn(x.v[i], weight.v[i]);
    }
    store<kForm>(a, x, row, chunk, lane);
  }
  if (blockIdx.y != 0) return;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  const float scale = a.norm_weight == nullptr ? 1.0f : inverse_rms(squares, a.out.n_chunks, a.n_cols, a.epsilon);
  if (lane == 0) a.out.row_scale[row] = scale;
}

int64_t chunks_of(int64_t n_cols) { return (n_cols + kChunkCols - 1) / kChunkCols; }
size_t aligned(size_t n) { return (n + 255) / 256 * 256; }

}  // namespace

size_t activation_bytes(int64_t n_rows, int64_t n_cols) {
  const auto rows = static_cast<size_t>((n_rows + 7) / 8 * 8), chunks = static_cast<size_t>(chunks_of(n_cols)),
             ld = chunks * kChunkCols;
  return aligned(rows * ld * sizeof(float)) + aligned(rows * chunks * 64) + aligned(rows * chunks * 4) +
         aligned(rows * 4);
}

Activations activations_at(void* memory, int64_t n_rows, int64_t n_cols) {
  const auto rows = static_cast<size_t>((n_rows + 7) / 8 * 8), chunks = static_cast<size_t>(chunks_of(n_cols)),
             ld = chunks * kChunkCols;
  auto* at = static_cast<uint8_t*>(memory);
  Activations a{};
  a.values = at;
  at += aligned(rows * ld * sizeof(float));
  a.sums = at;
  at += aligned(rows * chunks * 64);
  a.chunk_scale = reinterpret_cast<float*>(at);
  at += aligned(rows * chunks * 4);
  a.row_scale = reinterpret_cast<float*>(at);
  a.ld = static_cast<int64_t>(ld);
  a.scale_stride = static_cast<int64_t>(rows);
  a.n_chunks = static_cast<int32_t>(chunks);
  return a;
}

cudaError_t launch_activations(const ActivationsArgs& args, cudaStream_t stream) {
  if (args.n_rows < 0 || args.n_rows > 0x7fffffff || args.n_cols <= 0 || args.out.n_chunks > kMaxChunks)
    return cudaErrorInvalidValue;
  if (args.n_rows == 0) return cudaSuccess;
  const bool whole_rows = args.norm_weight != nullptr;
  const int n_warps = whole_rows ? std::min(args.out.n_chunks, kMostWarps) : kPlainWarps;
  const int parts = whole_rows ? 1 : (args.out.n_chunks + kPlainWarps - 1) / kPlainWarps;
  const dim3 grid(static_cast<unsigned>(args.n_rows), static_cast<unsigned>(parts));
  switch (args.form) {
    case ActivationForm::f16:
      return launch_early(activations<ActivationForm::f16>, grid, n_warps * 32, stream, args);
    case ActivationForm::bf16:
      return launch_early(activations<ActivationForm::bf16>, grid, n_warps * 32, stream, args);
    case ActivationForm::planes:
      return launch_early(activations<ActivationForm::planes>, grid, n_warps * 32, stream, args);
    case ActivationForm::f32:
      return launch_early(activations<ActivationForm::f32>, grid, n_warps * 32, stream, args);
  }
  return cudaErrorInvalidValue;
}

}  // namespace inlay::cuda
