#include "examples/cli/json_line.h"

#include <cmath>
#include <cstdio>

namespace inlay::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 32) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// JSON has no infinities.
std::string number_text(double value, int n_decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", n_decimals, std::isfinite(value) ? value : 0.0);
  return text;
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
