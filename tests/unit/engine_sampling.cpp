// Tokens that an engine draws are those of the sampler on the logits that the session shows, on every device, and with
// the state that the session's draws have come to.
#include <gtest/gtest.h>

#include <cmath>

#include "src/engine/engine.h"
#include "tests/support/devices.h"
#include "tests/support/engine_sessions.h"
#include "tests/support/forced_draws.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

constexpr int32_t kSteps = 40;

class EngineSampling : public ::testing::TestWithParam<DeviceKind> {};
INLAY_ON_CPU_AND_CUDA(EngineSampling);

std::vector<SamplerParams> many_params() {
  std::vector<SamplerParams> out = {
      {},
      {.repetition_penalty = 1.3f, .n_logprobs = kMaxLogprobs},
      {.frequency_penalty = 0.4f, .presence_penalty = 0.2f, .penalty_window = -1},
      {.temperature = 1.0f},
      {.temperature = 0.7f, .top_k = 1},
      {.temperature = 1.3f, .top_k = 40, .n_logprobs = 5},
      {.temperature = 1.0f, .top_p = 0.9f},
      {.temperature = 2.0f, .min_p = 0.02f},
      {.temperature = 0.8f,
       .top_k = 100,
       .top_p = 0.95f,
       .min_p = 0.01f,
       .repetition_penalty = 1.1f,
       .penalty_window = 16},
      {.temperature = 1.0f, .n_logprobs = 1, .bias = {{50, 4.0f}, {7, -INFINITY}, {11, 3.0f}}},
      {.dry_multiplier = 2.0f, .dry_allowed_length = 1},
      {.temperature = 0.5f,
       .bias = {{50, 4.0f}},
       .dry_multiplier = 1.0f,
       .dry_allowed_length = 1,
       .dry_breakers = {" the", "a"}},
      {.temperature = 1.0f, .typical_p = 0.6f},
      {.temperature = 2.0f, .top_n_sigma = 1.5f},
      {.temperature = 1.0f, .top_k = 200, .dynatemp_range = 0.9f, .dynatemp_exponent = 0.7f},
      {.temperature = 1.0f, .min_p = 0.01f, .xtc_probability = 0.5f, .xtc_threshold = 0.05f},
      {.temperature = 1.2f, .repetition_penalty = 1.2f, .mirostat_tau = 3.0f},
      {.temperature = 0.9f, .min_p = 0.05f, .n_logprobs = 3, .adaptive_target = 0.4f, .adaptive_decay = 0.8f},
  };
  for (size_t i = 0; i < out.size(); ++i) out[i].seed = 1000 + i;
  return out;
}

void expect_same(const SampleResult& got, const SampleResult& want, size_t session, int32_t step) {
  SCOPED_TRACE("session " + std::to_string(session) + ", step " + std::to_string(step));
  ASSERT_EQ(got.token, want.token);
  EXPECT_NEAR(got.logprob, want.logprob, 1e-4);
  ASSERT_EQ(got.n_logprobs, want.n_logprobs);
  for (int32_t i = 0; i < want.n_logprobs; ++i) {
    EXPECT_EQ(got.top[i].token, want.top[i].token) << i;
    EXPECT_NEAR(got.top[i].logprob, want.top[i].logprob, 1e-4) << i;
  }
}

// What the specification draws for a session that has just drawn, from the logits that it shows.
struct Oracle {
  Oracle(Session& of, SamplerParams with, uint64_t its_stream)
      : session(&of), params(std::move(with)), stream(its_stream), sampler(of.engine().spec().n_vocab) {}

  SampleResult draw() {
    const Tokenizer* tokenizer = session->engine().tokenizer();
    const DrawContext context = {
        .state = state,
        .bias_and_dry = dry.merge(params, history(), [=](int32_t token) { return tokenizer->piece(token); })};
    const SampleResult out = sample(params, context);
    advance(params, out, state);
    return out;
  }
  int32_t greedy() { return sample({}, {}).token; }

  Session* session;
  SamplerParams params;
  uint64_t stream;
  SamplerState state;

