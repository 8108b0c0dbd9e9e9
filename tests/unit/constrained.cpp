// Sessions and requests that may write what a constraint allows, and nothing else.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "src/engine/requests.h"
#include "src/engine/saved_session.h"
#include "src/sampler/score.h"
#include "tests/support/engine_sessions.h"

namespace inlay {
namespace {

using Kind = ConstraintSource::Kind;
using nlohmann::json;
using Made = std::shared_ptr<const constraint::Constraint>;

constexpr const char* kSchema = R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
  "mood": {"enum": ["calm", "angry"]}}, "required": ["name", "age", "mood"], "additionalProperties": false})";

class Constrained : public test::EngineSessions {
 protected:
  Made made(ConstraintSource source) {
    auto out = engine_->make_constraint(std::move(source));
    EXPECT_TRUE(out.ok()) << out.status().message;
    return out.ok() ? out->constraint : nullptr;
  }
  Made choices(std::vector<std::string> texts) { return made({.kind = Kind::choices, .choices = std::move(texts)}); }
  Made schema() { return made({.text = kSchema, .compact = true}); }

  static SessionOptions drawing(Made constraint, uint64_t seed = 0) {
    SessionOptions out{.max_tokens = 100, .constraint = std::move(constraint)};
    if (seed > 0) out.sampler = {.temperature = 1.0f, .seed = seed};
    return out;
  }
  struct Text {
    std::string text;
    std::vector<int32_t> tokens;
    FinishReason reason = FinishReason::none;
  };
  Text text_of(Session& s, int most = 1000) {
    Text out;
    for (int i = 0; i < most && out.reason == FinishReason::none; ++i) {
      const StepEvent event = step(s);
      EXPECT_TRUE(event.status.ok()) << event.status.message;
      if (event.sample.token >= 0) out.tokens.push_back(event.sample.token);
      out.reason = event.finish_reason;
    }
    out.text.resize(s.n_pending_text());
    out.text.resize(s.take_text(out.text.data(), out.text.size()));
    return out;
  }
  Text drawn(const SessionOptions& options, int32_t start = 3) {
    const auto s = session(options);
    EXPECT_TRUE(prefill(*s, prompt(20, start)).ok());
    return text_of(*s);
  }
  static bool is_right(const std::string& text) {
    const json value = json::parse(text, nullptr, false);
    return value.is_object() && value.size() == 3 && value["name"].is_string() && value["age"].is_number_integer() && value["age"] >= 0 && value["age"] <= 150 &&
           (value["mood"] == "calm" || value["mood"] == "angry");
  }
};
INLAY_ON_CPU_AND_CUDA(Constrained);

TEST_P(Constrained, ChoicesAreWrittenWhole) {
  const std::vector<std::string> texts = {"yes", "no", "perhaps not"};
  std::map<std::string, int> seen;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Text text = drawn(drawing(choices(texts), seed));
    EXPECT_EQ(text.reason, FinishReason::end_of_generation);
    ++seen[text.text];
  }
  for (const auto& [text, n] : seen) EXPECT_NE(std::ranges::find(texts, text), texts.end()) << text;
  EXPECT_GT(seen.size(), 1u) << "the model still chooses";
}

TEST_P(Constrained, JsonIsOfItsSchema) {
  const Made constraint = schema();
  int n_right = 0, n_without = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Text text = drawn(drawing(constraint, seed));
    EXPECT_EQ(text.reason, FinishReason::end_of_generation) << text.text;
    EXPECT_TRUE(is_right(text.text)) << text.text;
    n_right += is_right(text.text);
    n_without += is_right(drawn(drawing(nullptr, seed)).text);
  }
  EXPECT_EQ(n_right, 30);
  EXPECT_EQ(n_without, 0) << "negative control: the model alone writes no JSON";
}

