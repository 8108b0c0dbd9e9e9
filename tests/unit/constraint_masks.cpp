// Masks: every bit against a recognizer that reads each token byte by byte; forks, roll-backs and limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "tests/unit/constraint_bits.h"
#include "tests/unit/constraint_vocabulary.h"

namespace inlay::constraint {
namespace {

const char* const kSchemas[] = {
    R"(true)",
    R"({"type":"string"})",
    R"({"type":"string","minLength":3})",
    R"({"type":"string","minLength":1,"maxLength":20})",
    R"({"type":"string","maxLength":6})",
    R"({"type":"string","pattern":"^[a-z0-9_-]{1,40}$"})",
    R"({"type":"string","pattern":"^(?:\\S+\\s+){0,9}\\S+$","maxLength":60})",
    R"({"type":"string","pattern":"a.c|\u00e9+$"})",
    R"({"type":"string","not":{"enum":["a","name","\"quote\"","\u20ac"]}})",
    R"({"type":"string","format":"date-time"})",
    R"({"type":"object","properties":{"name":{"type":"string"},"na":{"type":"integer"},"value":{"enum":["a","\"b",null]}},"required":["value"]})",
    R"({"type":"object","properties":{"name":{"type":"string"},"n":{"type":"number"}},"additionalProperties":false,"minProperties":1})",
    R"({"type":"object","patternProperties":{"^n":{"type":"string"},"e$":{"minLength":4}},"additionalProperties":{"type":"boolean"}})",
    R"({"type":"object","properties":{"name":{"type":"string"},"n":{"type":"null"}},"minProperties":2})",
    R"({"anyOf":[{"type":"object","properties":{"name":{"const":"a"},"x":{}},"required":["name"]},{"type":"object","properties":{"name":{"const":"b"}},"required":["name"],"additionalProperties":{"type":"integer"}},{"type":"string","maxLength":3},{"type":"string","pattern":"^name"}]})",
    R"({"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"integer","minimum":-5,"maximum":1234},{"type":"string"}]},"minItems":1,"maxItems":3})",
    R"({"type":"array","uniqueItems":true,"items":{"enum":["a","ab",1,12,true,null,"name",{"n":1}]},"minItems":2,"maxItems":5})",
    R"({"type":"object","allOf":[{"properties":{"name":{"type":"string"}}},{"patternProperties":{"^n":{"maxLength":4}}}],"unevaluatedProperties":{"type":"boolean"}})",
    R"({"type":"array","items":{"type":["integer","string"],"maxLength":3,"maximum":99,"minimum":0},"contains":{"minimum":5},"minContains":2,"maxContains":2,"maxItems":4})",
    R"({"type":"array","contains":{"const":"a"},"minItems":2,"maxItems":3,"items":{"enum":["a","ab",true]}})",
    R"({"type":"object","propertyNames":{"pattern":"^[a-n]+$"},"additionalProperties":{"type":"string","minLength":2}})",
};

// Bytes, pieces of JSON of all kinds, and so many words that slices are made.
std::shared_ptr<const TokenTrie> mixed_vocabulary() {
  static const std::shared_ptr<const TokenTrie> made = [] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) texts.push_back(std::string(1, static_cast<char>(byte)));
    std::mt19937 random(7);
    const std::vector<std::string> parts = {"name", "value", "na", "n", "x", "a", "b", "1", "-3", "true", "null", "\"", "\"", "\":", "\",", "\"}", "{\"",
                                            "[", "]", "{", "}", ",", ":", " ", "\n", "\n  ", "\t", "\\", "\\\"", "\\n", "\\u00", "\\u001f", "\\u0008",
                                            "\u00e9", "\u20ac", "\U0001F600", "\xE2\x82", "\xAC", "\xF0\x9F", "Name", "_-", "0.5", "e+", "2024-02-"};
    for (int i = 0; i < 1500; ++i) {
      std::string text;
      for (int n = 1 + static_cast<int>(random() % 4); n > 0; --n) text += parts[random() % parts.size()];
      texts.push_back(text);
    }
    for (int i = 0; i < 8000; ++i) {
      std::string text(random() % 3 == 0 ? " " : "");
      for (int n = 1 + static_cast<int>(random() % 19); n > 0; --n) text += "abcdefghijklmnopABCXYZ0123_- ."[random() % 30];
      texts.push_back(text + (random() % 6 == 0 ? parts[11 + random() % 5] : ""));
      if (random() % 4 == 0) texts.push_back("\"" + text);
    }
    std::vector<Piece> pieces;
    for (const std::string& text : texts) pieces.push_back({text, PieceKind::text});
    pieces.push_back({"<|call|>", PieceKind::control});
    pieces.push_back({"</s>", PieceKind::end});
    pieces.push_back({"", PieceKind::unused});
    return *TokenTrie::make(pieces);
  }();
  return made;
}