 private:
  std::span<const int32_t> history() const { return session->tokens().first(session->tokens().size() - 1); }
  SampleResult sample(const SamplerParams& with, const DrawContext& context) {
    std::vector<float> logits(static_cast<size_t>(session->engine().spec().n_vocab));
    EXPECT_TRUE(session->copy_logits(logits).ok());
    SampleResult out;
    EXPECT_TRUE(sampler.sample(logits, with, history(), stream, history().size(), out, context).ok());
    return out;
  }

  Sampler sampler;
  DryBias dry;
};

// All sessions in each step, each with parameters of its own.
TEST_P(EngineSampling, DrawsAreThoseOfTheSpecification) {
  INLAY_SKIP_WITHOUT(GetParam());
  const std::vector<SamplerParams> params = many_params();
  const auto engine = Engine::load(
      INLAY_SOURCE_DIR "/examples/model/tales.gguf",
      {.device = GetParam(), .n_context = 256, .max_sessions = static_cast<int32_t>(params.size()), .n_threads = 2});
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  std::vector<std::shared_ptr<Session>> owned;
  std::vector<Session*> all;
  for (size_t i = 0; i < params.size(); ++i) {
    const auto s = (*engine)->create_session({.sampler = params[i], .stream = i, .ignore_end_of_generation = true});
    ASSERT_TRUE(s.ok()) << s.status().message;
    std::vector<int32_t> prompt{2043};
    for (size_t k = 0; k < 5 + 7 * i; ++k) prompt.push_back(static_cast<int32_t>(100 + (k * 37 + i) % 1500));
    size_t n_done = 0;
    ASSERT_TRUE((*s)->prefill(prompt, n_done).ok());
    owned.push_back(*s);
    all.push_back(s->get());
  }
  std::vector<Oracle> oracles;
  for (size_t i = 0; i < all.size(); ++i) oracles.emplace_back(*all[i], params[i], i);
  std::vector<StepEvent> events(all.size());
  int32_t n_off_greedy = 0;
  for (int32_t step = 0; step < kSteps; ++step) {
    const Status status = (*engine)->decode_step(all, events);
    ASSERT_TRUE(status.ok()) << status.message;
    for (size_t i = 0; i < all.size(); ++i) {
      const SampleResult want = oracles[i].draw();
      expect_same(events[i].sample, want, i, step);
      n_off_greedy += oracles[i].greedy() != want.token;
    }
  }
  EXPECT_GT(n_off_greedy, kSteps) << "negative control: the parameters change what is drawn";
}

class EngineSamplerState : public test::EngineSessions {
 protected:
  static SamplerParams mirostat() {
    return {.temperature = 1.0f, .seed = 3, .mirostat_tau = 3.0f, .mirostat_eta = 0.5f};
  }
  static SamplerParams adaptive() {
    return {.temperature = 1.0f, .min_p = 0.02f, .seed = 4, .adaptive_target = 0.3f, .adaptive_decay = 0.7f};
  }

  std::shared_ptr<Session> begun(const SamplerParams& params) {
    auto s = session({.sampler = params, .ignore_end_of_generation = true});
    EXPECT_TRUE(prefill(*s, prompt(20)).ok());
    return s;
  }
  void draw(Session& s, Oracle& oracle, int n) {
    for (int i = 0; i < n; ++i) {
      const StepEvent event = step(s);
      ASSERT_EQ(event.sample.token, oracle.draw().token) << i;
    }
  }
};
INLAY_ON_CPU_AND_CUDA(EngineSamplerState);

TEST_P(EngineSamplerState, BeginsAnewWithAPromptAndATruncation) {
  for (const SamplerParams& params : {mirostat(), adaptive()}) {
    const auto s = begun(params);
    Oracle oracle(*s, params, 0);
    draw(*s, oracle, 20);
    EXPECT_NE(oracle.state, SamplerState{});
    ASSERT_TRUE(prefill(*s, prompt(3, 100)).ok());
    oracle.state = {};
    draw(*s, oracle, 15);
    ASSERT_TRUE(s->truncate(30).ok());
    oracle.state = {};
    draw(*s, oracle, 15);
    ASSERT_TRUE(s->truncate(s->info().n_tokens).ok());
    oracle.state = {};
    draw(*s, oracle, 15);
  }
}

