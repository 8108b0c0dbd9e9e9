// The kernels of prefill attention that know windows, soft caps and sinks.
#include "kernels/cuda/attention/prefill_kernel.cuh"

namespace inlay::cuda {

template cudaError_t launch_prefill_tiles<PrefillKind::variant>(const PrefillAttentionArgs&, const DeviceTraits&, LaunchTarget);

}  // namespace inlay::cuda
