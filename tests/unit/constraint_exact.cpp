// Exactness over real schemas with their instances (real_schemas.py) and grammars of INLAY_FIXTURES: in random states each bit of a mask is what a
// recognizer says that merges nothing; whatever was written can be finished; instances that others made are accepted in any tokens, and none that was
// changed into something else.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "tests/unit/constraint_bits.h"

namespace inlay::constraint {
namespace {

using json = nlohmann::ordered_json;

struct Source {
  std::string name, text;
  bool is_schema = true;
  std::vector<std::string> valid, invalid, broken;
  std::vector<std::string> begins;  // all of them
};

// Texts whose characters are bytes.
std::string bytes_of(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    out += static_cast<char>(first < 0x80 ? first : (first & 3) << 6 | (text[++i] & 0x3F));
  }
  return out;
}

std::vector<Source> read_sources() {
  std::vector<Source> out;
  std::ifstream schemas(INLAY_REAL_SCHEMAS, std::ios::binary);
  for (std::string line; std::getline(schemas, line);) {
    const json one = json::parse(line);
    Source source{one["name"], one["schema"], true, one["valid"], one["invalid"], {}, {}};
    for (const std::string text : one["broken"]) source.broken.push_back(bytes_of(text));
    out.push_back(std::move(source));
  }
  std::ifstream grammars(std::string(INLAY_FIXTURES_DIR) + "/grammar/gbnf.json", std::ios::binary);
  const json all = json::parse(grammars);
  for (const json& one : all["grammars"]) {
    Source source{one["name"], one["grammar"], false, one["accepted"], {}, {}, {}};
    for (const json& text : one["rejected"]) source.invalid.push_back(text["text"]);
    out.push_back(std::move(source));
  }
  // Demands that the real ones seldom make: what is written must leave room for the rest.
  out.push_back({"two members", R"({"type":"object","properties":{"a":{"type":"null"},"b":{}},"minProperties":2,"maxProperties":3})", true, {R"({"a": null, "x": 1})"}, {R"({"x": 1})"}, {R"({"x": 1, "x": 1})"}, {}});
  out.push_back({"room for a required one", R"({"type":"object","properties":{"a":{},"b":{}},"required":["z"],"maxProperties":2})", true, {R"({"a": 1, "z": 2})"}, {R"({"a": 1, "b": 2, "z": 3})"}, {}, {}});
  out.push_back({"of which some count", R"({"type":"array","items":{"maximum":9,"type":"integer"},"contains":{"minimum":5},"minContains":2,"maxItems":3})", true, {"[1, 5, 7]"}, {"[1, 1, 5]"}, {}, {}});
  out.push_back({"that differ", R"({"type":"array","items":{"enum":[1,12,"a"]},"uniqueItems":true,"minItems":2})", true, {"[12, 1]"}, {"[1, 1]"}, {}, {}});
  for (Source& source : out)
    for (const auto* texts : {&source.valid, &source.invalid, &source.broken}) source.begins.insert(source.begins.end(), texts->begin(), texts->end());
  return out;
}

const std::vector<Source>& sources() {
  static const std::vector<Source> read = read_sources();
  return read;
}

// All bytes, pieces of JSON and words, so many that there are slices.
std::shared_ptr<const TokenTrie> vocabulary() {
  static const std::shared_ptr<const TokenTrie> made = [] {
    std::vector<std::string> texts;
    for (int byte = 0; byte < 256; ++byte) texts.push_back(std::string(1, static_cast<char>(byte)));
    std::mt19937 random(7);
    const std::vector<std::string> parts = {"name", "type", "id", "value", "version", "data", "a", "b", "1", "-3", "20", "true", "false", "null", "\"", "\"", "\": ", "\", ", "\"}", "{\"",
                                            "[", "]", "{", "}", ", ", ": ", " ", "\n", "\n  ", "\\", "\\\"", "\\n", "\u00e9", "\u20ac", "\U0001F600", "\xE2\x82", "\xAC", "://", "_-", "0.5", "e+"};
    for (int i = 0; i < 700; ++i) {
      std::string text;
      for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n) text += parts[random() % parts.size()];
      texts.push_back(text);
    }
    for (int i = 0; i < 500; ++i) {
      std::string text(random() % 3 == 0 ? " " : random() % 3 == 0 ? "\"" : "");
      for (int n = 1 + static_cast<int>(random() % 7); n > 0; --n) text += "abcdefghijklmnopABCXYZ0123_- ."[random() % 30];
      texts.push_back(text + (random() % 5 == 0 ? "\"" : ""));
    }
    std::vector<Piece> pieces;
    for (const std::string& text : texts) pieces.push_back({text, PieceKind::text});
    pieces.push_back({"<|call|>", PieceKind::control});
    pieces.push_back({"</s>", PieceKind::end});
    return *TokenTrie::make(pieces);
  }();
  return made;
}

