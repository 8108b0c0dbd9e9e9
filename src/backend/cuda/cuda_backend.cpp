#include "src/backend/cuda/cuda_backend.h"

#include "src/backend/cuda/executor.h"

namespace inlay {

int32_t n_cuda_devices() {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return n;
}

Result<CudaDevice> describe_cuda_device(int32_t index) {
  cudaDeviceProp properties;
  INLAY_CUDA_TRY(cudaGetDeviceProperties(&properties, index), "describing the device");
  CudaDevice device;
  device.name = properties.name;
  device.features = "compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor);
  device.n_multiprocessors = properties.multiProcessorCount;
  INLAY_TRY(select_device(index));
  size_t free_bytes = 0, total_bytes = 0;
  INLAY_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes), "reading the device's memory");
  device.free_bytes = free_bytes;
  device.total_bytes = total_bytes;
  return device;
}

Result<MemoryNeeds> cuda_memory_needs(const Plan& plan, const BackendConfig& config) {
  INLAY_TRY(DeviceWeights::check(plan));
  return CudaExecutor::needs(plan, config);
}

Result<std::unique_ptr<Backend>> make_cuda_backend(Plan plan, WeightReader& reader, const BackendConfig& config, int32_t device_index,
                                                   const LoadProgress& progress) {
  auto executor = std::make_unique<CudaExecutor>(std::move(plan), config, device_index);
  INLAY_TRY(executor->load(reader, progress));
  return std::unique_ptr<Backend>(std::move(executor));
}

}  // namespace inlay
