// How fast the processor's cores read memory together.
#include <algorithm>
#include <atomic>

#include "src/backend/backend.h"
#include "src/base/alloc.h"
#include "src/base/host_limits.h"
#include "src/base/thread_pool.h"

namespace inlay {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;   // several times any cache
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;  // what a thread takes at a time
constexpr int kRepetitions = 5;

// Independent sums, so that additions do not wait for each other and the compiler can take vectors.
uint64_t sum_of(const uint64_t* from, uint64_t n) {
  uint64_t sums[16] = {};
  for (uint64_t i = 0; i < n; i += 16) {
    for (uint64_t k = 0; k < 16; ++k) sums[k] += from[i + k];
  }
  uint64_t sum = 0;
  for (const uint64_t s : sums) sum += s;
  return sum;
}

}  // namespace

Result<double> measure_host_read_bandwidth(int32_t n_threads) {
  const uint64_t wanted = std::min(kMostBytes, host_memory().available / 4) / kPieceBytes * kPieceBytes;
  INLAY_ASSIGN(HostBuffer buffer,
               HostBuffer::allocate(std::max(wanted, kPieceBytes), "memory to measure the read bandwidth with"));
  ThreadPool pool(n_threads);
  INLAY_TRY(pool.status());
  uint64_t* const words = buffer.as<uint64_t>();
  constexpr uint64_t kPieceWords = kPieceBytes / sizeof(uint64_t);
  const auto n_pieces = static_cast<int64_t>(buffer.size() / kPieceBytes);
  pool.parallel_for(n_pieces, 1, [&](int64_t begin, int64_t end, int) {
    for (uint64_t i = static_cast<uint64_t>(begin) * kPieceWords; i < static_cast<uint64_t>(end) * kPieceWords; ++i)
      words[i] = i * 0x9E3779B97F4A7C15u;
  });
  double best = 0;
  std::atomic<uint64_t> total{0};
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(n_pieces, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t piece = begin; piece < end; ++piece) {
        total.fetch_add(sum_of(words + static_cast<uint64_t>(piece) * kPieceWords, kPieceWords),
                        std::memory_order_relaxed);
      }
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, static_cast<double>(buffer.size()) / seconds);
  }
  return best;
}

}  // namespace inlay
