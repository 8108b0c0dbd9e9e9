// Locks and waits of threads. On Windows by the system's own calls: with those of MinGW's C++ library threads that nobody wakes were
// seen, and they take memory and handles for each lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#ifndef _WIN32
#include <pthread.h>
#endif

namespace inlay {

#ifdef _WIN32

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  bool try_lock();
  void unlock();

 private:
  friend class Condition;
  void* system_ = nullptr;  // an SRWLOCK
};

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  void notify_one();
  void notify_all();
  void wait(std::unique_lock<Mutex>& lock);
  template <class Holds>
  void wait(std::unique_lock<Mutex>& lock, Holds holds) {
    while (!holds()) wait(lock);
  }
  // For about that time, or until a thread notifies, or earlier. On Windows for a millisecond at least.
  void wait_for(std::unique_lock<Mutex>& lock, std::chrono::microseconds time);

 private:
  void* system_ = nullptr;  // a CONDITION_VARIABLE
};

// Returns when `value` is another one than `old`, or earlier.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old);
void wake_all(std::atomic<uint32_t>& value);

#else

using Mutex = std::mutex;

// std::condition_variable waits for a time by a function that older C libraries do not have.
class Condition {
 public:
  Condition();
  ~Condition() { pthread_cond_destroy(&system_); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  void notify_one() { pthread_cond_signal(&system_); }
  void notify_all() { pthread_cond_broadcast(&system_); }
  void wait(std::unique_lock<Mutex>& lock) { pthread_cond_wait(&system_, lock.mutex()->native_handle()); }
  template <class Holds>
  void wait(std::unique_lock<Mutex>& lock, Holds holds) {
    while (!holds()) wait(lock);
  }
  void wait_for(std::unique_lock<Mutex>& lock, std::chrono::microseconds time);

 private:
  pthread_cond_t system_;
};

inline void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) { value.wait(old, std::memory_order_acquire); }
inline void wake_all(std::atomic<uint32_t>& value) { value.notify_all(); }

#endif

}  // namespace inlay
