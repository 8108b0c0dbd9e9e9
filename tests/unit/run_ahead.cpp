// An engine that begins the next step before it is asked for gives what one that does not gives, whatever comes instead
// of that step.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/allocation_counter.h"
#include "tests/support/engine_sessions.h"

namespace inlay {
namespace {

class RunAhead : public test::EngineSessions {
 protected:
  using Sessions = std::vector<std::shared_ptr<Session>>;
  struct Trace {
    std::vector<int32_t> tokens;
    std::vector<float> logits;
    std::vector<int32_t> n_tokens, n_blocks;  // of the sessions at the end
  };

  static EngineOptions options(bool run_ahead) {
    return {.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32, .run_ahead = run_ahead};
  }
  std::shared_ptr<Session> begun(int32_t start, int32_t n_tokens,
                                 const SessionOptions& o = {.ignore_end_of_generation = true}) {
    auto s = session(o);
    EXPECT_TRUE(prefill(*s, prompt(n_tokens, start)).ok());
    return s;
  }
  // Draws a token for each, with its logits.
  void step(const std::vector<Session*>& sessions, Trace& out) {
    std::vector<StepEvent> events(sessions.size());
    const Status status = engine_->decode_step(sessions, events);
    EXPECT_TRUE(status.ok()) << status.message;
    std::vector<float> logits(static_cast<size_t>(engine_->spec().n_vocab));
    for (size_t i = 0; i < sessions.size(); ++i) {
      out.tokens.push_back(events[i].sample.token);
      EXPECT_TRUE(sessions[i]->copy_logits(logits).ok());
      out.logits.insert(out.logits.end(), logits.begin(), logits.end());
    }
  }

  // What three sessions of two engines come to by the same calls.
  void expect_same(const std::function<void(Sessions& s, Trace& out)>& calls) {
    Trace traces[2];
    for (const bool ahead : {false, true}) {
      engine_ = load(options(ahead));
      ASSERT_NE(engine_, nullptr);
      Sessions s;
      SessionOptions o{.ignore_end_of_generation = true};
      o.sampler = {.temperature = 0.9f, .top_k = 40, .seed = 5, .n_logprobs = 2};
      for (const int32_t start : {3, 50, 90}) s.push_back(begun(start, 20 + start / 10, o));
      Trace& trace = traces[ahead ? 1 : 0];
      calls(s, trace);
      step({s[0].get(), s[1].get(), s[2].get()}, trace);
      step({s[0].get(), s[1].get(), s[2].get()}, trace);
      for (const auto& one : s) {
        EXPECT_TRUE(one->truncate(one->info().n_tokens - 1).ok());  // and drops what may have been begun
        trace.n_tokens.push_back(one->info().n_tokens);
        trace.n_blocks.push_back(one->info().n_kv_blocks);
      }
    }
    EXPECT_EQ(traces[0].tokens, traces[1].tokens);
    EXPECT_EQ(traces[0].logits, traces[1].logits);
    EXPECT_EQ(traces[0].n_tokens, traces[1].n_tokens);
    EXPECT_EQ(traces[0].n_blocks, traces[1].n_blocks);
  }
  std::vector<size_t> most_ahead_;  // of each engine
  static std::vector<Session*> all(const Sessions& s) { return {s[0].get(), s[1].get(), s[2].get()}; }
};
INLAY_ON_CPU_AND_CUDA(RunAhead);

TEST_P(RunAhead, StepsDrawTheSame) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 40; ++i) step(all(s), out);  // over the ends of blocks
  });
}

TEST_P(RunAhead, BeginsTheNextStepOfTheSameSessions) {
  engine_ = load(options(true));
  ASSERT_NE(engine_, nullptr);
  const auto a = begun(3, 20), b = begun(50, 20);
  Trace out;
  step({a.get()}, out);
  EXPECT_EQ(engine_->n_ahead(), 0u) << "drawn from the prompt's logits: no token was run";
  step({a.get()}, out);
  EXPECT_EQ(engine_->n_ahead(), 1u);
  step({b.get()}, out);
  EXPECT_EQ(engine_->n_ahead(), 0u);
  step({a.get(), b.get()}, out);
  EXPECT_EQ(engine_->n_ahead(), 2u);
  step({b.get(), a.get()}, out);
  EXPECT_EQ(engine_->n_ahead(), 2u) << "another order is another step";
  EXPECT_EQ(engine_->stats().n_decode_tokens, 7u) << "what was begun counts when it is asked for";
}

