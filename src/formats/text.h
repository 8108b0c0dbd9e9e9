// Text that came from a file and goes into a message, and the check that it is text at all.
#pragma once

#include <string>
#include <string_view>

namespace inlay {

// In single quotes; bytes outside printable ASCII and well-formed UTF-8 as \xNN, long text cut with "...".
std::string quote(std::string_view text);

// Well-formed UTF-8 (Unicode 15, table 3-7): no surrogates, no overlong forms, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text);

}  // namespace inlay
