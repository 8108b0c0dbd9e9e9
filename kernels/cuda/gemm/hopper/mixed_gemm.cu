// out = alpha * x W^T, x rows of F16, W quantized and packed: a mixed-input GEMM for GPUs of compute capability 9.0.
// Each CTA keeps 128 rows of W and 64, 128 or 256 rows of x; W's codes become FP16 in the registers from which the
// tensor cores take them, so no dequantized matrix passes through memory. Bound: the tensor cores, from some 200 rows
// on, unpacking and the weights' bytes before. cuda_mixed_gemm speed prints TFLOP/s.
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/cuda/gemm/hopper/mixed_gemm.cuh"

namespace inlay::cuda {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// The driver's, which is found at the first call: null where it has none.
EncodeTiled encode_tiled() {
  static const EncodeTiled found = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
    const cudaError_t e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t e = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &result);
#endif
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

int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows of x that a CTA takes at a time, and how the work is divided.
struct GemmShape {
  int n_tokens, n_ctas, chunks_of_grain;
};

// What the product would take, in cycles of a multiprocessor, as measured on an H100 with Q4_K: chunks, the results of
// tiles, and leaving and adding the parts of those that are cut.
double cycles_of(const MixedGemmArgs& args, const GemmShape& shape) {
  const int64_t n_tiles = quotient_up(args.n_rows, kGemmRows) * quotient_up(args.m, shape.n_tokens);
  const int64_t n_chunks = quotient_up(args.n_cols, kChunkCols), grains = n_tiles * n_chunks / shape.chunks_of_grain;
  const auto chunks = static_cast<double>(quotient_up(grains, shape.n_ctas) * shape.chunks_of_grain);
  const double tiles = chunks / static_cast<double>(n_chunks);
  const double of_chunk = shape.n_tokens == 256 ? 4830 : shape.n_tokens == 128 ? 2760 : 2000;
  const double of_results = 26.0 * shape.n_tokens, of_part = 1500 + 16.0 * shape.n_tokens;
  const double parts = shape.chunks_of_grain < n_chunks ? 1 + 1 / std::min(tiles, 1.0) : 0;
  return chunks * of_chunk + std::ceil(tiles) * of_results + parts * of_part;
}

// CTAs that cut tiles are at different columns of x at a time, so all of x has to stay in the L2 cache.
bool may_cut(const MixedGemmArgs& args) {
  constexpr int64_t kMostBytes = int64_t{16} << 20;
  return args.m * padded_cols(args.n_cols) * 2 <= kMostBytes;
}

// Calls visit(shape) for those that args allow.
template <class Visit>
void for_each_shape(const MixedGemmArgs& args, int n_multiprocessors, const Visit& visit) {
  const int64_t n_chunks = quotient_up(args.n_cols, kChunkCols);
  for (const int n_tokens : {256, 128, 64}) {
    if (args.n_tokens != 0 && n_tokens != args.n_tokens) continue;
    const int64_t n_tiles = quotient_up(args.n_rows, kGemmRows) * quotient_up(args.m, n_tokens);
    const auto at_most = [&](int64_t n) { return static_cast<int>(std::min<int64_t>(n, n_multiprocessors)); };
    if (args.n_ctas != 0) {
      visit({n_tokens, at_most(std::min<int64_t>(args.n_ctas, n_tiles * n_chunks)), 1});
      continue;
    }
    visit({n_tokens, at_most(n_tiles), static_cast<int>(n_chunks)});
    for (int64_t cuts = 2; may_cut(args) && cuts <= n_chunks / 2; cuts *= 2)
      visit({n_tokens, at_most(n_tiles * cuts), 1});
  }
}

GemmShape choose_shape(const MixedGemmArgs& args, int n_multiprocessors) {
  GemmShape best{};
  double least = 0;
  for_each_shape(args, n_multiprocessors, [&](const GemmShape& shape) {
    const double cycles = cycles_of(args, shape);
    if (best.n_tokens == 0 || cycles < least) best = shape, least = cycles;
  });
  return best;
}

// Flags of all CTAs, then their parts.
uint64_t flag_bytes(int n_multiprocessors) { return static_cast<uint64_t>(quotient_up(n_multiprocessors, 64)) * 256; }

GemmTask task_of(const MixedGemmArgs& args, const GemmShape& shape, int n_multiprocessors) {
  const int64_t n_chunks = quotient_up(args.n_cols, kChunkCols), n_row_tiles = quotient_up(args.n_rows, kGemmRows);
  const int64_t n_all = n_row_tiles * quotient_up(args.m, shape.n_tokens) * n_chunks;
  return {.packed = static_cast<const uint8_t*>(args.packed),
          .out = args.out,
          .parts = reinterpret_cast<float*>(static_cast<std::byte*>(args.scratch) + flag_bytes(n_multiprocessors)),
          .flags = static_cast<uint32_t*>(args.scratch),
          .n_rows = args.n_rows,
          .ld_out = args.ld_out,
          .n_units = static_cast<int32_t>(units_of(args.n_cols)),
          .n_chunks = static_cast<int32_t>(n_chunks),
          .m = args.m,
          .n_row_tiles = static_cast<int32_t>(n_row_tiles),
          .n_grains = static_cast<int32_t>(n_all / shape.chunks_of_grain),
          .chunks_of_grain = shape.chunks_of_grain,
          .factor = args.factor,
          .alpha = args.alpha};
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
  return args.packed != nullptr && args.x != nullptr && args.out != nullptr && args.scratch != nullptr &&
         has_kernels(args.dtype) && is_quantized(args.dtype) && args.n_rows > 0 && args.n_cols > 0 &&
         args.n_cols % traits(args.dtype).block_elements == 0 && args.ld_out >= args.n_rows && args.m >= 0 &&
         quotient_up(args.n_rows, kGemmRows) * quotient_up(args.m, 64) * quotient_up(args.n_cols, kChunkCols) <=
             0x7fffffff;
}

}  // namespace

bool has_mixed_gemm(int device) { return has_sm_90a(device) && encode_tiled() != nullptr; }

uint64_t mixed_gemm_scratch_bytes(int device) {
  int n = 0;
  if (cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) return 0;
  return flag_bytes(n) + static_cast<uint64_t>(n) * kGemmRows * 256 * sizeof(float);
}

cudaError_t load_mixed_gemm(DType dtype) {
  return with_kernels(dtype, [](auto tag) { return load_mixed_gemm_of<decltype(tag)::kType>(); });
}

cudaError_t launch_mixed_gemm(const MixedGemmArgs& args, cudaStream_t stream) {
  if (!is_valid(args)) return cudaErrorInvalidValue;
  if (encode_tiled() == nullptr) return cudaErrorNotSupported;
  if (args.m == 0) return cudaSuccess;
  DeviceTraits traits;
  if (const cudaError_t e = current_device(traits); e != cudaSuccess) return e;
  const GemmShape shape = choose_shape(args, traits.n_multiprocessors);
  if (shape.n_tokens == 0) return cudaErrorInvalidValue;
  CUtensorMap map;
  if (!describe_x(args, shape.n_tokens, map)) return cudaErrorInvalidValue;
  GemmTask task = task_of(args, shape, traits.n_multiprocessors);
  return with_kernels(args.dtype, [&](auto tag) {
    constexpr DType kType = decltype(tag)::kType;
    task.tile_bytes = Layout<kType>::tile_bytes(units_of(args.n_cols));
    return launch_mixed_gemm_of<kType>(task, map, {shape.n_tokens, shape.n_ctas, stream});
  });
}

}  // namespace inlay::cuda
