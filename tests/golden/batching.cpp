// A sequence's tokens do not depend on how its prompt was cut or on who shares its steps.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "src/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/devices.h"
#include "tests/support/test_data.h"

namespace inlay {
namespace {

constexpr int32_t kMostSessions = 33;

struct Case {
  const char* model;
  DeviceKind device;
  WeightDType weights = WeightDType::as_stored;
};

constexpr const char* kTrained = "tales";
constexpr Case kCases[] = {
    {"llama-f32", DeviceKind::reference},
    {"llama-f32", DeviceKind::cpu},
    {"llama-f32", DeviceKind::cuda},
    {"llama-f16", DeviceKind::cpu},
    {"llama-f16", DeviceKind::cuda},
    {"llama-bf16", DeviceKind::cpu},
    {"llama-bf16", DeviceKind::cuda},
    {"llama-q4_k_m", DeviceKind::cpu},
    {"llama-q4_k_m", DeviceKind::cuda},
    {"llama-q5_k_m", DeviceKind::cpu},
    {"llama-q5_k_m", DeviceKind::cuda},
    {"llama-q2_k_m", DeviceKind::cpu},
    {"llama-q2_k_m", DeviceKind::cuda},
    {"llama-q3_k_m", DeviceKind::cpu},
    {"llama-q3_k_m", DeviceKind::cuda},
    {"llama-iq4_xs", DeviceKind::cpu},
    {"llama-iq4_xs", DeviceKind::cuda},
    {"llama-zoo", DeviceKind::cpu},
    {"llama-zoo", DeviceKind::cuda},
    {"llama-moe-f32", DeviceKind::cpu},
    {"llama-moe-f32", DeviceKind::cuda},
    {"qwen3moe-q4_k_m", DeviceKind::cpu},
    {"qwen3moe-q4_k_m", DeviceKind::cuda},
    {"llama-q8_0", DeviceKind::cpu},
    {"llama-q8_0", DeviceKind::cuda},
    {"qwen2-q4_k_m", DeviceKind::cpu},
    {"qwen2-q4_k_m", DeviceKind::cuda},
    {"qwen3-q8_0", DeviceKind::cpu},
    {"qwen3-q8_0", DeviceKind::cuda},
    {"gemma2-f32", DeviceKind::reference},
    {"gemma2-f32", DeviceKind::cpu},
    {"gemma3-f32", DeviceKind::reference},
    {"gemma3-f32", DeviceKind::cpu},
    {"phi3-f32", DeviceKind::cpu},
    {kTrained, DeviceKind::cpu},
    {kTrained, DeviceKind::cuda},
    {"llama-bf16", DeviceKind::cpu, WeightDType::fp8},
    {"llama-bf16", DeviceKind::cuda, WeightDType::fp8},
    {"qwen2-f32", DeviceKind::cpu, WeightDType::fp8},
    {"qwen2-f32", DeviceKind::cuda, WeightDType::fp8},
    {"gemma2-f32", DeviceKind::cuda},
    {"gemma3-f32", DeviceKind::cuda},
    {"phi3-f32", DeviceKind::cuda},
    {"gemma2-f32", DeviceKind::cuda, WeightDType::fp8},
    {"gpt-oss-mxfp4", DeviceKind::cpu},
    {"qwen2moe-f32", DeviceKind::cpu},
    {"granite-f32", DeviceKind::cpu},
    {"olmo3-f32", DeviceKind::cpu},
    {"smollm3-f32", DeviceKind::cpu},
};

// What one sequence came to: the drawn tokens and the logits before each draw.
struct Trace {
  std::vector<int32_t> tokens;
  std::vector<float> logits;
};

bool same(const Trace& a, const Trace& b) { return a.tokens == b.tokens && test::same_bits(a.logits, b.logits); }

class Batching : public testing::TestWithParam<Case> {
 protected:
  virtual int32_t most_sessions() const { return kMostSessions; }
  virtual int32_t n_drawn() const { return 24; }

  void SetUp() override {
    INLAY_SKIP_WITHOUT(GetParam().device);
    const EngineOptions options{.device = GetParam().device,
                                .n_context = 384,
                                .max_sessions = most_sessions() + 2,
                                .weight_dtype = GetParam().weights,
                                .n_threads = 3,
                                .prefill_chunk = 256};
    auto engine = Engine::load(test::model_file(GetParam().model), options);
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    engine_ = *engine;
    ASSERT_EQ(engine_->info().weight_dtype, GetParam().weights);
  }

  // Different for each seed.
  std::vector<int32_t> prompt(int32_t n, uint32_t seed) const {
    std::vector<int32_t> out;
    uint32_t x = seed * 2654435761u + 1;
    for (int32_t i = 0; i < n; ++i) {
      x = x * 1664525u + 1013904223u;
      out.push_back(static_cast<int32_t>((x >> 8) % static_cast<uint32_t>(engine_->spec().n_vocab)));
    }
    return out;
  }

