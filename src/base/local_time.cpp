#include "src/base/local_time.h"

#include <pthread.h>

#include <array>
#include <chrono>
#include <cstdint>

#include "src/base/fork.h"
#include "src/base/mutex.h"

namespace inlay {

namespace {

// localtime_r takes a lock, which in a child nobody may ever let go. So a child reads the clock's shifts from a table that its parent has
// made. No thread of this library is in localtime_r while the process forks: all hold `reading`, and so does fork().
constinit Mutex reading;

struct Shift {
  std::time_t from;
  long seconds;  // east of Greenwich
  int is_dst;
};

struct Shifts {
  std::array<Shift, 64> at{};  // by time; more than ten years of two a year, or of Morocco's four
  size_t n = 0;

  const Shift* find(std::time_t now) const {
    const Shift* out = nullptr;
    for (size_t i = 0; i < n && at[i].from <= now; ++i) out = &at[i];
    return out;
  }
};

constinit Shifts shifts;

Shift shift_at(std::time_t time) {
  std::tm local{};
  ::localtime_r(&time, &local);
  return {time, local.tm_gmtoff, local.tm_isdst};
}

bool same(const Shift& a, const Shift& b) { return a.seconds == b.seconds && a.is_dst == b.is_dst; }

void make_table(std::time_t now) {
  constexpr std::time_t kStep = 7 * 24 * 3600, kEnd = 521 * kStep;
  shifts.at[0] = shift_at(now);
  shifts.n = 1;
  for (std::time_t begin = now; begin < now + kEnd && shifts.n < shifts.at.size(); begin += kStep) {
    std::time_t low = begin, high = begin + kStep;
    Shift after = shift_at(high);
    if (same(after, shifts.at[shifts.n - 1])) continue;
    while (high - low > 1) {
      const std::time_t middle = low + (high - low) / 2;
      const Shift there = shift_at(middle);
      (same(there, shifts.at[shifts.n - 1]) ? low : high) = middle;
      if (high == middle) after = there;
    }
    after.from = high;
    shifts.at[shifts.n++] = after;
  }
}

std::tm broken_down(std::time_t now, const Shift& shift) {
  using namespace std::chrono;
  const sys_seconds time{seconds(now + shift.seconds)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::tm out{};
  out.tm_year = static_cast<int>(date.year()) - 1900;
  out.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  out.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  out.tm_hour = static_cast<int>(clock.hours().count());
  out.tm_min = static_cast<int>(clock.minutes().count());
  out.tm_sec = static_cast<int>(clock.seconds().count());
  out.tm_wday = static_cast<int>(weekday(day).c_encoding());
  out.tm_yday = static_cast<int>((day - sys_days(date.year() / January / 1)).count());
  out.tm_isdst = shift.is_dst;
  out.tm_gmtoff = shift.seconds;
  return out;
}

// While the library is opened: later another thread may already be in a call.
[[maybe_unused]] const int reading_is_held_at_forks =
    ::pthread_atfork([]() INLAY_UNCHECKED { reading.lock(); }, []() INLAY_UNCHECKED { reading.unlock(); }, []() INLAY_UNCHECKED { reading.unlock(); });

}  // namespace

std::tm local_time(std::time_t when) {
  const Lock lock(reading);
  const bool is_child = fork_generation() != 0;
  if (const Shift* shift = is_child ? shifts.find(when) : nullptr) return broken_down(when, *shift);
  if (!is_child && shifts.n == 0) make_table(std::time(nullptr));
  std::tm out{};
  ::localtime_r(&when, &out);
  return out;
}

}  // namespace inlay
