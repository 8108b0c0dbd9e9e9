// Appends formatted text.
#pragma once

#include <cstdarg>
#include <string>

namespace inlay {

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void append_format(std::string& out, const char* format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
void append_format_list(std::string& out, const char* format, va_list args);

}  // namespace inlay
