// Tokenizers whose small files would take time or memory without end.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/base/pulse.h"
#include "src/formats/metadata_builder.h"
#include "src/tokenizer/gguf_special_tokens.h"
#include "src/tokenizer/json_tokenizer.h"
#include "src/tokenizer/token_decoder.h"
#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::testing {
namespace {

using nlohmann::json;

// A token for each of a few characters.
json small_file() {
  json vocab = json::object();
  for (const char* text : {"<unk>", "a", "b", "c", " "}) vocab[text] = vocab.size();
  return {{"model", {{"type", "WordLevel"}, {"vocab", vocab}, {"unk_token", "<unk>"}}},
          {"pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "[\\s\\S]"}}}, {"behavior", "Isolated"}}}};
}

json sequence(const char* list, size_t n, const json& step) { return {{"type", "Sequence"}, {list, std::vector<json>(n, step)}}; }

json replacement(const char* from, const std::string& to) { return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}}; }

Result<std::unique_ptr<Tokenizer>> read(const json& file, const json& config = json::object()) {
  return read_tokenizer_json({.tokenizer = file.dump(), .config = config.dump(), .name = "test.json"});
}

void expect_refused(const json& file, const std::string& words) {
  const auto tokenizer = read(file);
  ASSERT_FALSE(tokenizer.ok()) << words;
  EXPECT_NE(tokenizer.status().message.find(words), std::string::npos) << tokenizer.status().message;
  EXPECT_NE(tokenizer.status().message.find("test.json"), std::string::npos) << tokenizer.status().message;
}

TEST(TokenizerLimits, StepsOfEachPart) {
  const struct {
    const char *part, *list;
    json step;
  } parts[] = {{"normalizer", "normalizers", {{"type", "Lowercase"}}},
               {"pre_tokenizer", "pretokenizers", {{"type", "FixedLength"}}},
               {"decoder", "decoders", {{"type", "ByteFallback"}}}};
  for (const auto& p : parts) {
    SCOPED_TRACE(p.part);
    json file = small_file();
    file[p.part] = sequence(p.list, 64, p.step);
    const auto tokenizer = read(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    std::vector<int32_t> ids;
    EXPECT_TRUE((*tokenizer)->encode("abc", {}, ids).ok());
    EXPECT_FALSE(ids.empty());
    file[p.part] = sequence(p.list, 50'000, p.step);
    expect_refused(file, std::string(p.part) + "." + p.list + "[64] is one step more than the 64");
  }
}

TEST(TokenizerLimits, Metaspaces) {
  json file = small_file();
  file["pre_tokenizer"] = sequence("pretokenizers", 4, {{"type", "Metaspace"}});
  EXPECT_TRUE(read(file).ok());
  file["pre_tokenizer"] = sequence("pretokenizers", 5, {{"type", "Metaspace"}});
  expect_refused(file, "pre_tokenizer.pretokenizers[4] is one Metaspace more than the 4");
  file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "  "}};
  expect_refused(file, "expected an object whose replacement is one character");
}

TEST(TokenizerLimits, WhatANormalizerMakesOfAText) {
  json file = small_file();
  for (const json& step : {replacement("a", "aa"), json{{"type", "Replace"}, {"pattern", {{"Regex", "a"}}}, {"content", "aa"}}}) {
    file["normalizer"] = sequence("normalizers", 40, step);
    file.erase("added_tokens");
    const auto tokenizer = read(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    std::vector<int32_t> ids;
    EXPECT_TRUE((*tokenizer)->encode("bb", {.add_special = false}, ids).ok());
    EXPECT_EQ(ids, (std::vector<int32_t>{2, 2}));
    const Status status = (*tokenizer)->encode("ab", {}, ids);
    EXPECT_EQ(status.code, Code::unsupported);
    EXPECT_EQ(status.message, "the normalizer makes more than 1088 bytes of 2 bytes");
    file["added_tokens"] = json::array({{{"id", 1}, {"content", "a"}, {"normalized", true}}});
    expect_refused(file, "the added token 'a': the normalizer makes more than 1056 bytes");
  }
  file["normalizer"] = replacement("a", std::string(1050, 'b'));
  expect_refused(file, "the added token 'a' has 1050 bytes when it is normalized, the limit is 1024");
  file.erase("added_tokens");
  file["normalizer"] = sequence("normalizers", 8, replacement("a", "aa"));
  const auto tokenizer = read(file);
  ASSERT_TRUE(tokenizer.ok());
  std::vector<int32_t> ids;
  EXPECT_TRUE((*tokenizer)->encode("a", {.add_special = false}, ids).ok());
  EXPECT_EQ(ids, std::vector<int32_t>(256, 1));
}

TEST(TokenizerLimits, WhatADecoderMakesOfAToken) {
  json file = small_file();
  file["decoder"] = sequence("decoders", 40, replacement("a", "aa"));
  expect_refused(file, "the decoder makes more than 1056 bytes of the token 'a'");
  file["decoder"] = sequence("decoders", 8, replacement("a", "aa"));
  const auto tokenizer = read(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  EXPECT_EQ((*tokenizer)->piece(1), std::string(256, 'a'));
  file["decoder"] = replacement("aa", "ba");  // what is put in is not looked at again
  file["model"]["vocab"]["aaaaa"] = 5;
  const auto other = read(file);
  ASSERT_TRUE(other.ok()) << other.status().message;
  EXPECT_EQ((*other)->piece(5), "babaa");
}

TEST(TokenizerLimits, TokensAroundAText) {
  const auto with = [](size_t n_items, size_t n_ids) {
    json file = small_file(), single = std::vector<json>(n_items, {{"SpecialToken", {{"id", "x"}}}});
    single.push_back({{"Sequence", {{"id", "A"}}}});
    file["post_processor"] = {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", {{"x", {{"ids", std::vector<int>(n_ids, 1)}}}}}};
    return file;
  };
  EXPECT_TRUE(read(with(255, 1)).ok());
  expect_refused(with(256, 1), "post_processor.single has 257 items, expected at most 256");
  expect_refused(with(2, 129), "is one token more than the 256 that may stand around a text");
}

TEST(TokenizerLimits, Affixes) {
  json file = small_file();
  file["model"] = {{"type", "WordPiece"}, {"vocab", {{"a", 0}}}, {"continuing_subword_prefix", std::string(1025, '#')}};
  expect_refused(file, "model.continuing_subword_prefix has 1025 bytes, the limit is 1024");
}

// Each space is a token that takes those beside it.
TEST(TokenizerLimits, SpacesThatTakeTheSpacesBesideThem) {
  constexpr size_t n = 1'000'000;
  for (const auto& [left, right] : {std::pair{true, false}, {false, true}, {true, true}}) {
    json file = small_file();
    file["added_tokens"] = json::array({{{"id", 4}, {"content", " "}, {"lstrip", left}, {"rstrip", right}}});
    const auto tokenizer = read(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    std::vector<int32_t> ids, expected(n + 2, 4);
    expected.front() = 1, expected.back() = 2;
    EXPECT_TRUE((*tokenizer)->encode("a" + std::string(n, ' ') + "b", {.add_special = false}, ids).ok());
    EXPECT_TRUE(ids == expected);
  }
}

// Words, added tokens alone, and a text of which nothing is left.
TEST(TokenizerLimits, LongTextsHaveAPulse) {
  json words = small_file(), added = small_file(), nothing = small_file(), pieces = small_file(), ways = small_file();
  added["added_tokens"] = json::array({{{"id", 1}, {"content", "a"}}});
  nothing["pre_tokenizer"]["behavior"] = "Removed";
  nothing["normalizer"] = {{"type", "Lowercase"}};
  pieces["model"] = {{"type", "WordPiece"}, {"vocab", {{"b", 0}, {std::string(5000, 'c'), 1}}}, {"unk_token", "b"}, {"max_input_chars_per_word", 5000}};
  pieces["pre_tokenizer"] = {{"type", "FixedLength"}, {"length", 1000}};
  ways["model"] = {{"type", "Unigram"}, {"vocab", json::array({json::array({"b", -1.0}), json::array({std::string(5000, 'a'), -2.0})})}, {"unk_id", 0}};
  ways.erase("pre_tokenizer");
  const std::pair<json, size_t> cases[] = {{words, 200'000}, {added, 200'000}, {nothing, 200'000}, {pieces, 1000}, {ways, 1000}};
  for (const auto& [file, n] : cases) {
    SCOPED_TRACE(file.dump().substr(0, 300));
    const auto tokenizer = read(file);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    const Pulse pulse([&](uint64_t) { return error(Code::cancelled, "stopped"); });
    std::vector<int32_t> ids;
    EXPECT_EQ((*tokenizer)->encode(std::string(n, 'a'), {.add_special = false}, ids).message, "stopped");
    EXPECT_LT(ids.size(), 150'000u);
  }
}

TEST(TokenizerLimits, ManyNamesAndKeys) {
  constexpr size_t n = 100'000;
  json config = json::object();
  for (size_t i = 0; i < n; ++i) config["model_special_tokens"]["name" + std::to_string(i)] = "a";
  const auto tokenizer = read(small_file(), config);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  EXPECT_EQ((*tokenizer)->special_names().size(), n);
  MetadataBuilder builder;
  for (size_t i = 0; i < n; ++i) builder.u32("tokenizer.ggml.n" + std::to_string(i) + "_token_id", 77);
  builder.u32("tokenizer.ggml.n0_token_id", 78);
  const Metadata metadata = builder.build("test.gguf");
  ASSERT_EQ(metadata.entries().size(), n);
  EXPECT_EQ(*metadata.get_u64("tokenizer.ggml.n0_token_id"), 78u);
  const std::vector<std::string_view> texts = {"a"};
  const std::vector<TokenKind> kinds = {TokenKind::normal};
  std::vector<std::string> remarks;
  ASSERT_TRUE(read_gguf_ends(metadata, texts, kinds, remarks).ok());
  EXPECT_EQ(remarks.size(), n);
}

}  // namespace
}  // namespace inlay::testing
