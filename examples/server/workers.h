// Threads that do what takes longer than the loop may wait: bodies become requests, texts become vectors.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace inlay::server {

class Workers {
 public:
  using Job = std::function<void()>;

  explicit Workers(size_t n_threads);
  ~Workers() { stop(); }
  void stop();  // jobs that have not begun are dropped, and those that are posted from then on
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void post(Job job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace inlay::server
