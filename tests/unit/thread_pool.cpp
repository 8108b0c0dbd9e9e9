#include "src/base/thread_pool.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <new>
#include <thread>
#include <vector>

namespace inlay {
namespace {

double process_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST(ThreadPool, CoversEveryItemOnce) {
  for (const int n_threads : {1, 2, 4, 9}) {
    ThreadPool pool(n_threads);
    ASSERT_TRUE(pool.status().ok());
    ASSERT_EQ(pool.size(), n_threads);
    for (const int64_t n : {0, 1, 2, 3, 7, 64, 1000}) {
      for (const int64_t grain : {int64_t{-1}, int64_t{1}, int64_t{3}, int64_t{64}, INT64_MAX}) {
        std::vector<std::atomic<int>> count(static_cast<size_t>(n));
        std::vector<std::atomic<int>> running(static_cast<size_t>(n_threads));
        std::atomic<bool> bad{false};
        pool.parallel_for(n, grain, [&](int64_t begin, int64_t end, int thread) {
          if (begin >= end || end - begin > std::max<int64_t>(grain, 1) || thread < 0 || thread >= n_threads)
            bad = true;
          if (running[static_cast<size_t>(thread)].fetch_add(1) != 0) bad = true;
          for (int64_t i = begin; i < end; ++i) count[static_cast<size_t>(i)]++;
          running[static_cast<size_t>(thread)]--;
        });
        EXPECT_FALSE(bad);
        for (const auto& c : count)
          ASSERT_EQ(c, 1) << n << " items, grain " << grain << ", " << n_threads << " threads";
      }
    }
  }
}

TEST(ThreadPool, PublishesPlainWritesBothWays) {
  ThreadPool pool(4);
  std::vector<int64_t> data(512, 0);  // not atomic: a thread sanitizer sees a missing edge
  for (int64_t round = 1; round <= 3000; ++round) {
    pool.parallel_for(512, 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) data[static_cast<size_t>(i)] += round;
    });
    ASSERT_EQ(data[static_cast<size_t>(round % 512)], round * (round + 1) / 2);
  }
}

TEST(ThreadPool, NestedCallsRunInline) {
  ThreadPool outer(4), inner(3);
  std::atomic<int64_t> sum{0};
  outer.parallel_for(16, 1, [&](int64_t, int64_t, int thread) {
    const auto caller = std::this_thread::get_id();
    outer.parallel_for(10, 3, [&](int64_t begin, int64_t end, int nested_thread) {
      EXPECT_EQ(nested_thread, thread);
      EXPECT_EQ(std::this_thread::get_id(), caller);
      sum += end - begin;
    });
    inner.parallel_for(10, 1, [&](int64_t begin, int64_t end, int) { sum += end - begin; });  // another pool
  });
  EXPECT_EQ(sum, 16 * 10 + 16 * 10);
}

TEST(ThreadPool, ServesSeveralCallers) {
  ThreadPool pool(3);
  std::vector<int64_t> per_thread(3, 0);  // plain: two loops at once would race
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        pool.parallel_for(8, 1, [&](int64_t begin, int64_t end, int thread) {
          per_thread[static_cast<size_t>(thread)] += end - begin;
        });
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(per_thread[0] + per_thread[1] + per_thread[2], 4 * 500 * 8);
}

TEST(ThreadPool, AllThreadsTakePart) {
  ThreadPool pool(4);
  std::atomic<int> arrived{0};
  std::atomic<bool> late{false};
  // Each of four chunks waits for the three others: it ends only if four threads run at once, also out of sleep.
  for (int round = 0; round < 20; ++round) {
    arrived = 0;
    pool.parallel_for(4, 1, [&](int64_t, int64_t, int) {
      ++arrived;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(900);
      while (arrived < 4) {
        if (std::chrono::steady_clock::now() > deadline) {
          late = true;
          break;
        }
        std::this_thread::yield();
      }
    });
    if (round % 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_FALSE(late);
}

TEST(ThreadPool, AStalledThreadHoldsOnlyItsChunk) {
  ThreadPool pool(4);
  std::atomic<int> by_others{0};
  std::atomic<bool> stalled{false};
  pool.parallel_for(1000, 1, [&](int64_t, int64_t, int) {
    if (!stalled.exchange(true)) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(900);
      while (by_others < 999 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    } else {
      ++by_others;
    }
  });
  EXPECT_EQ(by_others, 999) << "the other threads did all other chunks while one was stuck";
}

TEST(ThreadPool, SleepsWhenIdle) {
  ThreadPool pool(4);
  pool.parallel_for(64, 1, [](int64_t, int64_t, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before = process_cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(process_cpu_seconds() - before, 0.03) << "of 0.3 s with three idle workers";
}

// Wherever a chunk throws, the loop ends and its caller gets the exception; the pool goes on.
TEST(ThreadPool, AnExceptionOfAChunkComesToTheCaller) {
  for (const int n_threads : {1, 2, 4}) {
    ThreadPool pool(n_threads);
    for (int thrower = 0; thrower < n_threads; ++thrower) {
      for (int round = 0; round < 50; ++round) {
        std::atomic<int> n_run{0};
        std::atomic<bool> thrown{false};
        const auto body = [&](int64_t, int64_t, int thread) {
          ++n_run;
          if (thread == thrower && !thrown.exchange(true)) throw std::bad_alloc();
          if (thread != thrower && !thrown.load()) std::this_thread::yield();
        };
        bool caught = false;
        try {
          pool.parallel_for(2000, 1, body);
        } catch (const std::bad_alloc&) {
          caught = true;
        }
        EXPECT_EQ(caught, thrown.load());
        if (n_threads == 1) {
          EXPECT_EQ(n_run.load(), 1) << "the rest is left out";
        }
        std::atomic<int> n{0};
        pool.parallel_for(100, 1, [&](int64_t, int64_t, int) { ++n; });
        EXPECT_EQ(n.load(), 100) << "the next loop is whole, and throws nothing";
      }
    }
  }
}

TEST(ThreadPool, SaysWhatIsWrongWithTheNumberOfThreads) {
  for (const int n : {0, -3}) {
    ThreadPool pool(n);
    EXPECT_EQ(pool.status().code, Code::invalid_argument);
    EXPECT_EQ(pool.size(), 1);
    int64_t sum = 0;
    pool.parallel_for(5, 2, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
    EXPECT_EQ(sum, 5);
  }
}

// Best time of one loop in microseconds.
template <class Body>
double loop_time(ThreadPool& pool, Body&& before_loop, LoopBody body) {
  double best = 1e9;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) {
      before_loop();
      pool.parallel_for(pool.size(), 1, body);
    }
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count() / 50);
  }
  return best;
}

TEST(ThreadPool, HandoverLatency) {
  for (const int n_threads : {1, 2, 4}) {
    ThreadPool pool(n_threads);
    const double empty = loop_time(
        pool, [] {}, [](int64_t, int64_t, int) {});
    // The caller alone may do all of an empty loop. Here every thread must have taken a chunk before any may go on.
    std::atomic<int> arrived{0};
    const double all_threads = loop_time(
        pool, [&] { arrived = 0; },
        [&](int64_t, int64_t, int) {
          ++arrived;
          for (int spins = 0; arrived.load(std::memory_order_acquire) < n_threads; ++spins) {
            if (spins > 10000) std::this_thread::yield();
          }
        });
    printf("%d threads: empty loop %.2f us, loop that needs every thread %.2f us\n", n_threads, empty, all_threads);
    EXPECT_LT(empty, 200.0);
  }
}

}  // namespace
}  // namespace inlay
