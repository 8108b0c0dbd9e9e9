// The Plan on an NVIDIA GPU. No CUDA header is needed to include this one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/backend/backend.h"
#include "src/base/thread.h"

namespace inlay {

struct CudaDevice {
  std::string name;
  std::string features;  // "compute capability 9.0"
  int32_t n_multiprocessors = 0;
  uint64_t total_bytes = 0, free_bytes = 0;
};

int32_t n_cuda_devices();              // 0 where there is no driver
Result<int32_t> count_cuda_devices();  // NO_DEVICE says why there are none
Result<CudaDevice> describe_cuda_device(int32_t index);
// NO_DEVICE if this build has no kernels for the device; names what the device is and what the build has.
Status check_cuda_kernels(int32_t index);
BackendCounters cuda_counters();
// Opens cuBLASLt on a thread of its own, where there is a GPU: that takes 0.06 s, in which a device's context can be
// made. Whether it opened is found out where it is used; without a thread it is opened there.
std::optional<Thread> open_cublas_ahead(bool allow_cublas);
// UNSUPPORTED if a weight is of a type that the kernels do not take; names the type and the tensor.
Status check_cuda_types(const Plan& plan);
// UNSUPPORTED if the model needs what the kernels for the device lack; names it.
Status check_cuda_features(const ModelSpec& spec, int32_t device_index);

Result<std::unique_ptr<Backend>> make_cuda_backend(Plan plan, WeightReader& reader, const BackendConfig& config,
                                                   int32_t device_index, const LoadProgress& progress);
// Device memory. Shapes alone decide; a plan that the backend cannot run is refused here, by name.
Result<MemoryNeeds> cuda_memory_needs(const Plan& plan, const BackendConfig& config, int32_t device_index);

}  // namespace inlay
