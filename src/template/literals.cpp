#include "src/template/literals.h"

#include <charconv>

#include "src/base/ascii.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

bool is_digit(char c, int base) { return hex_value(c) >= 0 && hex_value(c) < base; }

// Digits with single underscores between them.
size_t digits_length(std::string_view text, size_t from, int base) {
  size_t end = from;
  while (end < text.size() && is_digit(text[end], base))
    end += end + 2 < text.size() && text[end + 1] == '_' && is_digit(text[end + 2], base) ? 2 : 1;
  return end - from;
}

size_t exponent_length(std::string_view text, size_t from) {
  if (from >= text.size() || (text[from] != 'e' && text[from] != 'E')) return 0;
  size_t digits = from + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  const size_t n = digits_length(text, digits, 10);
  return n ? digits + n - from : 0;
}

int base_of(std::string_view text) {
  if (text.size() < 3 || text[0] != '0') return 10;
  const char letter = ascii_lower(text[1]);
  const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
  return base != 10 && is_digit(text[2], base) ? base : 10;
}

// Code point escapes of n digits: \xNN, \uNNNN, \UNNNNNNNN.
Status append_numbered(std::string_view digits, size_t n, std::string& out) {
  uint32_t code_point = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + std::min(n, digits.size()), code_point, 16);
  if (digits.size() < n || parsed.ptr != digits.data() + n)
    return error(Code::format, "a string escape lacks hexadecimal digits");
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000))
    return error(Code::format, "a string escape names no character: U+%04X", code_point);
  append_utf8(code_point, out);
  return {};
}

size_t append_octal(std::string_view digits, std::string& out) {
  size_t n = 0;
  uint32_t code_point = 0;
  for (; n < 3 && n < digits.size() && is_digit(digits[n], 8); ++n)
    code_point = code_point * 8 + static_cast<uint32_t>(digits[n] - '0');
  append_utf8(code_point, out);
  return n;
}

// `text` begins behind the backslash; gives the number of bytes that belong to the escape.
Result<size_t> append_escape(std::string_view text, std::string& out) {
  static constexpr std::string_view kLetters = "\\'\"nrtabfv", kMeanings = "\\'\"\n\r\t\a\b\f\v";
  const char letter = text[0];
  if (const size_t which = kLetters.find(letter); which != kLetters.npos) {
    out += kMeanings[which];
    return size_t{1};
  }
  if (letter == '\n') return size_t{1};  // a continued line
  if (is_digit(letter, 8)) return append_octal(text, out);
  if (letter == 'N') return error(Code::unsupported, "the string escape \\N{...} is not supported");
  const size_t n = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (n == 0) {  // no escape: the backslash stays
    out += '\\';
    return size_t{0};
  }
  INLAY_TRY(append_numbered(text.substr(1), n, out));
  return n + 1;
}

}  // namespace

size_t name_length(std::string_view text) {
  size_t end = 0;
  while (end < text.size()) {
    const CodePoint c = decode_utf8(text.data() + end);
    const bool first = c.value == '_' || is_letter(c.value);
    if (!first && (end == 0 || !is_word(c.value))) break;
    end += c.n_bytes;
  }
  return end;
}

NumberLength number_length(std::string_view text, bool may_be_real) {
  if (const int base = base_of(text); base != 10) return {2 + digits_length(text, 2, base), false};
  const size_t whole = digits_length(text, 0, 10);
  size_t end = whole;
  if (may_be_real && end < text.size() && text[end] == '.')
    if (const size_t n = digits_length(text, end + 1, 10)) end += 1 + n;
  if (may_be_real) end += exponent_length(text, end);
  return {end, end > whole};
}

Result<std::string> unescape(std::string_view literal) {
  std::string out;
  out.reserve(literal.size());
  for (size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\' || i + 1 >= literal.size()) {
      out += literal[i];
      continue;
    }
    INLAY_ASSIGN(const size_t n, append_escape(literal.substr(i + 1), out));
    i += n;
  }
  return out;
}

}  // namespace inlay::tmpl
