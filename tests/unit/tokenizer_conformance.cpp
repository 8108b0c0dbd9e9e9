// The conformance fixtures: ids of texts, texts of ids, ill-formed input, and every token's bytes.
#include <algorithm>
#include <cstring>

#include "src/tokenizer/utf8.h"
#include "tests/unit/tokenizer_fixtures.h"
#include "tests/unit/tokenizer_sha256.h"

namespace inlay::testing {
namespace {

constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};
constexpr EncodeOptions kParsed{.add_special = false, .parse_special = true};

enum class Source { gguf, made_gguf, json };  // a fixture, one made of a tokenizer.json, and that itself

struct Case {
  const char* name;
  Source source;
};

class TokenizerConformance : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (kFixtures.empty()) GTEST_SKIP() << "no conformance fixtures: set INLAY_FIXTURES";
    name_ = GetParam().name;
    if (!is(Source::json) && vocabulary_path(name_).empty()) GTEST_SKIP() << "no GGUF of the vocabulary " << name_ << " could be made";
    index_ = read_json(kTokenizers + "index.json");
    for (const json& entry : index_.at("tokenizers"))
      if (entry.at("name") == name_) entry_ = entry;
    ASSERT_FALSE(entry_.is_null());
    tokenizer_ = is(Source::json) ? load_json_tokenizer(name_) : load_tokenizer(name_);
    ASSERT_NE(tokenizer_, nullptr);
  }

  static bool is(Source source) { return GetParam().source == source; }
  // A GGUF has no NFC normalizer, which some tokenizer.json have: there the fixture tells what the GGUF gives.
  static Ids expected_ids(const json& row) {
    const json others = row.value("alt", json::object());
    return is(Source::made_gguf) ? others.value("libllama-gguf", ids_of(row)) : ids_of(row);
  }
  static Ids ids_of(const json& row) { return row.at("ids").get<Ids>(); }
  static std::string text_of(const json& row) { return row.at("text").get<std::string>(); }

  std::string name_;
  json index_, entry_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TokenizerConformance, ClassicTexts) {
  const auto texts = split(read_file(kTokenizers + "vocab.inp"), index_.at("inp_separator").get<std::string>());
  const auto lines = split(read_file(kTokenizers + name_ + ".out"), "\n");
  ASSERT_GE(lines.size(), texts.size());
  ASSERT_EQ(texts.size(), entry_.at("inp_cases").get<size_t>());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t> expected;
    for (const std::string& id : split(lines[i], " "))
      if (!id.empty()) expected.push_back(std::stoi(id));
    EXPECT_EQ(encode(*tokenizer_, texts[i], kPlain), expected) << "text " << i << ": " << texts[i];
  }
}

TEST_P(TokenizerConformance, HardTexts) {
  const auto rows = read_json_lines(kTokenizers + name_ + ".hard.jsonl");
  ASSERT_EQ(rows.size(), entry_.at("cases").get<size_t>());
  for (const json& row : rows) {
    const std::string text = text_of(row);
    EXPECT_EQ(encode(*tokenizer_, text, kParsed), expected_ids(row)) << row.at("id") << ": " << text;
    if (row.contains("ids_plain")) {
      EXPECT_EQ(encode(*tokenizer_, text, kPlain), row["ids_plain"].get<Ids>()) << row.at("id") << ": " << text;
    }
  }
}

// The GGUF fixtures say where parsing matters; in those made of a tokenizer.json it does where ids are of special
// tokens.
TEST_P(TokenizerConformance, HardTextsWithoutSpecialTokensAreTheSameParsedOrNot) {
  int n_compared = 0;
  for (const json& row : read_json_lines(kTokenizers + name_ + ".hard.jsonl")) {
    const Ids ids = expected_ids(row);
    const bool has_special = std::any_of(ids.begin(), ids.end(), [&](int32_t id) {
      return tokenizer_->kind(id) == TokenKind::control || tokenizer_->is_end_of_generation(id);
    });
    if (!is(Source::gguf) ? has_special : row.contains("ids_plain")) continue;
    EXPECT_EQ(encode(*tokenizer_, text_of(row), kPlain), ids) << row.at("id");
    ++n_compared;
  }
  EXPECT_GT(n_compared, 250);
}

TEST_P(TokenizerConformance, Decoding) {
  for (const json& row : read_json_lines(kTokenizers + name_ + ".hard.jsonl")) {
    const Ids ids = ids_of(row);
    EXPECT_EQ(decode(*tokenizer_, ids), row.value("decoded", text_of(row))) << row.at("id");
    if (row.contains("decoded_skip_special")) {
      EXPECT_EQ(decode(*tokenizer_, ids, false), row["decoded_skip_special"].get<std::string>()) << row.at("id");
    }
  }
}

