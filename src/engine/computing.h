#pragma once

#include "src/engine/engine_locks.h"

namespace inlay {

// While the device computes: the turn stays, the engine's mutex is free. Other threads may then make, fork, cut and free sessions that have no
// part in the step.
class INLAY_LOCK_HOLDER Computing {
 public:
  explicit Computing(Mutex& mutex) INLAY_LETS_GO(engine_mutex) INLAY_UNCHECKED : mutex_(mutex) { mutex_.unlock(); }
  ~Computing() INLAY_LETS_GO() INLAY_UNCHECKED { mutex_.lock(); }  // Clang's word for the end of whatever the class does
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace inlay
