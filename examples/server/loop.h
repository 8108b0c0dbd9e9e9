// One thread that waits for descriptors (epoll), for work that other threads post, and for its clock.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace inlay::server {

int64_t now_ms();  // of a clock that only goes forward

class Loop {
 public:
  using Handler = std::function<void(uint32_t events)>;  // EPOLLIN and others
  using Task = std::function<void()>;
  static constexpr int kTickMs = 250;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  bool is_open() const { return epoll_ >= 0 && wake_ >= 0; }
  // A number for the others; 0: the system refused.
  uint64_t watch(int fd, uint32_t events, Handler handler);
  void change(uint64_t watch, int fd, uint32_t events);
  void forget(uint64_t watch, int fd);  // not from within its own handler

  void post(Task task);  // from any thread: the loop runs it
  // After each round of events, and then at the latest when kTickMs are over.
  void on_round(Task task) { on_round_ = std::move(task); }

  void run();  // until stop()
  void stop() { is_stopped_ = true; }

 private:
  void run_posted();

  int epoll_ = -1, wake_ = -1;
  uint64_t last_watch_ = 0;
  std::unordered_map<uint64_t, Handler> handlers_;
  Task on_round_;
  std::mutex mutex_;
  std::vector<Task> posted_;
  bool is_stopped_ = false;
};

}  // namespace inlay::server
