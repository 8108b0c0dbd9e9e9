#include "src/base/local_time.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace inlay {
namespace {

bool same(const std::tm& a, const std::tm& b) {
  return a.tm_year == b.tm_year && a.tm_mon == b.tm_mon && a.tm_mday == b.tm_mday && a.tm_hour == b.tm_hour && a.tm_min == b.tm_min &&
         a.tm_sec == b.tm_sec && a.tm_wday == b.tm_wday && a.tm_yday == b.tm_yday && a.tm_isdst == b.tm_isdst && a.tm_gmtoff == b.tm_gmtoff;
}

// Exits with the number of times, of many in the next nine years, that differ from what the C library says.
int n_different(std::time_t now) {
  int out = 0;
  for (std::time_t when = now; when < now + 9 * 365 * 24 * 3600L; when += 3600 * 5 + 7) {
    std::tm truth{};
    ::localtime_r(&when, &truth);
    out += !same(local_time(when), truth);
  }
  return out;
}

// What a child counts that knows the shifts from this process. `in_child`: the zone whose times it takes for the truth.
int of_zone(const std::string& zone, const std::string& in_child) {
  ::setenv("TZ", zone.c_str(), 1);
  ::tzset();
  const std::time_t now = std::time(nullptr);
  (void)local_time(now);
  int how = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("TZ", in_child.c_str(), 1);
    ::tzset();
    const int n = n_different(now);
    ::_exit(n > 100 ? 100 : n);
  }
  ::waitpid(child, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

// Every test is a process of its own, so each zone is one: a process makes its table once.
class LocalTime : public testing::TestWithParam<const char*> {};

TEST_P(LocalTime, AChildHasTheShiftsOfItsParent) { EXPECT_EQ(of_zone(GetParam(), GetParam()), 0); }

INSTANTIATE_TEST_SUITE_P(Zones, LocalTime,
                         testing::Values("UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "AEST-10AEDT,M10.1.0,M4.1.0/3", "<+0545>-5:45",
                                         "NST3:30NDT,M3.2.0,M11.1.0"));

TEST(LocalTimeOfAChild, IsNotTheCLibrarys) { EXPECT_GT(of_zone("CET-1CEST,M3.5.0,M10.5.0/3", "UTC0"), 0); }

TEST(LocalTimeHere, IsTheCLibrarys) { EXPECT_EQ(n_different(std::time(nullptr)), 0); }

}  // namespace
}  // namespace inlay
