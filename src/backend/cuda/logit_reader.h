// Brings logits to the host, into page-locked memory: the driver's own way to any other takes them through small buffers
// one after another. Who read a slot's logits after its last step will probably do so again: they are sent as soon as
// the step has ended, while the host goes on.
#pragma once

#include <span>
#include <vector>

#include "src/backend/cuda/device.h"
#include "src/backend/step_batch.h"

namespace inlay {

class LogitReader {
 public:
  // slots: (n_slots, n_vocab) on the device.
  LogitReader() = default;
  LogitReader(const float* slots, int32_t n_slots, int32_t n_vocab)
      : slots_(slots), n_vocab_(static_cast<size_t>(n_vocab)), entries_(static_cast<size_t>(n_slots)) {}

  // Before a step writes these rows; before anything else writes a slot.
  void forget(std::span<const LogitRow> rows);
  void forget(int32_t slot) { entry(slot).is_sent = false; }
  // After the step's work was put on the stream.
  Status send(std::span<const LogitRow> rows, cudaStream_t stream);

  // Waits. (n_vocab), there until the slot's next step.
  Result<std::span<const float>> read(int32_t slot, cudaStream_t stream);

 private:
  struct Entry {
    PinnedBuffer memory;  // taken when the slot is first read
    Event arrived;
    bool is_sent = false;  // on its way or there
    bool was_read = false;
  };
  Entry& entry(int32_t slot) { return entries_[static_cast<size_t>(slot)]; }
  Status send(Entry& e, int32_t slot, cudaStream_t stream);

  const float* slots_ = nullptr;
  size_t n_vocab_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace inlay