TEST_P(RunAhead, AnotherSetOfSessionsComes) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 4; ++i) step(all(s), out);
    for (int i = 0; i < 3; ++i) step({s[1].get()}, out);
    for (int i = 0; i < 3; ++i) step({s[2].get(), s[0].get()}, out);
  });
}

TEST_P(RunAhead, ATruncationComes) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 4; ++i) step(all(s), out);
    EXPECT_TRUE(s[1]->truncate(15).ok());
    for (int i = 0; i < 4; ++i) step(all(s), out);
  });
}

TEST_P(RunAhead, APromptComes) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 4; ++i) step(all(s), out);
    EXPECT_TRUE(prefill(*s[1], prompt(7, 200)).ok());
    for (int i = 0; i < 4; ++i) step(all(s), out);
  });
}

TEST_P(RunAhead, APromptOfSeveralChunksComes) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 4; ++i) step(all(s), out);
    EXPECT_TRUE(prefill(*s[1], prompt(75, 200)).ok());
    for (int i = 0; i < 4; ++i) step(all(s), out);
  });
}

// The step that was begun has a block for the token, and is left by this one.
TEST_P(RunAhead, ASessionAloneWhoseTokenBeginsABlock) {
  for (int n = 8; n < 14; ++n) {
    expect_same([&](Sessions& s, Trace& out) {
      for (int i = 0; i < n; ++i) step(all(s), out);
      for (int i = 0; i < 3; ++i) step({s[0].get()}, out);
      for (int i = 0; i < 3; ++i) step({s[2].get(), s[1].get()}, out);
    });
  }
}

TEST_P(RunAhead, ANewSessionsPromptAndAForkCome) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 4; ++i) step(all(s), out);
    {
      const auto child = s[0]->fork();
      ASSERT_TRUE(child.ok());
      for (int i = 0; i < 3; ++i) step({child->get()}, out);
      step({s[0].get()}, out);
    }
    const auto fresh = begun(120, 40);
    for (int i = 0; i < 3; ++i) step(all(s), out);
    step({fresh.get()}, out);
  });
}

TEST_P(RunAhead, AnotherSamplerComes) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 4; ++i) step(all(s), out);
    EXPECT_TRUE(s[1]->set_sampler({.temperature = 1.5f, .seed = 77}).ok());
    for (int i = 0; i < 2; ++i) step(all(s), out);
    // With penalties nothing is begun: they count a token that is not known.
    EXPECT_TRUE(s[2]->set_sampler({.temperature = 1.5f, .repetition_penalty = 1.3f, .seed = 77}).ok());
    for (int i = 0; i < 4; ++i) step(all(s), out);
    EXPECT_EQ(engine_->n_ahead(), 0u);
  });
}

TEST_P(RunAhead, SamplersThatLookAtTheTokensBeforeBeginNothing) {
  struct Case {
    const char* name;
    SamplerParams params;
    bool is_begun;
  };
  const Case cases[] = {
      {"DRY", {.dry_multiplier = 1}, false},
      {"mirostat", {.temperature = 1, .mirostat_tau = 3}, false},
      {"adaptive-p", {.temperature = 1, .adaptive_target = 0.3f}, false},
      {"without a temperature", {.mirostat_tau = 3}, true},
      {"typical-p", {.temperature = 1, .typical_p = 0.7f}, true},
      {"XTC", {.temperature = 1, .top_n_sigma = 1, .dynatemp_range = 0.4f, .xtc_probability = 0.5f}, true}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    expect_same([&](Sessions& s, Trace& out) {
      EXPECT_TRUE(s[1]->set_sampler(c.params).ok());
      size_t most = 0;
      for (int i = 0; i < 12; ++i) {
        step(all(s), out);
        most = std::max(most, engine_->n_ahead());
      }
      most_ahead_.push_back(most);
    });
    ASSERT_EQ(most_ahead_.size(), 2u);
    EXPECT_EQ(most_ahead_[0], 0u);
    EXPECT_EQ(most_ahead_[1], c.is_begun ? 3u : 0u);
    most_ahead_.clear();
  }
}

