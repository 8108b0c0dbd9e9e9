// Where the time of a load went: seconds between marks, as text for the log.
#pragma once

#include <chrono>
#include <string>

#include "src/base/format.h"

namespace inlay {

class LoadTimes {
 public:
  double total() const { return seconds_since(start_); }

  // What has been done since the mark before, and the text of its own parts if it has any.
  void mark(const char* what, const std::string& parts = {}) {
    append_format(text_, "%s%s %.3f s", text_.empty() ? "" : ", ", what, seconds_since(last_));
    if (!parts.empty()) text_ += " (" + parts + ")";
    last_ = Clock::now();
  }
  const std::string& text() const { return text_; }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  }

  Clock::time_point start_ = Clock::now(), last_ = start_;
  std::string text_;
};

}  // namespace inlay
