// tokenizer.json of every model, normalizer, pre-tokenizer, decoder and post-processor that is known, against what
// Hugging Face's tokenizers 0.23.2 (Rust) gives for the same small files and texts.
#include "src/tokenizer/json_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/tokenizer/utf8.h"
#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay::testing {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

Result<std::unique_ptr<Tokenizer>> read(const json& file, const json& config = nullptr,
                                        std::vector<int64_t> end_ids = {}) {
  return read_tokenizer_json({.tokenizer = file.dump(),
                              .config = config.is_null() ? "" : config.dump(),
                              .end_ids = std::move(end_ids),
                              .name = "test.json"});
}

std::string refusal(const json& file, const json& config = nullptr) {
  const auto tokenizer = read(file, config);
  EXPECT_FALSE(tokenizer.ok()) << file.dump().substr(0, 200);
  return tokenizer.status().message;
}

struct Reference {
  std::string name;
  json tokenizer;
  std::vector<json> cases;  // text, ids, ids with what the file adds, decoded, decoded without special tokens
};

const std::vector<Reference>& references() {
  static const std::vector<Reference> all = [] {
    std::vector<Reference> out;
    std::ifstream file(std::string(INLAY_SOURCE_DIR) + "/tests/data/tokenizer_json.jsonl");
    for (std::string line; std::getline(file, line);) {
      json row = json::parse(line);
      if (row.is_object())
        out.push_back({row["name"], row["tokenizer"], {}});
      else
        out.back().cases.push_back(std::move(row));
    }
    return out;
  }();
  return all;
}

const json& reference(const std::string& name) {
  for (const Reference& entry : references())
    if (entry.name == name) return entry.tokenizer;
  ADD_FAILURE() << name;
  return references()[0].tokenizer;
}

TEST(TokenizerJson, EncodesAsTheReference) {
  ASSERT_GE(references().size(), 18u);
  for (const Reference& entry : references()) {
    const auto tokenizer = read(entry.tokenizer);
    ASSERT_TRUE(tokenizer.ok()) << entry.name << ": " << tokenizer.status().message;
    ASSERT_GE(entry.cases.size(), 80u);
    for (const json& row : entry.cases) {
      const auto text = row[0].get<std::string>();
      EXPECT_EQ(ids_of(**tokenizer, text, {.add_special = false, .parse_special = true}), row[1].get<Ids>())
          << entry.name << ": " << row[0];
      EXPECT_EQ(ids_of(**tokenizer, text, {.add_special = true, .parse_special = true}), row[2].get<Ids>())
          << entry.name << ": " << row[0];
    }
  }
}

// The reference's Metaspace decoder drops all the spaces of the first token, not only the one that encoding prefixed.
bool loses_more(const Reference& entry, const std::string& text) {
  const auto is_space = [&](size_t at, size_t& next) {
    next = text.compare(at, 3, "\u2581") == 0 ? at + 3 : at + 1;
    return text.compare(at, 3, "\u2581") == 0 || text.compare(at, 1, " ") == 0;
  };
  size_t next = 0, after = 0;
  return entry.tokenizer.dump().find("Metaspace") != std::string::npos && is_space(0, next) && is_space(next, after);
}

std::string shown(const Tokenizer& tokenizer, const Ids& ids, bool show_special) {
  std::string storage;
  return std::string(well_formed(text_of(tokenizer, ids, show_special), storage));
}

TEST(TokenizerJson, DecodesAsTheReference) {
  int n_compared = 0;
  for (const Reference& entry : references()) {
    const auto tokenizer = read(entry.tokenizer);
    ASSERT_TRUE(tokenizer.ok()) << entry.name << ": " << tokenizer.status().message;
    for (const json& row : entry.cases) {
      if (loses_more(entry, row[0].get<std::string>())) continue;
      EXPECT_EQ(shown(**tokenizer, row[1].get<Ids>(), true), row[3].get<std::string>()) << entry.name << ": " << row[0];
      EXPECT_EQ(shown(**tokenizer, row[2].get<Ids>(), false), row[4].get<std::string>())
          << entry.name << ": " << row[0];
      ++n_compared;
    }
  }
  EXPECT_GT(n_compared, 1400);
}

