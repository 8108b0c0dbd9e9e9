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

struct Case {
  const char* name;
  bool made_from_json;  // the GGUF made of the tokenizer.json
};

class TokenizerConformance : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (kFixtures.empty()) GTEST_SKIP() << "no conformance fixtures: set INLAY_FIXTURES";
    name_ = GetParam().name;
    if (vocabulary_path(name_).empty()) GTEST_SKIP() << "no GGUF of the vocabulary " << name_ << " could be made";
    index_ = read_json(kTokenizers + "index.json");
    for (const Json& entry : index_["tokenizers"].items)
      if (entry["name"].text == name_) entry_ = entry;
    ASSERT_TRUE(entry_.present);
    tokenizer_ = load_tokenizer(name_);
    ASSERT_NE(tokenizer_, nullptr);
  }

  // A GGUF has no NFC normalizer, which some tokenizer.json have: there the fixture tells what the GGUF gives.
  static std::vector<int32_t> expected_ids(const Json& row) {
    const Json& of_gguf = row["alt"]["libllama-gguf"];
    return GetParam().made_from_json && of_gguf.present ? of_gguf.ids() : row["ids"].ids();
  }

  std::string name_;
  Json index_, entry_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TokenizerConformance, ClassicTexts) {
  const auto texts = split(read_file(kTokenizers + "vocab.inp"), index_["inp_separator"].text);
  const auto lines = split(read_file(kTokenizers + name_ + ".out"), "\n");
  ASSERT_GE(lines.size(), texts.size());
  ASSERT_EQ(texts.size(), static_cast<size_t>(entry_["inp_cases"].number));
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t> expected;
    for (const std::string& id : split(lines[i], " "))
      if (!id.empty()) expected.push_back(std::stoi(id));
    EXPECT_EQ(encode(*tokenizer_, texts[i], kPlain), expected) << "text " << i << ": " << texts[i];
  }
}

TEST_P(TokenizerConformance, HardTexts) {
  const auto rows = read_json_lines(kTokenizers + name_ + ".hard.jsonl");
  ASSERT_EQ(rows.size(), static_cast<size_t>(entry_["cases"].number));
  for (const Json& row : rows) {
    const std::string& text = row["text"].text;
    EXPECT_EQ(encode(*tokenizer_, text, kParsed), expected_ids(row)) << row["id"].text << ": " << text;
    if (row["ids_plain"].present) {
      EXPECT_EQ(encode(*tokenizer_, text, kPlain), row["ids_plain"].ids()) << row["id"].text << ": " << text;
    }
  }
}

// The GGUF fixtures say where parsing matters; in those made of a tokenizer.json it does where ids are of special
// tokens.
TEST_P(TokenizerConformance, HardTextsWithoutSpecialTokensAreTheSameParsedOrNot) {
  int n_compared = 0;
  for (const Json& row : read_json_lines(kTokenizers + name_ + ".hard.jsonl")) {
    const std::vector<int32_t> ids = expected_ids(row);
    const bool has_special = std::any_of(ids.begin(), ids.end(), [&](int32_t id) {
      return tokenizer_->kind(id) == TokenKind::control || tokenizer_->is_end_of_generation(id);
    });
    if (GetParam().made_from_json ? has_special : row["ids_plain"].present) continue;
    EXPECT_EQ(encode(*tokenizer_, row["text"].text, kPlain), ids) << row["id"].text;
    ++n_compared;
  }
  EXPECT_GT(n_compared, 250);
}

TEST_P(TokenizerConformance, Decoding) {
  for (const Json& row : read_json_lines(kTokenizers + name_ + ".hard.jsonl")) {
    const std::string expected = row["decoded_b64"].present ? decode_base64(row["decoded_b64"].text)
                                 : row["decoded"].present   ? row["decoded"].text
                                                            : row["text"].text;
    EXPECT_EQ(decode(*tokenizer_, row["ids"].ids()), expected) << row["id"].text;
    if (row["decoded_skip_special"].present) {
      EXPECT_EQ(decode(*tokenizer_, row["ids"].ids(), false), row["decoded_skip_special"].text) << row["id"].text;
    }
  }
}

