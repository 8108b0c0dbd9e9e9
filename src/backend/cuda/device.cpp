#include "src/backend/cuda/device.h"

#include <atomic>

#include "src/backend/cuda/cuda_backend.h"

namespace inlay {
namespace {

struct Counters {
  std::atomic<uint64_t> allocations{0}, frees{0}, pinned_allocations{0}, pinned_frees{0}, host_waits{0},
      graph_launches{0};
};
Counters counters;

void add_one(std::atomic<uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

// Wrong calls of ours, which leave the context usable. What is not known to be harmless is taken for a lost device.
bool is_refusal(cudaError_t code) {
  switch (code) {
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorNotReady:
    case cudaErrorNotSupported:
      return true;
    default:
      return code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
  }
}

Code code_of(cudaError_t code) {
  if (code == cudaErrorMemoryAllocation) return Code::device_out_of_memory;
  const bool is_absent =
      code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver || code == cudaErrorInvalidDevice;
  if (is_absent || is_missing_kernel(code)) return Code::no_device;
  return is_refusal(code) ? Code::internal : Code::device_lost;
}

Status describe(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return {};
  (void)cudaGetLastError();  // an error that is not sticky shall not be found by the next call
  Status status = error(code_of(code), "%s: %s", what, cudaGetErrorString(code));
  status.native_code = static_cast<int32_t>(code);
  return status;
}

cudaError_t injected(CudaPoint point) { return static_cast<cudaError_t>(injected_cuda_error(point)); }

// The bytes wanted and free belong to an error of allocation.
Status allocation_error(cudaError_t code, const char* what, uint64_t bytes) {
  Status status = describe(code, what);
  if (code != cudaErrorMemoryAllocation) return status;
  size_t free_bytes = 0, total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) (void)cudaGetLastError();
  status = error(Code::device_out_of_memory, "%s: %llu bytes of device memory wanted, %llu are free", what,
                 static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(free_bytes));
  status.native_code = static_cast<int32_t>(code);
  status.required = bytes;
  status.available = free_bytes;
  return status;
}

}  // namespace

bool is_missing_kernel(cudaError_t code) {
  return code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidKernelImage ||
         code == cudaErrorUnsupportedPtxVersion || code == cudaErrorInvalidPtx ||
         code == cudaErrorJitCompilerNotFound || code == cudaErrorJitCompilationDisabled;
}

Status cuda_status(cudaError_t code, const char* what, CudaPoint point) {
  const cudaError_t fault = injected(point);
  return describe(fault == cudaSuccess ? code : fault, what);
}

Status wait_for(cudaStream_t stream, const char* what) {
  add_one(counters.host_waits);
  return cuda_status(cudaStreamSynchronize(stream), what, CudaPoint::wait);
}

Status wait_for(cudaEvent_t event, const char* what) {
  add_one(counters.host_waits);
  return cuda_status(cudaEventSynchronize(event), what, CudaPoint::wait);
}

void drain(cudaStream_t stream) noexcept {
  add_one(counters.host_waits);
  if (!ContextScope::is_gone()) (void)cudaStreamSynchronize(stream);
}

Status copy_to_device(void* to, const void* from, uint64_t bytes, const char* what) {
  INLAY_ASSIGN(const Stream stream, make_stream());
  INLAY_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream.get()), what);
  return wait_for(stream.get(), what);
}

Status launch_graph(cudaGraphExec_t graph, cudaStream_t stream, const char* what) {
  add_one(counters.graph_launches);
  return cuda_status(cudaGraphLaunch(graph, stream), what);
}

BackendCounters cuda_counters() {
  return {.n_allocations = counters.allocations,
          .n_frees = counters.frees,
          .n_pinned_allocations = counters.pinned_allocations,
          .n_pinned_frees = counters.pinned_frees,
          .n_host_waits = counters.host_waits,
          .n_graph_launches = counters.graph_launches};
}

Result<DeviceBuffer> DeviceBuffer::allocate(uint64_t bytes, const char* what) {
  INLAY_ASSIGN(DeviceBuffer buffer, allocate_unset(bytes, what));
  if (bytes == 0) return buffer;
  INLAY_ASSIGN(const Stream stream, make_stream());
  INLAY_CUDA_TRY(cudaMemsetAsync(buffer.data_, 0, bytes, stream.get()), what);
  INLAY_TRY(wait_for(stream.get(), what));  // our streams do not wait for the one that fills
  return buffer;
}

Result<DeviceBuffer> DeviceBuffer::allocate_unset(uint64_t bytes, const char* what) {
  DeviceBuffer buffer;
  if (bytes == 0) return buffer;
  void* data = nullptr;
  cudaError_t code = injected(CudaPoint::allocation);
  if (code == cudaSuccess) code = cudaMalloc(&data, bytes);
  if (code != cudaSuccess) return allocation_error(code, what, bytes);
  add_one(counters.allocations);
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.size_ = bytes;
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  if (!data_) return;
  if (!ContextScope::is_gone()) (void)cudaFree(data_);
  add_one(counters.frees);
}

Result<PinnedBuffer> PinnedBuffer::allocate(uint64_t bytes, const char* what) {
  PinnedBuffer buffer;
  if (bytes == 0) return buffer;
  void* data = nullptr;
  cudaError_t code = injected(CudaPoint::pinned_allocation);
  if (code == cudaSuccess) code = cudaMallocHost(&data, bytes);
  if (code == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    Status status = error(Code::out_of_memory, "%s: %llu bytes of page-locked host memory cannot be had", what,
                          static_cast<unsigned long long>(bytes));
    status.native_code = static_cast<int32_t>(code);
    status.required = bytes;
    return status;
  }
  INLAY_TRY(describe(code, what));
  add_one(counters.pinned_allocations);
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.size_ = bytes;
  return buffer;
}

PinnedBuffer::~PinnedBuffer() {
  if (!data_) return;
  if (!ContextScope::is_gone()) (void)cudaFreeHost(data_);
  add_one(counters.pinned_frees);
}

Result<Stream> make_stream() {
  cudaStream_t stream = nullptr;
  INLAY_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return Stream(stream);
}

Result<Event> make_event() {
  cudaEvent_t event = nullptr;
  INLAY_CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  return Event(event);
}

Result<Event> make_timing_event() {
  cudaEvent_t event = nullptr;
  INLAY_CUDA_TRY(cudaEventCreate(&event), "creating an event");
  return Event(event);
}

}  // namespace inlay
