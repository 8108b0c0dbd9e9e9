// The variables of a template from JSON.
#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/template/value.h"

namespace inlay::tmpl {

// An array is that of the messages; an object names all variables: messages, tools and whatever else the template
// knows. `tools` and `documents` are none unless given, as transformers does it.
// marks: every text is foreign, but for names of tokens (bos_token) and roles of messages that are one word, of which
// templates make control tokens.
Result<Map> read_variables(std::string_view json, bool marks = false);

}  // namespace inlay::tmpl