  std::shared_ptr<Session> session(float temperature) {
    SessionOptions options;
    options.sampler.temperature = temperature;
    options.sampler.seed = 42;
    if (temperature > 0) options.sampler.repetition_penalty = 1.1f;
    options.ignore_end_of_generation = true;
    auto s = engine_->create_session(options);
    EXPECT_TRUE(s.ok()) << s.status().message;
    return *s;
  }

  static void prefill(Session& s, std::span<const int32_t> tokens, size_t chunk) {
    for (size_t at = 0; at < tokens.size(); at += chunk) {
      size_t n_done = 0;
      const Status status = s.prefill(tokens.subspan(at, std::min(chunk, tokens.size() - at)), n_done);
      ASSERT_TRUE(status.ok()) << status.message;
    }
  }

  // One step; where slice_units_ is not 0 in slices, of another number of units each time.
  Status step(std::span<Session* const> sessions, std::span<StepEvent> events) {
    if (slice_units_ == 0) return engine_->decode_step(sessions, events);
    for (int32_t left = 1; left > 0;) {
      INLAY_TRY(engine_->decode_slice(sessions, 1 + n_slices_++ % slice_units_, events, left));
    }
    return {};
  }

  // Draws from all of the sessions together.
  std::vector<Trace> draw(std::span<Session* const> sessions, const std::function<void(int32_t)>& before_step = {}) {
    std::vector<Trace> traces(sessions.size());
    std::vector<StepEvent> events(sessions.size());
    std::vector<float> row(static_cast<size_t>(engine_->spec().n_vocab));
    for (int32_t k = 0; k < n_drawn(); ++k) {
      if (before_step) before_step(k);
      const Status status = step(sessions, events);
      EXPECT_TRUE(status.ok()) << status.message;
      for (size_t i = 0; i < sessions.size(); ++i) {
        traces[i].tokens.push_back(events[i].sample.token);
        EXPECT_TRUE(sessions[i]->copy_logits(row).ok());
        traces[i].logits.insert(traces[i].logits.end(), row.begin(), row.end());
      }
    }
    return traces;
  }

  Trace alone(std::span<const int32_t> tokens, size_t chunk, float temperature) {
    const auto s = session(temperature);
    prefill(*s, tokens, chunk);
    Session* one[] = {s.get()};
    return draw(one)[0];
  }

  // Session i of a batch: prompts of ragged lengths around the bounds of blocks and chunks.
  std::vector<int32_t> prompt_of(size_t i) const {
    constexpr int32_t kLengths[] = {1, 31, 32, 33, 64, 5, 200, 150};
    const auto n = static_cast<int32_t>(i);
    return prompt(kLengths[i % std::size(kLengths)] + n / 8, 100 + static_cast<uint32_t>(i));
  }

  // The same for the session alone and in company. Every fifth session has its prompt's last token still to run.
  std::shared_ptr<Session> session_of(size_t i, float temperature) {
    auto s = session(temperature);
    const std::vector<int32_t> tokens = prompt_of(i);
    prefill(*s, tokens, 50);
    if (i % 5 == 4) {
      EXPECT_TRUE(s->truncate(static_cast<int32_t>(tokens.size()) - 1).ok());
    }
    return s;
  }

  std::vector<Trace> each_alone(size_t n_sessions, float temperature) {
    std::vector<Trace> out;
    for (size_t i = 0; i < n_sessions; ++i) {
      const auto s = session_of(i, temperature);
      Session* one[] = {s.get()};
      out.push_back(draw(one)[0]);
    }
    return out;
  }

  // Chunks of long prompts run between the steps of the others.
  void check_prompts_of_others(size_t n_sessions, float temperature) {
    constexpr size_t kChunk = 90;
    const std::vector<int32_t> long_prompt = prompt(4 * kChunk, 1);
    const std::vector<Trace> wanted = each_alone(n_sessions, temperature);
    std::vector<std::shared_ptr<Session>> owned;
    std::vector<Session*> all;
    for (size_t i = 0; i < n_sessions; ++i) {
      owned.push_back(session_of(i, temperature));
      all.push_back(owned.back().get());
    }
    const auto other = session(0);
    const std::vector<Trace> got = draw(all, [&](int32_t step) {
      const size_t at = static_cast<size_t>(step % 4) * kChunk;
      if (at == 0) {
        EXPECT_TRUE(other->truncate(0).ok());
      }
      prefill(*other, std::span(long_prompt).subspan(at, kChunk), kChunk);
    });
    for (size_t i = 0; i < n_sessions; ++i)
      EXPECT_TRUE(same(got[i], wanted[i])) << "session " << i << ", temperature " << temperature;
  }

