// Tokens that an engine draws are those of the sampler on the logits that the session shows, on every device.
#include <gtest/gtest.h>

#include <cmath>

#include "src/engine/engine.h"
#include "tests/support/devices.h"

namespace inlay {
namespace {

constexpr int32_t kSteps = 40;

class EngineSampling : public testing::TestWithParam<DeviceKind> {};
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

// All sessions in each step, each with parameters of its own.
TEST_P(EngineSampling, DrawsAreThoseOfTheSpecification) {
  INLAY_SKIP_WITHOUT(GetParam());
  const std::vector<SamplerParams> params = many_params();
  const auto engine = Engine::load(
      INLAY_SOURCE_DIR "/examples/model/tales.gguf",
      {.device = GetParam(), .n_context = 128, .max_sessions = static_cast<int32_t>(params.size()), .n_threads = 2});
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
  Sampler sampler((*engine)->spec().n_vocab);
  std::vector<float> logits(static_cast<size_t>((*engine)->spec().n_vocab));
  std::vector<StepEvent> events(all.size());
  int32_t n_off_greedy = 0;
  for (int32_t step = 0; step < kSteps; ++step) {
    const Status status = (*engine)->decode_step(all, events);
    ASSERT_TRUE(status.ok()) << status.message;
    for (size_t i = 0; i < all.size(); ++i) {
      const std::span<const int32_t> history = all[i]->tokens().first(all[i]->tokens().size() - 1);
      SampleResult want, greedy;
      ASSERT_TRUE(all[i]->copy_logits(logits).ok());
      ASSERT_TRUE(sampler.sample(logits, params[i], history, i, history.size(), want).ok());
      expect_same(events[i].sample, want, i, step);
      ASSERT_TRUE(sampler.sample(logits, {}, history, i, history.size(), greedy).ok());
      n_off_greedy += greedy.token != want.token;
    }
  }
  EXPECT_GT(n_off_greedy, kSteps) << "negative control: the parameters change what is drawn";
}

}  // namespace
}  // namespace inlay
