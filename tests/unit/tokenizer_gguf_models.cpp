// GGUF vocabularies of the models "t5" and "bert", made of tokenizer.json files as converters make them, against what
// Hugging Face's tokenizers 0.23.2 gives for those.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::testing {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

struct Reference {
  json tokenizer;
  std::vector<json> cases;  // text, ids, ids with what the file adds, decoded, decoded without special tokens
};

Reference reference(const std::string& name) {
  std::ifstream file(std::string(INLAY_SOURCE_DIR) + "/tests/data/tokenizer_json.jsonl");
  Reference out;
  bool is_here = false;
  for (std::string line; std::getline(file, line);) {
    json row = json::parse(line);
    if (row.is_object()) is_here = row["name"] == name;
    if (!is_here) continue;
    if (row.is_object())
      out.tokenizer = row["tokenizer"];
    else
      out.cases.push_back(std::move(row));
  }
  EXPECT_GE(out.cases.size(), 80u) << name;
  return out;
}

void mark_added(const json& tokenizer, VocabularyFile& v) {
  for (const json& added : tokenizer["added_tokens"]) {
    const auto id = added["id"].get<size_t>();
    while (v.tokens.size() <= id) v.add("");
    v.tokens[id] = added["content"];
    v.types[id] = added["special"].get<bool>() ? kControl : kUserDefined;
  }
}

VocabularyFile unigram_file(const json& tokenizer) {
  VocabularyFile v;
  v.model = "t5";
  v.scores.emplace();
  for (const json& entry : tokenizer["model"]["vocab"]) {
    const auto text = entry[0].get<std::string>();
    v.add(text, text.starts_with("<0x") ? kByte : kNormal, entry[1].get<float>());
  }
  mark_added(tokenizer, v);
  v.types[0] = kUnknown;
  v.numbers = {{"eos_token_id", 2}, {"bos_token_id", 1}, {"unknown_token_id", 0}};
  return v;
}

VocabularyFile word_piece_file(const json& tokenizer) {
  VocabularyFile v;
  v.model = "bert";
  v.tokens.resize(tokenizer["model"]["vocab"].size());
  v.types.resize(v.tokens.size(), kNormal);
  for (const auto& [text, id] : tokenizer["model"]["vocab"].items())
    v.tokens[id] = text.starts_with("##")                      ? text.substr(2)
                   : text.front() == '[' && text.back() == ']' ? text
                                                               : "\u2581" + text;
  mark_added(tokenizer, v);
  v.types[1] = kUnknown;
  v.numbers = {{"unknown_token_id", 1}, {"cls_token_id", 2}, {"seperator_token_id", 3}};
  return v;
}

// `suits`: texts that both formats treat alike.
void expect_reference(const Reference& reference, const VocabularyFile& file,
                      const std::function<bool(const std::string&)>& suits) {
  const auto tokenizer = load_good(file);
  ASSERT_TRUE(tokenizer);
  int n = 0;
  for (const json& row : reference.cases) {
    const auto text = row[0].get<std::string>();
    if (!suits(text)) continue;
    ++n;
    EXPECT_EQ(ids_of(*tokenizer, text, {.add_special = false, .parse_special = true}), row[1].get<Ids>()) << row[0];
    EXPECT_EQ(ids_of(*tokenizer, text, {.add_special = true, .parse_special = true}), row[2].get<Ids>()) << row[0];
  }
  EXPECT_GE(n, 50);
}

// GGUF has the rules of SentencePiece, where spaces alone divide words, also if they are written as U+2581.
bool has_only_spaces(const std::string& text) {
  for (const char* other : {"\u2581", "\t", "\n", "\v", "\f", "\r", "\u0085", "\u00a0", "\u1680", "\u2028", "\u3000"})
    if (text.find(other) != std::string::npos) return false;
  return text.find("\xE2\x80") == std::string::npos;
}

