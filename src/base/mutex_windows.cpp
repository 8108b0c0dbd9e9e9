#include "src/base/mutex.h"

#include <algorithm>

#include "src/base/windows_api.h"
// after windows.h
#include <synchapi.h>

namespace inlay {
namespace {

SRWLOCK* lock_of(void*& system) { return reinterpret_cast<SRWLOCK*>(&system); }
CONDITION_VARIABLE* condition_of(void*& system) { return reinterpret_cast<CONDITION_VARIABLE*>(&system); }
static_assert(sizeof(SRWLOCK) == sizeof(void*) && sizeof(CONDITION_VARIABLE) == sizeof(void*), "both begin as a null pointer");

}  // namespace

void Mutex::lock() { AcquireSRWLockExclusive(lock_of(system_)); }
void Mutex::unlock() { ReleaseSRWLockExclusive(lock_of(system_)); }

void Condition::notify_one() { WakeConditionVariable(condition_of(system_)); }
void Condition::notify_all() { WakeAllConditionVariable(condition_of(system_)); }
void Condition::wait(Lock& lock) {
  SleepConditionVariableSRW(condition_of(system_), lock_of(lock.mutex_.system_), INFINITE, 0);
}
void Condition::wait_for(Lock& lock, std::chrono::microseconds time) {
  const auto milliseconds = std::clamp<int64_t>(time.count() / 1000, 1, INT32_MAX);
  SleepConditionVariableSRW(condition_of(system_), lock_of(lock.mutex_.system_), static_cast<DWORD>(milliseconds), 0);
}

void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  WaitOnAddress(const_cast<std::atomic<uint32_t>*>(&value), &old, sizeof old, INFINITE);
}
void wake_all(std::atomic<uint32_t>& value) { WakeByAddressAll(&value); }

}  // namespace inlay