  std::shared_ptr<Engine> engine_;
  int32_t slice_units_ = 0, n_slices_ = 0;
};

// So little work that tools which watch every access of a GPU get through it.
class FewSteps : public Batching {
 protected:
  int32_t most_sessions() const override { return 3; }
  int32_t n_drawn() const override { return 2; }
};

TEST_P(Batching, CutsOfThePromptAgree) {
  const std::vector<int32_t> tokens = prompt(150, 7);
  std::vector<int32_t> altered = tokens;
  altered[10] = (altered[10] + 1) % engine_->spec().n_vocab;
  const auto n_vocab = static_cast<size_t>(engine_->spec().n_vocab);
  // Quantized weights are rounded to 16 bits for prompts, whatever the file has.
  const bool as_stored = GetParam().weights == WeightDType::as_stored;
  const double limit = test::max_nmse_of_cuts_on_cuda(as_stored ? GetParam().model : "fp8");
  for (const float temperature : {0.0f, 1.0f}) {
    const Trace whole = alone(tokens, tokens.size(), temperature);
    const auto distance = [&](const Trace& t) {
      return test::nmse(std::span(t.logits).first(n_vocab), std::span(whole.logits).first(n_vocab));
    };
    for (const size_t chunk : {1, 37, 64}) {
      const Trace cut = alone(tokens, chunk, temperature);
      if (GetParam().device != DeviceKind::cuda) {
        EXPECT_TRUE(same(whole, cut)) << "in chunks of " << chunk << ", temperature " << temperature;
        continue;
      }
      std::printf("%-14s chunks of %zu: NMSE %.2e (limit %.0e)\n", GetParam().model, chunk, distance(cut), limit);
      EXPECT_LE(distance(cut), limit) << "in chunks of " << chunk;
      if (GetParam().model == kTrained && temperature == 0) {
        EXPECT_EQ(cut.tokens, whole.tokens) << "in chunks of " << chunk;
      }
    }
    // Negative control: one other token early in the prompt is noticed.
    const Trace other = alone(altered, altered.size(), temperature);
    EXPECT_FALSE(same(whole, other));
    EXPECT_GT(distance(other), limit);
  }
}

TEST_P(Batching, CompanyChangesNoBit) {
  const size_t most = GetParam().device == DeviceKind::reference ? 8 : kMostSessions;
  for (const float temperature : {0.0f, 1.0f}) {
    const std::vector<Trace> wanted = each_alone(most, temperature);
    for (size_t i = 1; i < most; ++i)
      EXPECT_FALSE(same(wanted[i], wanted[i - 1])) << "negative control: swapped sessions would show";
    for (const size_t m : {1, 2, 3, 5, 8, 16, 32, 33}) {
      if (m > most) break;
      std::vector<std::shared_ptr<Session>> owned;
      std::vector<Session*> all;
      for (size_t i = 0; i < m; ++i) {
        owned.push_back(session_of(i, temperature));
        all.push_back(owned.back().get());
      }
      const std::vector<Trace> got = draw(all);
      for (size_t i = 0; i < m; ++i) {
        EXPECT_EQ(got[i].tokens, wanted[i].tokens) << "session " << i << " of " << m << ", temperature " << temperature;
        EXPECT_TRUE(same(got[i], wanted[i]))
            << "logits of session " << i << " of " << m << ", temperature " << temperature;
      }
    }
  }
}

TEST_P(Batching, PromptsOfOthersChangeNoBit) {
  for (const float temperature : {0.0f, 1.0f}) check_prompts_of_others(5, temperature);
}

TEST_P(Batching, SlicesChangeNoBit) {
  const size_t most = GetParam().device == DeviceKind::reference ? 5 : kMostSessions;
  const std::vector<Trace> wanted = each_alone(most, 1.0f);
  for (const size_t m : {1, 2, 5, 33}) {
    if (m > most) break;
    std::vector<std::shared_ptr<Session>> owned;
    std::vector<Session*> all;
    for (size_t i = 0; i < m; ++i) {
      owned.push_back(session_of(i, 1.0f));
      all.push_back(owned.back().get());
    }
    slice_units_ = m == 1 ? 1 : 3;
    n_slices_ = 0;
    const std::vector<Trace> got = draw(all);
    slice_units_ = 0;
    EXPECT_GT(n_slices_, n_drawn()) << "negative control: the steps were cut";
    for (size_t i = 0; i < m; ++i) EXPECT_TRUE(same(got[i], wanted[i])) << "session " << i << " of " << m;
  }
}

TEST_P(FewSteps, PromptsOfOthersChangeNoBit) { check_prompts_of_others(2, 1.0f); }

constexpr auto name_of = [](const testing::TestParamInfo<Case>& test_case) {
  std::string name = std::string(test_case.param.model) + "_" + test::device_name(test_case.param.device);
  if (test_case.param.weights == WeightDType::fp8) name += "_fp8";
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
};
INSTANTIATE_TEST_SUITE_P(All, Batching, testing::ValuesIn(kCases), name_of);
INSTANTIATE_TEST_SUITE_P(All, FewSteps,
                         testing::Values(Case{"llama-q4_k_m", DeviceKind::cpu}, Case{"llama-q4_k_m", DeviceKind::cuda}),
                         name_of);

}  // namespace
}  // namespace inlay
