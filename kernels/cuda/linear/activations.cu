// launch_activations: rows of F32 (gathered by a map, if there is one) to what products take; activations.cuh has the
// form. A row's chunks are spread over CTAs of eight warps, a chunk a warp. With a norm one CTA more has the whole row
// and finds its factor: the others wait for nobody.
// Bound: latency at a few rows.
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/linear/activations.cuh"

namespace inlay::cuda {
namespace {

constexpr int kWarps = 8;
// CTAs that a multiprocessor has room for. Eight: 32 registers, for which products by clusters (hopper/group_rows.cuh)
// leave room.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
constexpr int kCtas = 8;
#else
constexpr int kCtas = 2;
#endif
constexpr int kMaxChunks = 512;  // of a row

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

// Which chunk of a row, and where a warp's lane is in it.
struct ChunkPlace {
  int chunk;
  int64_t column;
  __device__ __forceinline__ explicit ChunkPlace(int of)
      : chunk(of), column(static_cast<int64_t>(of) * kChunkCols + static_cast<int>(threadIdx.x % 32) * 8) {}
};

__device__ __forceinline__ Octet norm_at(const ActivationsArgs& a, const ChunkPlace& at) {
  if (a.n_cols % 8 == 0) return at.column < a.n_cols ? octet_at(a.norm_weight + at.column) : Octet{};
  return load_any_octet(at.column, a.n_cols, [&](int64_t i) { return a.norm_weight[i]; });
}

// What the op before has left.
__device__ __forceinline__ Octet values_of(const ActivationsArgs& a, const ChunkPlace& at, int64_t row) {
  const float* from = a.x + row * a.n_cols;
  if (a.n_cols % 8 == 0) return finished_octet(from + at.column, static_cast<int>(a.n_cols - at.column));
  return load_any_octet(at.column, a.n_cols, [&](int64_t i) { return FinishedValues().load(from + i); });
}

__device__ __forceinline__ int64_t row_of(const ActivationsArgs& a, int64_t row) {
  return a.rows != nullptr ? a.rows[row] : row;
}

// A warp's chunk of a row.
template <ActivationForm kForm>
__device__ __forceinline__ void store_row_chunk(const ActivationsArgs& a, int64_t row, const ChunkPlace& at) {
  const bool normed = a.norm_weight != nullptr;
  const Octet weight = normed ? norm_at(a, at) : Octet{};
  wait_for_previous_kernel();
  const int64_t from = row_of(a, row);
  if (from < 0) return;
  Octet x = values_of(a, at, from);
#pragma unroll
  for (int i = 0; normed && i < 8; ++i) x.v[i] = __fmul_rn(x.v[i], weight.v[i]);
  store<kForm>(a, x, row, at.chunk, static_cast<int>(threadIdx.x % 32));
  if (!normed && at.column == 0) a.out.row_scale[row] = 1.0f;
}

// The factor of a row's norm.
__device__ __forceinline__ void store_row_scale(const ActivationsArgs& a, int64_t row, float* squares) {
  const auto warp = static_cast<int>(threadIdx.x / 32);
  wait_for_previous_kernel();
  const int64_t from = row_of(a, row);
  if (from < 0) return;
  for (int chunk = warp; chunk < a.out.n_chunks; chunk += kWarps) {
    const Octet x[1] = {values_of(a, ChunkPlace(chunk), from)};
    float sum[1];
    squares_of(x, sum);
    if (threadIdx.x % 32 == 0) squares[chunk] = sum[0];
  }
  __syncthreads();
  if (warp != 0) return;
  const float scale = inverse_rms(squares, a.out.n_chunks, a.n_cols, a.epsilon);
  if (threadIdx.x == 0) a.out.row_scale[row] = scale;
}

template <ActivationForm kForm>
__global__ void __launch_bounds__(kWarps * 32, kCtas) activations(const __grid_constant__ ActivationsArgs a) {
  extern __shared__ float chunk_squares[];
  let_next_kernel_start();
  const int64_t row = blockIdx.x;
  const int first = static_cast<int>(blockIdx.y) * kWarps;
  if (first >= a.out.n_chunks) return store_row_scale(a, row, chunk_squares);
  const ChunkPlace at(first + static_cast<int>(threadIdx.x / 32));
  if (at.chunk < a.out.n_chunks) store_row_chunk<kForm>(a, row, at);
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

cudaError_t launch_activations(const ActivationsArgs& args, LaunchTarget target) {
  if (args.n_rows < 0 || args.n_rows > 0x7fffffff || args.n_cols <= 0 || args.out.n_chunks > kMaxChunks)
    return cudaErrorInvalidValue;
  if (args.n_rows == 0) return cudaSuccess;
  const bool normed = args.norm_weight != nullptr;
  const int parts = (args.out.n_chunks + kWarps - 1) / kWarps + (normed ? 1 : 0);
  const dim3 grid(static_cast<unsigned>(args.n_rows), static_cast<unsigned>(parts));
  const size_t shared_bytes = normed ? static_cast<size_t>(args.out.n_chunks) * sizeof(float) : 0;
  switch (args.form) {
    case ActivationForm::f16:
      return launch_early(activations<ActivationForm::f16>, grid, kWarps * 32, target, args, shared_bytes);
    case ActivationForm::bf16:
      return launch_early(activations<ActivationForm::bf16>, grid, kWarps * 32, target, args, shared_bytes);
    case ActivationForm::planes:
      return launch_early(activations<ActivationForm::planes>, grid, kWarps * 32, target, args, shared_bytes);
    case ActivationForm::f32:
      return launch_early(activations<ActivationForm::f32>, grid, kWarps * 32, target, args, shared_bytes);
  }
  return cudaErrorInvalidValue;
}

}  // namespace inlay::cuda
