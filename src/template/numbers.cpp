#include "src/template/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "src/base/ascii.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

// The zeros of Unicode's decimal digits beside ASCII's; each is followed by its one to nine.
constexpr uint32_t kZeros[] = {
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0, 0xF20, 0x1040,
    0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0,
    0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650,
    0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC,
    0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0};

std::string in_ascii(std::string_view text) {
  std::string out;
  for (const std::string_view c : code_points(text)) {
    const int value = decimal_value(decode_utf8(c.data()).value);
    value < 0 ? out += c : out += static_cast<char>('0' + value);
  }
  return out;
}

// Underscores may stand between digits only.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const auto digit = [&](size_t at) {
      return at < text.size() && is_ascii_alnum(text[at]);
    };
    if (i == 0 || !digit(i - 1) || !digit(i + 1)) return std::nullopt;
  }
  return out;
}

bool take_sign(std::string& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.erase(0, 1);
  return negative;
}

int prefix_base(const std::string& text) {
  if (text.size() < 3 || text[0] != '0') return 0;
  const char letter = ascii_lower(text[1]);
  return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
}

}  // namespace

int decimal_value(uint32_t code_point) {
  if (code_point < 0x80) return code_point >= '0' && code_point <= '9' ? static_cast<int>(code_point - '0') : -1;
  const auto* after = std::upper_bound(std::begin(kZeros), std::end(kZeros), code_point);
  if (after == std::begin(kZeros)) return -1;
  const uint32_t value = code_point - after[-1];
  return value < 10 ? static_cast<int>(value) : -1;
}

std::optional<int64_t> parse_integer(std::string_view text, int base) {
  auto digits = without_underscores(in_ascii(strip(text, Side::both)));
  if (!digits) return std::nullopt;
  const bool negative = take_sign(*digits);
  if (const int prefixed = prefix_base(*digits); prefixed != 0 && (base == 0 || base == prefixed)) {
    digits->erase(0, 2);
    base = prefixed;
  }
  if (base == 0) base = 10;
  if (digits->empty() || digits->starts_with('-')) return std::nullopt;
  digits->insert(0, negative ? "-" : "");
  int64_t out = 0;
  const auto parsed = std::from_chars(digits->data(), digits->data() + digits->size(), out, base);
  if (parsed.ec != std::errc() || parsed.ptr != digits->data() + digits->size()) return std::nullopt;
  return out;
}

std::optional<double> parse_real(std::string_view text) {
  auto digits = without_underscores(in_ascii(strip(text, Side::both)));
  if (!digits) return std::nullopt;
  const bool negative = take_sign(*digits);
  if (digits->empty() || digits->starts_with('-')) return std::nullopt;
  double out = 0;
  const std::string word = lower(*digits);
  if (word == "inf" || word == "infinity") {
    out = std::numeric_limits<double>::infinity();
  } else if (word == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (!is_ascii_digit(word[0]) && word[0] != '.') return std::nullopt;
    const auto parsed = std::from_chars(digits->data(), digits->data() + digits->size(), out);
    if (parsed.ec != std::errc() || parsed.ptr != digits->data() + digits->size()) return std::nullopt;
  }
  return negative ? -out : out;
}

}  // namespace inlay::tmpl
