// launch_prefill_attention: checks, and the kernels of models whose attention is plain. prefill_kernel.cuh has the
// rest.
#include "kernels/cuda/attention/prefill_kernel.cuh"

namespace inlay::cuda {

template cudaError_t launch_prefill_tiles<false>(const PrefillAttentionArgs&, const DeviceTraits&, LaunchTarget);
extern template cudaError_t launch_prefill_tiles<true>(const PrefillAttentionArgs&, const DeviceTraits&, LaunchTarget);

namespace {

bool supported(const PrefillAttentionArgs& a) {
  const CacheView& c = a.cache;
  if (!supported(a.variant)) return false;
  if (a.n_tiles < 0 || a.n_tiles > 65535 || c.max_blocks < 1 || c.block_tokens != kBlockKeys) return false;
  if (c.d_head < 16 || c.d_head > 256 || c.d_head % 8 != 0) return false;
  return c.n_kv_heads >= 1 && a.n_heads >= 1 && a.n_heads % c.n_kv_heads == 0;
}

}  // namespace

cudaError_t launch_prefill_attention(const PrefillAttentionArgs& args, LaunchTarget target) {
  if (!supported(args)) return cudaErrorInvalidValue;
  if (args.n_tiles == 0) return cudaSuccess;
  DeviceTraits device;
  if (const cudaError_t e = current_device(device); e != cudaSuccess) return e;
  return args.variant.is_plain() ? launch_prefill_tiles<false>(args, device, target)
                                 : launch_prefill_tiles<true>(args, device, target);
}

}  // namespace inlay::cuda
