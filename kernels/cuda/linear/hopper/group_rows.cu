// launch_group_rows: which of the kernels of group_rows.cuh, and how many CTAs share the work.
#include "kernels/cuda/linear/hopper/group_rows.cuh"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace inlay::cuda {
namespace {

// How many clusters of so many CTAs the device has room for, where a CTA has a multiprocessor to itself: a query of
// some microseconds, whose answer is kept.
template <class Kernel>
cudaError_t clusters_at_once(int device, int cluster_bits, int& n) {
  constexpr int kMostDevices = 16;
  static std::atomic<int> known[kMostDevices][kMostClusterBits + 1];
  if (device < kMostDevices && (n = known[device][cluster_bits].load(std::memory_order_relaxed)) > 0)
    return cudaSuccess;
  const auto bytes = static_cast<size_t>(GroupMemory<Kernel>::bytes(cluster_bits));
  const auto* kernel = reinterpret_cast<const void*>(linear_group_rows<Kernel>);
  if (const cudaError_t e = allow_shared_memory(kernel, bytes, device); e != cudaSuccess) return e;
  cudaFuncAttributes compiled{};
  if (const cudaError_t e = cudaFuncGetAttributes(&compiled, kernel); e != cudaSuccess) return e;
  if (compiled.numRegs < GroupRegisters<Kernel::kRows>::kLaunched)
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
  const cudaError_t e = cudaOccupancyMaxActiveClusters(&n, linear_group_rows<Kernel>, &config);
  if (e == cudaSuccess && device < kMostDevices) known[device][cluster_bits].store(n, std::memory_order_relaxed);
  return e;
}

template <DType kType>
GroupProduct product_of(const LinearArgs& args, int32_t first_tile) {
  constexpr int kRowsOfTile = kTeamWarps * kTileRows;
  const auto n_tiles = static_cast<int32_t>((args.n_rows + kRowsOfTile - 1) / kRowsOfTile);
  return {args, Layout<kType>::tile_bytes(units_of(args.n_cols)), first_tile, first_tile + n_tiles};
}

// Those that have tiles; where they leave but few others free, these too (hold_place).
int clusters_to_launch(int n_tiles, int n_clusters) {
  return n_tiles < n_clusters - n_clusters / 8 ? n_tiles : n_clusters;
}

// The work in clusters of the size that takes the busiest team the least time. beside: of a kernel of two products.
template <class Kernel>
cudaError_t cut_work(const LinearArgs& args, const LinearArgs* beside, GroupRowsTask<Kernel>& best, int& n_ctas) {
  constexpr int kChunksOfSums = 1;  // what it takes to pass a tile's sums on and to add them, in chunks
  int device = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return e;
  GroupRowsTask<Kernel> task{};
  task.products[0] = product_of<Kernel::kType>(args, 0);
  if constexpr (Kernel::kProducts == 2)
    task.products[1] = product_of<Kernel::kOther>(*beside, task.products[0].end_tile);
  task.n_chunks = static_cast<int32_t>(units_of(args.n_cols) / kChunkUnits);
  task.n_tiles = task.products[Kernel::kProducts - 1].end_tile;
  n_ctas = 0;
  int fewest = 0;
  for (int bits = 1; bits <= kMostClusterBits; ++bits) {
    int n_clusters = 0;
    if (const cudaError_t e = clusters_at_once<Kernel>(device, bits, n_clusters); e != cudaSuccess) return e;
    if (n_clusters == 0) continue;
    const int n_teams = kTeams << bits, n_tiles = (task.n_tiles + n_clusters - 1) / n_clusters;
    const int n_chunks = n_tiles * ((task.n_chunks + n_teams - 1) / n_teams + kChunksOfSums);
    if (n_ctas > 0 && n_chunks >= fewest) continue;
    task.cluster_bits = bits, task.n_stages = GroupMemory<Kernel>::stages(bits);
    fewest = n_chunks, best = task, n_ctas = clusters_to_launch(task.n_tiles, n_clusters) << bits;
  }
  return n_ctas > 0 ? cudaSuccess : cudaErrorInvalidConfiguration;
}

template <class Kernel>
cudaError_t launch(const LinearArgs& args, const LinearArgs* beside, LaunchTarget target) {
  GroupRowsTask<Kernel> task{};
  int n_ctas = 0;
  if (const cudaError_t e = cut_work<Kernel>(args, beside, task, n_ctas); e != cudaSuccess) return e;
  return launch_early(linear_group_rows<Kernel>, dim3(static_cast<unsigned>(n_ctas)), kGroupThreads, target, task,
                      static_cast<size_t>(GroupMemory<Kernel>::bytes(task.cluster_bits)),
                      static_cast<unsigned>(task.cluster()));
}

// visit(GroupKernel) for up to m rows; below, where there is one of such types, or `otherwise`.
template <DType kType, DType kOther, class Result, class Visit>
Result with_rows(int32_t m, const Visit& visit) {
  return m <= 16 ? visit(GroupKernel<kType, kOther, 16>{}) : visit(GroupKernel<kType, kOther, 32>{});
}

template <class Result, class Visit>
Result with_group_kernel(DType weights, int32_t m, Result otherwise, const Visit& visit) {
  return with_form(weights, otherwise, [&](auto tag) -> Result {
    constexpr DType kType = decltype(tag)::kType;
    if constexpr (Layout<kType>::kPlanes) {
      return with_rows<kType, kType, Result>(m, visit);
    } else {
      return otherwise;
    }
  });
}

// Of two products: those of files that give some of a layer's weights more bits than the others.
template <class Result, class Visit>
Result with_pair_kernel(DType first, DType second, int32_t m, Result otherwise, const Visit& visit) {
  if (second != DType::q6_k) return otherwise;
  if (first == DType::q4_k) return with_rows<DType::q4_k, DType::q6_k, Result>(m, visit);
  if (first == DType::q5_k) return with_rows<DType::q5_k, DType::q6_k, Result>(m, visit);
  return otherwise;
}

}  // namespace