// Piece by piece through the assembler, as a stream does it, gives the same text; where the whole is not well-formed,
// both have U+FFFD.
TEST_P(TokenizerConformance, StreamedDecoding) {
  for (const json& row : read_json_lines(kTokenizers + name_ + ".hard.jsonl")) {
    const Ids ids = ids_of(row);
    Utf8Assembler assembler;
    std::string streamed, storage;
    for (const int32_t id : ids) assembler.append(tokenizer_->piece(id), streamed);
    assembler.flush(streamed);
    std::string whole = decode(*tokenizer_, ids);
    if (tokenizer_->strips_leading_space() && !ids.empty() && tokenizer_->kind(ids[0]) == TokenKind::normal &&
        tokenizer_->piece(ids[0]).starts_with(' '))
      whole.insert(0, " ");
    EXPECT_EQ(streamed, well_formed(whole, storage)) << row.at("id");
  }
}

TEST_P(TokenizerConformance, IllFormedTexts) {
  const std::string all = read_file(kTokenizers + "invalid.bin");
  const auto rows = read_json_lines(kTokenizers + name_ + ".invalid.jsonl");
  size_t at = 0;
  for (const json& row : rows) {
    uint32_t n = 0;
    ASSERT_LE(at + 4, all.size());
    std::memcpy(&n, all.data() + at, 4);
    const std::string bytes = all.substr(at + 4, n);
    at += 4 + n;
    ASSERT_EQ(bytes, decode_base64(row.at("b64").get<std::string>()));
    std::string storage;
    EXPECT_EQ(well_formed(bytes, storage), row.at("lossy_text").get<std::string>()) << row.at("id");
    EXPECT_EQ(encode(*tokenizer_, bytes, kParsed), row.at("lossy_ids").get<Ids>()) << row.at("id");
  }
  EXPECT_EQ(at, all.size());
  EXPECT_GE(rows.size(), 20u);
}

TEST_P(TokenizerConformance, Pieces) {
  const json pieces = read_json(kTokenizers + name_ + ".pieces.json");
  ASSERT_EQ(tokenizer_->n_tokens(), pieces.at("n").get<int32_t>());
  std::string all;
  std::vector<int32_t> control, ends;
  for (int32_t id = 0; id < tokenizer_->n_tokens(); ++id) {
    const std::string_view piece = tokenizer_->piece(id);
    const auto n = static_cast<uint32_t>(piece.size());
    all.append(reinterpret_cast<const char*>(&n), 4).append(piece);
    if (tokenizer_->kind(id) == TokenKind::control) control.push_back(id);
    if (tokenizer_->is_end_of_generation(id)) ends.push_back(id);
  }
  for (const auto& [id, sample] : pieces.at("samples_b64").items())
    EXPECT_EQ(tokenizer_->piece(std::stoi(id)), decode_base64(sample.get<std::string>())) << id;
  EXPECT_EQ(sha256(all), pieces.at("sha256").get<std::string>());
  control.resize(std::min<size_t>(control.size(), 400));  // as many as the fixture lists
  EXPECT_EQ(control, pieces.at("control_ids").get<Ids>());
  if (is(Source::gguf)) {
    EXPECT_EQ(ends, pieces.at("eog_ids").get<Ids>());  // a tokenizer.json does not say
  }
}

TEST_P(TokenizerConformance, SpecialIds) {
  if (!is(Source::gguf)) {
    const json config = read_json(kTokenizers + name_ + ".tokenizer_config.json");
    EXPECT_EQ(tokenizer_->piece(tokenizer_->eos()), config.at("eos_token").get<std::string>());
    EXPECT_TRUE(tokenizer_->is_end_of_generation(tokenizer_->eos()));
    EXPECT_EQ(tokenizer_->adds_bos(), is(Source::made_gguf) && name_ == "llama3");  // the file does not add it itself
    EXPECT_FALSE(tokenizer_->adds_eos());
    return;
  }
  EXPECT_EQ(tokenizer_->bos(), entry_.at("bos_id").get<int32_t>());
  EXPECT_EQ(tokenizer_->eos(), entry_.at("eos_id").get<int32_t>());
  EXPECT_EQ(tokenizer_->adds_bos(), entry_.at("add_bos").get<bool>());
  EXPECT_EQ(tokenizer_->adds_eos(), entry_.at("add_eos").get<bool>());
  const json& example = entry_.at("add_special_example");
  EXPECT_EQ(encode(*tokenizer_, text_of(example), {.add_special = true}), ids_of(example));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, TokenizerConformance,
                         ::testing::Values(Case{"gpt-2", Source::gguf}, Case{"llama-spm", Source::gguf},
                                           Case{"phi-3", Source::gguf}, Case{"qwen2.5", Source::made_gguf},
                                           Case{"llama3", Source::made_gguf}, Case{"deepseek-llm", Source::gguf},
                                           Case{"starcoder", Source::gguf}, Case{"qwen2.5", Source::json},
                                           Case{"llama3", Source::json}),
                         [](const auto& param_info) {
                           std::string name = param_info.param.name;
                           if (param_info.param.source == Source::json) name += "_json";
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace inlay::testing