// Piece by piece through the assembler, as a stream does it, gives the same text; where the whole is not well-formed,
// both have U+FFFD.
TEST_P(TokenizerConformance, StreamedDecoding) {
  for (const Json& row : read_json_lines(kTokenizers + name_ + ".hard.jsonl")) {
    const std::vector<int32_t> ids = row["ids"].ids();
    Utf8Assembler assembler;
    std::string streamed, storage;
    for (const int32_t id : ids) assembler.append(tokenizer_->piece(id), streamed);
    assembler.flush(streamed);
    std::string whole = decode(*tokenizer_, ids);
    if (tokenizer_->strips_leading_space() && !ids.empty() && tokenizer_->kind(ids[0]) == TokenKind::normal &&
        tokenizer_->piece(ids[0]).starts_with(' '))
      whole.insert(0, " ");
    EXPECT_EQ(streamed, well_formed(whole, storage)) << row["id"].text;
  }
}

TEST_P(TokenizerConformance, IllFormedTexts) {
  const std::string all = read_file(kTokenizers + "invalid.bin");
  const auto rows = read_json_lines(kTokenizers + name_ + ".invalid.jsonl");
  size_t at = 0;
  for (const Json& row : rows) {
    uint32_t n = 0;
    ASSERT_LE(at + 4, all.size());
    std::memcpy(&n, all.data() + at, 4);
    const std::string bytes = all.substr(at + 4, n);
    at += 4 + n;
    ASSERT_EQ(bytes, decode_base64(row["b64"].text));
    std::string storage;
    EXPECT_EQ(well_formed(bytes, storage), row["lossy_text"].text) << row["id"].text;
    EXPECT_EQ(encode(*tokenizer_, bytes, kParsed), row["lossy_ids"].ids()) << row["id"].text;
  }
  EXPECT_EQ(at, all.size());
  EXPECT_GE(rows.size(), 20u);
}

TEST_P(TokenizerConformance, Pieces) {
  const Json pieces = read_json(kTokenizers + name_ + ".pieces.json");
  ASSERT_EQ(tokenizer_->n_tokens(), static_cast<int32_t>(pieces["n"].number));
  std::string all;
  std::vector<int32_t> control, ends;
  for (int32_t id = 0; id < tokenizer_->n_tokens(); ++id) {
    const std::string_view piece = tokenizer_->piece(id);
    const auto n = static_cast<uint32_t>(piece.size());
    all.append(reinterpret_cast<const char*>(&n), 4).append(piece);
    if (tokenizer_->kind(id) == TokenKind::control) control.push_back(id);
    if (tokenizer_->is_end_of_generation(id)) ends.push_back(id);
  }
  for (const auto& [id, sample] : pieces["samples_b64"].members)
    EXPECT_EQ(tokenizer_->piece(std::stoi(id)), decode_base64(sample.text)) << id;
  EXPECT_EQ(sha256(all), pieces["sha256"].text);
  control.resize(std::min<size_t>(control.size(), 400));  // as many as the fixture lists
  EXPECT_EQ(control, pieces["control_ids"].ids());
  if (!GetParam().made_from_json) {
    EXPECT_EQ(ends, pieces["eog_ids"].ids());  // a tokenizer.json does not say
  }
}

TEST_P(TokenizerConformance, SpecialIds) {
  if (GetParam().made_from_json) {
    const Json eos = read_json(kTokenizers + name_ + ".tokenizer_config.json")["eos_token"];
    EXPECT_EQ(tokenizer_->piece(tokenizer_->eos()), eos["content"].present ? eos["content"].text : eos.text);
    EXPECT_TRUE(tokenizer_->is_end_of_generation(tokenizer_->eos()));
    EXPECT_EQ(tokenizer_->adds_bos(), name_ == "llama3");
    EXPECT_FALSE(tokenizer_->adds_eos());
    return;
  }
  EXPECT_EQ(tokenizer_->bos(), static_cast<int32_t>(entry_["bos_id"].number));
  EXPECT_EQ(tokenizer_->eos(), static_cast<int32_t>(entry_["eos_id"].number));
  EXPECT_EQ(tokenizer_->adds_bos(), entry_["add_bos"].number != 0);
  EXPECT_EQ(tokenizer_->adds_eos(), entry_["add_eos"].number != 0);
  const Json& example = entry_["add_special_example"];
  EXPECT_EQ(encode(*tokenizer_, example["text"].text, {.add_special = true}), example["ids"].ids());
}

INSTANTIATE_TEST_SUITE_P(Fixtures, TokenizerConformance,
                         ::testing::Values(Case{"gpt-2", false}, Case{"llama-spm", false}, Case{"phi-3", false},
                                           Case{"qwen2.5", true}, Case{"llama3", true}, Case{"deepseek-llm", false},
                                           Case{"starcoder", false}),
                         [](const auto& param_info) {
                           std::string name = param_info.param.name;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace inlay::testing
