#include "src/base/fork.h"

#ifndef _WIN32
#include <pthread.h>
#endif

#include <atomic>

#include "src/base/system_error.h"

namespace inlay {
namespace {

std::atomic<uint32_t> generation{0};
std::atomic<bool> watched{false};

// While the library is opened, so that each process knows whether it is a child. Where that fails, the first load tries again.
[[maybe_unused]] const bool watched_at_first = watch_forks().ok();

}  // namespace

Status watch_forks() {
#ifndef _WIN32
  if (watched.exchange(true)) return {};
  const int code = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  if (code != 0) {
    watched.store(false);
    return thread_error(code, "cannot watch for forks of the process");
  }
#endif
  return {};
}

uint32_t fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace inlay
