// Logits of the tiny fixture models against their float64 evaluation, on every backend that runs here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

struct Case {
  const char* name;
  double max_nmse;  // mean squared error over mean square: F32 1e-6, F16 1e-5, BF16 5e-5, quantized 1e-3
  const char* not_on_cuda = nullptr;  // what the CUDA backend refuses the model for
};

constexpr Case kCases[] = {
    {"llama-f32", 1e-6},          {"llama-f16", 1e-5},          {"llama-bf16", 5e-5},        {"llama-mha-ropefreqs-f32", 1e-6},
    {"llama-linear-rope-f32", 1e-6}, {"llama-q4_k_m", 1e-3},    {"llama-q5_k_m", 1e-3},      {"llama-q6_k", 1e-3},
    {"llama-q8_0", 1e-3},         {"llama-q4_0", 1e-3},         {"qwen2-f32", 1e-6},         {"qwen2-q4_k_m", 1e-3},
    {"qwen2-yarn-f32", 1e-6},     {"qwen3-f32", 1e-6},          {"qwen3-q8_0", 1e-3},        {"chat-bpe-qwen3-f32", 1e-6},
    {"chat-spm-llama-f32", 1e-6}, {"chat-bpe-llama-q8_0", 1e-3},
    {"llama-moe-f32", 1e-6},      {"llama-moe-q4_k_m", 1e-3},   {"qwen3moe-f32", 1e-6},      {"qwen3moe-q4_k_m", 1e-3},
    {"llama-q2_k_m", 1e-3},       {"llama-q3_k_m", 1e-3},       {"llama-iq4_xs", 1e-3},      {"llama-zoo", 1e-3},
    {"gemma2-f32", 1e-6},         {"gemma3-f32", 1e-6},
    {"phi3-f32", 1e-6},           {"phi3-longrope-f32", 1e-6},
    {"llama-window-biases-f32", 1e-6}, {"qwen2moe-f32", 1e-6},  {"gemma3-linear-f32", 1e-6}, {"phi3-partial-window-f32", 1e-6},
    {"gpt-oss-f32", 1e-6},        {"gpt-oss-mxfp4", 1e-3},      {"granite-f32", 1e-6},       {"olmo2-f32", 1e-6},
    {"olmo3-f32", 1e-6},          {"smollm3-f32", 1e-6},
};

struct Expected {
  std::vector<int32_t> tokens;
  std::vector<float> logits;  // (tokens, n_vocab)
  int32_t n_vocab = 0;
};

// int32 n_vocab, int32 n, then n x (int32 token, n_vocab float32).
Expected read_expected(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Expected e;
  int32_t n = 0;
  file.read(reinterpret_cast<char*>(&e.n_vocab), 4).read(reinterpret_cast<char*>(&n), 4);
  for (int32_t i = 0; i < n && file; ++i) {
    int32_t token;
    file.read(reinterpret_cast<char*>(&token), 4);
    e.tokens.push_back(token);
    std::vector<float> row(static_cast<size_t>(e.n_vocab));
    file.read(reinterpret_cast<char*>(row.data()), static_cast<std::streamsize>(row.size() * 4));
    e.logits.insert(e.logits.end(), row.begin(), row.end());
  }
  if (!file) e.tokens.clear();
  return e;
}

BackendConfig config_for(size_t n_tokens) {
  const auto n = static_cast<int32_t>(n_tokens);
  return {.n_kv_blocks = n / kKvBlockTokens + 1, .max_step_tokens = n, .max_sequences = 1, .n_logit_slots = n, .n_context = n, .n_threads = 3};
}

// By name, with a device or without.
void expect_refusal(const Case& model, const Target& target) {
  const auto backend = load_backend(test::model_file(model.name), target, config_for(16));
  ASSERT_FALSE(backend.ok());
  EXPECT_EQ(backend.status().code, Code::unsupported);
  EXPECT_NE(backend.status().message.find(model.not_on_cuda), std::string::npos) << backend.status().message;
}

class FixtureModel : public testing::TestWithParam<std::tuple<Case, Target>> {};

TEST_P(FixtureModel, LogitsAreThoseOfTheExactEvaluation) {
  const auto& [model, target] = GetParam();
  if (target.on == Runs::cuda && model.not_on_cuda) return expect_refusal(model, target);
  if (!can_run(target.on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  const Expected expected = read_expected(test::exact_logits_file(model.name));
  ASSERT_FALSE(expected.tokens.empty());
  auto backend = load_backend(test::model_file(model.name), target, config_for(expected.tokens.size()));
  ASSERT_TRUE(backend.ok()) << backend.status().message;
  const auto logits = logits_of(**backend, expected.tokens);
  ASSERT_TRUE(logits.ok()) << logits.status().message;
  const double got = test::nmse(*logits, expected.logits);
  std::printf("%-24s %-12s NMSE %.2e (limit %.0e)\n", model.name, target.name, got, model.max_nmse);
  EXPECT_LT(got, model.max_nmse);

  // Negative control: the logits of another prompt are not within the limit.
  std::vector<int32_t> shifted(expected.tokens.rbegin(), expected.tokens.rend());
  const auto other = logits_of(**backend, shifted);
  ASSERT_TRUE(other.ok());
  EXPECT_GT(test::nmse(*other, expected.logits), 10 * model.max_nmse);
}

INSTANTIATE_TEST_SUITE_P(All, FixtureModel, testing::Combine(testing::ValuesIn(kCases), testing::ValuesIn(all_targets())),
                         [](const auto& test_case) {
                           std::string name = std::string(std::get<0>(test_case.param).name) + "_" + std::get<1>(test_case.param).name;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace inlay::golden
