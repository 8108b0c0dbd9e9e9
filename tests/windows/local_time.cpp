// Prints what local_time() says of the times BEGIN, BEGIN + STEP, ...
// usage: windows_local_time BEGIN STEP COUNT
#include "src/base/local_time.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const long long begin = std::atoll(argv[1]), step = std::atoll(argv[2]), count = std::atoll(argv[3]);
  for (long long i = 0; i < count; ++i) {
    const std::tm t = inlay::local_time(begin + i * step);
    std::printf("%d-%02d-%02d %02d:%02d:%02d %d %d\n", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, t.tm_wday, t.tm_yday);
  }
  return 0;
}
