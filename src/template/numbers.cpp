#include "src/template/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "src/base/ascii.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

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

std::optional<int64_t> parse_integer(std::string_view text, int base) {
  auto digits = without_underscores(strip(text, Side::both));
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
  auto digits = without_underscores(strip(text, Side::both));
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
