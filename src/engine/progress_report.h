// What a host is told of a long call: what the work says is done and, while one piece of it takes long, what was read since.
#pragma once

#include <algorithm>
#include <chrono>

#include "src/base/pulse.h"

namespace inlay {

// Lives and is told on the thread of the call, the only one on which the host may be called.
class ProgressReport {
 public:
  using Progress = std::function<bool(uint64_t n_done, uint64_t n_total)>;

  // `cancelled`: the message of the error once `to` has said no. After that `to` is not called again.
  ProgressReport(const Progress& to, const char* cancelled)
      : to_(to), cancelled_(cancelled), pulse_([this](uint64_t n_read) { return beat(n_read); }) {}

  // All that there is, and how many bytes are read for it. Until then the host is told 0 of 1.
  void expect(uint64_t n_total, uint64_t n_bytes) {
    n_total_ = std::max<uint64_t>(1, n_total);
    of_byte_ = static_cast<double>(n_total) / static_cast<double>(std::max<uint64_t>(1, n_bytes));
  }

  // False: the host wants the call to end.
  bool tell(uint64_t n_done) {
    n_sure_ = n_done;
    n_read_ = 0;
    return say(n_done);
  }

  // What the pulse does.
  Status beat(uint64_t n_read) {
    n_read_ += n_read;
    const bool goes_on = is_cancelled_ || Clock::now() - last_ < kLongest
                             ? !is_cancelled_
                             : say(n_sure_ + static_cast<uint64_t>(static_cast<double>(n_read_) * of_byte_));
    return goes_on ? Status{} : error(Code::cancelled, "%s", cancelled_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLongest{250};  // between two calls

  bool say(uint64_t n_done) {
    n_told_ = std::min(std::max(n_told_, n_done), n_total_);
    if (!is_cancelled_ && to_) is_cancelled_ = !to_(n_told_, n_total_);
    last_ = Clock::now();
    return !is_cancelled_;
  }

  const Progress& to_;
  const char* const cancelled_;
  uint64_t n_sure_ = 0, n_read_ = 0, n_told_ = 0, n_total_ = 1;
  double of_byte_ = 0;
  bool is_cancelled_ = false;
  Clock::time_point last_ = Clock::now();
  const Pulse pulse_;
};

}  // namespace inlay
