// How long work takes this process, whatever else runs on the machine.
#pragma once

#include <ctime>

namespace inlay::test {

// Seconds of processor time that all threads of the process have taken.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace inlay::test
