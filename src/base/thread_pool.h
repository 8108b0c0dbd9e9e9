// A fixed set of threads that share one loop at a time.
//
// Items are handed out in chunks of `grain` by one atomic counter. Nobody waits for a thread that has not joined the
// loop yet: a thread whose core is taken away delays the others by its current chunk at most. Idle threads spin for
// kSpinTime and then sleep, so that a burst of short loops (one token) hands over in about a microsecond while an idle
// engine uses no processor time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/status.h"
#include "src/base/thread.h"

namespace inlay {

// Refers to a callable (int64_t begin, int64_t end, int thread) of the caller's, without owning or allocating.
class LoopBody {
 public:
  template <class Fn, class = std::enable_if_t<!std::is_same_v<std::decay_t<Fn>, LoopBody>>>
  LoopBody(Fn&& fn)  // NOLINT: implicit by design
      : object_(const_cast<void*>(static_cast<const void*>(&fn))),
        call_([](void* object, int64_t begin, int64_t end, int thread) {
          (*static_cast<std::remove_reference_t<Fn>*>(object))(begin, end, thread);
        }) {}

  void operator()(int64_t begin, int64_t end, int thread) const { call_(object_, begin, end, thread); }

 private:
  void* object_;
  void (*call_)(void*, int64_t, int64_t, int);
};

class ThreadPool {
 public:
  static constexpr int kMaxThreads = 1024;
  static constexpr std::chrono::microseconds kSpinTime{50};

  // n_threads counts the thread that calls parallel_for, so n_threads - 1 are started. See status().
  explicit ThreadPool(int n_threads);
  ~ThreadPool();  // no loop may be running
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Whether the system gave all threads that were asked for. The pool works with the size() threads it has.
  const Status& status() const { return status_; }
  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(begin, end, thread) for chunks of at most `grain` items that cover [0, n_items) once each, and returns
  // when all are done (n_items < 2^52). `thread` is in [0, size()) and no two running chunks share it. Where chunks
  // throw, those that have not begun are left out, and the first exception comes to the caller. Calls from several
  // threads run one after the other; a call from inside a body of this pool runs inline, on that body's thread. (A body
  // may use another pool, but that pool's bodies must not come back to this one: the two loops would wait for each
  // other.)
  void parallel_for(int64_t n_items, int64_t grain, LoopBody body);

 private:
  struct Frame;  // the loops that the current thread is inside of

  void start_worker(int n_threads);
  void stop();
  void work(int thread);                       // a worker's life
  bool join_next_loop(uint64_t& last_number);  // waits; false when the pool shuts down
  bool try_join(uint64_t& last_number);
  void run_chunks(const LoopBody& body, int64_t n_items, int64_t grain, int thread);
  void publish();
  void close_and_wait();

  static thread_local const Frame* innermost_;

  // The published loop. Written only while it is closed and nobody is joined; read by threads that have joined.
  const LoopBody* body_ = nullptr;
  int64_t n_items_ = 0;
  int64_t grain_ = 1;
  // number of the loop << kNumberShift | kOpen | workers that have joined it and not left yet
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<int64_t> next_item_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  Mutex sleep_mutex_;
  Condition wake_;
  Mutex loop_mutex_;  // held by the caller whose loop runs
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;  // of the first chunk that threw; the caller's when all have left the loop
  Status status_;
  std::vector<Thread> workers_;
};

}  // namespace inlay
