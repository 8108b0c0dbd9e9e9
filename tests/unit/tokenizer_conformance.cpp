// Ids of texts, texts of ids, ill-formed input, and every token's bytes, against what other programs give: for the
// repository's own vocabularies always, and for those of other projects where INLAY_FIXTURES has them.
#include <ostream>

#include "src/tokenizer/utf8.h"
#include "tests/unit/tokenizer_fixtures.h"
#include "tests/unit/tokenizer_sha256.h"

namespace inlay::testing {
namespace {

constexpr EncodeOptions kPlain{.add_special = false, .parse_special = false};
constexpr EncodeOptions kParsed{.add_special = false, .parse_special = true};

// One of the repository's, or from outside: a GGUF, one made of a tokenizer.json, and that itself
enum class Source { own, gguf, made_gguf, json };

struct Case {
  std::string name;
  Source source;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return test_name(info.param.name + (info.param.source == Source::json ? "_json" : ""));
}

std::vector<Case> own_cases() {
  std::vector<Case> out;
  for (const json& entry : own_entries()) out.push_back({entry.at("name").get<std::string>(), Source::own});
  return out;
}

std::vector<Case> outside_cases() {
  if (!has_outside_tokenizers()) return {};
  std::vector<Case> out;
  for (const char* name : {"gpt-2", "llama-spm", "phi-3", "deepseek-llm", "starcoder"})
    out.push_back({name, Source::gguf});
  for (const char* name : {"qwen2.5", "llama3"}) {
    out.push_back({name, Source::json});
    if (!vocabulary_path(name).empty()) out.push_back({name, Source::made_gguf});
  }
  return out;
}

class Vocabulary : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    name_ = GetParam().name;
    if (is(Source::own)) {
      entry_ = own_entry(name_);
      tokenizer_ = load_own(entry_);
    } else {
      index_ = read_json(kTokenizers + "index.json");
      for (const json& entry : index_.at("tokenizers"))
        if (entry.at("name") == name_) entry_ = entry;
      tokenizer_ = is(Source::json) ? load_json_tokenizer(name_) : load_tokenizer(name_);
    }
    ASSERT_FALSE(entry_.is_null());
    ASSERT_NE(tokenizer_, nullptr);
  }

  static bool is(Source source) { return GetParam().source == source; }

  std::vector<json> rows() const {
    return is(Source::own) ? own_rows(entry_) : read_json_lines(kTokenizers + name_ + ".hard.jsonl");
  }
  size_t n_rows() const { return is(Source::own) ? own_lines("texts.jsonl").size() : entry_.at("cases").get<size_t>(); }
  // A GGUF has no NFC normalizer, which some tokenizer.json have: there the row tells what the GGUF gives. llama.cpp also
  // takes Qwen's </s> for an end because of its name; here a token whose type says that it is text stays text.
  static Ids expected_ids(const json& row) {
    if (text_of(row).find("</s>") != std::string::npos) return ids_of(row);
    const json others = row.value("alt", json::object());
    return is(Source::made_gguf) ? others.value("libllama-gguf", ids_of(row)) : ids_of(row);
  }
  static Ids ids_of(const json& row) { return row.at("ids").get<Ids>(); }
  static std::string text_of(const json& row) { return row.at("text").get<std::string>(); }

