// One JSON object on one line.
#pragma once

#include <cstdint>
#include <string>

namespace inlay::cli {

class JsonLine {
 public:
  void text(const std::string& key, const std::string& value);
  void truth(const std::string& key, bool value);
  void integer(const std::string& key, uint64_t value);
  void number(const std::string& key, double value, int n_decimals);
  void pair(const std::string& key, double low, double high, int n_decimals);
  void object(const std::string& key, const JsonLine& value);
  std::string finished() const { return "{" + body_ + "}"; }

 private:
  void begin(const std::string& key);
  std::string body_;
};

}  // namespace inlay::cli
