#include "src/base/mutex.h"

#include <time.h>

#include <algorithm>

namespace inlay {

// Measured by a clock that nobody sets.
Condition::Condition() {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
#ifndef __APPLE__
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
  pthread_cond_init(&system_, &attributes);
  pthread_condattr_destroy(&attributes);
}

void Condition::wait_for(Lock& lock, std::chrono::microseconds time) {
  constexpr int64_t kSecond = 1'000'000'000, kLongest = int64_t{1} << 50;
  const int64_t wanted = std::clamp<int64_t>(time.count(), 0, kLongest) * 1000;
#ifdef __APPLE__
  const timespec relative = {static_cast<time_t>(wanted / kSecond), static_cast<long>(wanted % kSecond)};
  pthread_cond_timedwait_relative_np(&system_, lock.mutex_.system_.native_handle(), &relative);
#else
  timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const int64_t nanoseconds = until.tv_nsec + wanted % kSecond;
  until.tv_sec += static_cast<time_t>(wanted / kSecond + nanoseconds / kSecond);
  until.tv_nsec = static_cast<long>(nanoseconds % kSecond);
  pthread_cond_timedwait(&system_, lock.mutex_.system_.native_handle(), &until);
#endif
}

}  // namespace inlay