// Each kind once, by what it says of a text.
TEST_P(Constrained, GrammarsExpressionsAndAnyJson) {
  EXPECT_EQ(drawn(drawing(made({.kind = Kind::gbnf, .text = "root ::= \"a\" [0-9] \"b\""}))).text.size(), 3u);
  const std::string date = drawn(drawing(made({.kind = Kind::regex, .text = "20[0-9]{2}-[01][0-9]"}))).text;
  EXPECT_EQ(date.size(), 7u) << date;
  EXPECT_EQ(date.substr(0, 2), "20");
  const Made any = made({.kind = Kind::any_json, .compact = true});
  int n_nested = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto s = session(drawing(nullptr, seed));
    ASSERT_TRUE(prefill(*s, prompt(20)).ok());
    ASSERT_TRUE(s->set_constraint(any, "[true").ok());
    const Text text = text_of(*s);
    if (text.reason != FinishReason::end_of_generation) continue;
    ++n_nested;
    // The parser refuses numbers that no double holds.
    EXPECT_TRUE(json::accept(std::regex_replace("[true" + text.text, std::regex("[eE][+-]?[0-9]+"), ""))) << text.text;
  }
  EXPECT_GT(n_nested, 0);
}

// With those that nothing constrains, in batches and slices, and as requests: as alone.
TEST_P(Constrained, OthersInTheStepChangeNothing) {
  const Made constraint = schema();
  std::vector<std::shared_ptr<Session>> sessions;
  std::vector<Session*> named;
  std::vector<Text> alone;
  for (uint64_t i = 0; i < 4; ++i) {
    const SessionOptions options = drawing(i % 2 == 0 ? constraint : nullptr, i + 1);
    alone.push_back(drawn(options, static_cast<int32_t>(i) + 3));
  }
  const auto expect_alone = [&](size_t i, const std::vector<int32_t>& tokens) {
    if (GetParam() == DeviceKind::cpu) {
      EXPECT_EQ(tokens, alone[i].tokens) << i;
    }
  };
  for (const bool in_slices : {false, true}) {
    sessions.clear();
    named.clear();
    for (uint64_t i = 0; i < 4; ++i) {
      sessions.push_back(session(drawing(i % 2 == 0 ? constraint : nullptr, i + 1)));
      ASSERT_TRUE(prefill(*sessions.back(), prompt(20, static_cast<int32_t>(i) + 3)).ok());
      named.push_back(sessions.back().get());
    }
    std::vector<std::vector<int32_t>> tokens(4);
    for (int k = 0; k < 100; ++k) {
      std::vector<StepEvent> events(4);
      if (in_slices) {
        for (int32_t left = 1; left > 0;) (void)engine_->decode_slice(named, 1, events, left);
      } else {
        (void)engine_->decode_step(named, events);
      }
      for (size_t i = 0; i < 4; ++i) {
        if (events[i].sample.token >= 0) tokens[i].push_back(events[i].sample.token);
      }
    }
    for (size_t i = 0; i < 4; ++i) expect_alone(i, tokens[i]);
  }
  sessions.clear();
  const auto queue = engine_->requests().add_queue(engine_, {});
  std::map<uint64_t, std::vector<int32_t>> by_user;
  for (uint64_t i = 0; i < 4; ++i) {
    uint64_t id = 0;
    RequestOptions options{.session = drawing(i % 2 == 0 ? constraint : nullptr, i + 1), .user = i};
    ASSERT_TRUE(engine_->requests().submit(queue, prompt(20, static_cast<int32_t>(i) + 3), options, id).ok());
  }
  ASSERT_TRUE(engine_->requests().run({}).ok());
  std::vector<TokenLogprob> room(1000);
  std::string text(10000, ' ');
  ASSERT_TRUE(queue->poll({.n_events = 100, .tokens = room, .text = text}, [&](size_t, const RequestEvent& event) {
    for (const TokenLogprob& token : std::span(room).subspan(event.first_token, event.n_tokens)) by_user[event.user].push_back(token.token);
  }).ok());
  for (size_t i = 0; i < 4; ++i) expect_alone(i, by_user[i]);
}

