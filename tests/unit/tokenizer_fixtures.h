// What the tokenizer tests read: the repository's vocabularies (tests/data/tokenizers), and those of other projects
// where INLAY_FIXTURES has them. tests/data/README.md says what is in the files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/formats/gguf.h"
#include "src/tokenizer/json_tokenizer.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay::testing {

inline const std::string kFixtures = INLAY_FIXTURES_DIR;
inline const std::string kTokenizers = kFixtures + "/tokenizers/";
inline const std::string kOwnTokenizers = std::string(INLAY_TEST_DATA_DIR) + "/tokenizers/";

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

// ---- this repository's vocabularies

inline const std::vector<json>& own_entries() {
  static const auto all = read_json(kOwnTokenizers + "index.json").at("vocabularies").get<std::vector<json>>();
  return all;
}

inline const json& own_entry(const std::string& name) {
  for (const json& entry : own_entries())
    if (entry.at("name") == name) return entry;
  ADD_FAILURE() << "index.json has no " << name;
  return own_entries().front();
}

inline bool is_gguf(const json& entry) { return entry.at("file").get<std::string>().ends_with(".gguf"); }

// The lines of a file that several entries share are read once.
inline const std::vector<json>& own_lines(const char* name) {
  static std::map<std::string, std::vector<json>> all;
  const auto found = all.find(name);
  return found != all.end() ? found->second : all.emplace(name, read_json_lines(kOwnTokenizers + name)).first->second;
}

// A line of results has one member for each group of entries with the same result: their names, or * for the most.
inline const json& result_of(const json& line, const std::string& name) {
  for (const auto& [names, result] : line.items()) {
    const auto all = split(names, " ");
    if (std::find(all.begin(), all.end(), name) != all.end()) return result;
  }
  return line.at("*");
}

// For each text: its id, the text (and the bytes in base64 if it is ill-formed), and what is expected.
inline std::vector<json> own_rows(const json& entry) {
  const std::vector<json>& texts = own_lines("texts.jsonl");
  const std::vector<json>& lines = own_lines(entry.at("results").get<std::string>().c_str());
  EXPECT_EQ(texts.size(), lines.size());
  std::vector<json> out;
  for (size_t i = 0; i < std::min(texts.size(), lines.size()); ++i) {
    out.push_back(result_of(lines[i], entry.at("name").get<std::string>()));
    out.back().update(texts[i]);
  }
  return out;
}

inline std::unique_ptr<Tokenizer> taken(Result<std::unique_ptr<Tokenizer>> tokenizer) {
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  return tokenizer.ok() ? *std::move(tokenizer) : nullptr;
}

// The tokenizer of a GGUF whose metadata `change` alters.
template <class Change>
std::unique_ptr<Tokenizer> load_changed_gguf(const std::string& path, Change change) {
  Result<Checkpoint> file = open_gguf(path);
  EXPECT_TRUE(file.ok()) << file.status().message;
  if (!file.ok()) return nullptr;
  const std::span<const MetaEntry> entries = file->metadata().entries();
  std::vector<MetaEntry> copy(entries.begin(), entries.end());
  change(copy);
  return taken(Tokenizer::from_metadata(Metadata(nullptr, std::move(copy), path)));
}

// `change` alters the tokenizer.json of the entry.
template <class Change>
std::unique_ptr<Tokenizer> load_changed_json(const json& entry, Change change) {
  const auto name = entry.at("file").get<std::string>();
  json file = read_json(kOwnTokenizers + name);
  for (const auto& [key, value] : entry.at("set").items()) file[key] = value;
  change(file);
  const std::string config = name.substr(0, name.size() - std::string_view(".json").size()) + "_config.json";
  return taken(
      read_tokenizer_json({.tokenizer = file.dump(), .config = read_file(kOwnTokenizers + config), .end_ids = {}}));
}

// Sets texts and flags, for the life of `values`.
inline void set_values(const json& values, std::vector<MetaEntry>& entries) {
  for (const auto& [key, value] : values.items()) {
    const std::string_view name = key;
    auto at = std::find_if(entries.begin(), entries.end(), [&](const MetaEntry& entry) { return entry.key == name; });
    if (at == entries.end()) at = entries.insert(at, MetaEntry{.key = name, .value = {}});
    at->value = MetaValue{};
    if (value.is_string()) {
      at->value.type = MetaType::string;
      at->value.text = value.get_ref<const std::string&>();
    } else {
      static constexpr std::byte kFlags[] = {std::byte{0}, std::byte{1}};
      at->value.type = MetaType::boolean;
      at->value.data = &kFlags[value.get<bool>()];
    }
  }
}

inline std::unique_ptr<Tokenizer> load_own(const json& entry) {
  if (!is_gguf(entry)) return load_changed_json(entry, [](json&) {});
  const json& values = entry.at("set");
  return load_changed_gguf(kOwnTokenizers + entry.at("file").get<std::string>(),
                           [&](std::vector<MetaEntry>& entries) { set_values(values, entries); });
}

// ---- other projects' vocabularies

inline bool has_outside_tokenizers() { return !kFixtures.empty() && std::ifstream(kTokenizers + "index.json").good(); }

// The GGUF of that name, or the one made of its tokenizer.json when the tests are built; empty if neither.
inline std::string vocabulary_path(const std::string& name) {
  const std::string own = kTokenizers + name + ".gguf";
  if (std::ifstream(own).good()) return own;
  const std::string made = std::string(INLAY_MADE_VOCABULARIES) + "/" + name + ".gguf";
  return std::ifstream(made).good() ? made : "";
}

inline std::unique_ptr<Tokenizer> load_tokenizer(const std::string& name) {
  return load_changed_gguf(vocabulary_path(name), [](std::vector<MetaEntry>&) {});
}

inline std::unique_ptr<Tokenizer> load_json_tokenizer(const std::string& name) {
  TokenizerFiles files;
  files.tokenizer = read_file(kTokenizers + name + ".tokenizer.json");
  files.config = read_file(kTokenizers + name + ".tokenizer_config.json");
  return taken(read_tokenizer_json(std::move(files)));
}

// A name of letters and digits, as test names are
inline std::string test_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

inline std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options) {
  std::vector<int32_t> out;
  (void)tokenizer.encode(text, options, out);
  return out;
}

inline std::string decode(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool show_special = true) {
  std::string out;
  const Status status = tokenizer.decode(ids, {.show_special = show_special}, out);
  EXPECT_TRUE(status.ok()) << status.message;
  return out;
}

}  // namespace inlay::testing
