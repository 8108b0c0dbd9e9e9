// Text that came from a file, for a message, a log or a list: what a terminal would obey is written as an escape, \x1b
// for a byte and \u202e for a character. So are control characters (C0, C1), those that change the direction of text, line
// separators, and bytes that are no UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace inlay {

enum class LineEnds { escaped, kept };

// Writes as many whole characters and escapes as fit; how many bytes that were. Takes no memory.
size_t write_printable(std::string_view text, char* out, size_t cap, LineEnds line_ends = LineEnds::escaped);

std::string printable(std::string_view text, LineEnds line_ends = LineEnds::escaped);

}  // namespace inlay