std::shared_ptr<const Constraint> compiled(const char* schema, const ConstraintLimits& limits = {}) {
  auto grammar = compile_json_schema(schema);
  EXPECT_TRUE(grammar.ok()) << schema << grammar.status().message;
  auto made = Constraint::make(std::move(grammar->grammar), mixed_vocabulary(), limits);
  EXPECT_TRUE(made.ok()) << schema << made.status().message;
  return made.ok() ? *made : nullptr;
}

Mask mask_of(ConstraintState& state) {
  Mask mask(mixed_vocabulary()->mask_words());
  const Status status = state.mask(mask);
  EXPECT_TRUE(status.ok()) << status.message;
  return mask;
}

std::vector<int32_t> wrong_bits(const Mask& mask, const NaiveRecognizer& naive) {
  static const BitCheck check(mixed_vocabulary());
  return check.wrong_bits(mask, naive);
}

int32_t any_allowed(const Mask& mask, std::mt19937& random) {
  std::vector<int32_t> allowed;
  for (int32_t token = 0; token < mixed_vocabulary()->n_tokens(); ++token)
    if (has(mask, token) && mixed_vocabulary()->kind(token) == PieceKind::text) allowed.push_back(token);
  return allowed.empty() ? -1 : allowed[random() % allowed.size()];
}

Grammar finished_grammar(const char* schema) {
  auto compiled_schema = compile_json_schema(schema);
  EXPECT_TRUE(compiled_schema->grammar.finish().ok());
  return std::move(compiled_schema->grammar);
}

TEST(ConstraintMasks, EveryBitIsThatOfANaiveRecognizer) {
  std::mt19937 random(11);
  for (const char* schema : kSchemas) {
    const auto constraint = compiled(schema);
    Grammar grammar = finished_grammar(schema);
    for (int walk = 0; walk < 1; ++walk) {
      ConstraintState state(constraint);
      NaiveRecognizer naive(grammar);
      for (int step = 0; step < 7; ++step) {
        const Mask mask = mask_of(state);
        const std::vector<int32_t> wrong = wrong_bits(mask, naive);
        ASSERT_TRUE(wrong.empty()) << schema << " after " << state.text() << ": " << wrong.size() << " bits, token "
                                   << mixed_vocabulary()->bytes(wrong[0]) << " should be " << !has(mask, wrong[0]);
        const int32_t token = any_allowed(mask, random);
        if (token < 0) break;
        ASSERT_TRUE(state.accept_token(token).ok());
        for (const char byte : mixed_vocabulary()->bytes(token)) naive.step(static_cast<uint8_t>(byte));
        ASSERT_FALSE(state.is_dead()) << schema;
        ASSERT_EQ(state.is_complete(), naive.is_complete()) << schema << " " << state.text();
      }
    }
  }
}

