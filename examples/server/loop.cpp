#include "examples/server/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

namespace inlay::server {

int64_t now_ms() { return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (is_open()) watch(wake_, EPOLLIN, [this](uint32_t) { run_posted(); });
}

Loop::~Loop() {
  if (wake_ >= 0) close(wake_);
  if (epoll_ >= 0) close(epoll_);
}

uint64_t Loop::watch(int fd, uint32_t events, Handler handler) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = last_watch_ + 1;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) return 0;
  handlers_[++last_watch_] = std::move(handler);
  return last_watch_;
}

void Loop::change(uint64_t watch, int fd, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = watch;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void Loop::forget(uint64_t watch, int fd) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  handlers_.erase(watch);
}

void Loop::post(Task task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    posted_.push_back(std::move(task));
  }
  const uint64_t one = 1;
  while (write(wake_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void Loop::run_posted() {
  uint64_t count = 0;
  if (read(wake_, &count, sizeof count) < 0) return;
  std::vector<Task> tasks;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks.swap(posted_);
  }
  for (const Task& task : tasks) task();
}

void Loop::run() {
  std::array<epoll_event, 128> events;
  while (!is_stopped_) {
    const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kTickMs);
    if (n < 0 && errno != EINTR) return;
    for (int i = 0; i < n; ++i) {
      const auto found = handlers_.find(events[static_cast<size_t>(i)].data.u64);  // none where an earlier event of the round removed it
      if (found != handlers_.end()) found->second(events[static_cast<size_t>(i)].events);
    }
    if (on_round_) on_round_();
  }
}

}  // namespace inlay::server