TEST(GgufUnigram, EncodesAsTheReference) {
  const Reference plain = reference("unigram-bytes");
  expect_reference(plain, unigram_file(plain.tokenizer), [](const std::string&) { return true; });
}

TEST(GgufUnigram, CompiledRulesAndSpacesAreThoseOfTheFile) {
  const Reference with_rules = reference("unigram");
  VocabularyFile v = unigram_file(with_rules.tokenizer);
  v.flags = {{"remove_extra_whitespaces", true}};
  v.charsmap = with_rules.tokenizer["normalizer"]["normalizers"][0]["precompiled_charsmap"].get<std::string>();
  expect_reference(with_rules, v, has_only_spaces);
}

TEST(GgufUnigram, DecodesAndKnowsItsTokens) {
  const auto tokenizer = load_good(unigram_file(reference("unigram-bytes").tokenizer));
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_TRUE(tokenizer->is_end_of_generation(2));
  EXPECT_EQ(tokenizer->kind(1), TokenKind::control);
  for (const char* text : {"the hello", "hello world", "Zo\u00eb"})
    EXPECT_EQ(text_of(*tokenizer, ids_of(*tokenizer, text)), text);
}

TEST(GgufUnigram, OptionsOfTheFile) {
  VocabularyFile v = unigram_file(reference("unigram-bytes").tokenizer);
  const auto plain = load_good(v);
  v.flags = {{"add_bos_token", true}, {"add_eos_token", false}};
  const auto other = load_good(v);
  Ids ids = ids_of(*plain, "hello", {.add_special = true});
  ASSERT_EQ(ids.back(), 2);
  ids.pop_back();
  ids.insert(ids.begin(), 1);
  EXPECT_EQ(ids_of(*other, "hello", {.add_special = true}), ids);
  v.flags = {{"add_space_prefix", false}};
  EXPECT_NE(ids_of(*load_good(v), "hello"), ids_of(*plain, "hello"));
  EXPECT_EQ(ids_of(*load_good(v), " hello"), ids_of(*plain, "hello"));
}

TEST(GgufWordPiece, EncodesAsTheReference) {
  const Reference bert = reference("wordpiece");
  const size_t most = bert.tokenizer["model"]["max_input_chars_per_word"];
  const auto has_no_long_word = [&](const std::string& text) {
    size_t n = 0, longest = 0;
    for (const char c : text) longest = std::max(longest, c == ' ' ? n = 0 : ++n);
    return longest <= most;
  };
  expect_reference(bert, word_piece_file(bert.tokenizer), has_no_long_word);
}

TEST(GgufTextModels, WrongFilesAreRefused) {
  const auto refusal = [](const VocabularyFile& v) { return load(v).status().message; };
  const VocabularyFile good = unigram_file(reference("unigram-bytes").tokenizer);
  VocabularyFile v = good;
  v.scores->pop_back();
  EXPECT_NE(refusal(v).find("tokenizer.ggml.scores has 291 entries, tokenizer.ggml.tokens has 292"), std::string::npos)
      << refusal(v);
  v = good;
  v.types.pop_back();
  EXPECT_NE(refusal(v).find("tokenizer.ggml.token_type has 291 entries"), std::string::npos) << refusal(v);
  v = good;
  v.tokens[5] = "\xff";
  EXPECT_NE(refusal(v).find("token 5, '\\xff', is not UTF-8"), std::string::npos) << refusal(v);
  v = good;
  v.charsmap = "AAAA";
  EXPECT_NE(refusal(v).find("precompiled map"), std::string::npos) << refusal(v);
  v = word_piece_file(reference("wordpiece").tokenizer);
  v.numbers.erase(v.numbers.begin());
  v.types[1] = kControl;
  EXPECT_NE(refusal(v).find("names no unknown token"), std::string::npos) << refusal(v);
  v.model = "rwkv";
  EXPECT_EQ(refusal(v), "tokenizer.ggml.model is 'rwkv', a tokenizer that is not known here (bert, gpt2, llama, t5)");
}

}  // namespace
}  // namespace inlay::testing
