#include "src/engine/host_blocks.h"

#include <algorithm>
#include <new>

#include "src/backend/kv_memory.h"

namespace inlay {

HostBlocks::HostBlocks(Backend& backend, LostDevice& lost, int32_t group, uint64_t budget)
    : backend_(backend),
      lost_(lost),
      group_(group),
      block_bytes_(backend.kv_memory().block_bytes_of(group)),
      n_slots_(static_cast<int32_t>(std::min<uint64_t>(budget / block_bytes_, INT32_MAX / 2))),
      n_of_chunk_(static_cast<int32_t>(std::max<uint64_t>(1, kChunkBytes / block_bytes_))) {
  places_.reserve(static_cast<size_t>(n_slots_));
  free_.reserve(static_cast<size_t>(n_slots_));
}

HostBlocks::~HostBlocks() {
  {
    const Lock lock(mutex_);
    ends_ = true;
  }
  thread_.reset();
}

Status HostBlocks::start() {
  INLAY_ASSIGN(Thread thread, Thread::start("inlay-host", [this] { take_chunks(); }));
  thread_.emplace(std::move(thread));
  return {};
}

void HostBlocks::take_chunks() {
  Lock lock(mutex_);
  while (takes_more()) {
    const auto n = std::min(n_of_chunk_, n_slots_ - static_cast<int32_t>(places_.size()));
    lock.unlock();
    std::byte* memory = nullptr;
    try {
      const auto taken = backend_.take_host_memory(block_bytes_ * static_cast<uint64_t>(n));
      if (taken.ok()) memory = taken->data(), std::ranges::fill(*taken, std::byte{0});  // so that no copy waits for the system's pages
    } catch (const std::bad_alloc&) {  // as a system that gives none
    }
    lock.lock();
    has_failed_ = memory == nullptr;
    for (int32_t i = 0; i < n && memory != nullptr; ++i) {
      free_.push_back(static_cast<int32_t>(places_.size()));
      places_.push_back(memory + block_bytes_ * static_cast<uint64_t>(i));
    }
  }
  is_taken_.notify_all();
}

uint64_t HostBlocks::bytes_taken() const {
  const Lock lock(mutex_);
  return block_bytes_ * places_.size();
}

int32_t HostBlocks::take() {
  const Lock lock(mutex_);
  if (free_.empty()) return PrefixCache::kNone;
  const int32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void HostBlocks::give_back(int32_t slot) {
  const Lock lock(mutex_);
  free_.push_back(slot);
}

Status HostBlocks::copy_out(int32_t block, int32_t slot) {
  std::byte* to = nullptr;
  {
    const Lock lock(mutex_);
    to = places_[static_cast<size_t>(slot)];
  }
  return lost_.noted(backend_.copy_kv_to_host({group_, {&block, 1}}, to));
}

Status HostBlocks::copy_in(int32_t slot, int32_t block) {
  const std::byte* from = nullptr;
  {
    const Lock lock(mutex_);
    from = places_[static_cast<size_t>(slot)];
  }
  return lost_.noted(backend_.copy_kv_from_host({group_, {&block, 1}}, from));
}

void HostBlocks::wait_until_taken() {
  Lock lock(mutex_);
  while (takes_more()) is_taken_.wait(lock);
}

}  // namespace inlay
