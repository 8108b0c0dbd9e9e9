// Locks and waits of threads. On Windows by the system's own calls: with those of MinGW's C++ library threads that nobody wakes were
// seen, and they take memory and handles for each lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "src/base/thread_safety.h"
#ifndef _WIN32
#include <pthread.h>
#endif

namespace inlay {

class INLAY_LOCK Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
#ifdef _WIN32
  void lock() INLAY_TAKES();
  void unlock() INLAY_LETS_GO();
#else
  void lock() INLAY_TAKES() { system_.lock(); }
  void unlock() INLAY_LETS_GO() { system_.unlock(); }
#endif

 private:
  friend class Condition;
#ifdef _WIN32
  void* system_ = nullptr;  // an SRWLOCK
#else
  std::mutex system_;
#endif
};

// Holds a mutex while it lives, unless it is let go before.
class INLAY_LOCK_HOLDER Lock {
 public:
  explicit Lock(Mutex& mutex) INLAY_TAKES(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() INLAY_LETS_GO() {
    if (is_held_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  void lock() INLAY_TAKES() {
    mutex_.lock();
    is_held_ = true;
  }
  void unlock() INLAY_LETS_GO() {
    is_held_ = false;
    mutex_.unlock();
  }

 private:
  friend class Condition;
  Mutex& mutex_;
  bool is_held_ = true;
};

#ifdef _WIN32

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  void notify_one();
  void notify_all();
  void wait(Lock& lock);
  // For about that time, or until a thread notifies, or earlier. On Windows for a millisecond at least.
  void wait_for(Lock& lock, std::chrono::microseconds time);

 private:
  void* system_ = nullptr;  // a CONDITION_VARIABLE
};

// Returns when `value` is another one than `old`, or earlier.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old);
void wake_all(std::atomic<uint32_t>& value);

#else

// std::condition_variable waits for a time by a function that older C libraries do not have.
class Condition {
 public:
  Condition();
  ~Condition() { pthread_cond_destroy(&system_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  void notify_one() { pthread_cond_signal(&system_); }
  void notify_all() { pthread_cond_broadcast(&system_); }
  void wait(Lock& lock) { pthread_cond_wait(&system_, lock.mutex_.system_.native_handle()); }
  void wait_for(Lock& lock, std::chrono::microseconds time);

 private:
  pthread_cond_t system_;
};

inline void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) { value.wait(old, std::memory_order_acquire); }
inline void wake_all(std::atomic<uint32_t>& value) { value.notify_all(); }

#endif

}  // namespace inlay