Result<Grammar> compile(const Source& source) {
  if (!source.is_schema) return compile_gbnf(source.text, {});
  INLAY_ASSIGN(CompiledSchema compiled, compile_json_schema(source.text));
  return std::move(compiled.grammar);
}

// Nothing where it is refused.
std::shared_ptr<const Constraint> made(const Source& source) {
  auto grammar = compile(source);
  if (!grammar.ok()) return nullptr;
  auto out = Constraint::make(*std::move(grammar), vocabulary());
  return out.ok() ? *out : nullptr;
}

Mask mask_of(ConstraintState& state) {
  Mask mask(vocabulary()->mask_words());
  const Status status = state.mask(mask);
  EXPECT_TRUE(status.ok()) << status.message;
  return mask;
}

std::vector<int32_t> allowed(const Mask& mask, int32_t n_tokens) {
  std::vector<int32_t> out;
  for (int32_t token = 0; token < n_tokens; ++token)
    if (has(mask, token) && vocabulary()->kind(token) == PieceKind::text) out.push_back(token);
  return out;
}

// The begin of a text, as far as it is allowed, then up to two tokens of those that are.
ConstraintState random_state(const Source& source, const std::shared_ptr<const Constraint>& constraint, std::mt19937& random) {
  ConstraintState state(constraint);
  const std::string& text = source.begins[random() % source.begins.size()];
  const size_t n = text.empty() ? 0 : random() % text.size();
  for (size_t i = 0; i < n && !state.is_dead(); ++i) EXPECT_TRUE(state.accept_bytes(text.substr(i, 1)).ok());
  const Status alive = state.is_dead() ? state.roll_back(1) : Status();
  EXPECT_TRUE(alive.ok());
  for (uint32_t i = random() % 3; i > 0; --i) {
    const std::vector<int32_t> tokens = allowed(mask_of(state), vocabulary()->n_tokens());
    const Status status = tokens.empty() ? Status() : state.accept_token(tokens[random() % tokens.size()]);
    EXPECT_TRUE(status.ok()) << status.message;
  }
  EXPECT_FALSE(state.is_dead()) << source.name << " after " << state.text();
  return state;
}

class ConstraintExact : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(INLAY_REAL_SCHEMAS).empty()) GTEST_SKIP() << "needs INLAY_FIXTURES: these schemas and grammars are not in this repository";
    ASSERT_GT(sources().size(), 500u);
  }
};

TEST_F(ConstraintExact, EveryBitInRandomStates) {
  const BitCheck check(vocabulary());
  ASSERT_FALSE(vocabulary()->slice().any_length.inside.empty()) << "the vocabulary is too small for what is to be tested";
  constexpr size_t kMostThreads = 60;  // of the recognizer that merges nothing
  std::mt19937 random(11);
  size_t n_sources = 0, n_states = 0, n_too_many = 0, n_faults = 0;
  for (const Source& source : sources()) {
    const auto constraint = made(source);
    if (!constraint) continue;
    Grammar grammar = *compile(source);
    ASSERT_TRUE(grammar.finish().ok());
    grammar.regexes.set_limit(size_t{1} << 30);
    grammar.regexes.allow_steps(UINT64_MAX / 2);
    size_t n_own = 0;
    for (int walk = 0; walk < 10; ++walk) {
      ConstraintState state = random_state(source, constraint, random);
      NaiveRecognizer naive(grammar);
      size_t most = naive.n_threads();
      for (const char byte : state.text()) {
        naive.step(static_cast<uint8_t>(byte));
        most = std::max(most, naive.n_threads());
        if (most > kMostThreads) break;
      }
      if (most > kMostThreads) {
        ++n_too_many;
        continue;
      }
      ASSERT_TRUE(naive.is_alive()) << source.name << " after " << state.text();
      EXPECT_EQ(state.is_complete(), naive.is_complete()) << source.name << " after " << state.text();
      Mask mask = mask_of(state);
      const std::vector<int32_t> wrong = check.wrong_bits(mask, naive);
      ASSERT_FALSE(grammar.regexes.is_full());
      ASSERT_TRUE(wrong.empty()) << source.name << " " << source.text << " after " << state.text() << ": " << wrong.size() << " bits, token " << vocabulary()->bytes(wrong[0])
                                 << " should be " << !has(mask, wrong[0]);
      ++n_own;
      if (++n_states % 20 != 0) continue;
      const auto token = static_cast<int32_t>(random() % 1000);  // negative control: too tight, or too wide
      mask[static_cast<size_t>(token) / 32] ^= uint32_t{1} << (token % 32);
      EXPECT_EQ(check.wrong_bits(mask, naive), std::vector<int32_t>{token});
      ++n_faults;
    }
    n_sources += n_own > 0;
  }
  std::printf("%zu sources, %zu states; in %zu others the recognizer has too many threads\n", n_sources, n_states, n_too_many);
  EXPECT_GE(n_sources, 480u);
  EXPECT_GE(n_states, 4500u);
  EXPECT_GT(n_faults, 200u);
}

