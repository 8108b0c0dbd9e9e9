// What the float benches share: a clock, and loops on the thread pool.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/tables.h"
#include "src/base/thread_pool.h"

namespace inlay::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Processor time of the calling thread: unlike `now` it stands still while others have the core.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Best seconds of one call: of processor time where `pool` is the calling thread alone, else of wall-clock time.
template <class Work>
double best_seconds(const ThreadPool& pool, int passes, Work work) {
  const auto clock = pool.size() == 1 ? thread_seconds : now;
  double best = 1e30;
  for (int pass = 0; pass < passes; ++pass) {
    const double start = clock();
    work();
    best = std::min(best, clock() - start);
  }
  return best;
}

// Zeroed, 64-byte aligned, touched.
class Bytes {
 public:
  explicit Bytes(size_t size) : size_(size), data_(std::aligned_alloc(64, (size + 63) / 64 * 64)) {
    if (!data_) std::abort();
    memset(data_, 0, size);
  }
  ~Bytes() { std::free(data_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  template <class T = char>
  T* as() {
    return static_cast<T*>(data_);
  }
  size_t size() const { return size_; }

 private:
  size_t size_;
  void* data_;
};

// Small random numbers, quickly.
inline float next_random(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
}

inline const cpu::Kernels* table_named(const char* name) {
  const cpu::Kernels* tables[] = {
      &cpu::kernels(cpu::Isa::generic),
#if defined(__x86_64__)
      &cpu::kernels(cpu::Isa::avx2),
      &cpu::avx512_table(),
      &cpu::kernels(cpu::Isa::avx512),
#endif
  };
  for (const cpu::Kernels* k : tables) {
    if (strcmp(k->name, name) == 0 && cpu::supported(k->isa)) return k;
  }
  return nullptr;
}

}  // namespace inlay::bench
