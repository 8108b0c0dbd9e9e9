#include "src/base/status.h"

#include <cstdarg>

#include "src/base/format.h"

namespace inlay {

Status error(Code code, const char* format, ...) {
  Status s;
  s.code = code;
  va_list args;
  va_start(args, format);
  append_format_list(s.message, format, args);
  va_end(args);
  return s;
}

}  // namespace inlay
