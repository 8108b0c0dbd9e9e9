// The memory of a thread's thread-local variables. The system gives it at a thread's start where the library's variables are
// few. Where they are many (INLAY_THREAD_STORAGE: builds with CUDA's runtime) it comes at the first use, and src/capi/thread_storage.cpp
// takes it in a way that can be refused: docs/design/thread-storage.md.
#pragma once

// Weak: programs that link the static libraries have their variables from the system.
#ifdef INLAY_THREAD_STORAGE
#include <atomic>
extern "C" __attribute__((weak)) bool inlay_take_thread_storage() noexcept;
extern std::atomic<bool> inlay_is_loading;  // until the first call of the API
#endif

namespace inlay {

#ifdef INLAY_THREAD_STORAGE
inline constexpr bool kTakesThreadStorage = true;
#else
inline constexpr bool kTakesThreadStorage = false;
#endif

// Whether the calling thread has its variables. False: there is no memory for them, and the thread must use none.
inline bool has_thread_storage() noexcept {
#ifdef INLAY_THREAD_STORAGE
  return !inlay_take_thread_storage || inlay_take_thread_storage();
#else
  return true;
#endif
}

}  // namespace inlay
