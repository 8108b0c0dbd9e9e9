// Brings logits from the device to memory of the caller, which is pageable: by way of page-locked memory, in two halves,
// so that the host copies one while the device copies the other. The driver's own way takes them through small
// buffers one after another.
#pragma once

#include <span>

#include "src/backend/cuda/device.h"

namespace inlay {

class LogitReader {
 public:
  static Result<LogitReader> create(uint64_t n_vocab);

  // from: (n_vocab) on the device, written by work on the stream; waits. out: n_vocab.
  Status copy(const float* from, std::span<float> out, cudaStream_t stream);

 private:
  PinnedBuffer memory_;
  Event first_half_;
};

}  // namespace inlay
