#include "examples/cli/progress.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "examples/cli/system.h"

namespace inlay::cli {

Progress::Progress(std::string what, bool writes)
    : what_(std::move(what)), visible_(is_terminal(stderr)), scope_(nullptr, writes) {}

Progress::~Progress() {
  if (visible_) std::fprintf(stderr, "\r\033[K");
}

int32_t Progress::on_progress(void* user, uint64_t n_done, uint64_t n_total) {
  auto& self = *static_cast<Progress*>(user);
  self.n_total_ = n_total;
  if (self.visible_ && n_total > 0) self.show(n_done, n_total);
  return self.interrupted();
}

void Progress::show(uint64_t n_done, uint64_t n_total) {
  constexpr int kWidth = 30;
  const double part = static_cast<double>(n_done) / static_cast<double>(n_total);
  const int percent = static_cast<int>(100.0 * part), filled = static_cast<int>(kWidth * part);
  if (percent == percent_) return;
  percent_ = percent;
  std::fprintf(stderr, "\r%s [%.*s%*s] %3d %%", what_.c_str(), filled,
               "==============================", kWidth - filled, "", percent);
  // Where it takes long, from the second second on: how long still, if the rest goes as fast.
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (seconds > 2) std::fprintf(stderr, ", %.0f s left \033[K", std::ceil(seconds / part - seconds));
  std::fflush(stderr);
}

}  // namespace inlay::cli
