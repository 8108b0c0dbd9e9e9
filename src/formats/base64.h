// Base64 (RFC 4648), the alphabet with + and /.
#pragma once

#include <string>
#include <string_view>

namespace inlay {

std::string encode_base64(std::string_view bytes);

// Appends to `out`; false at a character that is no digit. Padding at the end may be missing.
bool decode_base64(std::string_view text, std::string& out);

}  // namespace inlay
