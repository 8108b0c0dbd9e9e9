// Every thread of the library. It takes none of the signals that a host means for its own threads, its stack does not
// depend on the host's limits, and it computes with the library's floating-point settings. Niceness, affinity and the
// rest are those of the thread that creates it.
#pragma once

#ifndef _WIN32
#include <pthread.h>
#endif

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "src/base/status.h"

namespace inlay {

class Thread {
 public:
#ifdef _WIN32
  using System = void*;  // a HANDLE
#else
  using System = pthread_t;
#endif
#if defined(__SANITIZE_THREAD__)  // has most of a megabyte of its own there
  static constexpr size_t kStackBytes = size_t{2} << 20;
#else
  static constexpr size_t kStackBytes = size_t{1} << 20;  // with a guard page below
#endif

  // `name`: at most 15 bytes.
  static Result<Thread> start(const char* name, std::function<void()> body);

  // The calling thread sleeps for about this time; on Windows for a millisecond at least.
  static void pause(std::chrono::microseconds time);

  Thread(Thread&& other) noexcept : handle_(std::exchange(other.handle_, std::nullopt)) {}
  Thread& operator=(Thread&&) = delete;
  ~Thread() { join(); }
  void join();

 private:
  explicit Thread(System handle) : handle_(handle) {}
  std::optional<System> handle_;
};

// A piece of work beside the caller's; where the system gives no thread, it runs when its result is asked for.
template <class T>
class Task {
 public:
  Task(const char* name, std::function<T()> work) : state_(std::make_unique<State>()) {
    state_->work = std::move(work);
    Result<Thread> thread = Thread::start(name, [state = state_.get()] { state->run(); });
    if (thread.ok()) thread_.emplace(*std::move(thread));
  }

  T get() {
    if (thread_) {
      thread_->join();
    } else {
      state_->run();
    }
    if (state_->failure) std::rethrow_exception(state_->failure);
    return *std::move(state_->result);
  }

 private:
  struct State {
    std::function<T()> work;
    std::optional<T> result;
    std::exception_ptr failure;

    void run() noexcept {
      try {
        result.emplace(work());
      } catch (...) {
        failure = std::current_exception();
      }
    }
  };
  std::unique_ptr<State> state_;
  std::optional<Thread> thread_;  // ends before the state does
};

}  // namespace inlay
