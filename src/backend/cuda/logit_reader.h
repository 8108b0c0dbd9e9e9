// Brings logits to the host, into page-locked memory: the driver's own way to any other takes them through small
// buffers one after another. Who read a slot's logits after its last step will probably do so again: a decode step's
// head then writes them there as they arise and says whether there is a NaN or infinity among them, and after any other
// step they are sent while the host goes on.
#pragma once

#include <span>
#include <vector>

#include "src/backend/backend.h"
#include "src/backend/cuda/device.h"
#include "src/backend/cuda/step_arrays.h"
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
  void forget(int32_t slot);
  // Before a step whose head heeds mirrors is copied to the device.
  void mirror(std::span<const LogitRow> rows, StepBlock& step);
  // After the step's work was put on the stream, with or without mirrors.
  Status send(std::span<const LogitRow> rows, cudaStream_t stream);

  // Waits; a step that had mirrors has ended. There until the slot's next step.
  Result<Backend::Logits> read(int32_t slot, cudaStream_t stream);

 private:
  struct Entry {
    PinnedBuffer memory;      // taken when the slot is first read: kBefore floats, then the row
    float* row = nullptr;     // row[-1] is the head's mark: not 0 if there is a NaN or infinity
    float* mapped = nullptr;  // the row for the device
    Event arrived;            // of what was sent
    enum class Place { device, sent, mirrored } place = Place::device;
    bool was_read = false, has_mirror = false;
  };
  static constexpr size_t kBefore = 64;  // so that the row's address is a multiple of 256
  Entry& entry(int32_t slot) { return entries_[static_cast<size_t>(slot)]; }
  Status take_memory(Entry& e);
  Status send(Entry& e, int32_t slot, cudaStream_t stream);

  const float* slots_ = nullptr;
  size_t n_vocab_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace inlay
