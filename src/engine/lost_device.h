#pragma once

#include <utility>

#include "src/base/status.h"

namespace inlay {

// DEVICE_LOST once the device failed: the answer to every later call that needs it.
class LostDevice {
 public:
  const Status& status() const { return status_; }
  // What a backend's call came to, on its way to the caller.
  Status noted(Status status) {
    if (status.code == Code::device_lost) status_ = status;
    return status;
  }

 private:
  Status status_;
};

}  // namespace inlay
