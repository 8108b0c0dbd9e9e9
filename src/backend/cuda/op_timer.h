// Moments on the device's own clock, and what its memory can give: for profiles.
#pragma once

#include <vector>

#include "src/backend/cuda/device.h"

namespace inlay {

// Events between the launches of a stream. An event keeps the next kernel from starting before the last one has ended,
// so the times add up to more than a step without events takes.
class OpTimer {
 public:
  // Makes what events are missing and holds the stream while the host launches, so that launching costs the ops no
  // time.
  Status begin(size_t n_moments, cudaStream_t stream);
  Status note(size_t k, cudaStream_t stream);
  Result<double> microseconds(size_t from, size_t to);  // waits for `to`

 private:
  std::vector<Event> events_;
};

// Bytes a second of the selected device.
Result<double> measure_device_read_bandwidth(cudaStream_t stream);

}  // namespace inlay
