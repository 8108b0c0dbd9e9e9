#include "src/backend/cuda/device.h"

namespace inlay {
namespace {

// Errors that leave the context usable.
bool is_transient(cudaError_t code) {
  return code == cudaErrorInvalidValue || code == cudaErrorInvalidConfiguration || code == cudaErrorNotReady ||
         code == cudaErrorStreamCaptureUnsupported || code == cudaErrorStreamCaptureInvalidated;
}

}  // namespace

Status cuda_status(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return {};
  Code kind = is_transient(code) ? Code::internal : Code::device_lost;
  if (code == cudaErrorMemoryAllocation) kind = Code::device_out_of_memory;
  if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver || code == cudaErrorInvalidDevice ||
      code == cudaErrorNoKernelImageForDevice) {
    kind = Code::no_device;
  }
  (void)cudaGetLastError();  // an error that is not sticky shall not be found by the next call
  Status status = error(kind, "%s: %s", what, cudaGetErrorString(code));
  status.native_code = static_cast<int32_t>(code);
  return status;
}

Status select_device(int32_t index) { return cuda_status(cudaSetDevice(index), "selecting the device"); }

Result<DeviceBuffer> DeviceBuffer::allocate(uint64_t bytes, const char* what) {
  DeviceBuffer buffer;
  if (bytes == 0) return buffer;
  void* data = nullptr;
  if (const cudaError_t code = cudaMalloc(&data, bytes); code != cudaSuccess) {
    Status status = cuda_status(code, what);
    size_t free_bytes = 0, total_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) (void)cudaGetLastError();
    status.required = bytes;
    status.available = free_bytes;
    return status;
  }
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.size_ = bytes;
  INLAY_CUDA_TRY(cudaMemset(data, 0, bytes), what);
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  if (data_) (void)cudaFree(data_);
}

Result<PinnedBuffer> PinnedBuffer::allocate(uint64_t bytes, const char* what) {
  PinnedBuffer buffer;
  if (bytes == 0) return buffer;
  void* data = nullptr;
  INLAY_CUDA_TRY(cudaMallocHost(&data, bytes), what);
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.size_ = bytes;
  return buffer;
}

PinnedBuffer::~PinnedBuffer() {
  if (data_) (void)cudaFreeHost(data_);
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

}  // namespace inlay
