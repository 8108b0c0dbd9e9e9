// CUDA's resources as values: each is freed when its owner goes, each failure is a Status.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/backend/backend.h"
#include "src/backend/cuda/context.h"
#include "src/backend/cuda/fault.h"
#include "src/base/status.h"

namespace inlay {

// ok, DEVICE_OUT_OF_MEMORY, NO_DEVICE, or DEVICE_LOST for errors after which the device's context is of no use. Every
// answer of the runtime passes through here, or through one of the functions and classes below.
Status cuda_status(cudaError_t code, const char* what, CudaPoint point = CudaPoint::launch);
// The build has neither machine code for the device nor PTX that its driver takes.
bool is_missing_kernel(cudaError_t code);

#define INLAY_CUDA_TRY(expression, what) INLAY_TRY(cuda_status((expression), what))

// The host waits for the device here and nowhere else, so that waits can be counted.
Status wait_for(cudaStream_t stream, const char* what);
Status wait_for(cudaEvent_t event, const char* what);
void drain(cudaStream_t stream) noexcept;  // for destructors: waits, whatever has become of the device
// Copies from pageable or page-locked memory and returns when the bytes are there. Not ordered with our streams, and not
// on the default stream: that one waits for those of the host.
Status copy_to_device(void* to, const void* from, uint64_t bytes, const char* what);
Status launch_graph(cudaGraphExec_t graph, cudaStream_t stream, const char* what);

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer(std::move(other)).swap(*this);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  static Result<DeviceBuffer> allocate(uint64_t bytes, const char* what);  // zero-filled, before any stream can see it
  static Result<DeviceBuffer> allocate_unset(uint64_t bytes, const char* what);

  uint64_t size() const { return size_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

// Page-locked host memory: copies from and to it run beside the host.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    PinnedBuffer(std::move(other)).swap(*this);
    return *this;
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer();

  static Result<PinnedBuffer> allocate(uint64_t bytes, const char* what);

  uint64_t size() const { return size_; }
  std::byte* data() { return data_; }
  void swap(PinnedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

// A CUDA handle that is destroyed with its owner.
template <class Handle, cudaError_t (*Destroy)(Handle)>
class CudaHandle {
 public:
  CudaHandle() = default;
  explicit CudaHandle(Handle handle) : handle_(handle) {}
  CudaHandle(CudaHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CudaHandle& operator=(CudaHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  CudaHandle(const CudaHandle&) = delete;
  CudaHandle& operator=(const CudaHandle&) = delete;
  ~CudaHandle() {
    if (handle_ && !ContextScope::is_gone()) (void)Destroy(handle_);
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Handle handle_ = nullptr;
};

using Stream = CudaHandle<cudaStream_t, cudaStreamDestroy>;
using Event = CudaHandle<cudaEvent_t, cudaEventDestroy>;
using Graph = CudaHandle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = CudaHandle<cudaGraphExec_t, cudaGraphExecDestroy>;

Result<Stream> make_stream();
Result<Event> make_event();         // tells order only
Result<Event> make_timing_event();  // tells time

}  // namespace inlay
