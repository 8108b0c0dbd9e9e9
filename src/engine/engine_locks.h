// The two locks of an engine (docs/design/locks.md) as Clang checks them. Objects beside the engine need them, too, and reach it by references of their
// own, which Clang cannot tell from one another: so a thread that holds a lock of one engine counts as holding that of every engine.
#pragma once

#include "src/base/mutex.h"

namespace inlay {

class INLAY_LOCK HeldByThread {};
inline constexpr HeldByThread engine_turn, engine_mutex;

// Holds an engine's mutex.
class INLAY_LOCK_HOLDER EngineLock : public Lock {
 public:
  explicit EngineLock(Mutex& mutex) INLAY_TAKES(engine_mutex) INLAY_UNCHECKED : Lock(mutex) {}
  ~EngineLock() INLAY_LETS_GO() INLAY_UNCHECKED {}
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;
  void lock() INLAY_TAKES() INLAY_UNCHECKED { Lock::lock(); }
  void unlock() INLAY_LETS_GO() INLAY_UNCHECKED { Lock::unlock(); }
};

}  // namespace inlay
