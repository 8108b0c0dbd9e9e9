// Reading code points and their classes for the pre-tokenizers' hand-written matchers.
#pragma once

#include <array>

#include "src/tokenizer/unicode_class.h"
#include "src/tokenizer/utf8.h"

namespace inlay {

struct Char {
  uint32_t value = 0;
  uint32_t n_bytes = 0;  // 0 at the end of the text
  CharClass kind = CharClass::other;

  bool is(CharClass c) const { return n_bytes > 0 && kind == c; }
};

namespace detail {
constexpr std::array<CharClass, 128> ascii_classes() {
  std::array<CharClass, 128> out{};
  for (int c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool symbol =
        c == '$' || c == '+' || c == '<' || c == '=' || c == '>' || c == '^' || c == '`' || c == '|' || c == '~';
    if (letter)
      out[c] = CharClass::letter;
    else if (c >= '0' && c <= '9')
      out[c] = CharClass::number;
    else if (c == ' ' || (c >= 9 && c <= 13))
      out[c] = CharClass::space;
    else if (symbol)
      out[c] = CharClass::symbol;
    else if (c > ' ' && c < 127)
      out[c] = CharClass::punctuation;
  }
  return out;
}
inline constexpr std::array<CharClass, 128> kAsciiClasses = ascii_classes();
}  // namespace detail

inline Char char_at(const char* at, const char* end) {
  if (at == end) return {};
  const auto byte = static_cast<unsigned char>(*at);
  if (byte < 0x80) return {byte, 1, detail::kAsciiClasses[byte]};
  const CodePoint point = decode_utf8(at);
  return {point.value, point.n_bytes, char_class(point.value)};
}

// The end of the run of characters from `at` that satisfy `wanted`.
template <class Predicate>
inline const char* skip_while(const char* at, const char* end, Predicate wanted) {
  while (at < end) {
    const Char c = char_at(at, end);
    if (!wanted(c)) break;
    at += c.n_bytes;
  }
  return at;
}

}  // namespace inlay