// What the comparison above compares does depend on each part of the file.
TEST(TokenizerJson, OtherFilesGiveOtherIds) {
  const auto n_different = [](const std::string& name, const char* key, const json& value) {
    json changed = reference(name);
    changed[json::json_pointer(key)] = value;
    const auto tokenizer = read(changed);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message;
    if (!tokenizer.ok()) return 0;
    int n = 0;
    for (const Reference& entry : references())
      if (entry.name == name)
        for (const json& row : entry.cases)
          n += ids_of(**tokenizer, row[0].get<std::string>(), {.add_special = true, .parse_special = true}) !=
               row[2].get<Ids>();
    return n;
  };
  EXPECT_EQ(n_different("wordpiece", "/version", "1.0"), 0);
  EXPECT_GT(n_different("wordpiece", "/normalizer/lowercase", false), 0);
  EXPECT_GT(n_different("wordpiece", "/post_processor", nullptr), 80);
  EXPECT_GT(n_different("wordpiece", "/model/max_input_chars_per_word", 3), 10);
  EXPECT_GT(n_different("unigram", "/normalizer", nullptr), 5);
  EXPECT_GT(n_different("unigram", "/model/vocab/4/1", -30.0), 10);
  EXPECT_GT(n_different("bpe-characters", "/model/byte_fallback", false), 5);
  EXPECT_GT(n_different("bpe-characters", "/model/merges", json::array()), 20);
  EXPECT_GT(n_different("bpe-characters", "/added_tokens/3/rstrip", false), 0);
  EXPECT_GT(n_different("bpe-metaspace-first-split", "/pre_tokenizer/prepend_scheme", "never"), 20);
  EXPECT_GT(n_different("bytes-NFC", "/normalizer/type", "NFD"), 0);
  EXPECT_GT(n_different("wordlevel-Isolated", "/pre_tokenizer/pretokenizers/2/behavior", "Removed"), 0);
}

// What tokenizers 0.23 (Rust) gives: an added token begins in white space that the one before has taken, and what stands beside a character that no
// token has merges where there is no unknown token.
TEST(TokenizerJson, NeighboursOfWhatIsTakenOrLeftOut) {
  const struct {
    const char* what;
    const char* file;
    std::vector<std::pair<const char*, Ids>> texts;
  } rows[] = {
      {"added tokens",
       R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null, "decoder": null, "added_tokens": [{"id": 4, "content": "<A>", "single_word": false, "lstrip": false, "rstrip": true, "normalized": false, "special": false}, {"id": 5, "content": " x", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}, {"id": 6, "content": "<B>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": false}, {"id": 7, "content": "  ", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}], "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2, "x": 3}, "unk_token": "[UNK]"}})",
       {{"<A> x", {4, 5}},
        {"<A>  x", {4, 7, 3}},
        {"<A>   x", {4, 7, 5}},
        {"a <A> x b", {1, 4, 5, 2}},
        {"<A> <B>", {4, 6}},
        {"<A>  <B> x", {4, 7, 6, 5}},
        {"x<A> x x", {3, 4, 5, 5}},
        {"<A>    a", {4, 7, 7, 1}},
        {"<A> x<A> x <B>", {4, 5, 4, 5, 6}},
        {"<A>   ", {4, 7}}}},
      {"no unknown token",
       R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null, "decoder": null, "added_tokens": [], "pre_tokenizer": null, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4, "bc": 5, "<u>": 6}, "merges": ["a b", "ab c", "b c"], "unk_token": null, "fuse_unk": false, "dropout": null, "continuing_subword_prefix": null, "end_of_word_suffix": null, "byte_fallback": false}})",
       {{"ab", {2}},
        {"azb", {2}},
        {"abzc", {4}},
        {"zab", {2}},
        {"azzbzc", {4}},
        {"z", {}},
        {"bzc", {5}},
        {"azazazazazazazazazazazazazazazazazazazazazazazazazazazazazazbzc", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}}}},
      {"an unknown token",
       R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null, "decoder": null, "added_tokens": [], "pre_tokenizer": null, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4, "bc": 5, "<u>": 6}, "merges": ["a b", "ab c", "b c"], "unk_token": "<u>", "fuse_unk": false, "dropout": null, "continuing_subword_prefix": null, "end_of_word_suffix": null, "byte_fallback": false}})",
       {{"ab", {2}},
        {"azb", {0, 6, 1}},
        {"azzb", {0, 6, 6, 1}},
        {"z", {6}}}},
      {"fused unknown tokens",
       R"({"version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null, "decoder": null, "added_tokens": [], "pre_tokenizer": null, "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3, "abc": 4, "bc": 5, "<u>": 6}, "merges": ["a b", "ab c", "b c"], "unk_token": "<u>", "fuse_unk": true, "dropout": null, "continuing_subword_prefix": null, "end_of_word_suffix": null, "byte_fallback": false}})",
       {{"ab", {2}},
        {"azb", {0, 6, 1}},
        {"azzb", {0, 6, 1}},
        {"zz", {6}}}},
  };
  for (const auto& row : rows) {
    const auto tokenizer = read(json::parse(row.file));
    ASSERT_TRUE(tokenizer.ok()) << row.what << ": " << tokenizer.status().message;
    for (const auto& [text, want] : row.texts) {
      Ids ids;
      ASSERT_TRUE((*tokenizer)->encode(text, {}, ids).ok());
      EXPECT_EQ(ids, want) << row.what << ": " << text;
    }
  }
}

