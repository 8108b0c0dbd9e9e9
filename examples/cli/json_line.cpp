#include "examples/cli/json_line.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace inlay::cli {

size_t utf8_character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  const size_t n = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  // No longer than needed, no surrogate, no more than U+10FFFF.
  const unsigned low = first == 0xE0   ? 0xA0
                       : first == 0xF0 ? 0x90
                                       : 0x80,
                 high = first == 0xED   ? 0x9F
                        : first == 0xF4 ? 0x8F
                                        : 0xBF;
  if (n > 1 && (byte(1) < low || byte(1) > high)) return 0;
  for (size_t i = 2; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return n;
}

std::string json_text(std::string_view text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const size_t n = utf8_character_bytes(text);
    const char c = text[0];
    if (n == 0)
      out += "\uFFFD";  // as tokenizers take a byte that is no text
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 32)
      out += std::string("\\u00") + kDigits[c >> 4] + kDigits[c & 15];
    else
      out += text.substr(0, n);
    text.remove_prefix(n > 0 ? n : 1);
  }
  return out + "\"";
}

std::string json_numbers(std::span<const float> numbers) {
  std::string out = "[";
  for (const float number : numbers) {
    char text[64];
    const float finite = std::isfinite(number) ? number : 0.0f;
    out += (out.size() > 1 ? "," : "") + std::string(text, std::to_chars(text, text + sizeof text, finite).ptr);
  }
  return out + "]";
}

namespace {

// JSON has no infinities.
std::string number_text(double value, int n_decimals) {
  char text[512];  // the largest number has 309 digits before the point
  const double finite = std::isfinite(value) ? value : 0.0;
  return std::string(text, std::to_chars(text, text + sizeof text, finite, std::chars_format::fixed, n_decimals).ptr);
}

}  // namespace

void JsonLine::begin(const std::string& key) {
  if (!body_.empty()) body_ += ',';
  body_ += json_text(key);
  body_ += ':';
}

void JsonLine::text(const std::string& key, const std::string& value) { begin(key), body_ += json_text(value); }

void JsonLine::truth(const std::string& key, bool value) { begin(key), body_ += value ? "true" : "false"; }

void JsonLine::integer(const std::string& key, uint64_t value) { begin(key), body_ += std::to_string(value); }

void JsonLine::number(const std::string& key, double value, int n_decimals) {
  begin(key);
  body_ += number_text(value, n_decimals);
}

void JsonLine::pair(const std::string& key, double low, double high, int n_decimals) {
  begin(key);
  body_ += '[';
  body_ += number_text(low, n_decimals);
  body_ += ',';
  body_ += number_text(high, n_decimals);
  body_ += ']';
}

void JsonLine::list(const std::string& key, const std::vector<std::string>& values) {
  begin(key);
  body_ += '[';
  for (size_t i = 0; i < values.size(); ++i) body_ += (i > 0 ? "," : "") + values[i];
  body_ += ']';
}

void JsonLine::object(const std::string& key, const JsonLine& value) { begin(key), body_ += value.finished(); }

}  // namespace inlay::cli
