#include "src/base/status.h"

#include <cstdarg>
#include <cstdio>

namespace inlay {

Status error(Code code, const char* format, ...) {
  Status s;
  s.code = code;
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int n = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  if (n > 0) {
    s.message.resize(static_cast<size_t>(n) + 1);
    std::vsnprintf(s.message.data(), s.message.size(), format, again);
    s.message.resize(static_cast<size_t>(n));
  }
  va_end(again);
  return s;
}

}  // namespace inlay