// Writes a text on to its end, by an automaton of its own: strings are closed as soon as they may be, then objects and arrays, and every fifth byte is
// any other. Where none of that may follow, what comes first is looked for among all texts.
class Finisher {
 public:
  explicit Finisher(const Source& source) : is_json_(source.is_schema), automaton_(finished(source), {}) {}

  // False: nothing leads to an end. `forbidden` is never written.
  bool finish(std::string& text, std::mt19937& random, int forbidden = -1) {
    forbidden_ = forbidden;
    ConfigId config = automaton_.start();
    for (const char byte : text) config = next(config, static_cast<uint8_t>(byte));
    for (int n = 0; n < 3000 && config != kDead; ++n) {
      if (automaton_.is_complete(config)) return true;
      std::string way;
      if (random() % 5 == 0)
        way = any(config, random);
      else if (!find_way(config, is_in_string(text), text.empty() ? '\0' : text.back(), way))
        return false;
      for (const char byte : way) config = next(config, static_cast<uint8_t>(byte));
      text += way;
    }
    return false;
  }

 private:
  static Grammar finished(const Source& source) {
    Grammar out = *compile(source);
    EXPECT_TRUE(out.finish().ok());
    return out;
  }
  ConfigId next(ConfigId config, uint8_t byte) {
    automaton_.allow_steps();
    const ConfigId out = byte == forbidden_ ? kDead : automaton_.step(config, byte);
    EXPECT_TRUE(automaton_.is_within_limits());
    return out;
  }
  bool is_in_string(const std::string& text) const {
    bool out = false;
    for (size_t i = 0; is_json_ && i < text.size(); ++i) {
      if (text[i] == '"') out = !out;
      i += out && text[i] == '\\';
    }
    return out;
  }
  // One byte that may follow, a blank or a backslash only where there is no other.
  std::string any(ConfigId config, std::mt19937& random) {
    std::string plain, others;
    for (int byte = 0; byte < 256; ++byte)
      if (next(config, static_cast<uint8_t>(byte)) != kDead) (std::string_view(" \t\n\\").find(static_cast<char>(byte)) == std::string_view::npos ? plain : others) += static_cast<char>(byte);
    const std::string& of = plain.empty() ? others : plain;
    return of.empty() ? of : std::string(1, of[random() % of.size()]);
  }
  // The shortest text to an end, or to what closes: breadth first.
  bool find_way(ConfigId config, bool in_string, char before, std::string& way) {
    const std::string_view closing = !is_json_ ? "" : in_string ? "\"" : "}]\"";
    struct Place {
      ConfigId config;
      size_t before;
      char byte;
    };
    std::vector<Place> places{{config, 0, before}};
    std::unordered_set<ConfigId> seen{config};
    for (size_t at = 0; at < places.size() && at < 50'000; ++at) {
      char closes = 0;
      for (const char byte : closing)
        if (closes == 0 && places[at].byte != '\\' && next(places[at].config, static_cast<uint8_t>(byte)) != kDead) closes = byte;
      if (closes != 0 || automaton_.is_complete(places[at].config)) {
        if (closes != 0) way += closes;
        for (size_t from = at; from != 0; from = places[from].before) way += places[from].byte;
        std::reverse(way.begin(), way.end());
        return true;
      }
      for (int byte = 0; byte < 256; ++byte) {
        const ConfigId reached = next(places[at].config, static_cast<uint8_t>(byte));
        if (reached != kDead && seen.insert(reached).second) places.push_back({reached, at, static_cast<char>(byte)});
      }
    }
    return false;
  }

  bool is_json_;
  Automaton automaton_;
  int forbidden_ = -1;
};

TEST_F(ConstraintExact, WhatWasWrittenCanBeFinished) {
  std::mt19937 random(12);
  size_t n_states = 0, n_finished = 0, n_forbidden = 0;
  for (const Source& source : sources()) {
    const auto constraint = made(source);
    if (!constraint) continue;
    Finisher finisher(source);
    for (int walk = 0; walk < 3; ++walk) {
      const ConstraintState begun = random_state(source, constraint, random);
      ++n_states;
      std::string text(begun.text()), other = text;
      const bool finished = finisher.finish(text, random);
      n_finished += finished;
      EXPECT_TRUE(finished) << source.name << " " << source.text << " after " << begun.text() << ", to " << text.substr(0, 2000);
      n_forbidden += !finisher.finish(other, random, source.is_schema ? '}' : -1);
      if (!finished) continue;
      ConstraintState state = begun;
      ASSERT_TRUE(state.accept_bytes(text.substr(begun.text().size())).ok());
      EXPECT_TRUE(state.is_complete()) << source.name << ": " << text;
      EXPECT_TRUE(has(mask_of(state), vocabulary()->ends()[0]));
      // The parser refuses numbers that no double holds.
      EXPECT_TRUE(!source.is_schema || json::accept(std::regex_replace(text, std::regex("[eE][+-]?[0-9]+"), ""))) << source.name << ": " << text;
    }
  }
  std::printf("%zu of %zu texts finished, %zu of them not without a brace\n", n_finished, n_states, n_forbidden);
  EXPECT_GE(n_states, 1400u);
  EXPECT_EQ(n_finished, n_states);
  EXPECT_GT(n_forbidden, n_states / 2) << "negative control: most of these texts need a brace to end";
}

