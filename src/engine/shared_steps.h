// Threads that step sessions of their own at the same time share a step: docs/design/locks.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/status.h"

namespace inlay {

class Session;
struct StepEvent;

// Who asks for a step from outside. Sessions are named, and events taken, while the step has its turn, with the engine's own arrays, so that a step
// allocates nothing; maybe on the thread of another call.
class StepCaller {
 public:
  virtual size_t n_sessions() const = 0;  // at least one, at most max_sessions
  virtual Session& first_session() const = 0;
  virtual void name_sessions(std::span<Session*> room) = 0;  // puts them there
  // `failed`: of the step as a whole, in which no session changed. Not after a slice that has not ended the step.
  virtual void take_events(const Status& failed, std::span<Session* const> sessions, std::span<const StepEvent> events) = 0;

 protected:
  ~StepCaller() = default;
};

// Nothing runs by itself. Who comes while nobody leads, leads: it waits for the engine's turn and then steps all that have come meanwhile. Behind
// the step the first of those that came too late leads. A leader waits for those of the step before, who are busy with its events, but not for long.
class SharedSteps {
 public:
  // A call, while it is inside.
  class Call {
   public:
    // Blocks until it leads, or a leader has stepped it. `latest`: of its sessions, kept between calls, 0 at first.
    Call(SharedSteps& steps, StepCaller& caller, uint64_t& latest);
    // A leader's ends the step.
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    bool leads() const { return leads_; }
    StepCaller& caller() const { return caller_; }
    Status take_status() { return std::move(status_); }
    // By the leader. `goes_on`: whether another step of it is to be expected.
    void end(Status status, bool goes_on) {
      status_ = std::move(status);
      goes_on_ = goes_on;
      is_stepped_ = true;
    }

   private:
    friend class SharedSteps;
    SharedSteps& steps_;
    StepCaller& caller_;
    uint64_t& latest_;  // number of the latest step after which it was expected again
    Call* next_ = nullptr;
    bool leads_ = false, is_stepped_ = false, may_leave_ = false, goes_on_ = false;
    Condition changed_;  // it leads, or may leave
    Status status_;
  };

  explicit SharedSteps(size_t most) { members_.reserve(most); }

  // The leader and whom it takes along, in the order of their coming: those that accepts() says. For the leader, once it has the engine's turn.
  template <class Accepts>
  std::span<Call*> gather(const Accepts& accepts) {
    const Lock lock(mutex_);
    began_ = std::chrono::steady_clock::now();
    Call** place = &first_;
    last_ = nullptr;
    for (Call* call = first_; call; call = *place) {
      if (call->leads_ || accepts(call->caller_)) {
        *place = call->next_;
        members_.push_back(call);
      } else {
        last_ = call;
        place = &call->next_;
      }
    }
    return members_;
  }

  size_t n_waiting() const;  // for tests

 private:
  using Clock = std::chrono::steady_clock;
  // How long a leader waits at most, and half a step at most.
  static constexpr std::chrono::microseconds kMostWait{1000};

  void await_missing(Lock& lock) INLAY_NEEDS(mutex_);
  void end_step() INLAY_NEEDS(mutex_);

  mutable Mutex mutex_;
  Condition back_;                                      // none is missing any more
  Call* first_ INLAY_GUARDED_BY(mutex_) = nullptr;      // of those that wait, in the order of their coming, the leader in front
  Call* last_ INLAY_GUARDED_BY(mutex_) = nullptr;
  bool is_led_ INLAY_GUARDED_BY(mutex_) = false;
  uint64_t number_ INLAY_GUARDED_BY(mutex_) = 0;        // of the latest step
  size_t n_missing_ INLAY_GUARDED_BY(mutex_) = 0;       // calls of that step that are expected back
  Clock::duration took_ INLAY_GUARDED_BY(mutex_){};     // the latest step
  Clock::time_point began_ INLAY_GUARDED_BY(mutex_);
  std::vector<Call*> members_;                          // the leader's
};

}  // namespace inlay
