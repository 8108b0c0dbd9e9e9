// Copies on the device: wanted rows of the residual stream, logits to their slots, one block of every pool of the
// cache.
//
//   gather: out[i] = hidden[rows[i]]     scatter: slot_logits[slots[i]] = rows[i]
//   copy_block: pool[to] = pool[from] for every pool
//
// Layout: rows are contiguous f32; a row whose index is negative is left alone.
// Tiling: grid (row, part of the row), 16 bytes a thread and step where both ends allow it, else 4 (rows of an odd
// vocabulary). Bound: memory, twice the bytes; at one row latency.
#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxParts = 64;

struct CopyRowsParams {
  const float* from;
  const int32_t* from_rows;  // null: row i
  float* to;
  const int32_t* to_rows;  // null: row i
  int64_t n_cols;
};

// Elements first, first + step, ... of n.
template <class T>
__device__ __forceinline__ void copy_elements(const void* from, void* to, int64_t n, int64_t first, int64_t step) {
  for (int64_t i = first; i < n; i += step) static_cast<T*>(to)[i] = static_cast<const T*>(from)[i];
}

__device__ __forceinline__ void copy_part(const void* from, void* to, size_t bytes) {
  const int64_t first = static_cast<int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  const int64_t step = static_cast<int64_t>(gridDim.y) * kThreads;
  const bool by_16 = ((reinterpret_cast<size_t>(from) | reinterpret_cast<size_t>(to) | bytes) & 15) == 0;
  if (by_16) return copy_elements<uint4>(from, to, static_cast<int64_t>(bytes / 16), first, step);
  copy_elements<uint32_t>(from, to, static_cast<int64_t>(bytes / 4), first, step);
}

__global__ __launch_bounds__(kThreads) void copy_rows_kernel(const __grid_constant__ CopyRowsParams p) {
  const int64_t i = blockIdx.x;
  const int64_t from = p.from_rows == nullptr ? i : p.from_rows[i];
  const int64_t to = p.to_rows == nullptr ? i : p.to_rows[i];
  if (from < 0 || to < 0) return;
  copy_part(p.from + from * p.n_cols, p.to + to * p.n_cols, static_cast<size_t>(p.n_cols) * sizeof(float));
}

__global__ __launch_bounds__(kThreads) void copy_block_kernel(const __grid_constant__ CopyBlockArgs a) {
  char* pool = static_cast<char*>(a.pools) + blockIdx.x * a.pool_bytes;
  copy_part(pool + a.from * a.block_bytes, pool + a.to * a.block_bytes, a.block_bytes);
}

dim3 copy_grid(int64_t rows, size_t bytes) {
  const int64_t parts = static_cast<int64_t>((bytes / 16 + kThreads - 1) / kThreads);
  return {static_cast<unsigned>(rows), static_cast<unsigned>(parts < 1 ? 1 : parts < kMaxParts ? parts : kMaxParts)};
}

cudaError_t launch_copy_rows(const CopyRowsParams& p, int64_t n, LaunchTarget target) {
  if (n < 0 || p.n_cols < 1) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const dim3 grid = copy_grid(n, static_cast<size_t>(p.n_cols) * sizeof(float));
  return launch_kernel(target, grid, kThreads, copy_rows_kernel, p);
}

}  // namespace

cudaError_t launch_gather(const GatherArgs& args, LaunchTarget target) {
  return launch_copy_rows({args.hidden, args.rows, args.out, nullptr, args.d_model}, args.n, target);
}

cudaError_t launch_scatter(const ScatterArgs& args, LaunchTarget target) {
  return launch_copy_rows({args.rows, nullptr, args.slot_logits, args.slots, args.n_vocab}, args.n, target);
}

cudaError_t launch_copy_block(const CopyBlockArgs& args, LaunchTarget target) {
  if (args.n_pools < 0 || args.from < 0 || args.to < 0 || args.block_bytes % 4 != 0) return cudaErrorInvalidValue;
  if (args.n_pools == 0 || args.block_bytes == 0 || args.from == args.to) return cudaSuccess;
  const dim3 grid = copy_grid(args.n_pools, args.block_bytes);
  return launch_kernel(target, grid, kThreads, copy_block_kernel, args);
}

}  // namespace inlay::cuda
