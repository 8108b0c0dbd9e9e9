#include "src/backend/cuda/op_timer.h"

#include <algorithm>

#include "kernels/cuda/cuda_kernels.h"

namespace inlay {
namespace {

// Longer than the host takes to launch an op with its event.
constexpr uint64_t kHoldNanosecondsPerOp = 20'000;

constexpr uint64_t kBufferBytes = uint64_t{1} << 30;  // many times the L2 cache
constexpr uint64_t kLeastBytes = uint64_t{1} << 28;
constexpr int kRepetitions = 10;

// The largest buffer that there is room for.
Result<DeviceBuffer> allocate_buffer() {
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(kBufferBytes, "memory to measure the read bandwidth with");
  for (uint64_t bytes = kBufferBytes / 2;
       !buffer.ok() && buffer.status().code == Code::device_out_of_memory && bytes >= kLeastBytes; bytes /= 2) {
    buffer = DeviceBuffer::allocate(bytes, "memory to measure the read bandwidth with");
  }
  return buffer;
}

}  // namespace

Status OpTimer::begin(size_t n_moments, cudaStream_t stream) {
  while (events_.size() < n_moments) {
    INLAY_ASSIGN(Event event, make_timing_event());
    events_.push_back(std::move(event));
  }
  return cuda_status(cuda::launch_delay(kHoldNanosecondsPerOp * n_moments, stream), "holding the stream");
}

Status OpTimer::note(size_t k, cudaStream_t stream) {
  return cuda_status(cudaEventRecord(events_[k].get(), stream), "noting a time");
}

Result<double> OpTimer::microseconds(size_t from, size_t to) {
  INLAY_TRY(wait_for(events_[to].get(), "waiting for a time"));
  float milliseconds = 0;
  INLAY_CUDA_TRY(cudaEventElapsedTime(&milliseconds, events_[from].get(), events_[to].get()), "reading a time");
  return 1e3 * static_cast<double>(milliseconds);
}

Result<double> measure_device_read_bandwidth(cudaStream_t stream) {
  INLAY_ASSIGN(DeviceBuffer buffer, allocate_buffer());
  INLAY_ASSIGN(DeviceBuffer sums, DeviceBuffer::allocate(cuda::read_sums_bytes(), "sums"));
  // Random, since some devices move compressible bytes faster.
  INLAY_CUDA_TRY(cuda::launch_fill_random(buffer.data(), buffer.size(), stream), "measuring the read bandwidth");
  OpTimer timer;
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    INLAY_TRY(timer.begin(2, stream));
    INLAY_TRY(timer.note(0, stream));
    INLAY_CUDA_TRY(cuda::launch_read(buffer.data(), buffer.size(), sums.data(), stream),
                   "measuring the read bandwidth");
    INLAY_TRY(timer.note(1, stream));
    INLAY_ASSIGN(const double us, timer.microseconds(0, 1));
    best = std::max(best, static_cast<double>(buffer.size()) / us * 1e6);
  }
  return best;
}

}  // namespace inlay
