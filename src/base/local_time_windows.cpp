#include "src/base/local_time.h"

#include <cstdint>

#include "src/base/windows_api.h"

namespace inlay {

// By Windows's zone, with this year's rules. The C library goes by the variable TZ where that is set, and reads it in its own way: with
// Europe/Berlin it is wrong by hours.
std::tm local_time(std::time_t when) {
  constexpr int64_t kTicks = 10'000'000, kSecondsFrom1601 = 11'644'473'600;
  const auto ticks = static_cast<uint64_t>((when + kSecondsFrom1601) * kTicks);
  const FILETIME time = {static_cast<DWORD>(ticks), static_cast<DWORD>(ticks >> 32)};
  SYSTEMTIME universal{}, local{}, first_day{};
  FileTimeToSystemTime(&time, &universal);
  if (!SystemTimeToTzSpecificLocalTime(nullptr, &universal, &local)) local = universal;
  first_day.wYear = local.wYear, first_day.wMonth = 1, first_day.wDay = 1;
  const auto days_of = [](SYSTEMTIME day) {
    day.wHour = day.wMinute = day.wSecond = day.wMilliseconds = 0;
    FILETIME begin{};
    SystemTimeToFileTime(&day, &begin);
    return static_cast<int64_t>(uint64_t{begin.dwHighDateTime} << 32 | begin.dwLowDateTime) / (86'400 * kTicks);
  };
  std::tm out{};
  out.tm_year = local.wYear - 1900, out.tm_mon = local.wMonth - 1, out.tm_mday = local.wDay;
  out.tm_hour = local.wHour, out.tm_min = local.wMinute, out.tm_sec = local.wSecond;
  out.tm_wday = local.wDayOfWeek, out.tm_yday = static_cast<int>(days_of(local) - days_of(first_day));
  out.tm_isdst = -1;
  return out;
}

}  // namespace inlay
