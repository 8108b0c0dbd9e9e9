// Memory of the host that keys and values pass through on their way from the device and back: chunks that are taken when they are first needed, and
// stay. Calls come with the engine's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/backend/backend.h"

namespace inlay {

class HostChunks {
 public:
  // What requests that are put out may have of it: as much as the cache has, within these.
  static constexpr uint64_t kLeastStored = uint64_t{64} << 20, kMostStored = uint64_t{1} << 30;

  explicit HostChunks(Backend& backend);

  uint64_t chunk_bytes() const { return chunk_bytes_; }  // a block of any group or a row of logits, at least
  size_t n_most_stored() const { return n_most_stored_; }
  size_t n_taken() const { return n_taken_; }

  Result<std::byte*> take();
  void give_back(std::byte* chunk);  // copies of it may still be queued: whoever gets it next queues behind them, or waits

 private:
  Backend& backend_;
  uint64_t chunk_bytes_ = uint64_t{1} << 20;
  size_t n_most_stored_ = 0, n_taken_ = 0;
  std::vector<std::byte*> free_;
};

}  // namespace inlay
