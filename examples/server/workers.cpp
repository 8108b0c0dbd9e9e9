#include "examples/server/workers.h"

namespace inlay::server {

Workers::Workers(size_t n_threads) {
  for (size_t i = 0; i < n_threads; ++i) threads_.emplace_back([this] { work(); });
}

void Workers::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::post(Job job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_over_) return;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Workers::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_over_ || !jobs_.empty(); });
    if (is_over_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace inlay::server
