#include "src/formats/text.h"

#include <cstdint>

#include "src/base/format.h"

namespace inlay {
namespace {

constexpr size_t kQuotedBytes = 120;

uint8_t byte_at(std::string_view text, size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; }

// Length of the well-formed sequence at the start of `text`, 0 if there is none.
size_t utf8_sequence(std::string_view text) {
  const auto continues = [&](size_t i) { return (byte_at(text, i) & 0xC0) == 0x80; };
  const uint8_t a = byte_at(text, 0), b = byte_at(text, 1);
  if (text.empty()) return 0;
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return continues(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    const bool second = continues(1) && !(a == 0xE0 && b < 0xA0) && !(a == 0xED && b > 0x9F);
    return second && continues(2) ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    const bool second = continues(1) && !(a == 0xF0 && b < 0x90) && !(a == 0xF4 && b > 0x8F);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "'";
  while (!text.empty() && out.size() < kQuotedBytes) {
    const size_t n = utf8_sequence(text);
    const uint8_t c = byte_at(text, 0);
    if (n == 0 || c < 0x20 || c == 0x7F) {
      append_format(out, "\\x%02x", c);
      text.remove_prefix(1);
    } else {
      out += text.substr(0, n);
      text.remove_prefix(n);
    }
  }
  out += text.empty() ? "'" : "...'";
  return out;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t n = utf8_sequence(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

}  // namespace inlay
