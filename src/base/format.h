// Appends formatted text.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

#include "src/base/printf_format.h"

namespace inlay {

INLAY_PRINTF(2, 3)
void append_format(std::string& out, const char* format, ...);
INLAY_PRINTF(2, 0)
void append_format_list(std::string& out, const char* format, va_list args);

// "1 token", "2 tokens".
std::string counted(uint64_t n, const char* noun);

}  // namespace inlay