TEST_P(RunAhead, SlicesCome) {
  expect_same([&](Sessions& s, Trace& out) {
    for (int i = 0; i < 4; ++i) step(all(s), out);
    Session* one[] = {s[1].get()};
    StepEvent event;
    int32_t left = 1;
    while (left > 0) ASSERT_TRUE(engine_->decode_slice(one, 1, {&event, 1}, left).ok());
    out.tokens.push_back(event.sample.token);
    for (int i = 0; i < 3; ++i) step(all(s), out);
  });
}

TEST_P(RunAhead, SequencesEnd) {
  for (const bool ahead : {false, true}) {
    engine_ = load(options(ahead));
    ASSERT_NE(engine_, nullptr);
    const auto a = begun(3, 20, {.max_tokens = 3, .ignore_end_of_generation = true}), b = begun(50, 20),
               full = begun(90, 124);
    std::vector<Session*> three = {a.get(), b.get(), full.get()};
    std::vector<StepEvent> events(3);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(engine_->decode_step(three, events).ok()) << i;
    EXPECT_EQ(events[0].finish_reason, FinishReason::max_tokens);
    EXPECT_EQ(engine_->decode_step(three, events).code, Code::invalid_state);
    EXPECT_TRUE(events[1].status.ok() && events[2].status.ok());
    EXPECT_EQ(events[2].finish_reason, FinishReason::context_full);
    b->cancel();
    EXPECT_FALSE(engine_->decode_step(three, events).ok());
    EXPECT_EQ(events[1].finish_reason, FinishReason::cancelled);
    EXPECT_EQ(events[2].status.code, Code::invalid_state);
    EXPECT_EQ(full->info().n_tokens, 128);
    EXPECT_EQ(b->info().n_tokens, 24);
  }
}

TEST_P(RunAhead, ADrawThatFailsStopsIt) {
  engine_ = load(options(true));
  ASSERT_NE(engine_, nullptr);
  const auto a = begun(3, 20);
  Trace out;
  for (int i = 0; i < 3; ++i) step({a.get()}, out);
  SamplerParams nothing;
  for (int32_t t = 0; t < engine_->spec().n_vocab; ++t) nothing.bias.push_back({t, -INFINITY});
  ASSERT_TRUE(a->set_sampler(nothing).ok());
  Session* one[] = {a.get()};
  StepEvent event;
  EXPECT_EQ(engine_->decode_step(one, {&event, 1}).code, Code::invalid_argument);
  EXPECT_EQ(engine_->n_ahead(), 0u);
  ASSERT_TRUE(a->set_sampler({}).ok());
  step({a.get()}, out);
}

TEST_P(RunAhead, AFullPoolBeginsNothing) {
  EngineOptions o = options(true);
  o.max_sessions = 2, o.kv_budget_bytes = engine_->info().memory.kv / 4;
  engine_ = load(o);
  ASSERT_NE(engine_, nullptr);
  ASSERT_EQ(engine_->stats().n_kv_blocks, 4);
  const auto a = begun(3, 2 * kKvBlockTokens - 1);
  auto b = begun(50, 2 * kKvBlockTokens);
  Trace out;
  step({a.get()}, out);
  step({a.get()}, out);
  EXPECT_EQ(engine_->n_ahead(), 0u) << "the next token needs a block more than there are";
  b.reset();
  step({a.get()}, out);
  EXPECT_EQ(engine_->n_ahead(), 1u);
}

TEST_P(RunAhead, SessionsThatAreFreedTakeItAlong) {
  engine_ = load(options(true));
  ASSERT_NE(engine_, nullptr);
  Trace out;
  for (int i = 0; i < 10; ++i) {
    const auto a = begun(3, 20), b = begun(50, 30);
    for (int k = 0; k < 3; ++k) step({a.get(), b.get()}, out);
    EXPECT_EQ(engine_->n_ahead(), 2u);
  }
  EXPECT_EQ(engine_->n_ahead(), 0u);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  EXPECT_EQ(engine_->stats().n_sessions, 0);
}

TEST_P(RunAhead, AllocatesNothingAfterWarmUp) {
  engine_ = load(options(true));
  ASSERT_NE(engine_, nullptr);
  const auto a = begun(3, 20), b = begun(50, 30);
  Session* two[] = {a.get(), b.get()};
  StepEvent events[2];
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(engine_->decode_step(two, events).ok());
  const int64_t before = test::allocation_count();
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(engine_->decode_step(two, events).ok());
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace inlay
