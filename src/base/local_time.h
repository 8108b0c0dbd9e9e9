// The time of day where the host is.
#pragma once

#include <ctime>

namespace inlay {

// On Windows tm_isdst is unknown. Never waits for a lock of the C library that a thread of the parent may have held at a fork().
std::tm local_time(std::time_t when = std::time(nullptr));

}  // namespace inlay
