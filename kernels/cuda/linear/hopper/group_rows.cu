// launch_group_rows: which of the kernels of group_rows.cuh, and how many CTAs share the work.
#include "kernels/cuda/linear/hopper/group_rows.cuh"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace inlay::cuda {
namespace {

// How many clusters of so many CTAs the device has room for, where a CTA has a multiprocessor to itself: a query of
// some microseconds, whose answer is kept.
template <DType kType, int kRows>
cudaError_t clusters_at_once(int device, int cluster_bits, int& n) {
  constexpr int kMostDevices = 16;
  static std::atomic<int> known[kMostDevices][kMostClusterBits + 1];
  if (device < kMostDevices && (n = known[device][cluster_bits].load(std::memory_order_relaxed)) > 0)
    return cudaSuccess;
  const auto bytes = static_cast<size_t>(GroupMemory<kType, kRows>::bytes(cluster_bits));
  const auto* kernel = reinterpret_cast<const void*>(linear_group_rows<kType, kRows>);
  if (const cudaError_t e = allow_shared_memory(kernel, bytes, device); e != cudaSuccess) return e;
  cudaFuncAttributes compiled{};
  if (const cudaError_t e = cudaFuncGetAttributes(&compiled, kernel); e != cudaSuccess) return e;
  if (compiled.numRegs < GroupRegisters<kRows>::kLaunched)
    return cudaErrorInvalidKernelImage;  // teams would wait forever
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {1u << cluster_bits, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1u << cluster_bits);
  config.blockDim = dim3(kGroupThreads);
  config.dynamicSmemBytes = bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t e = cudaOccupancyMaxActiveClusters(&n, linear_group_rows<kType, kRows>, &config);
  if (e == cudaSuccess && device < kMostDevices) known[device][cluster_bits].store(n, std::memory_order_relaxed);
  return e;
}

// The work in clusters of the size that takes the busiest team the least time.
template <DType kType, int kRows>
cudaError_t cut_work(const LinearArgs& args, GroupRowsTask& best, int& n_ctas) {
  constexpr int kRowsOfTile = kTeamWarps * kTileRows;
  constexpr int kChunksOfSums = 1;  // what it takes to pass a tile's sums on and to add them, in chunks
  int device = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
  GroupRowsTask task{};
  task.args = args;
  const int64_t n_units = units_of(args.n_cols);
  task.tile_bytes = Layout<kType>::tile_bytes(n_units);
  task.n_chunks = static_cast<int32_t>(n_units / kChunkUnits);
  task.n_tiles = static_cast<int32_t>((args.n_rows + kRowsOfTile - 1) / kRowsOfTile);
  n_ctas = 0;
  int fewest = 0;
  for (int bits = 1; bits <= kMostClusterBits; ++bits) {
    int n_clusters = 0;
    if (const cudaError_t e = clusters_at_once<kType, kRows>(device, bits, n_clusters); e != cudaSuccess) return e;
    if (n_clusters == 0) continue;
    const int n_teams = kTeams << bits, n_tiles = (task.n_tiles + n_clusters - 1) / n_clusters;
    const int n_chunks = n_tiles * ((task.n_chunks + n_teams - 1) / n_teams + kChunksOfSums);
    if (n_ctas > 0 && n_chunks >= fewest) continue;
    task.cluster_bits = bits, task.n_stages = GroupMemory<kType, kRows>::stages(bits);
    fewest = n_chunks, best = task, n_ctas = std::min(task.n_tiles, n_clusters) << bits;
  }
  return n_ctas > 0 ? cudaSuccess : cudaErrorInvalidConfiguration;
}

template <DType kType, int kRows>
cudaError_t launch(const LinearArgs& args, cudaStream_t stream) {
  GroupRowsTask task{};
  int n_ctas = 0;
  if (const cudaError_t e = cut_work<kType, kRows>(args, task, n_ctas); e != cudaSuccess) return e;
  return launch_early(linear_group_rows<kType, kRows>, dim3(static_cast<unsigned>(n_ctas)), kGroupThreads, stream, task,
                      static_cast<size_t>(GroupMemory<kType, kRows>::bytes(task.cluster_bits)),
                      static_cast<unsigned>(task.cluster()));
}

template <DType kOf, int kN>
struct GroupKernel {
  static constexpr DType kType = kOf;
  static constexpr int kRows = kN;
};

// visit(GroupKernel) for up to m rows, or `otherwise`.
template <class Result, class Visit>
Result with_group_kernel(DType weights, int32_t m, Result otherwise, const Visit& visit) {
  return with_form(weights, otherwise, [&](auto tag) -> Result {
    constexpr DType kType = decltype(tag)::kType;
    if constexpr (Layout<kType>::kPlanes) {
      return m <= 16 ? visit(GroupKernel<kType, 16>{}) : visit(GroupKernel<kType, 32>{});
    } else {
      return otherwise;
    }
  });
}

}  // namespace

int32_t group_rows(DType weights, int32_t m) {
  if (m < kFewestGroupRows || m > kMostGroupRows) return 0;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || !has_sm_90a(device)) return 0;
  LinearArgs args{};
  args.n_rows = kTileRows, args.n_cols = kChunkCols;
  return with_group_kernel(weights, m, 0, [&](auto tag) {  // 0, too, where the device has no room for a cluster
    GroupRowsTask task{};
    int n_ctas = 0;
    return cut_work<decltype(tag)::kType, decltype(tag)::kRows>(args, task, n_ctas) == cudaSuccess
               ? decltype(tag)::kRows
               : 0;
  });
}

cudaError_t launch_group_rows(const LinearArgs& args, cudaStream_t stream) {
  if (args.m > args.x.group_rows) return cudaErrorInvalidValue;
  return with_group_kernel(args.dtype, args.x.group_rows, cudaErrorInvalidValue,
                           [&](auto tag) { return launch<decltype(tag)::kType, decltype(tag)::kRows>(args, stream); });
}

}  // namespace inlay::cuda