// Character by character to the end of what a text may have: how many more there can be decides which tokens are known without being read.
TEST(ConstraintMasks, EveryBitWhateverIsLeftOfALength) {
  const std::string_view sources[] = {
      R"({"type":"string","maxLength":17})",
      R"({"type":"string","minLength":3,"maxLength":9})",
      R"({"type":"string","pattern":"^[a-z]{1,12}$"})",
      R"({"type":"string","pattern":"^[a-z0-9]{0,5}(-[a-z]{1,4})?$"})",
      R"({"type":"string","pattern":"^[ -~]{0,14}\u00e9?$"})",
      R"({"anyOf":[{"type":"string","maxLength":4},{"type":"string","pattern":"^[a-z]{1,10}$"}]})",
      R"({"type":"string","maxLength":11,"not":{"enum":["aaa","aaaa1"]}})",
      R"({"type":"object","propertyNames":{"maxLength":7},"additionalProperties":{"const":"aaaaaa"}})",
      "root ::= word word? \"-\" word\nword ::= [a-zA-Z]{1,6}",
      "root ::= [^\\x00-\\x1f]{2,13} \"a\"",
      "root ::= (\"a\" | \"ab\" | [0-9]){1,8} [a-c]*",
  };
  ASSERT_FALSE(mixed_vocabulary()->slice().parts.empty()) << "the vocabulary is too small for what is to be tested";
  size_t n_states = 0;
  for (const std::string_view source : sources) {
    const bool is_schema = source[0] == '{';
    const auto grammar_of = [&]() -> Grammar {
      if (is_schema) return finished_grammar(std::string(source).c_str());
      auto made = compile_gbnf(source, {});
      EXPECT_TRUE(made.ok()) << source << made.status().message;
      EXPECT_TRUE(made->finish().ok());
      return *std::move(made);
    };
    Grammar grammar = grammar_of();
    auto unfinished = is_schema ? Result<Grammar>(std::move(compile_json_schema(std::string(source))->grammar)) : compile_gbnf(source, {});
    ASSERT_TRUE(unfinished.ok()) << source;
    const auto constraint = Constraint::make(*std::move(unfinished), mixed_vocabulary());
    ASSERT_TRUE(constraint.ok()) << source << constraint.status().message;
    ConstraintState state(*constraint);
    NaiveRecognizer naive(grammar);
    const std::string text = (source.find("object") != source.npos ? "{\"" : is_schema ? "\"" : "") + std::string(20, 'a');
    for (const char byte : text) {
      const Mask mask = mask_of(state);
      const std::vector<int32_t> wrong = wrong_bits(mask, naive);
      ASSERT_TRUE(wrong.empty()) << source << " after " << state.text() << ": " << wrong.size() << " bits, token " << mixed_vocabulary()->bytes(wrong[0])
                                 << " should be " << !has(mask, wrong[0]);
      ++n_states;
      if (!has(mask, static_cast<unsigned char>(byte))) break;
      ASSERT_TRUE(state.accept_bytes({&byte, 1}).ok());
      naive.step(static_cast<uint8_t>(byte));
    }
  }
  EXPECT_GT(n_states, 110u);
}

TEST(ConstraintMasks, SeesAWrongBit) {
  Grammar grammar = finished_grammar(kSchemas[0]);
  const NaiveRecognizer naive(grammar);
  ConstraintState state(compiled(kSchemas[0]));
  Mask mask = mask_of(state);
  EXPECT_TRUE(wrong_bits(mask, naive).empty());
  mask['{' / 32] &= ~(uint32_t{1} << ('{' % 32));  // too tight
  EXPECT_EQ(wrong_bits(mask, naive), std::vector<int32_t>{'{'});
}

TEST(ConstraintMasks, SeesAKeyThatIsWrittenTwice) {
  const char* schema = R"({"type":"object","properties":{"a":{"type":"integer"}}})";
  for (const bool fault : {false, true}) {
    auto grammar = compile_json_schema(schema);
    ASSERT_TRUE(grammar.ok());
    ObjectRule* own = nullptr;
    for (ObjectRule& one : grammar->grammar.objects)
      if (!one.members.empty()) own = &one;
    ASSERT_NE(own, nullptr);
    if (fault)
      for (Member& member : own->others) member.key = grammar->grammar.regexes.either({member.key, own->members[0].key});
    const auto made = Constraint::make(std::move(grammar->grammar), mixed_vocabulary());
    ASSERT_TRUE(made.ok());
    ConstraintState state(*made);
    ASSERT_TRUE(state.accept_bytes(R"({"a":1,"a":)").ok());
    EXPECT_EQ(state.is_dead(), !fault);
  }
}

