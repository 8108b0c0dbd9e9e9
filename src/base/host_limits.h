// What of the machine this process may use: the one place that answers "how many" and "how much".
#pragma once

#include <cstdint>
#include <string>

namespace inlay {

// Processors that the process's threads may run on, of which control groups (version 1 and 2) with a CPU quota give a
// part, rounded up. At least 1. `root` stands before /proc and /sys, for tests.
int32_t usable_processors(const std::string& root = "");

// How many threads compute where nobody says.
int32_t default_threads();

// The least of what the machine, the control groups of the process and of all above it, RLIMIT_AS and RLIMIT_DATA
// allow. [bytes] UINT64_MAX where nobody tells.
struct HostMemory {
  uint64_t total = UINT64_MAX;
  uint64_t available = UINT64_MAX;  // more than now: free, cached files, swap
};
HostMemory host_memory(const std::string& root = "");

}  // namespace inlay
