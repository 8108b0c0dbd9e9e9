// One JSON object on one line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inlay::cli {

// Bytes of the UTF-8 character that the text begins with; 0: it is none.
size_t utf8_character_bytes(std::string_view text);

// Values in writing.
std::string json_text(std::string_view text);
std::string json_numbers(std::span<const float> numbers);  // an array

class JsonLine {
 public:
  void text(const std::string& key, const std::string& value);
  void truth(const std::string& key, bool value);
  void integer(const std::string& key, uint64_t value);
  void number(const std::string& key, double value, int n_decimals);
  void pair(const std::string& key, double low, double high, int n_decimals);
  void object(const std::string& key, const JsonLine& value);
  void list(const std::string& key, const std::vector<std::string>& values);  // of JSON values in writing
  std::string finished() const { return "{" + body_ + "}"; }

 private:
  void begin(const std::string& key);
  std::string body_;
};

}  // namespace inlay::cli