TEST(TokenizerJson, SpecialTokensAreTextUnlessAsked) {
  const auto tokenizer = read(reference("bpe-characters"));
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(ids_of(**tokenizer, "</s>", {.add_special = false, .parse_special = true}), Ids{2});
  EXPECT_GT(ids_of(**tokenizer, "</s>", {.add_special = false, .parse_special = false}).size(), 1u);
  const Ids tool = ids_of(**tokenizer, "the<tool>", {.add_special = false, .parse_special = false});
  EXPECT_EQ(tool, ids_of(**tokenizer, "the<tool>", {.add_special = false, .parse_special = true}));
}

// A special token that is looked for in normalized text is found in what the normalizer makes of the text, but not in ranges
// that are only text.
TEST(TokenizerJson, NormalizedSpecialTokensAreTextInPlainRanges) {
  json file = reference("wordpiece");
  ASSERT_EQ(file["normalizer"]["lowercase"], true);
  const int32_t id = 100000;
  file["added_tokens"].push_back({{"id", id}, {"content", "<mark>"}, {"single_word", false}, {"lstrip", false},
                                  {"rstrip", false}, {"normalized", true}, {"special", true}});
  int32_t last = 0;
  for (const auto& [text, number] : file["model"]["vocab"].items()) last = std::max(last, number.get<int32_t>());
  for (json& token : file["added_tokens"])
    if (token["id"] != id) last = std::max(last, token["id"].get<int32_t>());
  file["added_tokens"].back()["id"] = last + 1;
  const auto tokenizer = read(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  const std::string text = "the <MARK> the <mark>";
  const auto marks = [&](const EncodeOptions& options) { return std::ranges::count(ids_of(**tokenizer, text, options), last + 1); };
  EXPECT_EQ(marks({.add_special = false, .parse_special = true}), 2);
  EXPECT_EQ(marks({.add_special = false, .parse_special = false}), 0);
  const TextRange first[] = {{4, 10}}, inside[] = {{17, 18}}, both[] = {{4, 10}, {15, 21}}, apart[] = {{0, 3}};
  EXPECT_EQ(marks({.add_special = false, .parse_special = true, .plain = first}), 1);
  EXPECT_EQ(marks({.add_special = false, .parse_special = true, .plain = inside}), 1);
  EXPECT_EQ(marks({.add_special = false, .parse_special = true, .plain = both}), 0);
  EXPECT_EQ(marks({.add_special = false, .parse_special = true, .plain = apart}), 2);
}

TEST(TokenizerJson, ConfigNamesTheTokensThatBeginAndEnd) {
  const json config = {{"bos_token", "<s>"}, {"eos_token", {{"content", "</s>"}}}, {"add_eos_token", true}};
  const auto tokenizer = read(reference("bpe-characters"), config, {5});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  const Tokenizer& t = **tokenizer;
  EXPECT_EQ(t.bos(), 1);
  EXPECT_EQ(t.eos(), 2);
  EXPECT_TRUE(t.adds_bos() && t.adds_eos());
  EXPECT_TRUE(t.is_end_of_generation(2) && t.is_end_of_generation(5));
  EXPECT_FALSE(t.is_end_of_generation(6));
  EXPECT_EQ(t.kind(1), TokenKind::control);
  EXPECT_EQ(t.kind(0), TokenKind::unknown);
  EXPECT_EQ(t.kind(3), TokenKind::byte);
  const Ids ids = ids_of(t, "the", {.add_special = true});
  EXPECT_EQ(ids.front(), 1);
  EXPECT_EQ(ids.back(), 2);
  const auto without = read(reference("bpe-characters"), {{"bos_token", "<s>"}, {"add_bos_token", false}});
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE((*without)->adds_bos());
}

TEST(TokenizerJson, WhatIsNotKnownIsNamed) {
  const auto with = [](const char* name, const char* key, const json& value) {
    json changed = reference(name);
    changed[json::json_pointer(key)] = value;
    return refusal(changed);
  };
  EXPECT_EQ(with("bpe-characters", "/normalizer/normalizers/1", {{"type", "Nmt"}}),
            "test.json: normalizer.normalizers[1] has the type 'Nmt', a normalizer that is not known here");
  EXPECT_EQ(with("unigram", "/pre_tokenizer", {{"type", "UnicodeScripts"}}),
            "test.json: pre_tokenizer has the type 'UnicodeScripts', a pre-tokenizer that is not known here");
  EXPECT_EQ(with("unigram", "/decoder", {{"type", "CTC"}}),
            "test.json: decoder has the type 'CTC', a decoder that is not known here");
  EXPECT_EQ(with("unigram", "/post_processor", {{"type", "Other"}}),
            "test.json: post_processor has the type 'Other', a post-processor that is not known here");
  EXPECT_EQ(with("unigram", "/model/type", "RWKV"), "test.json: model.type is 'RWKV', a model that is not known here");
  EXPECT_EQ(with("bpe-characters", "/model/dropout", 0.1), "test.json: model.dropout is not 0");
  EXPECT_NE(with("wordlevel-Isolated", "/pre_tokenizer", json::parse(R"({"type":"Split","behavior":"Isolated",
            "pattern":{"Regex":"(a)\\1"}})"))
                .find("'(a)\\1' has the escape \\1"),
            std::string::npos);
}

TEST(TokenizerJson, WhatIsWrongIsNamed) {
  const auto with = [](const char* name, const char* key, const json& value) {
    json changed = reference(name);
    changed[json::json_pointer(key)] = value;
    return refusal(changed);
  };
  EXPECT_EQ(refusal(json::object()), "test.json: the document has no 'model'");
  EXPECT_EQ(refusal({{"model", {{"type", "BPE"}, {"vocab", json::object()}, {"merges", json::array()}}}}),
            "test.json: model.vocab is empty");
  EXPECT_EQ(with("bpe-characters", "/model/merges/0", "nonsense t"),
            "test.json: model.merges[0]: the left token of 'nonsense' 't' is not in the vocabulary");
  EXPECT_EQ(with("bpe-characters", "/model/merges/2", "a"),
            "test.json: model.merges[2] is 'a', expected two tokens with a space between");
  EXPECT_EQ(with("bpe-characters", "/added_tokens/0/id", 77),
            "test.json: added_tokens[0]: the id 77 stands for '<0x4A>' and for '<unk>'");
  EXPECT_EQ(with("wordpiece", "/model/vocab/the", 1 << 20),
            "test.json: model.vocab.the: the id 1048576 is out of range");
  EXPECT_EQ(with("wordpiece", "/post_processor/sep", {"[SEP]", 999}),
            "test.json: post_processor.sep[1] is 999, but there are 35 tokens");
  EXPECT_EQ(with("unigram", "/model/unk_id", 999), "test.json: model.unk_id is 999, but there are 36 tokens");
  EXPECT_NE(with("unigram", "/normalizer/normalizers/0/precompiled_charsmap", "AAA").find("base64"), std::string::npos);
  EXPECT_NE(with("unigram", "/normalizer/normalizers/0/precompiled_charsmap", "/////w==").find("trie"),
            std::string::npos);
}

}  // namespace
}  // namespace inlay::testing
