// A bar on a terminal that shows how far a load, a conversion or a prompt is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "examples/cli/interrupt.h"

namespace inlay::cli {

// What the bar's line says, in less than so many columns: "loading MODEL [===   ]  10 %, 5 s left". Of a long text the end
// stays. `seconds_left`: below 0 it is not told.
std::string progress_line(const std::string& what, double part, double seconds_left, int columns);

// Is there at a terminal only, from so many seconds on.
class ProgressBar {
 public:
  explicit ProgressBar(const std::string& what, double seconds_before = 0);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(uint64_t n_done, uint64_t n_total);

 private:
  std::string what_;
  double seconds_before_;
  bool visible_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int percent_ = -1;
};

// With Ctrl-C or SIGTERM as the request to stop what is under way.
class Progress {
 public:
  // `what` is under way: "loading MODEL". `writes`: it leaves a file behind when the program ends before it does.
  explicit Progress(const std::string& what, bool writes = false);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool interrupted() const { return scope_.interrupted(); }
  int exit_code() const { return scope_.exit_code(); }
  uint64_t n_total() const { return n_total_; }  // as the last call of on_progress said

  // An inlay_progress_fn whose `user` is a Progress.
  static int32_t on_progress(void* user, uint64_t n_done, uint64_t n_total);

 private:
  ProgressBar bar_;
  uint64_t n_total_ = 0;
  InterruptScope scope_;
};

}  // namespace inlay::cli
