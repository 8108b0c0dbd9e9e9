// The locks of calls that compute. Others take Engine::mutex_ alone, and wait for moments; it is free while the device computes: Computing.
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

}  // namespace inlay
