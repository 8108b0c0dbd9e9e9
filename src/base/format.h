// Appends formatted text.
#pragma once

#include <cstdarg>
#include <cstdint>
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

// "1 token", "2 tokens".
std::string counted(uint64_t n, const char* noun);

}  // namespace inlay