  std::string name_;
  json index_, entry_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

// ---- both kinds

class TokenizerConformance : public Vocabulary {};

TEST_P(TokenizerConformance, Encoding) {
  const auto all = rows();
  ASSERT_EQ(all.size(), n_rows());
  for (const json& row : all) {
    const std::string text = text_of(row);
    EXPECT_EQ(encode(*tokenizer_, text, kParsed), expected_ids(row)) << row.at("id") << ": " << text;
    if (row.contains("ids_plain")) {
      EXPECT_EQ(encode(*tokenizer_, text, kPlain), row["ids_plain"].get<Ids>()) << row.at("id") << ": " << text;
    }
  }
}

// The rows say where parsing matters; from outside, those of a tokenizer.json do not: there it does where ids are of
// special tokens.
TEST_P(TokenizerConformance, TextsWithoutSpecialTokensAreTheSameParsedOrNot) {
  size_t n_compared = 0;
  for (const json& row : rows()) {
    const Ids ids = expected_ids(row);
    const bool has_special = std::any_of(ids.begin(), ids.end(), [&](int32_t id) {
      return tokenizer_->kind(id) == TokenKind::control || tokenizer_->is_end_of_generation(id);
    });
    if (is(Source::own) || is(Source::gguf) ? row.contains("ids_plain") : has_special) continue;
    EXPECT_EQ(encode(*tokenizer_, text_of(row), kPlain), ids) << row.at("id");
    ++n_compared;
  }
  EXPECT_GT(n_compared, n_rows() * 17 / 20);
}

TEST_P(TokenizerConformance, Decoding) {
  for (const json& row : rows()) {
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
  for (const json& row : rows()) {
    const Ids ids = ids_of(row);
    Utf8Assembler assembler;
    std::string streamed, storage;
    for (const int32_t id : ids) assembler.append(tokenizer_->piece(id), streamed);
    assembler.flush(streamed);
    std::string whole = decode(*tokenizer_, ids);
    if (tokenizer_->strips_leading_space() && !ids.empty() && tokenizer_->piece(ids[0]).starts_with(' '))
      whole.insert(0, " ");
    EXPECT_EQ(streamed, well_formed(whole, storage)) << row.at("id");
  }
}

TEST_P(TokenizerConformance, IllFormedTexts) {
  size_t n = 0;
  for (const json& row : is(Source::own) ? rows() : read_json_lines(kTokenizers + name_ + ".invalid.jsonl")) {
    if (!row.contains("b64")) continue;
    const std::string bytes = decode_base64(row["b64"].get<std::string>());
    std::string storage;
    EXPECT_EQ(well_formed(bytes, storage), row.at(is(Source::own) ? "text" : "lossy_text").get<std::string>())
        << row.at("id");
    EXPECT_EQ(encode(*tokenizer_, bytes, kParsed), row.at(is(Source::own) ? "ids" : "lossy_ids").get<Ids>())
        << row.at("id");
    ++n;
  }
  EXPECT_GE(n, 20u);
}

INSTANTIATE_TEST_SUITE_P(Own, TokenizerConformance, ::testing::ValuesIn(own_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Outside, TokenizerConformance, ::testing::ValuesIn(outside_cases()), name_of);

// The hash over every token's bytes, each after their number; and the ids of control tokens and of ends.
// Without a hash, the ids alone.
void expect_pieces(const Tokenizer& tokenizer, const std::string& hash, const Ids& expected_control,
                   const Ids* expected_ends) {
  std::string all;
  Ids control, ends;
  for (int32_t id = 0; id < tokenizer.n_tokens(); ++id) {
    const std::string_view piece = tokenizer.piece(id);
    const auto n = static_cast<uint32_t>(piece.size());
    all.append(reinterpret_cast<const char*>(&n), 4).append(piece);
    if (tokenizer.kind(id) == TokenKind::control) control.push_back(id);
    if (tokenizer.is_end_of_generation(id)) ends.push_back(id);
  }
  if (!hash.empty()) {
    EXPECT_EQ(sha256(all), hash);
  }
  control.resize(std::min<size_t>(control.size(), 400));  // as many as the files list
  EXPECT_EQ(control, expected_control);
  if (expected_ends) {
    EXPECT_EQ(ends, *expected_ends);
  }
}

// ---- the repository's own

class OwnVocabulary : public Vocabulary {};

TEST_P(OwnVocabulary, Facts) {
  const json& example = entry_.at("example");
  EXPECT_EQ(encode(*tokenizer_, text_of(example), {.add_special = true}), ids_of(example));
  if (!is_gguf(entry_)) return;  // of a tokenizer.json no other program gives more
  EXPECT_EQ(tokenizer_->n_tokens(), entry_.at("n_tokens").get<int32_t>());
  EXPECT_EQ(tokenizer_->bos(), entry_.at("bos").get<int32_t>());
  EXPECT_EQ(tokenizer_->eos(), entry_.at("eos").get<int32_t>());
  EXPECT_EQ(tokenizer_->adds_bos(), entry_.at("adds_bos").get<bool>());
  EXPECT_EQ(tokenizer_->adds_eos(), entry_.at("adds_eos").get<bool>());
  const auto ends = entry_.at("eog_ids").get<Ids>();
  expect_pieces(*tokenizer_, entry_.value("pieces_sha256", ""), entry_.at("control_ids").get<Ids>(), &ends);
}

INSTANTIATE_TEST_SUITE_P(Own, OwnVocabulary, ::testing::ValuesIn(own_cases()), name_of);

// Several names stand for one pre-tokenizer.
TEST(OwnVocabularies, EveryNameOfAPreTokenizerGivesItsIds) {
  size_t n_names = 0;
  for (const json& entry : own_entries()) {
    for (const json& name : entry.value("also", json::array())) {
      const json values = {{"tokenizer.ggml.pre", name}};
      const auto tokenizer = load_changed_gguf(kOwnTokenizers + entry.at("file").get<std::string>(),
                                               [&](std::vector<MetaEntry>& entries) { set_values(values, entries); });
      ASSERT_NE(tokenizer, nullptr) << name;
      for (const json& row : own_rows(entry))
        EXPECT_EQ(encode(*tokenizer, row.at("text").get<std::string>(), kParsed), row.at("ids").get<Ids>())
            << name << ", " << row.at("id");
      EXPECT_EQ(tokenizer->adds_bos(), entry.at("adds_bos").get<bool>()) << name;
      ++n_names;
    }
  }
  EXPECT_GE(n_names, 56u);
}

// ---- other projects'

class OutsideVocabulary : public Vocabulary {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OutsideVocabulary);

TEST(OutsideVocabularies, AreThere) {
  if (!has_outside_tokenizers()) {
    GTEST_SKIP() << "needs INLAY_FIXTURES: other projects' vocabularies are not in this repository";
  }
  EXPECT_GE(outside_cases().size(), 7u);
}

TEST_P(OutsideVocabulary, ClassicTexts) {
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

TEST_P(OutsideVocabulary, Pieces) {
  const json pieces = read_json(kTokenizers + name_ + ".pieces.json");
  ASSERT_EQ(tokenizer_->n_tokens(), pieces.at("n").get<int32_t>());
  for (const auto& [id, sample] : pieces.at("samples_b64").items())
    EXPECT_EQ(tokenizer_->piece(std::stoi(id)), decode_base64(sample.get<std::string>())) << id;
  const auto ends = pieces.at("eog_ids").get<Ids>();
  expect_pieces(*tokenizer_, pieces.at("sha256").get<std::string>(), pieces.at("control_ids").get<Ids>(),
                is(Source::gguf) ? &ends : nullptr);  // a tokenizer.json does not say
}

TEST_P(OutsideVocabulary, SpecialIds) {
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

INSTANTIATE_TEST_SUITE_P(All, OutsideVocabulary, ::testing::ValuesIn(outside_cases()), name_of);

}  // namespace
}  // namespace inlay::testing
