// A mutex that is had in the order of asking.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/mutex.h"

namespace inlay {

// For what threads take again and again and hold long: with std::mutex one that lets go and asks at once again mostly
// gets it before a thread that has waited all the time wakes up.
class INLAY_LOCK TurnMutex {
 public:
  TurnMutex() = default;
  TurnMutex(const TurnMutex&) = delete;
  TurnMutex& operator=(const TurnMutex&) = delete;

  void lock() INLAY_TAKES() {
    const uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
    for (uint32_t now = now_.load(std::memory_order_acquire); now != mine; now = now_.load(std::memory_order_acquire)) {
      wait_for_change(now_, now);
    }
  }
  void unlock() INLAY_LETS_GO() {
    now_.fetch_add(1, std::memory_order_release);
    wake_all(now_);
  }

  // While somebody holds it: how many threads hold it or wait for it.
  uint32_t n_asking() const {
    const uint32_t now = now_.load(std::memory_order_acquire);
    return next_.load(std::memory_order_relaxed) - now;
  }

 private:
  std::atomic<uint32_t> next_{0}, now_{0};  // the turn of who asks next; of who has it, or may take it
};

}  // namespace inlay
