// fork(): a child process has the memory of its parent's engines, but neither their threads nor their locks' owners.
#pragma once

#include <cstdint>

#include "src/base/status.h"

namespace inlay {

// Before the first answer of fork_generation() that matters. OUT_OF_MEMORY where the system cannot note it.
Status watch_forks();

// Forks between the process in which watch_forks() was first called and this one. A read of memory.
uint32_t fork_generation();

}  // namespace inlay
