// hidden[row] = factor * the float values of row tokens[row] of a packed table, bit for bit what dequantizing the file
// gives where the factor is 1.
// Rows of padding (position < 0) leave their row as it is, and so do tokens outside the table; but where values are
// awaited (tagged), such a row is zeros. One thread a column: a row is a few kilobytes, so the launch is the cost.
#include "kernels/cuda/device/exchange.cuh"
#include "kernels/cuda/device/loads.cuh"
#include "kernels/cuda/linear/codes.cuh"

namespace inlay::cuda {
namespace {

constexpr int kThreads = 256;

template <DType kType>
__global__ void __launch_bounds__(kThreads) embed(const __grid_constant__ EmbedArgs a) {
  using L = Layout<kType>;
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int64_t column = static_cast<int64_t>(blockIdx.y) * kThreads + threadIdx.x, row = blockIdx.x;
  const int64_t token = a.tokens[row];
  if (column >= a.d_model || a.positions[row] < 0) return;
  float& to = a.hidden[row * a.d_model + column];
  if (token < 0 || token >= a.n_vocab) {
    if (a.tagged) to = 0.0f;
    return;
  }
  const int64_t n_units = units_of(a.d_model);
  const uint8_t* tile = static_cast<const uint8_t*>(a.table) + token / kTileRows * L::tile_bytes(n_units);
  const float value = a.factor * element_of<kType>(tile, n_units, static_cast<int>(token % kTileRows), column);
  to = a.tagged ? cleared(value) : value;
}

}  // namespace

cudaError_t launch_embed(const EmbedArgs& args, LaunchTarget target) {
  const int64_t chunks = (args.d_model + kThreads - 1) / kThreads;
  if (!has_kernels(args.dtype) || args.m < 0 || args.d_model <= 0 || chunks > 65535) return cudaErrorInvalidValue;
  if (args.m == 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>(args.m), static_cast<unsigned>(chunks));
  return with_form(args.dtype, cudaErrorInvalidValue, [&](auto tag) {
    return launch_early<EmbedArgs>(embed<decltype(tag)::kType>, grid, kThreads, target, args);
  });
}

}  // namespace inlay::cuda
