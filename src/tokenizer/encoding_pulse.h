// How the work on a long text is ended: from deep inside of it, where the words are.
#pragma once

#include <utility>

#include "src/base/pulse.h"

namespace inlay {

// Leaves encode_text(), and becomes the error of encode().
struct EncodingEnded {
  Status status;
};

// Beats once for many small pieces of work.
class EncodingPulse {
 public:
  // `n`: bytes, or steps that take about as long as a byte.
  void work(size_t n) {
    n_ += n;
    if (n_ < kWorkOfBeat) return;
    n_ = 0;
    if (Status status = Pulse::beat(); !status.ok()) throw EncodingEnded{std::move(status)};
  }

 private:
  static constexpr size_t kWorkOfBeat = 64 << 10;  // a few milliseconds
  size_t n_ = 0;
};

}  // namespace inlay
