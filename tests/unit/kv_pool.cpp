#include "src/engine/kv_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace inlay {
namespace {

TEST(KvPool, HandsOutEveryBlockOnce) {
  KvPool pool(5);
  std::set<int32_t> taken;
  while (pool.n_free() > 0) taken.insert(pool.take());
  EXPECT_EQ(taken, (std::set<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(pool.n_used(), 5);
}

TEST(KvPool, SharedBlockIsFreeAfterItsLastRelease) {
  KvPool pool(2);
  const int32_t block = pool.take();
  pool.share(block);
  EXPECT_TRUE(pool.shared(block));
  pool.release(block);
  EXPECT_FALSE(pool.shared(block));
  EXPECT_EQ(pool.n_free(), 1);
  pool.release(block);
  EXPECT_EQ(pool.n_free(), 2);
  EXPECT_EQ(pool.take(), block);
}

}  // namespace
}  // namespace inlay
