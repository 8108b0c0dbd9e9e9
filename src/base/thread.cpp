#include "src/base/thread.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "src/base/float_environment.h"
#include "src/base/mutex.h"
#include "src/base/system_error.h"
#include "src/base/thread_storage.h"

namespace inlay {
namespace {

// Whether a new thread has its variables: where it has to take them, who starts it waits for the answer.
class Answer {
 public:
  void give(bool yes) {
    const Lock lock(mutex_);
    yes_ = yes;
    given_.notify_one();
  }
  bool wait() {
    Lock lock(mutex_);
    while (!yes_) given_.wait(lock);
    return *yes_;
  }

 private:
  Mutex mutex_;
  Condition given_;
  std::optional<bool> yes_ INLAY_GUARDED_BY(mutex_);
};

struct Start {
  std::string name;
  std::function<void()> body;
  Answer* has_storage = nullptr;
};

void* run(void* given) {
  if (kTakesThreadStorage) {
    const bool taken = has_thread_storage();
    static_cast<Start*>(given)->has_storage->give(taken);
    if (!taken) return nullptr;
  }
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
#if defined(__APPLE__)
  pthread_setname_np(start->name.c_str());
#elif defined(__linux__)
  pthread_setname_np(pthread_self(), start->name.c_str());
#endif
  const FloatEnvironment environment;
  try {
    start->body();
  } catch (...) {  // out of memory: what a body was to do is then not done, which who waits for it finds
  }
  return nullptr;
}

// All but those that a fault of the thread itself raises, and a profiler's.
sigset_t signals_of_the_host() {
  sigset_t out;
  sigfillset(&out);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&out, own);
  return out;
}

}  // namespace

Result<Thread> Thread::start(const char* name, std::function<void()> body) {
  auto start = std::make_unique<Start>(Start{std::string(name).substr(0, 15), std::move(body)});
  Answer has_storage;
  start->has_storage = &has_storage;
  pthread_attr_t attributes;
  int code = pthread_attr_init(&attributes);
  pthread_t handle{};
  if (code == 0) {
    code = pthread_attr_setstacksize(&attributes, kStackBytes);
    const sigset_t blocked = signals_of_the_host();
    sigset_t before;
    if (code == 0) code = pthread_sigmask(SIG_BLOCK, &blocked, &before);
    if (code == 0) {
      code = pthread_create(&handle, &attributes, run, start.get());
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    pthread_attr_destroy(&attributes);
  }
  if (code == 0 && kTakesThreadStorage && !has_storage.wait()) {
    pthread_join(handle, nullptr);
    code = ENOMEM;
  }
  if (code == 0) {
    (void)start.release();  // the thread's now
    return Thread(handle);
  }
  return thread_error(code, "the system gives no thread");
}

void Thread::pause(std::chrono::microseconds time) {
  const timespec left{.tv_sec = static_cast<time_t>(time.count() / 1'000'000), .tv_nsec = static_cast<long>(time.count() % 1'000'000) * 1000};
  nanosleep(&left, nullptr);
}

void Thread::join() {
  if (handle_) pthread_join(*std::exchange(handle_, std::nullopt), nullptr);
}

}  // namespace inlay
