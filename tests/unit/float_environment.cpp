#include "src/base/float_environment.h"

#include <gtest/gtest.h>

#include <cfenv>

#include "src/base/host_call.h"
#include "src/base/thread.h"

namespace inlay {
namespace {

volatile double one = 1, three = 3, zero = 0;
volatile long double long_one = 1, long_zero = 0;

TEST(FloatEnvironment, RoundsToNearestInsideAndGivesTheHostsRoundingBack) {
  const double expected = one / three;
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    double inside = 0;
    {
      const FloatEnvironment environment;
      inside = one / three;
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    }
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(inside, expected) << mode;
  }
}

TEST(FloatEnvironment, CallbacksHaveTheHosts) {
  std::fesetround(FE_UPWARD);
  int in_callback = -1, after = -1;
  {
    const FloatEnvironment environment;
    call_host([&] { in_callback = std::fegetround(); });
    after = std::fegetround();
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(in_callback, FE_UPWARD);
  EXPECT_EQ(after, FE_TONEAREST);
}

#if defined(__x86_64__)
TEST(FloatEnvironment, KeepsDenormalsInside) {
  volatile float smallest = 1e-38f, quarter = 0.25f;
  __builtin_ia32_ldmxcsr(0x9fc0);  // flush to zero, denormals are zero
  const float host = smallest * quarter;
  float inside = 0;
  {
    const FloatEnvironment environment;
    inside = smallest * quarter;
  }
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0xffc0, 0x9fc0u);
  __builtin_ia32_ldmxcsr(0x1f80);
  EXPECT_EQ(host, 0);
  EXPECT_GT(inside, 0);
}
#elif defined(__aarch64__)
TEST(FloatEnvironment, KeepsDenormalsInside) {
  constexpr unsigned kFlushToZero = 1u << 24;
  volatile float smallest = 1e-38f, quarter = 0.25f;
  __builtin_aarch64_set_fpcr(kFlushToZero);
  const float host = smallest * quarter;
  float inside = 0;
  {
    const FloatEnvironment environment;
    inside = smallest * quarter;
  }
  EXPECT_EQ(__builtin_aarch64_get_fpcr(), kFlushToZero);
  __builtin_aarch64_set_fpcr(0);
  EXPECT_EQ(host, 0);
  EXPECT_GT(inside, 0);
}
#endif

#if defined(__GLIBC__) && defined(__x86_64__)  // ARM64 processors have no traps
TEST(FloatEnvironment, HidesTrapsInsideAndLeavesNoFlags) {
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  {
    const FloatEnvironment environment;
    volatile double infinite = one / zero;
    volatile long double also = long_one / long_zero;
    (void)infinite, (void)also;
  }
  volatile long double next = long_one + long_one;  // a flag left behind would trap here
  (void)next;
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO), 0);
  EXPECT_EQ(fegetexcept(), FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  fedisableexcept(FE_ALL_EXCEPT);
}
#endif

#if defined(__GLIBC__)
TEST(FloatEnvironment, ThreadsDoNotTakeTheCreators) {
  feenableexcept(FE_DIVBYZERO);
  std::fesetround(FE_UPWARD);
  int mode = -1, traps = -1;
  {
    auto thread = Thread::start("inlay-test", [&] { mode = std::fegetround(), traps = fegetexcept(); });
    ASSERT_TRUE(thread.ok());
  }
  fedisableexcept(FE_ALL_EXCEPT);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(mode, FE_TONEAREST);
  EXPECT_EQ(traps, 0);
}
#endif

}  // namespace
}  // namespace inlay