TEST_P(EngineSamplerState, GoesWithAForkAndThroughAnotherSampler) {
  for (const SamplerParams& params : {mirostat(), adaptive()}) {
    const auto s = begun(params);
    Oracle oracle(*s, params, 0);
    draw(*s, oracle, 12);
    const auto child = s->fork();
    ASSERT_TRUE(child.ok());
    Oracle of_child(**child, params, 0);
    of_child.state = oracle.state;
    draw(*s, oracle, 10);
    draw(**child, of_child, 10);
    SamplerParams other = params;
    other.temperature = 1.4f;
    ASSERT_TRUE(s->set_sampler(other).ok());
    oracle.params = other;
    draw(*s, oracle, 15);
  }
}

// Negative control of both: the state decides what is drawn.
TEST_P(EngineSamplerState, ChangesDraws) {
  for (const SamplerParams& params : {mirostat(), adaptive()}) {
    const auto s = begun(params);
    Oracle oracle(*s, params, 0);
    int n_others = 0;
    for (int i = 0; i < 60; ++i) {
      const StepEvent event = step(*s);
      Oracle fresh(*s, params, 0);
      n_others += fresh.draw().token != event.sample.token;
      ASSERT_EQ(oracle.draw().token, event.sample.token);
    }
    EXPECT_GT(n_others, 3);
  }
}

// A row that is read after every step comes another way than one that is read once.
TEST_P(EngineSampling, LogitsThatAreNanFromSomeTokenOnAreAnError) {
  INLAY_SKIP_WITHOUT(GetParam());
  constexpr int kNan = 7;
  const std::vector<std::byte> bytes = testing::llama_image(
      {.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50},
      [](testing::GgufImage& image) { image.text("tokenizer.ggml.model", "no_vocab"); }, 1.0f, kNan);
  for (const size_t n_sessions : {1, 5, 12}) {
    const auto engine = Engine::load(borrow_memory(bytes, "model"), {.device = GetParam(), .n_context = 64, .max_sessions = 12});
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    std::vector<std::shared_ptr<Session>> owned;
    std::vector<Session*> sessions;
    std::vector<int32_t> tokens(n_sessions, 3);
    for (size_t i = 0; i < n_sessions; ++i) {
      owned.push_back(*(*engine)->create_session({}));
      sessions.push_back(owned.back().get());
      size_t n_done = 0;
      ASSERT_TRUE(sessions[i]->prefill(std::vector<int32_t>{3, 1, static_cast<int32_t>(10 + i)}, n_done).ok());
    }
    const size_t last = n_sessions - 1;
    const auto expect_all = [&](Code of_last, const char* when) {
      for (size_t i = 0; i < n_sessions; ++i) {
        EXPECT_EQ(sessions[i]->view_logits().status().code, i == last ? of_last : Code::ok) << i << " of " << n_sessions << when;
      }
    };
    expect_all(Code::ok, ", after the prompt");
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(test::force(sessions, tokens).ok());
      expect_all(Code::ok, ", after a step");
    }
    tokens[last] = kNan;
    ASSERT_TRUE(test::force(sessions, tokens).ok());
    expect_all(Code::ok, ", before the token runs");
    tokens[last] = 3;
    EXPECT_EQ(test::force(sessions, tokens).code, Code::format) << "nothing is drawn from NaN";
    expect_all(Code::format, ", after the token");
    std::vector<float> logits(50);
    EXPECT_EQ(sessions[last]->copy_logits(logits).code, Code::format);
    ASSERT_TRUE(sessions[last]->truncate(3).ok());
    size_t n_done = 0;
    ASSERT_TRUE(sessions[last]->prefill(std::vector<int32_t>{3}, n_done).ok());
    expect_all(Code::ok, ", after a cut");
    ASSERT_TRUE(test::force(sessions, tokens).ok());
    expect_all(Code::ok, ", after a cut and a step");
  }
}

}  // namespace
}  // namespace inlay
