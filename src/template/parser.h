// The text of a template as statements.
#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/template/syntax.h"

namespace inlay::tmpl {

// Errors name line and column. `source` must be well-formed UTF-8.
Result<Body> parse(std::string_view source);

}  // namespace inlay::tmpl
