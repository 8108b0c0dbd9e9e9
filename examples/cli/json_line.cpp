#include "examples/cli/json_line.h"

#include <charconv>
#include <cmath>

namespace inlay::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 32) {
      constexpr const char* kDigits = "0123456789abcdef";
      out += std::string("\\u00") + kDigits[c >> 4] + kDigits[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// JSON has no infinities.
std::string number_text(double value, int n_decimals) {
  char text[512];  // the largest number has 309 digits before the point
  const double finite = std::isfinite(value) ? value : 0.0;
  return std::string(text, std::to_chars(text, text + sizeof text, finite, std::chars_format::fixed, n_decimals).ptr);
}

}  // namespace

void JsonLine::begin(const std::string& key) {
  if (!body_.empty()) body_ += ',';
  body_ += quoted(key);
  body_ += ':';
}

void JsonLine::text(const std::string& key, const std::string& value) { begin(key), body_ += quoted(value); }

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

void JsonLine::object(const std::string& key, const JsonLine& value) { begin(key), body_ += value.finished(); }

}  // namespace inlay::cli
