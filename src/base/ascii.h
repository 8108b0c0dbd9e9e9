// Kinds of ASCII characters. <cctype> knows more of them where the host's locale has a character set of single bytes.
#pragma once

namespace inlay {

constexpr bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_ascii_alnum(char c) { return is_ascii_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'); }
// Of a hexadecimal digit; -1 for other characters.
constexpr int hex_value(char c) {
  const char letter = ascii_lower(c);
  return is_ascii_digit(c) ? c - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

}  // namespace inlay
