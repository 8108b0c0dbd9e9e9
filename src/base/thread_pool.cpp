#include "src/base/thread_pool.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace inlay {
namespace {

constexpr uint64_t kJoinedMask = 0xffff;
constexpr uint64_t kOpen = 0x10000;
constexpr int kNumberShift = 20;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until done() or for kSpinTime; returns done().
template <class Done>
bool spin_until(Done&& done) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSpinsPerClockRead = 64;  // a clock read costs about as much as one pause
  const auto deadline = Clock::now() + ThreadPool::kSpinTime;
  do {
    for (int i = 0; i < kSpinsPerClockRead; ++i) {
      if (done()) return true;
      pause();
    }
  } while (Clock::now() < deadline);
  return false;
}

}  // namespace

struct ThreadPool::Frame {
  const ThreadPool* pool;
  int thread;
  const Frame* outer;
};

thread_local const ThreadPool::Frame* ThreadPool::innermost_ = nullptr;

ThreadPool::ThreadPool(int n_threads) {
  if (n_threads < 1 || n_threads > kMaxThreads) {
    status_ = error(Code::invalid_argument, "thread pool: %d threads were asked for, expected 1 to %d", n_threads,
                    kMaxThreads);
    n_threads = std::clamp(n_threads, 1, kMaxThreads);
  }
  // Where memory runs out in here, the pool's own destructor does not run.
  const auto stop = [](ThreadPool* pool) { pool->stop(); };
  std::unique_ptr<ThreadPool, decltype(stop)> started(this, stop);
  workers_.reserve(static_cast<size_t>(n_threads - 1));
  while (size() < n_threads && status_.ok()) start_worker(n_threads);
  (void)started.release();
}

void ThreadPool::start_worker(int n_threads) {
  const int thread = size();
  Result<Thread> worker = Thread::start(("inlay-" + std::to_string(thread)).c_str(), [this, thread] { work(thread); });
  if (worker.ok()) {
    workers_.push_back(*std::move(worker));
    return;
  }
  status_ = error(worker.status().code, "thread pool: only %d of %d threads could be had: %s", thread, n_threads,
                  worker.status().message.c_str());
  status_.native_code = worker.status().native_code;
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping_.store(true);
  { Lock lock(sleep_mutex_); }
  wake_.notify_all();
  for (Thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(int64_t n_items, int64_t grain, LoopBody body) {
  if (n_items <= 0) return;
  grain = std::clamp<int64_t>(grain, 1, n_items);
  for (const Frame* frame = innermost_; frame; frame = frame->outer) {
    if (frame->pool != this) continue;
    for (int64_t begin = 0; begin < n_items; begin += grain) {
      body(begin, std::min(begin + grain, n_items), frame->thread);
    }
    return;
  }

  Lock lock(loop_mutex_);
  const bool shared = grain < n_items && !workers_.empty();
  next_item_.store(0, std::memory_order_relaxed);
  if (shared) {
    body_ = &body;
    n_items_ = n_items;
    grain_ = grain;
    publish();
  }
  run_chunks(body, n_items, grain, 0);
  if (shared) close_and_wait();
  if (failed_.exchange(false, std::memory_order_relaxed)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::publish() {
  const uint64_t number = (state_.load(std::memory_order_relaxed) >> kNumberShift) + 1;
  // Sequentially consistent against sleepers_: either the sleeper sees the loop or we see the sleeper.
  state_.store(number << kNumberShift | kOpen);
  if (sleepers_.load() == 0) return;
  { Lock lock(sleep_mutex_); }
  wake_.notify_all();
}

void ThreadPool::close_and_wait() {
  const auto all_left = [this] { return (state_.load(std::memory_order_acquire) & kJoinedMask) == 0; };
  if ((state_.fetch_and(~kOpen, std::memory_order_acq_rel) & kJoinedMask) == 0) return;
  while (!spin_until(all_left)) std::this_thread::yield();
}

void ThreadPool::run_chunks(const LoopBody& body, int64_t n_items, int64_t grain, int thread) {
  const Frame frame{this, thread, innermost_};
  innermost_ = &frame;
  try {
    for (;;) {
      // Cannot overflow: grain <= n_items, and each thread adds at most once past the end.
      const int64_t begin = next_item_.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= n_items) break;
      body(begin, begin + std::min(grain, n_items - begin), thread);
    }
  } catch (...) {
    next_item_.store(n_items, std::memory_order_relaxed);
    if (!failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
  }
  innermost_ = frame.outer;
}

// A worker joins a loop once: an exhausted loop stays open until its caller has noticed.
bool ThreadPool::try_join(uint64_t& last_number) {
  uint64_t state = state_.load(std::memory_order_relaxed);
  while ((state & kOpen) && (state >> kNumberShift) != last_number) {
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      last_number = state >> kNumberShift;
      return true;
    }
  }
  return false;
}

bool ThreadPool::join_next_loop(uint64_t& last_number) {
  for (;;) {
    bool joined = false;
    const bool found = spin_until([&] { return stopping_.load() || (joined = try_join(last_number)); });
    if (found) return joined;
    Lock lock(sleep_mutex_);
    sleepers_.fetch_add(1);
    const auto may_go_on = [&] {
      const uint64_t state = state_.load();
      return stopping_.load() || ((state & kOpen) && (state >> kNumberShift) != last_number);
    };
    while (!may_go_on()) wake_.wait(lock);
    sleepers_.fetch_sub(1);
  }
}

void ThreadPool::work(int thread) {
  uint64_t last_number = 0;
  while (join_next_loop(last_number)) {
    run_chunks(*body_, n_items_, grain_, thread);
    state_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace inlay