TEST(ConstraintMasks, RollBackAndCopies) {
  std::mt19937 random(3);
  for (const char* schema : kSchemas) {
    ConstraintState state(compiled(schema));
    std::vector<Mask> masks{mask_of(state)};
    for (int step = 0; step < 12; ++step) {
      const int32_t token = any_allowed(masks.back(), random);
      if (token < 0) break;
      ASSERT_TRUE(state.accept_token(token).ok());
      masks.push_back(mask_of(state));
    }
    const size_t n = state.n_accepted();
    ConstraintState copy = state;
    ASSERT_TRUE(copy.accept_bytes("}}}\x01").ok());
    EXPECT_TRUE(copy.is_dead());
    EXPECT_EQ(mask_of(copy), Mask(masks[0].size()));
    EXPECT_EQ(mask_of(state), masks[n]);
    ASSERT_TRUE(copy.roll_back(1).ok());
    EXPECT_EQ(mask_of(copy), masks[n]);
    for (size_t back = n; back-- > 0;) {
      ASSERT_TRUE(state.roll_back(1).ok());
      EXPECT_EQ(mask_of(state), masks[back]) << schema;
    }
    EXPECT_EQ(state.roll_back(1).code, Code::invalid_argument);
    // A roll-back that is lost is seen.
    EXPECT_EQ(masks[n] != masks[0], mask_of(copy) != masks[0]);
  }
}

TEST(ConstraintMasks, AnAutomatonThatIsDroppedChangesNothing) {
  std::mt19937 random(5);
  ConstraintLimits small;
  small.automaton.bytes = 400'000;
  small.mask_bytes = 0;
  for (const char* schema : kSchemas) {
    ConstraintState large_state(compiled(schema));
    const auto constraint = compiled(schema, small);
    ConstraintState state(constraint), other(constraint);
    for (int step = 0; step < 30; ++step) {
      const Mask mask = mask_of(large_state);
      Mask same(mask.size());
      const Status status = state.mask(same);
      if (!status.ok()) {
        EXPECT_EQ(status.code, Code::unsupported);
        break;
      }
      ASSERT_EQ(same, mask) << schema << " after " << state.text();
      if (step % 5 == 0) (void)other.mask(same);
      const int32_t token = any_allowed(mask, random);
      if (token < 0) break;
      ASSERT_TRUE(large_state.accept_token(token).ok());
      ASSERT_TRUE(state.accept_token(token).ok());
    }
    EXPECT_LT(constraint->memory(), 4'000'000u) << schema;
  }
}

TEST(ConstraintMasks, ManyThreadsShareAConstraint) {
  const auto constraint = compiled(kSchemas[10]);
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&] {
      std::mt19937 random(9);
      ConstraintState state(constraint);
      Mask mask(mixed_vocabulary()->mask_words());
      for (int step = 0; step < 40 && state.mask(mask).ok(); ++step) {
        const int32_t token = any_allowed(mask, random);
        if (token < 0 || !state.accept_token(token).ok()) break;
      }
      text = state.text();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(texts[0].empty());
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

TEST(ConstraintMasks, ForcedBytes) {
  ConstraintState state(compiled(R"({"const":"only"})"));
  const auto forced = state.forced_bytes(100);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(*forced, "\"only\"");
  EXPECT_EQ(*state.forced_bytes(3), "\"on");
  ASSERT_TRUE(state.accept_bytes("\"only\"").ok());
  EXPECT_EQ(*state.forced_bytes(100), "");
  EXPECT_TRUE(state.is_complete());
}

TEST(ConstraintMasks, EndTokens) {
  ConstraintState state(compiled("true"));
  const int32_t end = mixed_vocabulary()->ends()[0];
  EXPECT_FALSE(has(mask_of(state), end));
  ASSERT_TRUE(state.accept_bytes("12").ok());
  EXPECT_TRUE(has(mask_of(state), end));
  ASSERT_TRUE(state.accept_token(end).ok());
  EXPECT_TRUE(state.is_complete());
  EXPECT_FALSE(state.is_dead());
  EXPECT_EQ(mask_of(state), Mask(mixed_vocabulary()->mask_words()));
  EXPECT_EQ(state.accept_token(1 << 30).code, Code::invalid_argument);
}

}  // namespace
}  // namespace inlay::constraint
