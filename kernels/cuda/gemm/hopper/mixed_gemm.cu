// out = alpha * x W^T, x rows of F16, W quantized and packed: a mixed-input GEMM for GPUs of compute capability 9.0.
// Each CTA keeps 128 rows of W and 64, 128 or 256 rows of x; W's codes become FP16 in the registers from which the
// tensor cores take them, so no dequantized matrix passes through memory. Bound: the tensor cores, from some 200 rows
// on, the weights' bytes before. cuda_gemm speed prints both.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "kernels/cuda/gemm/hopper/mixed_gemm.cuh"

namespace inlay::cuda {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// The driver's, which is found at the first call: null where it has none.
EncodeTiled encode_tiled() {
  static const EncodeTiled found = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult result;
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &result);
    return e == cudaSuccess && result == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTiled>(entry) : nullptr;
  }();
  return found;
}

// Boxes of 64 columns and n_tokens rows of x.
bool describe_x(const MixedGemmArgs& args, int n_tokens, CUtensorMap& map) {
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(padded_cols(args.n_cols)), static_cast<cuuint64_t>(args.m)};
  const cuuint64_t pitch[] = {sizes[0] * 2};
  const cuuint32_t box[] = {kUnitCols, static_cast<cuuint32_t>(n_tokens)}, steps[] = {1, 1};
  return encode_tiled()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<void*>(args.x), sizes, pitch, box, steps,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <DType kType, int kTokens>
cudaError_t load() {
  return cudaFuncSetAttribute(mixed_gemm<kType, kTokens>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              GemmStages<kType, kTokens>::kBytes);
}

int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows of x that a CTA takes, and CTAs that share a tile's columns.
struct GemmShape {
  int n_tokens, n_splits;
};
constexpr int kMostSplits = 8;

// Clusters of so many CTAs that the device runs side by side: less than its multiprocessors divided by them, for a
// cluster lies within one part of the device. The same for all kernels, which fill a multiprocessor each; that devices
// of one process may differ costs speed at most.
int most_clusters(int n_splits) {
  static std::array<std::atomic<int>, kMostSplits + 1> found{};
  int n = found[static_cast<size_t>(n_splits)].load(std::memory_order_relaxed);
  if (n != 0) return n;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(n_splits), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(n_splits));
  config.blockDim = dim3(kGemmThreads);
  config.dynamicSmemBytes = GemmStages<DType::q4_k, 64>::kBytes;
  config.attrs = &cluster;
  config.numAttrs = 1;
  if (load<DType::q4_k, 64>() != cudaSuccess ||
      cudaOccupancyMaxActiveClusters(&n, mixed_gemm<DType::q4_k, 64>, &config) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  found[static_cast<size_t>(n_splits)].store(n, std::memory_order_relaxed);
  return n;
}

// What the product would take, in cycles of a multiprocessor.
double cycles_of(const MixedGemmArgs& args, GemmShape shape, int n_multiprocessors) {
  const int64_t tiles = quotient_up(args.n_rows, kGemmRows) * quotient_up(args.m, shape.n_tokens);
  const int64_t rounds = quotient_up(tiles * shape.n_splits, n_multiprocessors);
  const int64_t chunks = quotient_up(quotient_up(args.n_cols, kChunkCols), shape.n_splits);
  // 16 cycles a row of x and chunk are what the tensor cores take, unpacking a chunk 1100.
  const double of_chunk = std::max(16.0 * shape.n_tokens, 1100.0), of_results = 16.0 * shape.n_tokens;
  const double of_parts = shape.n_splits > 1 ? 2500.0 : 0.0;
  return static_cast<double>(rounds) * (static_cast<double>(chunks) * of_chunk + of_results + of_parts);
}

GemmShape choose_shape(const MixedGemmArgs& args, int n_multiprocessors) {
  GemmShape best{};
  double least = 0;
  for (const int n_tokens : {256, 128, 64}) {
    if (args.n_tokens != 0 && n_tokens != args.n_tokens) continue;
    const int64_t tiles = quotient_up(args.n_rows, kGemmRows) * quotient_up(args.m, n_tokens);
    for (int n_splits = 1; n_splits <= kMostSplits; ++n_splits) {
      if (args.n_splits != 0 && n_splits != args.n_splits) continue;
      // Parts are added up in one round, where every CTA has two chunks.
      const bool fits = n_tokens <= 128 && quotient_up(args.n_cols, kChunkCols) >= 2 * n_splits &&
                        tiles * n_splits <= n_multiprocessors && tiles <= most_clusters(n_splits);
      if (n_splits > 1 && !fits) continue;
      const double cycles = cycles_of(args, {n_tokens, n_splits}, n_multiprocessors);
      if (best.n_tokens == 0 || cycles < least) best = {n_tokens, n_splits}, least = cycles;
    }
  }
  return best;
}

