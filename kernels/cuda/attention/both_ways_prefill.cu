// The kernels of prefill attention to later keys, too; they know windows, soft caps and sinks.
#include "kernels/cuda/attention/prefill_kernel.cuh"

namespace inlay::cuda {

template cudaError_t launch_prefill_tiles<PrefillKind::both_ways>(const PrefillAttentionArgs&, const DeviceTraits&, LaunchTarget);

}  // namespace inlay::cuda
