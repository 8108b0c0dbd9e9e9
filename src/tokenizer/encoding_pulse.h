// The pulse of the work on a long text, and its end where that says no.
#pragma once

#include <utility>

#include "src/base/pulse.h"

namespace inlay {

// Beats once for many small pieces of work.
class EncodingPulse {
 public:
  // `n`: bytes, or steps that take about as long as a byte. False: the work is to end, and what is left of it to be passed over.
  bool work(size_t n) {
    n_ += n;
    if (n_ >= kWorkOfBeat && status_.ok()) {
      n_ = 0;
      status_ = Pulse::beat();
    }
    return status_.ok();
  }
  const Status& status() const { return status_; }

 private:
  static constexpr size_t kWorkOfBeat = 64 << 10;  // a few milliseconds
  size_t n_ = 0;
  Status status_;
};

}  // namespace inlay
