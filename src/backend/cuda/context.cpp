#include "src/backend/cuda/context.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include "src/backend/cuda/device.h"

namespace inlay {
namespace {

// The driver is loaded when it is first needed: a process without one can load the library.
struct Driver {
  decltype(&cuDeviceGet) get_device = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain_context = nullptr;
  decltype(&cuCtxPushCurrent) push_context = nullptr;
  decltype(&cuCtxPopCurrent) pop_context = nullptr;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
  decltype(&cuCtxGetId) context_id = nullptr;
  cudaError_t error = cudaSuccess;

  Driver() {
    find("cuDeviceGet", get_device);
    find("cuDevicePrimaryCtxRetain", retain_context);
    find("cuCtxPushCurrent", push_context);
    find("cuCtxPopCurrent", pop_context);
    find("cuThreadExchangeStreamCaptureMode", exchange_capture_mode);
    find("cuCtxGetId", context_id);
  }

 private:
  template <class Function>
  void find(const char* name, Function& function) {
    constexpr unsigned kVersion = 12000;  // in which the functions have the form that they are called with
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
#if CUDART_VERSION >= 12050
    const cudaError_t code = cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result);
#else
    static_assert(CUDART_VERSION >= kVersion);
    const cudaError_t code = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    if (error == cudaSuccess) error = code;
    if (error == cudaSuccess && result != cudaDriverEntryPointSuccess) error = cudaErrorInsufficientDriver;
    function = reinterpret_cast<Function>(found);
  }
};

const Driver& driver() {
  static const Driver loaded;
  return loaded;
}

// The runtime's errors have the driver's numbers.
cudaError_t error_of(CUresult result) { return static_cast<cudaError_t>(result); }

Status selection_status(cudaError_t code) { return cuda_status(code, "selecting the device", CudaPoint::devices); }

}  // namespace

CaptureScope::CaptureScope() {
  const Driver& d = driver();
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (d.error != cudaSuccess || d.exchange_capture_mode(&mode) != CUDA_SUCCESS) return;  // no driver: nothing to spoil
  former_mode_ = mode;
}

CaptureScope::~CaptureScope() {
  if (former_mode_ == kNone) return;
  auto mode = static_cast<CUstreamCaptureMode>(former_mode_);
  (void)driver().exchange_capture_mode(&mode);
}

Result<PrimaryContext> PrimaryContext::of(int32_t device) {
  const Driver& d = driver();
  const CaptureScope relaxed;
  PrimaryContext context;
  CUdevice handle = 0;
  cudaError_t code = d.error;
  if (code == cudaSuccess) code = error_of(d.get_device(&handle, device));
  if (code == cudaSuccess) code = error_of(d.retain_context(&context.handle_, handle));
  unsigned long long id = 0;  // the driver's type
  if (code == cudaSuccess) code = error_of(d.context_id(context.handle_, &id));
  INLAY_TRY(selection_status(code));
  context.id_ = id;
  return context;
}

uint64_t current_context_id() {
  unsigned long long id = 0;  // the driver's type
  const Driver& d = driver();
  return d.error == cudaSuccess && d.context_id(nullptr, &id) == CUDA_SUCCESS ? id : 0;
}

ContextScope::ContextScope(const PrimaryContext& context) {
  const CUresult pushed = driver().push_context(context.handle_);
  is_pushed_ = pushed == CUDA_SUCCESS;
  is_gone_ = !is_pushed_ || current_context_id() != context.id_;
  if (is_pushed_ && is_gone_) {
    status_ = error(Code::device_lost, "the host has reset the device");
    return;
  }
  (void)cudaGetLastError();  // of this thread, from a call that is not ours or was made good: launches would report it
  status_ = selection_status(error_of(pushed));
}

ContextScope::~ContextScope() {
  is_gone_ = outer_is_gone_;
  CUcontext ours = nullptr;
  if (is_pushed_) (void)driver().pop_context(&ours);
}

}  // namespace inlay
