// A value that is made when it is first asked for and then stays. Unlike a static variable of a function it has no guard, which a child
// of fork() would find held for ever, and is not destroyed when the process ends, while another thread may still be in a call.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace inlay {

// To be a static variable. Threads that ask at the same time may each make one; all get the same.
template <class T>
class MadeOnce {
 public:
  constexpr MadeOnce() = default;

  template <class Make>
  const T& get(const Make& make) {
    if (const T* made = made_.load(std::memory_order_acquire)) return *made;
    auto own = std::make_unique<const T>(make());
    const T* first = nullptr;
    if (made_.compare_exchange_strong(first, own.get(), std::memory_order_acq_rel, std::memory_order_acquire)) return *own.release();
    return *first;
  }

 private:
  std::atomic<const T*> made_{nullptr};
};

}  // namespace inlay
