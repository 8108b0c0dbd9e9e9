#pragma once

#include <functional>
#include <utility>

#include "src/base/status.h"

namespace inlay {

// DEVICE_LOST once the device failed: the answer to every later call that needs it.
class LostDevice {
 public:
  const Status& status() const { return status_; }
  // What a backend's call came to, on its way to the caller.
  Status noted(Status status) {
    if (status.code != Code::device_lost) return status;
    const bool is_first = status_.ok();
    status_ = status;
    if (is_first && tell_) tell_();
    return status;
  }
  // Called once, when the device is lost, with the engine's mutex.
  void set_tell(std::function<void()> tell) { tell_ = std::move(tell); }

 private:
  Status status_;
  std::function<void()> tell_;
};

}  // namespace inlay
