#include "examples/cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "examples/cli/failure.h"

namespace inlay::cli {
namespace {

std::mutex mutex;  // of what follows it; the flag is read without
bool in_scope = false;
const inlay_session* scope_session = nullptr;
std::atomic<bool> requested = false;

void wait_for_interrupts(sigset_t signals) {
  for (int signal_number = 0; sigwait(&signals, &signal_number) == 0;) {
    const std::lock_guard lock(mutex);
    if (!in_scope || requested.exchange(true)) _exit(kExitInterrupted);
    inlay_session_cancel(scope_session);
  }
}

}  // namespace

void watch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(wait_for_interrupts, signals).detach();
}

InterruptScope::InterruptScope(const inlay_session* session) {
  const std::lock_guard lock(mutex);
  in_scope = true;
  scope_session = session;
  requested = false;
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(mutex);
  in_scope = false;
  scope_session = nullptr;
}

bool InterruptScope::interrupted() const { return requested.load(std::memory_order_relaxed); }

}  // namespace inlay::cli
