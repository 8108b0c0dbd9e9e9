#include "src/base/fork.h"

#ifndef _WIN32
#include <pthread.h>
#endif

#include <atomic>

#include "src/base/system_error.h"

namespace inlay {
namespace {

std::atomic<uint32_t> generation{0};

}  // namespace

Status watch_forks() {
#ifndef _WIN32
  static std::atomic<bool> watched{false};
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
