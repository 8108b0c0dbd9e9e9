#include "src/backend/cuda/cuda_backend.h"

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/context.h"
#include "src/backend/cuda/cublas.h"
#include "src/backend/cuda/executor.h"
#include "src/base/environment.h"
#include "src/plan/features.h"

namespace inlay {
namespace {

// CUDA counts its versions as 1000 major + 10 minor.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string reason_for_no_device(cudaError_t code) {
  int driver = injected_driver_version(), runtime = 0;
  if (driver == 0 && cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no NVIDIA driver was found; this build needs one for CUDA " + version_text(runtime);
  if (code == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is too old: it supports CUDA " + version_text(driver) + ", this build needs CUDA " +
           version_text(runtime);
  }
  if (code == cudaErrorNoDevice) return "the NVIDIA driver (CUDA " + version_text(driver) + ") finds no GPU";
  return std::string("the NVIDIA driver (CUDA ") + version_text(driver) +
         ") does not tell its devices: " + cudaGetErrorString(code);
}

std::string compute_capability(const cudaDeviceProp& properties) {
  return std::to_string(properties.major) + "." + std::to_string(properties.minor);
}

}  // namespace

Result<int32_t> count_cuda_devices() {
  const CaptureScope relaxed;
  int n = 0;
  auto code = static_cast<cudaError_t>(injected_cuda_error(CudaPoint::devices));
  if (code == cudaSuccess) code = cudaGetDeviceCount(&n);
  if (code == cudaSuccess) return n;
  (void)cudaGetLastError();
  Status status = error(Code::no_device, "%s", reason_for_no_device(code).c_str());
  status.native_code = static_cast<int32_t>(code);
  return status;
}

int32_t n_cuda_devices() {
  const Result<int32_t> n = count_cuda_devices();
  return n.ok() ? *n : 0;
}

Status check_cuda_kernels(int32_t index) {
  const CaptureScope relaxed;
  INLAY_ASSIGN(const PrimaryContext context, PrimaryContext::of(index));
  const ContextScope scope(context);
  INLAY_TRY(scope.status());
  auto code = static_cast<cudaError_t>(injected_cuda_error(CudaPoint::image));
  if (code == cudaSuccess) code = cuda::find_kernel_image();
  if (code == cudaSuccess) return {};
  if (!is_missing_kernel(code) && code != cudaErrorInvalidDeviceFunction) {
    return cuda_status(code, "looking for kernels");
  }
  (void)cudaGetLastError();
  cudaDeviceProp properties;
  INLAY_CUDA_TRY(cudaGetDeviceProperties(&properties, index), "describing the device");
  Status status = error(Code::no_device, "%s has compute capability %s, this build has kernels for sm_ %s only",
                        properties.name, compute_capability(properties).c_str(), INLAY_BUILT_ARCHITECTURES);
  status.native_code = static_cast<int32_t>(code);
  return status;
}

Result<CudaDevice> describe_cuda_device(int32_t index) {
  const CaptureScope relaxed;
  cudaDeviceProp properties;
  INLAY_CUDA_TRY(cudaGetDeviceProperties(&properties, index), "describing the device");
  CudaDevice device;
  device.name = properties.name;
  device.features = "compute capability " + compute_capability(properties);
  device.n_multiprocessors = properties.multiProcessorCount;
  INLAY_ASSIGN(const PrimaryContext context, PrimaryContext::of(index));
  const ContextScope scope(context);
  INLAY_TRY(scope.status());
  size_t free_bytes = 0, total_bytes = 0;
  INLAY_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes), "reading the device's memory");
  device.free_bytes = free_bytes;
  device.total_bytes = total_bytes;
  return device;
}

std::optional<Thread> open_cublas_ahead(bool allow_cublas) {
  const CaptureScope relaxed;
  int n_devices = 0;
  if (!allow_cublas || cudaGetDeviceCount(&n_devices) != cudaSuccess || n_devices == 0) {
    (void)cudaGetLastError();
    return {};
  }
  Result<Thread> opening =
      Thread::start("inlay-cublas", [] { (void)Cublas::open_library(environment().cublas_directory); });
  if (!opening.ok()) return {};
  return *std::move(opening);
}

Status check_cuda_types(const Plan& plan) {
  for (const Weight& w : plan.weights) {
    if (cuda::has_kernels(w.dtype)) continue;
    const std::string type =
        w.dtype < DType::count ? traits(w.dtype).name : "type " + std::to_string(static_cast<int>(w.dtype));
    return error(Code::unsupported, "the CUDA backend has no kernels for %s, the type of tensor '%s'", type.c_str(),
                 w.name.c_str());
  }
  return {};
}

// Only the kernels of tiles see later keys, which code for older devices does not have.
Status check_cuda_features(const ModelSpec& spec, int32_t device_index) {
  constexpr Feature kOfTiles[] = {Feature::both_ways};
  if (!needs(spec, Feature::both_ways)) return {};
  const CaptureScope relaxed;
  INLAY_ASSIGN(const PrimaryContext context, PrimaryContext::of(device_index));
  const ContextScope scope(context);
  INLAY_TRY(scope.status());
  if (cuda::attends_both_ways(device_index)) return {};
  return check_features(spec, "CUDA backend's code for compute capability below 8.0", kOfTiles);
}

Result<MemoryNeeds> cuda_memory_needs(const Plan& plan, const BackendConfig& config, int32_t device_index) {
  INLAY_TRY(check_cuda_features(plan.spec, device_index));
  INLAY_TRY(check_cuda_types(plan));
  const CaptureScope relaxed;
  return CudaExecutor::needs(with_f16(plan), config, device_index);
}

Result<std::unique_ptr<Backend>> make_cuda_backend(Plan plan, WeightReader& reader, const BackendConfig& config,
                                                   int32_t device_index, const LoadProgress& progress) {
  INLAY_TRY(check_cuda_features(plan.spec, device_index));
  INLAY_TRY(check_cuda_types(plan));
  const CaptureScope relaxed;
  auto executor = std::make_unique<CudaExecutor>(plan, config, device_index, CudaExecutor::Bf16::as_f16);
  INLAY_TRY(executor->load(reader, progress));
  if (executor->needs_bf16()) {
    INLAY_ASSIGN(const PrimaryContext context, PrimaryContext::of(device_index));
    const ContextScope scope(context);  // a load that fails frees the weights here
    INLAY_TRY(scope.status());
    DeviceWeights weights = executor->take_weights();
    executor = nullptr;  // its memory
    executor = std::make_unique<CudaExecutor>(plan, config, device_index, CudaExecutor::Bf16::as_it_is);
    INLAY_TRY(executor->load(reader, progress, std::move(weights)));
  }
  return std::unique_ptr<Backend>(std::move(executor));
}

}  // namespace inlay
