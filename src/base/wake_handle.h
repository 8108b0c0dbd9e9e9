// What a loop of the system can wait for: an eventfd on Linux, an event on Windows. It is ready from set() to clear().
#pragma once

#include <cstdint>
#include <utility>

#include "src/base/status.h"

namespace inlay {

class WakeHandle {
 public:
  using System = intptr_t;  // a file descriptor, on Windows a HANDLE

  static Result<WakeHandle> make();
  WakeHandle(WakeHandle&& other) noexcept : system_(std::exchange(other.system_, kNone)) {}
  WakeHandle& operator=(WakeHandle&&) = delete;
  ~WakeHandle();

  System system() const { return system_; }
  void set();
  void clear();

 private:
  static constexpr System kNone = -1;
  explicit WakeHandle(System system) : system_(system) {}
  System system_;
};

}  // namespace inlay
