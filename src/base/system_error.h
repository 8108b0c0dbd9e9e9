// What a system call's error number means, as a Status. The text is our own: the C library's follows the host's locale.
#pragma once

#include <span>

#include "src/base/status.h"

namespace inlay {

struct SystemError {
  int number;  // errno
  Code code;
  const char* text;
};

// Those that have a text; any other is Code::io and "error N of the system".
std::span<const SystemError> system_errors();

// "FORMAT: TEXT", with `number` as the native code.
INLAY_PRINTF(2, 3)
Status system_error(int number, const char* format, ...);

// The same for a thread that the system refused. Whatever the number, the caller can do with fewer threads or come again,
// so that the code is always out_of_memory.
INLAY_PRINTF(2, 3)
Status thread_error(int number, const char* format, ...);

#ifdef _WIN32
// The same for what GetLastError() gave.
INLAY_PRINTF(2, 3)
Status windows_error(unsigned long number, const char* format, ...);
#endif

}  // namespace inlay