template <DType kType, int kTokens>
cudaError_t launch(const MixedGemmArgs& args, int n_splits, int n_multiprocessors, cudaStream_t stream) {
  CUtensorMap map;
  if (!describe_x(args, kTokens, map)) return cudaErrorInvalidValue;
  const int64_t n_row_tiles = quotient_up(args.m, kTokens), n_tiles = quotient_up(args.n_rows, kGemmRows) * n_row_tiles;
  const GemmTask task{.packed = static_cast<const uint8_t*>(args.packed),
                      .out = args.out,
                      .tile_bytes = Layout<kType>::tile_bytes(units_of(args.n_cols)),
                      .n_rows = args.n_rows,
                      .ld_out = args.ld_out,
                      .n_units = static_cast<int32_t>(units_of(args.n_cols)),
                      .m = args.m,
                      .n_tiles = static_cast<int32_t>(n_tiles),
                      .n_row_tiles = static_cast<int32_t>(n_row_tiles),
                      .n_splits = n_splits,
                      .factor = args.factor,
                      .alpha = args.alpha};
  if (const cudaError_t e = load<kType, kTokens>(); e != cudaSuccess) return e;
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(n_splits), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min<int64_t>(n_tiles * n_splits, n_multiprocessors)));
  config.blockDim = dim3(kGemmThreads);
  config.dynamicSmemBytes = GemmStages<kType, kTokens>::kBytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 2;
  return cudaLaunchKernelEx(&config, mixed_gemm<kType, kTokens>, task, map);
}

// Calls call(tag) for the packed form of a quantized type.
template <class Call>
cudaError_t with_kernels(DType dtype, const Call& call) {
  return with_form(dtype, cudaErrorInvalidValue, [&](auto tag) {
    if constexpr (Layout<decltype(tag)::kType>::kScaled) {
      return call(tag);
    } else {
      return cudaErrorInvalidValue;
    }
  });
}

bool is_valid(const MixedGemmArgs& args) {
  return args.packed != nullptr && args.x != nullptr && args.out != nullptr && has_kernels(args.dtype) &&
         is_quantized(args.dtype) && args.n_rows > 0 && args.n_cols > 0 &&
         args.n_cols % traits(args.dtype).block_elements == 0 && args.ld_out >= args.n_rows && args.m >= 0 &&
         quotient_up(args.n_rows, kGemmRows) * quotient_up(args.m, 64) <= 0x7fffffff / 8;
}

}  // namespace

bool has_mixed_gemm(int device) {
  int major = 0, minor = 0;
  const bool known = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
                     cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess;
  return known && major == 9 && minor == 0 && encode_tiled() != nullptr;
}

cudaError_t load_mixed_gemm(DType dtype) {
  return with_kernels(dtype, [](auto tag) {
    constexpr DType kType = decltype(tag)::kType;
    for (const auto load_one : {load<kType, 64>, load<kType, 128>, load<kType, 256>}) {
      if (const cudaError_t e = load_one(); e != cudaSuccess) return e;
    }
    return cudaSuccess;
  });
}

cudaError_t launch_mixed_gemm(const MixedGemmArgs& args, cudaStream_t stream) {
  if (!is_valid(args)) return cudaErrorInvalidValue;
  if (encode_tiled() == nullptr) return cudaErrorNotSupported;
  if (args.m == 0) return cudaSuccess;
  DeviceTraits traits;
  if (const cudaError_t e = current_device(traits); e != cudaSuccess) return e;
  const GemmShape shape = choose_shape(args, traits.n_multiprocessors);
  if (shape.n_tokens == 0) return cudaErrorInvalidValue;
  return with_kernels(args.dtype, [&](auto tag) {
    constexpr DType kType = decltype(tag)::kType;
    const auto run = shape.n_tokens == 256   ? launch<kType, 256>
                     : shape.n_tokens == 128 ? launch<kType, 128>
                                             : launch<kType, 64>;
    return run(args, shape.n_splits, traits.n_multiprocessors, stream);
  });
}

}  // namespace inlay::cuda