struct Splitter {
  std::unordered_map<std::string, int32_t> tokens;
  size_t longest = 0;

  Splitter() {
    for (int32_t token = 0; token < vocabulary()->n_tokens(); ++token) {
      if (vocabulary()->kind(token) != PieceKind::text) continue;
      tokens.emplace(vocabulary()->bytes(token), token);
      longest = std::max(longest, vocabulary()->bytes(token).size());
    }
  }
  int32_t any(std::string_view text, std::mt19937& random) const {
    std::vector<int32_t> fitting;
    for (size_t n = 1; n <= std::min(longest, text.size()); ++n)
      if (const auto found = tokens.find(std::string(text.substr(0, n))); found != tokens.end()) fitting.push_back(found->second);
    return fitting[random() % fitting.size()];
  }
};

bool takes_bytes(const std::shared_ptr<const Constraint>& constraint, const std::string& text) {
  ConstraintState state(constraint);
  EXPECT_TRUE(state.accept_bytes(text).ok());
  return !state.is_dead() && state.is_complete();
}

// By tokens of which each must be allowed.
bool takes_tokens(const std::shared_ptr<const Constraint>& constraint, std::string_view text, const Splitter& splitter, std::mt19937& random) {
  ConstraintState state(constraint);
  while (!text.empty()) {
    const int32_t token = splitter.any(text, random);
    const bool is_allowed = has(mask_of(state), token);
    EXPECT_TRUE(state.accept_token(token).ok());
    EXPECT_EQ(is_allowed, !state.is_dead());
    if (!is_allowed) return false;
    text.remove_prefix(vocabulary()->bytes(token).size());
  }
  return state.is_complete();
}

TEST_F(ConstraintExact, InstancesOfOthersInAnyTokens) {
  const Splitter splitter;
  std::mt19937 random(13);
  size_t n_valid = 0, n_accepted = 0, n_invalid = 0, n_broken = 0, n_foreign = 0, n_foreign_refused = 0;
  const Source* before = nullptr;
  for (const Source& source : sources()) {
    const auto constraint = made(source);
    if (!constraint) continue;
    const auto takes = [&](const std::string& text) {
      const bool out = takes_bytes(constraint, text);
      for (int split = 0; split < 3; ++split) EXPECT_EQ(takes_tokens(constraint, text, splitter, random), out) << source.name << ": " << text;
      return out;
    };
    for (const std::string& text : source.valid) {
      ++n_valid;
      n_accepted += takes(text);
    }
    for (const std::string& text : source.invalid) {
      ++n_invalid;
      EXPECT_FALSE(takes(text)) << source.name << " " << source.text << ": " << text;
    }
    for (const std::string& text : source.broken) {
      ++n_broken;
      EXPECT_FALSE(takes(text)) << source.name << " " << source.text << ": " << text;
    }
    if (before != nullptr)
      for (const std::string& text : before->valid) {
        ++n_foreign;
        n_foreign_refused += !takes_bytes(constraint, text);
      }
    before = &source;
  }
  std::printf("%zu of %zu valid instances accepted, %zu invalid and %zu broken ones refused\n", n_accepted, n_valid, n_invalid, n_broken);
  EXPECT_GE(n_accepted, n_valid * 96 / 100) << "others have their keys in another order";
  EXPECT_GT(n_invalid, 500u);
  EXPECT_GT(n_broken, 500u);
  EXPECT_GT(n_foreign_refused, n_foreign / 2) << "negative control: instances of another schema";
}

TEST_F(ConstraintExact, SeesWhatCannotBeFinished) {
  const Source source{"a string", R"({"type":"string","minLength":3})", true, {}, {}, {}, {}};
  std::mt19937 random(1);
  Finisher finisher(source);
  for (const int forbidden : {-1, int{'"'}}) {
    std::string text = "\"a";
    EXPECT_EQ(finisher.finish(text, random, forbidden), forbidden == -1) << text;
  }
}

}  // namespace
}  // namespace inlay::constraint