// Greedy draws, whose probabilities are the model's: those without a constraint have the same at the first token.
TEST_P(Constrained, ProbabilitiesAreTheModels) {
  const auto s = session({.sampler = {.n_logprobs = 3}, .constraint = choices({"x", "y"})});
  ASSERT_TRUE(prefill(*s, prompt(20)).ok());
  std::vector<float> logits(static_cast<size_t>(engine_->spec().n_vocab));
  ASSERT_TRUE(s->copy_logits(logits).ok());
  const StepEvent event = step(*s);
  TokenLogprob top[3];
  const auto score = score_row(logits, event.sample.token, top);
  ASSERT_TRUE(score.ok());
  EXPECT_EQ(event.sample.logprob, score->logprob);
  EXPECT_GT(score->rank, 0) << "negative control: the model would rather write something else";
  ASSERT_EQ(event.sample.n_logprobs, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(event.sample.top[i].token, top[i].token);
}

TEST_P(Constrained, ForksTakeItAlongAndTruncationsGoBack) {
  const Made constraint = schema();
  const auto s = session(drawing(constraint, 5));
  ASSERT_TRUE(prefill(*s, prompt(20)).ok());
  EXPECT_EQ(s->info().constraint, ConstraintStand::incomplete);
  for (int i = 0; i < 12; ++i) step(*s);
  const auto child = s->fork();
  ASSERT_TRUE(child.ok());
  const std::string begun = [&] {
    std::string text(100, ' ');
    text.resize(s->take_text(text.data(), text.size()));
    return text;
  }();
  std::string skipped(100, ' ');
  (*child)->take_text(skipped.data(), skipped.size());
  EXPECT_TRUE(is_right(begun + text_of(**child).text));
  EXPECT_EQ((*child)->info().constraint, ConstraintStand::complete);
  ASSERT_TRUE(s->truncate(20 + 4).ok());  // keeps 4 tokens, of one byte each
  const std::string text = begun.substr(0, 4) + text_of(*s).text;
  EXPECT_TRUE(is_right(text)) << text;
  ASSERT_TRUE(s->truncate(10).ok());
  EXPECT_EQ(s->info().constraint, ConstraintStand::incomplete) << "before it began: a new text";
  EXPECT_TRUE(is_right(text_of(*s).text));
}

// What a shift takes out was written: the text goes on as it would have, and a truncation goes back to what the text was there. One that was saved
// and a fork do as well.
TEST_P(Constrained, AShiftChangesNothing) {
  constexpr size_t kPrompt = 20, kWritten = 12;
  const std::string whole = R"({"name":"abcdefgh","age":12,"mood":"calm"})";
  struct Row {
    size_t first, n;  // of the shift
    int32_t keep;     // tokens, of a truncation; -1: none
    size_t n_kept;    // of the written text
  };
  const Row rows[] = {
      {4, 9, -1, kWritten},                      // of the prompt
      {15, 8, -1, kWritten},                     // of the prompt's end and the first 3 bytes
      {kPrompt, 5, -1, kWritten},                // of the text's begin
      {kPrompt + 2, 6, -1, kWritten},            // inside
      {4, 9, kPrompt - 9 + 4, 4},
      {15, 8, 15, 3},                            // all that is left of the text
      {kPrompt, 5, kPrompt + 2, 7},
      {kPrompt + 2, 6, kPrompt + 4, 10},         // behind what was taken out
      {kPrompt + 2, 6, kPrompt + 2, 8},          // at it
      {kPrompt + 2, 6, kPrompt + 1, 1},          // before it
      {kPrompt + 2, 6, kPrompt, 0},
  };
  const Made constraint = schema();
  for (const Row& row : rows) {
    const std::string what = std::to_string(row.first) + "+" + std::to_string(row.n) + " to " + std::to_string(row.keep);
    const auto s = session(drawing(constraint, 5));
    ASSERT_TRUE(prefill(*s, prompt(kPrompt)).ok());
    std::vector<int32_t> written;
    for (const char c : whole.substr(0, kWritten)) written.push_back(static_cast<uint8_t>(c));
    size_t n = 0;
    ASSERT_TRUE(s->accept(written, n).ok());
    ASSERT_EQ(n, kWritten);
    ASSERT_TRUE(s->shift(row.first, row.n).ok()) << what;
    EXPECT_EQ(s->info().constraint, ConstraintStand::incomplete) << what;
    const auto child = s->fork();
    ASSERT_TRUE(child.ok());
    auto saved = SavedSession::of(*s);
    ASSERT_TRUE(saved.ok());
    std::vector<std::byte> bytes(saved->n_bytes());
    ASSERT_TRUE(saved->write(std::span(bytes)).ok());
    const auto restored = restore_session(engine_, std::span<const std::byte>(bytes));
    ASSERT_TRUE(restored.ok()) << restored.status().message;
    for (Session* each : {s.get(), child->get(), restored->get()}) {
      if (row.keep >= 0) {
        ASSERT_TRUE(each->truncate(row.keep).ok()) << what;
      }
      // What may follow is what follows the text that is kept, and nothing else: the next byte of it is taken, and another one leads nowhere.
      const auto other = each->fork();
      ASSERT_TRUE(other.ok());
      size_t taken = 0;
      ASSERT_TRUE((*other)->accept(std::vector<int32_t>{'?'}, taken).ok());
      const bool in_name = row.n_kept > 9;
      EXPECT_EQ((*other)->info().constraint, in_name ? ConstraintStand::incomplete : ConstraintStand::dead) << what << " (negative control)";
      std::vector<int32_t> rest;
      for (const char c : whole.substr(row.n_kept)) rest.push_back(static_cast<uint8_t>(c));
      ASSERT_TRUE(each->accept(rest, taken).ok());
      EXPECT_EQ(each->info().constraint, ConstraintStand::complete) << what;
    }
  }
}

TEST_P(Constrained, AShiftInTheMiddleOfDrawing) {
  const auto s = session(drawing(schema(), 5));
  ASSERT_TRUE(prefill(*s, prompt(20)).ok());
  for (int i = 0; i < 12; ++i) step(*s);
  ASSERT_TRUE(s->shift(8, 18).ok());
  const Text text = text_of(*s);
  EXPECT_EQ(text.reason, FinishReason::end_of_generation);
  EXPECT_TRUE(is_right(text.text)) << text.text;
}

// While a step of it runs in slices a session takes no constraint, and its step ends as if nobody had asked.
TEST_P(Constrained, SlicesHaveTheOneTheyBeganWith) {
  const Made constraint = choices({"yes", "no"}), other = choices({"perhaps"});
  for (const bool asks : {false, true}) {
    const auto s = session(drawing(constraint, 7));
    ASSERT_TRUE(prefill(*s, prompt(20)).ok());
    step(*s);
    Session* one[] = {s.get()};
    StepEvent event;
    int32_t left = 0;
    ASSERT_TRUE(engine_->decode_slice(one, 1, {&event, 1}, left).ok());
    ASSERT_GT(left, 0) << "the step has ended before anybody could ask";
    if (asks) {
      for (const Made& asked : {other, Made()}) {
        const Status status = s->set_constraint(asked, "");
        EXPECT_EQ(status.code, Code::invalid_state) << status.message;
      }
      EXPECT_EQ(s->shift(4, 4).code, Code::invalid_state);
    }
    while (left > 0) ASSERT_TRUE(engine_->decode_slice(one, 1, {&event, 1}, left).ok());
    const std::string text = text_of(*s).text;
    EXPECT_TRUE(text == "yes" || text == "no") << text;
    ASSERT_TRUE(s->truncate(20).ok());
    EXPECT_TRUE(s->set_constraint(other, "").ok()) << "negative control: behind its end it may be set";
    EXPECT_EQ(text_of(*s).text, "perhaps");
  }
}

// What must follow is known before it is drawn, and drawn.
TEST_P(Constrained, ForcedTextIsKnown) {
  const auto s = session({.max_tokens = 100});
  const auto forced = [&] {
    const auto text = s->forced_text();
    EXPECT_TRUE(text.ok()) << text.status().message;
    return text.ok() ? *text : "";
  };
  ASSERT_TRUE(prefill(*s, prompt(20)).ok());
  EXPECT_EQ(forced(), "") << "without a constraint";
  ASSERT_TRUE(s->set_constraint(schema(), "").ok());
  EXPECT_EQ(forced(), "{\"name\":\"");
  const std::string text = text_of(*s).text;
  EXPECT_EQ(text.substr(0, 9), "{\"name\":\"");
  EXPECT_EQ(forced(), "") << "behind its end";
  struct Row {
    ConstraintSource source;
    const char *written, *wanted;
  };
  const Row rows[] = {
      {{.text = kSchema, .compact = true}, "{\"name\":\"a\",\"age\":15", ""},
      {{.text = kSchema, .compact = true}, "{\"name\":\"a\",\"age\":150", ",\"mood\":\""},
      {{.text = kSchema, .compact = true}, "{\"name\":\"a\",\"age\":1,\"mood\":\"c", "alm\"}"},
      {{.kind = Kind::regex, .text = "ab(c|d)"}, "a", "b"},
      {{.kind = Kind::regex, .text = "ab?"}, "a", ""},
      {{.kind = Kind::choices, .choices = {"caf\u00e9", "caf\u00e8"}}, "", "caf"},
      {{.kind = Kind::choices, .choices = {"caf\u00e9", "caf\u00e9s"}}, "", "caf\u00e9"},
  };
  for (const Row& row : rows) {
    ASSERT_TRUE(s->truncate(20).ok());
    ASSERT_TRUE(s->set_constraint(made(row.source), row.written).ok()) << row.written;
    EXPECT_EQ(forced(), row.wanted) << row.written;
  }
}

TEST_P(Constrained, ItMayBeSetBehindWhatIsThere) {
  const auto s = session({.max_tokens = 100});
  std::vector<int32_t> tokens = prompt(20);
  for (const char c : std::string("{\"name\":\"")) tokens.push_back(static_cast<uint8_t>(c));
  ASSERT_TRUE(prefill(*s, tokens).ok());
  EXPECT_EQ(s->set_constraint(schema(), "[").code, Code::invalid_argument);
  EXPECT_EQ(s->info().constraint, ConstraintStand::none) << "refused: as before";
  ASSERT_TRUE(s->set_constraint(schema(), "{\"name\":\"").ok());
  EXPECT_TRUE(is_right("{\"name\":\"" + text_of(*s).text));
  ASSERT_TRUE(s->truncate(20).ok());
  ASSERT_TRUE(s->set_constraint(nullptr, "").ok());
  EXPECT_EQ(s->info().constraint, ConstraintStand::none);
}

// Accepted tokens count as drawn ones; where they leave the constraint nothing can follow.
TEST_P(Constrained, WhatTheHostAppendsCounts) {
  const auto s = session(drawing(choices({"yes", "yet"})));
  ASSERT_TRUE(prefill(*s, prompt(20)).ok());
  size_t n = 0;
  ASSERT_TRUE(s->accept(std::vector<int32_t>{'y', 'e'}, n).ok());
  const Text text = text_of(*s);
  EXPECT_TRUE(text.text == "yes" || text.text == "yet") << text.text;
  ASSERT_TRUE(s->truncate(20).ok());
  ASSERT_TRUE(s->accept(std::vector<int32_t>{'q'}, n).ok());
  EXPECT_EQ(s->info().constraint, ConstraintStand::dead);
  const StepEvent event = step(*s);
  EXPECT_EQ(event.finish_reason, FinishReason::dead_end);
  EXPECT_EQ(event.sample.token, -1);
}

TEST_P(Constrained, ABiasThatBansAllThatMayComeEndsIt) {
  SessionOptions options = drawing(choices({"yes", "no"}));
  options.sampler.bias = {{'y', -std::numeric_limits<float>::infinity()}, {'n', -std::numeric_limits<float>::infinity()}};
  const Text text = drawn(options);
  EXPECT_EQ(text.reason, FinishReason::dead_end);
  EXPECT_TRUE(text.tokens.empty());
}

TEST_P(Constrained, WrongOnesAreRefusedByName) {
  const auto refused = [&](ConstraintSource source) { return engine_->make_constraint(std::move(source)).status(); };
  EXPECT_NE(refused({.text = R"({"type": "wrong"})"}).message.find("type"), std::string::npos);
  EXPECT_EQ(refused({.text = R"({"contains": {}, "unevaluatedItems": false})"}).code, Code::unsupported);
  EXPECT_TRUE(refused({.text = R"({"contains": {}, "unevaluatedItems": false})", .lenient = true}).ok());
  EXPECT_EQ(refused({.kind = Kind::gbnf, .text = "root ::= other"}).code, Code::format);
  EXPECT_FALSE(refused({.kind = Kind::choices}).ok());
  const auto other = load({.n_context = 64, .max_sessions = 1});
  const auto foreign = other->make_constraint({.kind = Kind::choices, .choices = {"a"}});
  ASSERT_TRUE(foreign.ok());
  EXPECT_EQ(engine_->create_session({.constraint = foreign->constraint}).status().message, "the constraint was made for another engine");
  EXPECT_EQ(engine_->create_session({.ignore_end_of_generation = true, .constraint = schema()}).status().code, Code::invalid_argument);
}

}  // namespace
}  // namespace inlay
