#include "kernels/common/philox.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

namespace inlay {
namespace {

// Known answers published with Random123 (kat_vectors, philox4x32 with 10 rounds).
static_assert(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST(Philox, KnownAnswersAtRunTime) {
  volatile uint32_t zero = 0;  // keeps the compiler from folding the call
  EXPECT_EQ(philox4x32({zero, 0, 0, 0}, {0, zero}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, EveryBitOfSeedStreamAndPositionCounts) {
  std::set<double> seen = {philox_uniform(0, 0, 0)};
  for (int bit = 0; bit < 64; ++bit) {
    seen.insert(philox_uniform(uint64_t{1} << bit, 0, 0));
    seen.insert(philox_uniform(0, uint64_t{1} << bit, 0));
    seen.insert(philox_uniform(0, 0, uint64_t{1} << bit));
  }
  EXPECT_EQ(seen.size(), 1u + 3 * 64);
}

TEST(Philox, UniformStaysInRangeWithTheRightMean) {
  double sum = 0;
  constexpr int kDraws = 100000;
  for (uint64_t position = 0; position < kDraws; ++position) {
    const double u = philox_uniform(7, 3, position);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 4 * 0.2887 / 316.2);  // 4 standard deviations of the mean
}

}  // namespace
}  // namespace inlay
