// launch_prefill_attention: checks, and the kernels of models whose attention is plain. prefill_kernel.cuh has the
// rest.
#include "kernels/cuda/attention/prefill_kernel.cuh"

namespace inlay::cuda {

using PrefillLaunch = cudaError_t(const PrefillAttentionArgs&, const DeviceTraits&, LaunchTarget);
template PrefillLaunch launch_prefill_tiles<PrefillKind::plain>;
extern template PrefillLaunch launch_prefill_tiles<PrefillKind::variant>;
extern template PrefillLaunch launch_prefill_tiles<PrefillKind::both_ways>;

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
  if (args.both_ways) return launch_prefill_tiles<PrefillKind::both_ways>(args, device, target);
  return args.variant.is_plain() ? launch_prefill_tiles<PrefillKind::plain>(args, device, target)
                                 : launch_prefill_tiles<PrefillKind::variant>(args, device, target);
}

bool attends_both_ways(int device) {
  int code = 0, shared_bytes = 0;
  if (code_version(device, code) != cudaSuccess || code < 80) return false;
  const cudaError_t e = cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return e == cudaSuccess && shared_bytes >= PrefillShared<256, 1>::kBytes;  // the largest
}

}  // namespace inlay::cuda
