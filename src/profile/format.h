// Appends formatted text.
#pragma once

#include <string>

namespace inlay {

void append_format(std::string& out, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace inlay
