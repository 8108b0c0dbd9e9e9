// What other programs say of schemas and grammars, where INLAY_FIXTURES has it: verdicts of validators and of llama.cpp, and
// llama.cpp's masks for the vocabulary of GPT-2.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "src/formats/gguf.h"
#include "src/tokenizer/tokenizer.h"
#include "tests/unit/constraint_vocabulary.h"
#include "tests/unit/tokenizer_sha256.h"

namespace inlay::constraint {
namespace {

using json = nlohmann::ordered_json;  // members in the order of the text

const std::string kFixtures = INLAY_FIXTURES_DIR;

json read_json(const std::string& name) {
  std::ifstream file(kFixtures + "/grammar/" + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return json::parse(file);
}

class ConstraintFixtures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kFixtures.empty()) GTEST_SKIP() << "needs INLAY_FIXTURES: these schemas and grammars are not in this repository";
  }
};

Result<std::shared_ptr<const Constraint>> constraint_of_schema(const std::string& schema) {
  SchemaOptions options;
  options.style.escapes = true;
  INLAY_ASSIGN(CompiledSchema compiled, compile_json_schema(schema, options));
  return Constraint::make(std::move(compiled.grammar), byte_vocabulary());
}

bool takes(const std::shared_ptr<const Constraint>& constraint, const std::string& text) {
  ConstraintState state(constraint);
  EXPECT_TRUE(state.accept_bytes(text).ok());
  return !state.is_dead() && state.is_complete();
}

TEST_F(ConstraintFixtures, Schemas) {
  const json all = read_json("schemas.json");
  ASSERT_GT(all["schemas"].size(), 60u);
  for (const json& one : all["schemas"]) {
    const auto constraint = constraint_of_schema(one["schema"].dump());
    EXPECT_TRUE(constraint.ok()) << one["name"] << ": " << constraint.status().message;
    if (!constraint.ok()) continue;
    for (const json& text : one["valid"]) EXPECT_TRUE(takes(*constraint, text)) << one["name"] << " " << text;
    for (const json& text : one["invalid"]) EXPECT_FALSE(takes(*constraint, text["text"])) << one["name"] << " " << text;
  }
  for (const json& one : all["bad_schemas"]) {
    const auto constraint = constraint_of_schema(one["schema"].dump());
    EXPECT_FALSE(constraint.ok()) << one["name"];
  }
}

TEST_F(ConstraintFixtures, Grammars) {
  const json all = read_json("gbnf.json");
  ASSERT_GE(all["grammars"].size(), 20u);
  for (const json& one : all["grammars"]) {
    auto grammar = compile_gbnf(one["grammar"].get<std::string>(), {});
    ASSERT_TRUE(grammar.ok()) << one["name"] << grammar.status().message;
    const auto constraint = Constraint::make(*std::move(grammar), byte_vocabulary());
    ASSERT_TRUE(constraint.ok()) << one["name"] << constraint.status().message;
    for (const json& text : one["accepted"]) EXPECT_TRUE(takes(*constraint, text)) << one["name"] << " " << text;
    for (const json& refused : one["rejected"]) {
      const std::string text = refused["text"];
      EXPECT_FALSE(takes(*constraint, text)) << one["name"] << " " << refused;
      ConstraintState state(*constraint);
      size_t n = 0;
      while (n < text.size() && state.accept_bytes(text.substr(n, 1)).ok() && !state.is_dead()) ++n;
      // In negated classes the reference reads whole characters.
      size_t whole = n;
      while (whole > 0 && whole < text.size() && (text[whole] & 0xC0) == 0x80) --whole;
      const auto wanted = refused["bytes_ok"].get<size_t>();
      EXPECT_TRUE(n == wanted || whole == wanted) << one["name"] << " " << refused << ": " << n;
    }
  }
  for (const json& one : all["bad_grammars"]) {
    auto grammar = compile_gbnf(one["grammar"].get<std::string>(), {});
    if (!grammar.ok()) continue;
    EXPECT_FALSE(Constraint::make(*std::move(grammar), byte_vocabulary()).ok()) << one["name"];
  }
}

TEST_F(ConstraintFixtures, MasksOfAnotherEngine) {
  const json all = read_json("gbnf.json");
  const auto file = open_gguf(kFixtures + "/tokenizers/" + all["mask_vocab"].get<std::string>() + ".gguf");
  ASSERT_TRUE(file.ok()) << file.status().message;
  const auto loaded = Tokenizer::from_metadata(file->metadata());
  ASSERT_TRUE(loaded.ok()) << loaded.status().message;
  const Tokenizer* tokenizer = loaded->get();
  std::vector<Piece> pieces;
  for (int32_t id = 0; id < tokenizer->n_tokens(); ++id) {
    const bool is_text = tokenizer->kind(id) == TokenKind::normal;
    const PieceKind kind = tokenizer->is_end_of_generation(id) ? PieceKind::end : is_text ? PieceKind::text : PieceKind::control;
    pieces.push_back({tokenizer->piece(id), kind});
  }
  const auto tokens = TokenTrie::make(pieces);
  ASSERT_TRUE(tokens.ok());
  for (const json& one : all["masks"]) {
    std::string text;
    for (const json& grammar : all["grammars"])
      if (grammar["name"] == one["grammar"]) text = grammar["grammar"];
    auto grammar = compile_gbnf(text, {});
    ASSERT_TRUE(grammar.ok());
    ConstraintState state(*Constraint::make(*std::move(grammar), *tokens));
    ASSERT_TRUE(state.accept_bytes(one["prefix"].get<std::string>()).ok());
    std::vector<uint32_t> mask((*tokens)->mask_words());
    ASSERT_TRUE(state.mask(mask).ok());
    if (one.contains("ignore_ids"))
      for (const int32_t id : one["ignore_ids"]) mask[static_cast<size_t>(id) / 32] &= ~(uint32_t{1} << (id % 32));
    for (size_t id = 0; id < pieces.size(); ++id)  // the reference cannot read U+0000
      if (pieces[id].bytes == std::string_view("\0", 1)) mask[id / 32] &= ~(uint32_t{1} << (id % 32));
    std::string bytes;
    for (size_t i = 0; i < (pieces.size() + 7) / 8; ++i) bytes += static_cast<char>(mask[i / 4] >> (i % 4 * 8) & 0xFF);
    size_t n_allowed = 0;
    for (const uint32_t word : mask) n_allowed += static_cast<size_t>(std::popcount(word));
    EXPECT_EQ(n_allowed, one["allowed_count"].get<size_t>()) << one["grammar"];
    EXPECT_EQ(testing::sha256(bytes), one["sha256"].get<std::string>()) << one["grammar"] << " after " << one["prefix"];
  }
}

}  // namespace
}  // namespace inlay::constraint
