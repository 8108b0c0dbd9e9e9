// The locks of calls that compute. Others take Engine::mutex_ alone, and wait for moments.
#pragma once

#include "src/engine/engine.h"

namespace inlay {

// The calling thread's turn to compute, with the engine's mutex.
class Engine::Turn {
 public:
  explicit Turn(const Engine& engine) : turn_(engine.turn_), lock_(engine.mutex_) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const std::lock_guard<TurnMutex> turn_;
  const std::lock_guard<Mutex> lock_;
};

// While the device computes: the turn stays, the mutex is free. Other threads may then make, fork, cut and free sessions that have no part
// in the step.
class Engine::Computing {
 public:
  explicit Computing(const Engine& engine) : mutex_(engine.mutex_) { mutex_.unlock(); }
  ~Computing() { mutex_.lock(); }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace inlay
