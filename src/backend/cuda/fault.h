// Failures on demand, for tests: what the CUDA runtime answers is replaced at a chosen call. No CUDA header is needed.
#pragma once

#include <cstdint>

namespace inlay {

// Where answers of the runtime come in.
enum class CudaPoint : uint8_t {
  devices,            // asking for the devices, and selecting one
  image,              // asking for a kernel that this device can run
  allocation,         // device memory
  pinned_allocation,  // page-locked host memory
  launch,             // kernels, graphs, copies, recorded events
  resident_launch,    // a kernel whose CTAs must all be resident together
  wait,               // the host waits for the device
  // A way whose kernels compute nothing, when it is checked: no launch, and no error.
  step_without_body,
  group_without_body,
  prompt_without_body,
  count
};

struct CudaFault {
  CudaPoint point = CudaPoint::launch;
  int64_t nth = 1;             // which call at this point fails, from 1
  int32_t error = 0;           // the cudaError_t that it gives
  bool sticky = false;         // so does every later call at any point, as after a fault on the device
  int32_t driver_version = 0;  // 1000 major + 10 minor: what the driver says of itself meanwhile; 0: its own version
};

// In force for the whole process while it lives; one at a time, and no thread uses CUDA while it comes or goes.
class InjectedCudaFault {
 public:
  explicit InjectedCudaFault(const CudaFault& fault);
  ~InjectedCudaFault();
  InjectedCudaFault(const InjectedCudaFault&) = delete;
  InjectedCudaFault& operator=(const InjectedCudaFault&) = delete;

  bool happened() const;
};

// The error to give at this call, 0 if none: always 0 unless a test has injected a fault.
int32_t injected_cuda_error(CudaPoint point);
// The driver's version to take, 0 for the true one.
int32_t injected_driver_version();

}  // namespace inlay
