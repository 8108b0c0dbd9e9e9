// What the tokenizer tests read: JSON, the fixtures' files, and a vocabulary as GGUF.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/gguf.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay::testing {

inline const std::string kFixtures = INLAY_FIXTURES_DIR;
inline const std::string kTokenizers = kFixtures + "/tokenizers/";

// A JSON value of the fixtures: what is absent reads as an empty value.
struct Json {
  bool present = false;
  double number = 0;
  std::string text;
  std::vector<Json> items;
  std::map<std::string, Json> members;

  const Json& operator[](const std::string& key) const {
    static const Json absent;
    const auto at = members.find(key);
    return at == members.end() ? absent : at->second;
  }
  std::vector<int32_t> ids() const {
    std::vector<int32_t> out;
    for (const Json& item : items) out.push_back(static_cast<int32_t>(item.number));
    return out;
  }
};

// Reads well-formed JSON: the fixtures are written by a program.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json value() {
    Json out;
    out.present = true;
    const char c = peek();
    if (c == '{' || c == '[')
      read_container(c == '{', out);
    else if (c == '"')
      out.text = string();
    else if (c == '-' || (c >= '0' && c <= '9'))
      out.number = number();
    else
      word(out);
    return out;
  }

 private:
  char peek() {
    while (at_ < text_.size() && std::string_view(" \n\r\t").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void read_container(bool object, Json& out) {
    ++at_;
    while (peek() != '}' && peek() != ']') {
      if (peek() == '\0') throw std::runtime_error("JSON ends too early");
      if (peek() == ',') ++at_;
      if (!object) {
        peek();
        out.items.push_back(value());
        continue;
      }
      peek();
      const std::string key = string();
      peek();
      ++at_;  // ':'
      out.members[key] = value();
    }
    ++at_;
  }
  double number() {
    const size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    const std::string digits(text_.substr(at_, end - at_));
    at_ = end;
    return std::stod(digits);
  }
  void word(Json& out) {
    const size_t end = std::min(text_.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at_), text_.size());
    if (end == at_) throw std::runtime_error("not JSON");
    out.number = text_.substr(at_, end - at_) == "true";
    out.present = text_.substr(at_, end - at_) != "null";
    at_ = end;
  }
  uint32_t hex4() {
    const auto out = static_cast<uint32_t>(std::stoul(std::string(text_.substr(at_, 4)), nullptr, 16));
    at_ += 4;
    return out;
  }
  static void put_utf8(uint32_t c, std::string& out) {
    const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (c < 0x80) return put(c);
    if (c < 0x800) return put(0xC0 | c >> 6), put(0x80 | (c & 63));
    if (c < 0x10000) return put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63)), put(0x80 | (c & 63));
  }
  void escape(std::string& out) {
    const char c = text_[at_++];
    const size_t simple = std::string_view("nrtbf").find(c);
    if (c != 'u') return out.push_back(simple == std::string_view::npos ? c : "\n\r\t\b\f"[simple]);
    uint32_t code = hex4();
    if (code >= 0xD800 && code < 0xDC00) {
      at_ += 2;  // \u of the low surrogate
      code = 0x10000 + ((code - 0xD800) << 10) + (hex4() - 0xDC00);
    }
    put_utf8(code, out);
  }
  std::string string() {
    std::string out;
    for (++at_; text_.at(at_) != '"';) {
      if (text_[at_] == '\\')
        ++at_, escape(out);
      else
        out.push_back(text_[at_++]);
    }
    ++at_;
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Json read_json(const std::string& path) { return JsonReader(read_file(path)).value(); }

inline std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> out;
  size_t from = 0;
  for (size_t at; (at = text.find(separator, from)) != text.npos; from = at + separator.size())
    out.push_back(text.substr(from, at - from));
  out.push_back(text.substr(from));
  return out;
}

inline std::vector<Json> read_json_lines(const std::string& path) {
  std::vector<Json> out;
  for (const std::string& line : split(read_file(path), "\n"))
    if (!line.empty()) out.push_back(JsonReader(line).value());
  return out;
}

inline std::string decode_base64(const std::string& text) {
  static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0, n_bits = 0;
  for (const char c : text) {
    const size_t digit = alphabet.find(c);
    if (digit == std::string::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    n_bits += 6;
    if (n_bits >= 8) out.push_back(static_cast<char>(bits >> (n_bits -= 8)));
  }
  return out;
}

// The fixtures' GGUF of that name, or the one made of its tokenizer.json when the tests are built; empty if neither.
inline std::string vocabulary_path(const std::string& name) {
  const std::string own = kTokenizers + name + ".gguf";
  if (std::ifstream(own).good()) return own;
  const std::string made = std::string(INLAY_MADE_VOCABULARIES) + "/" + name + ".gguf";
  return std::ifstream(made).good() ? made : "";
}

inline std::unique_ptr<Tokenizer> load_tokenizer(const std::string& name) {
  Result<Checkpoint> file = open_gguf(vocabulary_path(name));
  EXPECT_TRUE(file.ok()) << file.status().message;
  if (!file.ok()) return nullptr;
  Result<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::from_metadata(file->metadata());
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

inline std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  std::vector<int32_t> out;
  tokenizer.encode(text, options, out);
  return out;
}

inline std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool show_special = true) {
  std::string out;
  const Status status = tokenizer.decode(ids, {.show_special = show_special}, out);
  EXPECT_TRUE(status.ok()) << status.message;
  return out;
}

}  // namespace inlay::testing
