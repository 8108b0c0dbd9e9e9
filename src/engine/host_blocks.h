// Memory of the host behind the device's for blocks of the cache: a budget of slots, each of one block. A thread takes the memory from the load on, chunk by
// chunk, page-locked on a GPU: nobody waits for it, and before the first block wants to go most of it is there. While a GPU computes, each chunk would wait
// for what it has to do. docs/design/requests.md, "What is found again"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "src/backend/backend.h"
#include "src/base/mutex.h"
#include "src/base/thread.h"
#include "src/engine/lost_device.h"
#include "src/engine/prefix_cache.h"

namespace inlay {

class HostBlocks : public BlockStore {
 public:
  static constexpr uint64_t kChunkBytes = uint64_t{64} << 20;  // or a block, if that is larger

  // Of blocks of one group; as many slots as `budget` bytes have room for.
  HostBlocks(Backend& backend, LostDevice& lost, int32_t group, uint64_t budget);
  HostBlocks(const HostBlocks&) = delete;
  HostBlocks& operator=(const HostBlocks&) = delete;
  ~HostBlocks() override;
  Status start();  // the thread

  // Calls come with the engine's mutex. Copies are queued: whoever gets a slot or a block next queues behind them.
  int32_t n_slots() const override { return n_slots_; }
  int32_t take() override;
  void give_back(int32_t slot) override;
  Status copy_out(int32_t block, int32_t slot) override;
  Status copy_in(int32_t slot, int32_t block) override;

  uint64_t bytes_taken() const;

  void wait_until_taken();  // until the thread has nothing to do: for tests

 private:
  void take_chunks();
  bool takes_more() const INLAY_NEEDS(mutex_) { return !ends_ && !has_failed_ && places_.size() < static_cast<size_t>(n_slots_); }

  Backend& backend_;
  LostDevice& lost_;
  const int32_t group_;
  const uint64_t block_bytes_;
  const int32_t n_slots_, n_of_chunk_;

  mutable Mutex mutex_;
  Condition is_taken_;
  std::vector<std::byte*> places_ INLAY_GUARDED_BY(mutex_);  // of the slots whose memory is there
  std::vector<int32_t> free_ INLAY_GUARDED_BY(mutex_);       // of these; a stack
  bool has_failed_ INLAY_GUARDED_BY(mutex_) = false;         // the system gives no more
  bool ends_ INLAY_GUARDED_BY(mutex_) = false;
  std::optional<Thread> thread_;
};

}  // namespace inlay
