// The locks of calls that compute. Others take Engine::mutex_ alone, and wait for moments; it is free while the device computes: Computing.
#pragma once

#include <chrono>

#include "src/base/thread.h"
#include "src/engine/engine.h"
#include "src/engine/requests.h"

namespace inlay {

// The calling thread's turn to compute, with the engine's mutex. The step of requests that was left pending, if there is one, is ended first.
class INLAY_LOCK_HOLDER Engine::Turn {
 public:
  enum Pending { kEndsPending, kKeepsPending };
  explicit Turn(Engine& engine, Pending pending = kEndsPending) INLAY_TAKES(engine_turn, engine_mutex) INLAY_UNCHECKED : engine_(engine), pending_(pending) { take(); }
  ~Turn() INLAY_LETS_GO() INLAY_UNCHECKED {
    leave();
    engine_.requests_->live().flush();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 protected:
  void take() INLAY_UNCHECKED {
    engine_.turn_.lock();
    engine_.mutex_.lock();
    if (pending_ == kEndsPending) engine_.requests_->steps().finish_pending();
  }
  void leave() INLAY_UNCHECKED {
    engine_.mutex_.unlock();
    engine_.turn_.unlock();
  }
  // Lets others have theirs.
  void pause(std::chrono::microseconds time) INLAY_NEEDS(engine_turn, engine_mutex) {
    leave();
    Thread::pause(time);
    take();
  }

 private:
  Engine& engine_;
  const Pending pending_;
};

// The turn of a step of a call that has several. Where a step in slices is pending, which another thread has begun since, it waits for its end,
// or until `gives_up()`: then the engine is not idle.
class INLAY_LOCK_HOLDER Engine::LongTurn : private Turn {
 public:
  template <class GivesUp>
  LongTurn(Engine& engine, const GivesUp& gives_up, Pending pending = kEndsPending) INLAY_TAKES(engine_turn, engine_mutex) : Turn(engine, pending) {
    if (is_idle_ = engine.decoder_.is_idle(); is_idle_) return;
    ++engine.n_waiting_;
    while (!is_idle_ && !gives_up()) {
      pause(std::chrono::milliseconds(1));
      is_idle_ = engine.decoder_.is_idle();
    }
    --engine.n_waiting_;
    engine.owes_turn_ = false;
  }
  explicit LongTurn(Engine& engine) INLAY_TAKES(engine_turn, engine_mutex) : LongTurn(engine, [] { return false; }) {}

  ~LongTurn() INLAY_LETS_GO() INLAY_UNCHECKED {}

  bool is_idle() const { return is_idle_; }

 private:
  bool is_idle_ = false;
};

// The turn of a slice. A step does not begin before a step of those who have waited for the end of the last one.
class INLAY_LOCK_HOLDER Engine::SliceTurn : private Turn {
 public:
  explicit SliceTurn(Engine& engine) INLAY_TAKES(engine_turn, engine_mutex) : Turn(engine) {
    while (engine.owes_turn_ && engine.n_waiting_ > 0) pause(std::chrono::microseconds(200));
  }
  ~SliceTurn() INLAY_LETS_GO() INLAY_UNCHECKED {}
};

}  // namespace inlay
