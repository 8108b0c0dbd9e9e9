// A call of several steps, between which other threads' calls may compute.
#pragma once

#include "src/engine/engine.h"

namespace inlay {

// A prefill, an embedding, a profile, a comparison. While there is one, no step in slices can begin; where one is
// pending, status() says so.
class Engine::LongRun {
 public:
  explicit LongRun(Engine& engine) : engine_(engine) {
    const std::lock_guard lock(engine_.mutex_);
    status_ = engine_.check_idle();
    ++engine_.n_long_runs_;
  }
  ~LongRun() {
    const std::lock_guard lock(engine_.mutex_);
    --engine_.n_long_runs_;
  }
  LongRun(const LongRun&) = delete;
  LongRun& operator=(const LongRun&) = delete;

  const Status& status() const { return status_; }

 private:
  Engine& engine_;
  Status status_;
};

}  // namespace inlay
