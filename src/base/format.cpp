#include "src/base/format.h"

#include <cstdio>

#include "src/base/c_locale.h"

namespace inlay {

void append_format(std::string& out, const char* format, ...) {
  va_list args;
  va_start(args, format);
  append_format_list(out, format, args);
  va_end(args);
}

void append_format_list(std::string& out, const char* format, va_list args) {
  const CLocale locale;
  va_list again;
  va_copy(again, args);
  const int n = std::vsnprintf(nullptr, 0, format, args);
  if (n > 0) {
    const size_t at = out.size();
    out.resize(at + static_cast<size_t>(n) + 1);  // room for the 0 that vsnprintf adds
    std::vsnprintf(out.data() + at, static_cast<size_t>(n) + 1, format, again);
    out.pop_back();
  }
  va_end(again);
}

std::string counted(uint64_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace inlay
