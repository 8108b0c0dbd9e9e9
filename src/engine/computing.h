#pragma once

#include "src/base/mutex.h"

namespace inlay {

// While the device computes: the turn stays, the engine's mutex is free. Other threads may then make, fork, cut and free sessions that have no
// part in the step.
class Computing {
 public:
  explicit Computing(Mutex& mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Computing() { mutex_.lock(); }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace inlay
