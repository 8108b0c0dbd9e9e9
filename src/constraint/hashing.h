// Hash-consing: equal things are stored once, so that comparing them is comparing their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::constraint {

inline uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

// From hashes to numbers that its owner gave; the owner compares what the numbers stand for. Open addressing.
class NumberTable {
 public:
  NumberTable() { clear(); }

  void clear() {
    slots_.assign(64, Slot{});
    n_used_ = 0;
  }

  // The number whose thing has this hash and is(number); otherwise make(), which is stored and must not call this table.
  template <class Is, class Make>
  uint32_t find_or_add(uint64_t hash, Is&& is, Make&& make) {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      if (slots_[at].number == kFree) {
        const uint32_t number = make();
        slots_[at] = {tag, number, static_cast<uint32_t>(hash)};
        if (++n_used_ * 2 > slots_.size()) grow();
        return number;
      }
      if (slots_[at].tag == tag && is(slots_[at].number)) return slots_[at].number;
    }
  }
  size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint32_t tag = 0;
    uint32_t number = kFree;
    uint32_t low = 0;  // the hash's lower half, for growing
  };

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.number == kFree) continue;
      size_t at = slot.low & mask;
      while (slots_[at].number != kFree) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t n_used_ = 0;
};

}  // namespace inlay::constraint
