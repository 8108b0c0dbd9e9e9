// A mutex that is had in the order of asking.
#include "src/base/turn_mutex.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace inlay {
namespace {

// One of them holds it.
void wait_for_askers(const TurnMutex& mutex, uint32_t n) {
  while (mutex.n_asking() < n) std::this_thread::yield();
}

TEST(TurnMutex, IsHadInTheOrderOfAsking) {
  constexpr int n_others = 4;
  TurnMutex mutex;
  std::vector<int> order;  // guarded by mutex
  std::vector<std::thread> others;
  mutex.lock();
  for (int i = 0; i < n_others; ++i) {
    others.emplace_back([&, i] {
      const std::lock_guard lock(mutex);
      order.push_back(i);
    });
    wait_for_askers(mutex, static_cast<uint32_t>(i) + 2);
  }
  EXPECT_TRUE(order.empty()) << "somebody had it beside its holder";
  mutex.unlock();
  mutex.lock();
  order.push_back(n_others);  // let go and asked at once: behind all that waited
  mutex.unlock();
  for (std::thread& t : others) t.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(mutex.n_asking(), 0u);
}

TEST(TurnMutex, OneHolderAtATime) {
  TurnMutex mutex;
  int64_t count = 0;  // guarded by mutex
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 2000; ++k) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(count, 8000);
}

}  // namespace
}  // namespace inlay
