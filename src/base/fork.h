// fork(): a child process has the memory of its parent's engines, but neither their threads nor their locks' owners.
#pragma once

#include <cstdint>

#include "src/base/status.h"

namespace inlay {

// Done while the library is opened; again before the first answer of fork_generation() that matters. OUT_OF_MEMORY where the system
// cannot note it.
Status watch_forks();

// Forks between the process that opened the library and this one. A read of memory.
uint32_t fork_generation();

}  // namespace inlay
