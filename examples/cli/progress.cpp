#include "examples/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "examples/cli/system.h"
#include "src/base/printable.h"

namespace inlay::cli {

namespace {

constexpr size_t kBar = 30, kMark = 3;

// The longest end of a text that takes so many columns at most; what is no ASCII may be two wide.
std::string end_of(const std::string& text, size_t n_columns) {
  size_t begin = text.size();
  for (size_t at = text.size(), n = 0; at-- > 0;) {
    if ((text[at] & 0xC0) == 0x80) continue;  // inside a character
    n += (text[at] & 0x80) == 0 ? 1 : 2;
    if (n > n_columns) break;
    begin = at;
  }
  return text.substr(begin);
}

std::string shortened(const std::string& text, size_t n_columns) {
  if (end_of(text, n_columns) == text) return text;
  return n_columns <= kMark ? "" : "..." + end_of(text, n_columns - kMark);
}

}  // namespace

std::string progress_line(const std::string& what, double part, double seconds_left, int columns) {
  const int percent = static_cast<int>(100.0 * part), filled = static_cast<int>(kBar * part);
  const std::string bar = " [" + std::string(static_cast<size_t>(filled), '=') + std::string(kBar - static_cast<size_t>(filled), ' ') + "]";
  std::string line = " " + std::to_string(percent) + " %";
  if (percent < 100) line.insert(0, percent < 10 ? 2 : 1, ' ');
  if (seconds_left >= 0) line += ", " + std::to_string(static_cast<int64_t>(seconds_left)) + " s left";
  const size_t room = static_cast<size_t>(std::max(columns, 1)) - 1;
  if (line.size() + bar.size() <= room) line = bar + line;
  if (line.size() > room) line.resize(room);
  return shortened(what, room - line.size()) + line;
}

ProgressBar::ProgressBar(const std::string& what, double seconds_before)
    : what_(printable(what, LineEnds::escaped)), seconds_before_(seconds_before), visible_(is_terminal(stderr)) {}

ProgressBar::~ProgressBar() {
  if (percent_ >= 0) std::fprintf(stderr, "\r\033[K");
}

void ProgressBar::show(uint64_t n_done, uint64_t n_total) {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (!visible_ || n_total == 0 || seconds < seconds_before_) return;
  const double part = static_cast<double>(n_done) / static_cast<double>(n_total);
  const int percent = static_cast<int>(100.0 * part);
  if (percent == percent_) return;
  percent_ = percent;
  // Where it takes long, from the second second on: how long still, if the rest goes as fast.
  const double left = seconds > 2 && n_done > 0 ? std::ceil(seconds / part - seconds) : -1;
  std::fprintf(stderr, "\r%s\033[K", progress_line(what_, part, left, terminal_columns(stderr)).c_str());
  std::fflush(stderr);
}

Progress::Progress(const std::string& what, bool writes) : bar_(what), scope_(nullptr, writes) {}

int32_t Progress::on_progress(void* user, uint64_t n_done, uint64_t n_total) {
  auto& self = *static_cast<Progress*>(user);
  self.n_total_ = n_total;
  self.bar_.show(n_done, n_total);
  return self.interrupted();
}

}  // namespace inlay::cli
