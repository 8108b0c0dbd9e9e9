// A place in a template's text.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/status.h"

namespace inlay::tmpl {

struct Position {
  uint32_t line = 1;
  uint32_t column = 1;  // in code points
};

// Names the place in front of an error's message.
inline Status at(Position position, Status status) {
  status.message =
      "line " + std::to_string(position.line) + ", column " + std::to_string(position.column) + ": " + status.message;
  return status;
}

}  // namespace inlay::tmpl
