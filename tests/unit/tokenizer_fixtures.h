// What the tokenizer tests read: the fixtures' files, and a vocabulary as GGUF.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/gguf.h"
#include "src/tokenizer/json_tokenizer.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay::testing {

inline const std::string kFixtures = INLAY_FIXTURES_DIR;
inline const std::string kTokenizers = kFixtures + "/tokenizers/";

using nlohmann::json;
using Ids = std::vector<int32_t>;

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline json read_json(const std::string& path) { return json::parse(read_file(path)); }

inline std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> out;
  size_t from = 0;
  for (size_t at; (at = text.find(separator, from)) != text.npos; from = at + separator.size())
    out.push_back(text.substr(from, at - from));
  out.push_back(text.substr(from));
  return out;
}

inline std::vector<json> read_json_lines(const std::string& path) {
  std::vector<json> out;
  for (const std::string& line : split(read_file(path), "\n"))
    if (!line.empty()) out.push_back(json::parse(line));
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

inline std::unique_ptr<Tokenizer> load_json_tokenizer(const std::string& name) {
  TokenizerFiles files;
  files.tokenizer = read_file(kTokenizers + name + ".tokenizer.json");
  files.config = read_file(kTokenizers + name + ".tokenizer_config.json");
  Result<std::unique_ptr<Tokenizer>> tokenizer = read_tokenizer_json(std::move(files));
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
