// The variables of a template from JSON.
#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/template/value.h"

namespace inlay::tmpl {

// An array is that of the messages; an object names all variables: messages, tools and whatever else the template
// knows. `tools` and `documents` are none unless given, as transformers does it.
Result<Map> read_variables(std::string_view json);

}  // namespace inlay::tmpl
