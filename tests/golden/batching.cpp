// A sequence's tokens and logits do not depend on how its prompt was cut or on who shares its steps.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "src/engine/engine.h"
#include "tests/golden/devices.h"

namespace inlay {
namespace {

constexpr int32_t kDrawn = 24;

struct Case {
  const char* model;
  DeviceKind device;
};

constexpr Case kCases[] = {
#if INLAY_HAS_CUDA
    {"llama-f32", DeviceKind::cuda},      {"llama-f16", DeviceKind::cuda},    {"llama-bf16", DeviceKind::cuda},
    {"llama-q4_k_m", DeviceKind::cuda},   {"llama-q5_k_m", DeviceKind::cuda}, {"llama-q8_0", DeviceKind::cuda},
    {"qwen2-q4_k_m", DeviceKind::cuda},   {"qwen3-q8_0", DeviceKind::cuda},
#endif
    {"llama-f32", DeviceKind::reference}, {"llama-f32", DeviceKind::cpu},    {"llama-f16", DeviceKind::cpu},
    {"llama-bf16", DeviceKind::cpu},      {"llama-q4_k_m", DeviceKind::cpu}, {"llama-q5_k_m", DeviceKind::cpu},
    {"llama-q8_0", DeviceKind::cpu},      {"qwen2-q4_k_m", DeviceKind::cpu}, {"qwen3-q8_0", DeviceKind::cpu},
};

std::string model_path(const char* name) { return std::string(INLAY_FIXTURES_DIR) + "/models/" + name + ".gguf"; }

// What one sequence came to: the drawn tokens and the logits before each draw.
struct Trace {
  std::vector<int32_t> tokens;
  std::vector<float> logits;
};

bool same_bits(const Trace& a, const Trace& b) {
  return a.tokens == b.tokens && a.logits.size() == b.logits.size() &&
         std::memcmp(a.logits.data(), b.logits.data(), a.logits.size() * sizeof(float)) == 0;
}

class Batching : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (GetParam().device == DeviceKind::cuda && !golden::can_run(golden::Runs::cuda)) GTEST_SKIP() << "no CUDA device";
    if (!std::filesystem::exists(model_path(GetParam().model))) GTEST_SKIP() << "INLAY_FIXTURES is not set";
    EngineOptions options{.device = GetParam().device, .n_context = 384, .max_sessions = 12, .n_threads = 3, .prefill_chunk = 256};
    auto engine = Engine::load(model_path(GetParam().model), options);
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    engine_ = *engine;
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

  // Draws from sessions[watched] together with the others.
  Trace draw(std::span<Session* const> sessions, size_t watched) {
    Trace trace;
    std::vector<StepEvent> events(sessions.size());
    std::vector<float> row(static_cast<size_t>(engine_->spec().n_vocab));
    for (int32_t i = 0; i < kDrawn; ++i) {
      const Status status = engine_->decode_step(sessions, events);
      EXPECT_TRUE(status.ok()) << status.message;
      trace.tokens.push_back(events[watched].sample.token);
      EXPECT_TRUE(sessions[watched]->copy_logits(row).ok());
      trace.logits.insert(trace.logits.end(), row.begin(), row.end());
    }
    return trace;
  }

  Trace alone(std::span<const int32_t> tokens, size_t chunk, float temperature) {
    const auto s = session(temperature);
    prefill(*s, tokens, chunk);
    Session* one[] = {s.get()};
    return draw(one, 0);
  }

  // Among seven others of other lengths, one of which still has its prompt's last token to run.
  Trace among_others(std::span<const int32_t> tokens, float temperature) {
    std::vector<std::shared_ptr<Session>> owned;
    std::vector<Session*> all;
    constexpr int32_t kLengths[] = {1, 31, 32, 33, 64, 5, 200};
    for (uint32_t i = 0; i < std::size(kLengths); ++i) {
      owned.push_back(session(temperature));
      prefill(*owned.back(), prompt(kLengths[i], 100 + i), 64);
      all.push_back(owned.back().get());
    }
    EXPECT_TRUE(all[4]->truncate(63).ok());
    owned.push_back(session(temperature));
    prefill(*owned.back(), tokens, 50);
    all.insert(all.begin() + 3, owned.back().get());
    return draw(all, 3);
  }

  std::shared_ptr<Engine> engine_;
};

TEST_P(Batching, CutsAndCompanyChangeNoBit) {
  for (const float temperature : {0.0f, 1.0f}) {
    const std::vector<int32_t> tokens = prompt(150, 7);
    const Trace whole = alone(tokens, tokens.size(), temperature);
    EXPECT_TRUE(same_bits(whole, alone(tokens, 1, temperature))) << "token by token, temperature " << temperature;
    EXPECT_TRUE(same_bits(whole, alone(tokens, 37, temperature))) << "in chunks, temperature " << temperature;
    EXPECT_TRUE(same_bits(whole, among_others(tokens, temperature))) << "in a batch of 8, temperature " << temperature;

    // Negative control: one other token early in the prompt is noticed.
    std::vector<int32_t> altered = tokens;
    altered[10] = (altered[10] + 1) % engine_->spec().n_vocab;
    EXPECT_FALSE(same_bits(whole, alone(altered, altered.size(), temperature)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Batching, testing::ValuesIn(kCases), [](const auto& test_case) {
  std::string name = std::string(test_case.param.model) + "_" + golden::device_name(test_case.param.device);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

}  // namespace
}  // namespace inlay
