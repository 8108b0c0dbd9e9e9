#include "src/engine/shared_steps.h"

#include <algorithm>

namespace inlay {

SharedSteps::Call::Call(SharedSteps& steps, StepCaller& caller, uint64_t& latest) : steps_(steps), caller_(caller), latest_(latest) {
  Lock lock(steps.mutex_);
  (steps.last_ ? steps.last_->next_ : steps.first_) = this;
  steps.last_ = this;
  if (steps.n_missing_ > 0 && latest == steps.number_ && --steps.n_missing_ == 0) steps.back_.notify_one();
  if (!steps.is_led_) leads_ = steps.is_led_ = true;
  while (!leads_ && !may_leave_) changed_.wait(lock);
  if (leads_) steps.await_missing(lock);
}

SharedSteps::Call::~Call() {
  if (!leads_) return;
  const Lock lock(steps_.mutex_);
  steps_.end_step();
}

void SharedSteps::await_missing(Lock& lock) {
  const Clock::time_point until = Clock::now() + std::min<Clock::duration>(kMostWait, took_ / 2);
  for (Clock::time_point now = Clock::now(); n_missing_ > 0 && now < until; now = Clock::now()) {
    back_.wait_for(lock, std::chrono::ceil<std::chrono::microseconds>(until - now));
  }
  n_missing_ = 0;
}

// Those that were in it may leave as soon as the lock is free.
void SharedSteps::end_step() {
  if (members_.empty()) {  // it did not come to that
    first_ = first_->next_;
    if (!first_) last_ = nullptr;
  } else {
    took_ = Clock::now() - began_;
    ++number_;
  }
  // One that is always alone is not waited for: the same thread may step others, too.
  const bool together = members_.size() > 1 || first_;
  for (Call* call : members_) {
    if (!call->is_stepped_) call->status_ = error(Code::out_of_memory, "the step was shared with another call, which had no memory to run it");
    call->latest_ = together && call->goes_on_ ? number_ : 0;
    n_missing_ += call->latest_ != 0;
    call->may_leave_ = true;
    if (!call->leads_) call->changed_.notify_one();
  }
  members_.clear();
  is_led_ = first_ != nullptr;
  if (!first_) return;
  first_->leads_ = true;
  first_->changed_.notify_one();
}

size_t SharedSteps::n_waiting() const {
  const Lock lock(mutex_);
  size_t n = 0;
  for (const Call* call = first_; call; call = call->next_) ++n;
  return n;
}

}  // namespace inlay
