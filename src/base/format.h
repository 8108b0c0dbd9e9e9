// Appends formatted text.
#pragma once

#include <cstdarg>
#include <string>

namespace inlay {

void append_format(std::string& out, const char* format, ...) __attribute__((format(printf, 2, 3)));
void append_format_list(std::string& out, const char* format, va_list args) __attribute__((format(printf, 2, 0)));

}  // namespace inlay
