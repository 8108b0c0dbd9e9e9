// GBNF, regular expressions and choices as constraints; terminals of tokens; what is refused.
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "tests/unit/constraint_vocabulary.h"

namespace inlay::constraint {
namespace {

// Whether the constraint takes the whole text.
bool takes(const std::shared_ptr<const Constraint>& constraint, const std::string& text) {
  ConstraintState state(constraint);
  EXPECT_TRUE(state.accept_bytes(text).ok());
  return !state.is_dead() && state.is_complete();
}

std::shared_ptr<const Constraint> made_of(Result<Grammar> grammar, const std::string& what) {
  EXPECT_TRUE(grammar.ok()) << what << ": " << grammar.status().message;
  if (!grammar.ok()) return nullptr;
  auto made = Constraint::make(*std::move(grammar), byte_vocabulary());
  EXPECT_TRUE(made.ok()) << what << ": " << made.status().message;
  return made.ok() ? *made : nullptr;
}

struct Case {
  const char* grammar;
  std::vector<std::string> accepted, refused;
};

const Case kGrammars[] = {
    {"root ::= \"a\"* \"b\"+ \"c\"? (\"d\" \"e\")*", {"b", "aabbc", "bdede"}, {"", "a", "bd", "bcc"}},
    {"root ::= (\n  \"a\" # one\n  | x\n) tail\nx ::= [0-9]{2,3}\ntail ::= \";\"\n", {"a;", "12;", "123;"}, {"1;", "1234;", "a"}},
    {"root ::= \"(\" root \")\" root | \"\"", {"", "()", "(())()"}, {"(", ")("}},
    {"root ::= (x? y?)* \"c\"\nx ::= \"a\"\ny ::= \"b\"\n", {"c", "abc", "bac", "aac"}, {"", "ab"}},
    {"root ::= x{2,4}\nx ::= \"a\" | \"(\" root \")\"\n", {"aa", "aaaa", "(aa)a", "a(aaa)(aa)"}, {"a", "aaaaa", "(a)a"}},
    {"root ::= x{0,3} y\nx ::= \"a\"?\ny ::= \"b\"", {"b", "ab", "aaab"}, {"aaaab", "a"}},
    {"root ::= \"\\x41\\u00e9\" [^a-z\\n] .", {"A\u00e9B\u20ac", "A\u00e9\U0001F600\n"}, {"A\u00e9b.", "A\u00e9\n."}},
    {"root ::= [-_.a-c]+", {"-", "a-b_."}, {"d"}},
    {"root ::= a b c\na ::= \"a\"?\nb ::= \"b\"?\nc ::= \"c\"?", {"", "abc", "ac", "b"}, {"ba", "aa"}},
};

TEST(ConstraintGrammar, LetsThroughWhatTheGrammarSays) {
  for (const Case& one : kGrammars) {
    const auto constraint = made_of(compile_gbnf(one.grammar, {}), one.grammar);
    ASSERT_NE(constraint, nullptr);
    for (const std::string& text : one.accepted) EXPECT_TRUE(takes(constraint, text)) << one.grammar << ": " << text;
    for (const std::string& text : one.refused) EXPECT_FALSE(takes(constraint, text)) << one.grammar << ": " << text;
  }
}

struct Refusal {
  const char *grammar, *message;
};

const Refusal kRefusals[] = {
    {"start ::= \"a\"", "the grammar has no rule root"},
    {"root ::= \"a\"\nroot ::= \"b\"", "line 2, byte 1: this rule is defined twice"},
    {"root ::= missing", "the rule missing is used and not defined"},
    {"root ::= \"abc", "a text without its end"},
    {"root ::= [a-z", "a [ without its ]"},
    {"root ::= (\"a\" | \"b\"", "a ( without its )"},
    {"root ::= \"a\")", "a ) without its ("},
    {"root ::= * \"a\"", "line 1, byte 10: a rule, a text"},
    {"root \"a\"", "line 1, byte 6: ::= is expected"},
    {"root ::= \"\\q\"", "an unknown escape"},
    {"root ::= \"a\"{2,1}", "minimum is larger"},
    {"root ::= \"a\"{99999999999}", "more than 2^30"},
    {"root ::= <no-such-token>", "the vocabulary has no such token"},
    {"root ::= root \"a\" | \"a\"", "the rule root begins with itself"},
    {"root ::= a\na ::= b \"x\"\nb ::= a \"y\" | \"z\"\n", "begins with itself"},
    {"root ::= a root \"x\" | \"y\"\na ::= \"q\"?\n", "begins with itself"},
};

// The last rule on the way that nothing matches.
const Refusal kDead[] = {
    {"root ::= \"a\" root", "nothing can match the rule root"},
    {"root ::= \"a\" b \"c\"\nb ::= \"x\" (d | \"y\" d)+\nd ::= \"z\" d\n", "nothing can match the rule d"},
    {"root ::= b | c\nb ::= \"x\" b\nc ::= \"y\" c", "nothing can match the rule b"},
};

TEST(ConstraintGrammar, RefusesWithPlaceAndReason) {
  for (const Refusal& one : kRefusals) {
    auto grammar = compile_gbnf(one.grammar, {});
    Status status = grammar.ok() ? Constraint::make(*std::move(grammar), byte_vocabulary()).status() : grammar.status();
    EXPECT_FALSE(status.ok()) << one.grammar;
    EXPECT_NE(status.message.find(one.message), std::string::npos) << one.grammar << ": " << status.message;
  }
}

TEST(ConstraintGrammar, NamesARuleThatNothingMatches) {
  for (const Refusal& one : kDead) {
    auto grammar = compile_gbnf(one.grammar, {});
    ASSERT_TRUE(grammar.ok()) << one.grammar;
    const Status status = Constraint::make(*std::move(grammar), byte_vocabulary()).status();
    EXPECT_EQ(status.code, Code::format) << one.grammar;
    EXPECT_EQ(status.message, one.message) << one.grammar;
  }
}

TEST(ConstraintGrammar, DeepAndHugeGrammarsEndInAnError) {
  const std::vector<std::string> grammars = {
      "root ::= " + std::string(100'000, '('),
      "root ::= " + std::string(90, '(') + "\"a\"" + std::string(90, ')'),
      "root ::= x{1000000000}\nx ::= [a-z] | \"(\" x \")\"",
      "root ::= a{1000} a{1000}\na ::= b{1000} \"x\"?\nb ::= (c? c? c?){1000}\nc ::= \"y\"*",
  };
  for (const std::string& text : grammars) {
    auto grammar = compile_gbnf(text, {});
    if (!grammar.ok()) continue;
    const auto made = Constraint::make(*std::move(grammar), byte_vocabulary());
    if (!made.ok()) continue;
    ConstraintState state(*made);
    std::vector<uint32_t> mask(byte_vocabulary()->mask_words());
    for (int i = 0; i < 60; ++i) {
      if (!state.mask(mask).ok() || !state.accept_bytes("y").ok()) break;
    }
    EXPECT_LT((*made)->memory(), size_t{300} << 20) << text.substr(0, 60);
  }
}

std::shared_ptr<const TokenTrie> vocabulary_with_controls() {
  std::vector<Piece> pieces = {{"a", PieceKind::text}, {"<x>", PieceKind::control}, {"<y>", PieceKind::control}, {"<", PieceKind::text},
                               {"x", PieceKind::text}, {">", PieceKind::text},      {"</s>", PieceKind::end}};
  return *TokenTrie::make(pieces);
}

TEST(ConstraintGrammar, TokensAreTerminals) {
  const auto token_of = [](std::string_view text) { return text == "<x>" ? 1 : text == "<y>" ? 2 : -1; };
  const auto state_of = [&](const char* text) {
    auto grammar = compile_gbnf(text, token_of);
    EXPECT_TRUE(grammar.ok()) << grammar.status().message;
    return ConstraintState(*Constraint::make(*std::move(grammar), vocabulary_with_controls()));
  };
  const auto allowed = [](ConstraintState& state) {
    std::vector<uint32_t> mask(1);
    EXPECT_TRUE(state.mask(mask).ok());
    return mask[0];
  };
  ConstraintState one = state_of("root ::= <x> \"a\" <[2]>");
  EXPECT_EQ(allowed(one), 1u << 1);
  ASSERT_TRUE(one.accept_token(1).ok());
  EXPECT_EQ(allowed(one), 1u << 0);
  ASSERT_TRUE(one.accept_token(0).ok());
  EXPECT_EQ(allowed(one), 1u << 2);
  ASSERT_TRUE(one.accept_token(2).ok());
  EXPECT_TRUE(one.is_complete());
  EXPECT_EQ(allowed(one), 1u << 6);
  ASSERT_TRUE(one.roll_back(2).ok());
  EXPECT_EQ(allowed(one), 1u << 0);
  // A control token is not its letters.
  ConstraintState letters = state_of("root ::= \"<x>\"");
  EXPECT_EQ(allowed(letters), 1u << 3);
  ASSERT_TRUE(letters.accept_token(1).ok());
  EXPECT_TRUE(letters.is_dead());
  ConstraintState others = state_of("root ::= !<x>* <x>");
  EXPECT_EQ(allowed(others), 0b0111111u);
  ASSERT_TRUE(others.accept_token(2).ok());
  ASSERT_TRUE(others.accept_token(4).ok());
  EXPECT_FALSE(others.is_complete());
  ASSERT_TRUE(others.accept_token(1).ok());
  EXPECT_TRUE(others.is_complete());
}

// Patterns that std::regex reads alike, over texts of a small alphabet.
TEST(ConstraintGrammar, PatternsMatchAsStdRegex) {
  const char* const patterns[] = {"a|ab|b*c", "(?:ab){2,3}", "a{2,}b?", "[^ab]+", "^(a|b)*c$", "(a|b)?(b|c){1,2}a*", "\\w\\W\\w", "a\\.c|\\d+", "((a*)b)*", "[a-c1-3]{0,4}", "(?:a?b?){3}",
                                  "^a|b$", "$", "a$|^b", "(^a|c)b*", "\\s\\S", "[\\w.]+", "x{0}a", "(a{0,2}){2}c"};
  std::mt19937 random(1);
  for (const char* pattern : patterns) {
    const std::regex reference(pattern, std::regex::ECMAScript);
    const auto whole = made_of(compile_regex(pattern), pattern);
    const auto schema = compile_json_schema("{\"type\":\"string\",\"pattern\":\"" + escaped(pattern) + "\"}");
    ASSERT_TRUE(schema.ok()) << schema.status().message;
    const auto inside = made_of(schema->grammar, pattern);
    int n_matches = 0;
    for (int i = 0; i < 400; ++i) {
      std::string text;
      for (int n = static_cast<int>(random() % 7); n > 0; --n) text += "abcab1. "[random() % 8];
      n_matches += std::regex_match(text, reference);
      EXPECT_EQ(takes(whole, text), std::regex_match(text, reference)) << pattern << " and '" << text << "'";
      EXPECT_EQ(takes(inside, "\"" + text + "\""), std::regex_search(text, reference)) << pattern << " in '" << text << "'";
    }
    EXPECT_LT(n_matches, 400) << pattern;
  }
}

TEST(ConstraintGrammar, Choices) {
  const auto constraint = made_of(compile_choices({"yes", "no", "none", "\xFF"}), "choices");
  for (const char* text : {"yes", "no", "none"}) EXPECT_TRUE(takes(constraint, text));
  for (const char* text : {"y", "non", "nonee", ""}) EXPECT_FALSE(takes(constraint, text));
  EXPECT_EQ(compile_choices({}).status().message, "there are no choices");
  EXPECT_EQ(compile_choices({"a", ""}).status().message, "choice 1 is empty");
}

TEST(ConstraintGrammar, AnyJson) {
  const auto value = made_of(any_json({}), "any value"), object = made_of(any_json_object({}), "any object");
  for (const char* text : {"{}", "{\"a\": [1, {\"b\": null}]}"}) EXPECT_TRUE(takes(value, text) && takes(object, text)) << text;
  EXPECT_TRUE(takes(value, "[]"));
  EXPECT_FALSE(takes(object, "[]"));
  const auto compact = made_of(any_json({Whitespace::compact, false}), "compact");
  EXPECT_TRUE(takes(compact, "{\"a\":[1,2]}"));
  EXPECT_FALSE(takes(compact, "{\"a\": [1,2]}"));
  const auto escapes = made_of(any_json({Whitespace::compact, true}), "escapes");
  EXPECT_TRUE(takes(escapes, "\"\\u00e9\\/\\ud83d\\ude00\""));
  for (const char* text : {"\"\\ud83d\"", "\"\\ude00\\ud83d\"", "\"\\ud83dx\""}) EXPECT_FALSE(takes(escapes, text)) << text;
}

}  // namespace
}  // namespace inlay::constraint
