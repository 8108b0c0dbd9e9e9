// Spelling of names, numbers and strings in a template.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/base/status.h"

namespace inlay::tmpl {

// Bytes of the identifier that `text` begins with, 0 if none.
size_t name_length(std::string_view text);

struct NumberLength {
  size_t n_bytes;
  bool is_real;
};
// `text` begins with a digit. Digits behind a dot are an index and never a real number.
NumberLength number_length(std::string_view text, bool may_be_real);

// What the inside of a string literal means, Python's escapes resolved.
Result<std::string> unescape(std::string_view literal);

}  // namespace inlay::tmpl