int32_t group_rows(DType weights, int32_t m) {
  if (m < kFewestGroupRows || m > kMostGroupRows) return 0;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || !has_sm_90a(device)) return 0;
  LinearArgs args{};
  args.n_rows = kTileRows, args.n_cols = kChunkCols;
  return with_group_kernel(weights, m, 0, [&](auto tag) {  // 0, too, where the device has no room for a cluster
    GroupRowsTask<decltype(tag)> task{};
    int n_ctas = 0;
    return cut_work<decltype(tag)>(args, nullptr, task, n_ctas) == cudaSuccess ? decltype(tag)::kRows : 0;
  });
}

bool has_group_pair(DType first, DType second) {
  return with_pair_kernel(first, second, kMostGroupRows, false, [](auto) { return true; });
}

cudaError_t launch_group_rows(const LinearArgs& args, LaunchTarget target) {
  if (args.m > args.x.group_rows) return cudaErrorInvalidValue;
  return with_group_kernel(args.dtype, args.x.group_rows, cudaErrorInvalidValue,
                           [&](auto tag) { return launch<decltype(tag)>(args, nullptr, target); });
}

cudaError_t launch_group_pair(const LinearArgs& args, const LinearArgs& beside, LaunchTarget target) {
  if (args.m > args.x.group_rows || beside.m != args.m || beside.n_cols != args.n_cols ||
      beside.x.values != args.x.values || beside.x.group_rows != args.x.group_rows) {
    return cudaErrorInvalidValue;
  }
  return with_pair_kernel(args.dtype, beside.dtype, args.x.group_rows, cudaErrorInvalidValue,
                          [&](auto tag) { return launch<decltype(tag)>(args, &beside, target); });
}

}  // namespace inlay::cuda
