// Models whose weights are quantized to FP8 while they are loaded: what that costs against the file's own weights, and
// that every backend computes the same with them.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>

#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr std::string_view kTrained = "tales";
constexpr const char* kModels[] = {"llama-f32", "llama-f16", "llama-bf16", "qwen2-f32", "qwen3-f32", "tales"};

// NMSE of the logits with FP8 weights against those with the file's, on the reference interpreter. Each matrix loses
// 6e-4 (tests/unit/fp8.cpp), and a dozen of them follow one another.
constexpr double kMaxCost = 1.5e-2;
// Of two backends with the same FP8 weights: what an F16 cache, F16 activations and the order of additions come to.
constexpr double kMaxDistance = 1e-5;
constexpr int32_t kTokens = 96;

class Fp8Weights : public testing::TestWithParam<std::tuple<const char*, Target>> {
 protected:
  void SetUp() override {
    if (!can_run(target().on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }
  static const char* model() { return std::get<0>(GetParam()); }
  static const Target& target() { return std::get<1>(GetParam()); }

  static std::unique_ptr<Backend> load(const Target& on, bool hold_as_f8) {
    const BackendConfig config{.n_kv_blocks = kTokens / kKvBlockTokens + 1,
                               .max_step_tokens = kTokens,
                               .max_sequences = 1,
                               .n_logit_slots = kTokens,
                               .n_context = kTokens,
                               .n_threads = 3};
    auto backend = load_backend(test::model_file(model()), on, config, [&](Model& m) {
      if (hold_as_f8) m.hold_as_f8();
    });
    EXPECT_TRUE(backend.ok()) << backend.status().message;
    return *std::move(backend);
  }
  static std::vector<float> logits(Backend& backend) {
    std::vector<int32_t> tokens;
    for (int32_t i = 0; i < kTokens; ++i) tokens.push_back((i * 37 + 11) % backend.plan().spec.n_vocab);
    const auto out = logits_of(backend, tokens);
    EXPECT_TRUE(out.ok()) << out.status().message;
    return *out;
  }
};

TEST_P(Fp8Weights, CostLittleAndAreTheSameEverywhere) {
  const auto stored = load(kReference, false), reference = load(kReference, true), here = load(target(), true);
  const std::vector<float> exact = logits(*stored), expected = logits(*reference), got = logits(*here);
  const double cost = test::nmse(expected, exact), distance = test::nmse(got, expected);
  std::printf("%-12s %-12s FP8 costs NMSE %.2e (limit %.0e); to the reference with FP8 %.2e (limit %.0e)\n", model(),
              target().name, cost, kMaxCost, distance, kMaxDistance);
  EXPECT_LT(cost, kMaxCost);
  EXPECT_GT(cost, 1e-3) << "the weights were not quantized";
  EXPECT_LT(distance, kMaxDistance);
  EXPECT_GT(test::nmse(got, exact), 50 * kMaxDistance) << "negative control: the file's weights are farther";
  EXPECT_LT(here->memory().weights, load(target(), false)->memory().weights);
}

INSTANTIATE_TEST_SUITE_P(All, Fp8Weights,
                         testing::Combine(testing::ValuesIn(kModels), testing::ValuesIn(all_targets())),
                         [](const auto& test_case) {
                           std::string name =
                               std::string(std::get<0>(test_case.param)) + "_" + std::get<1>(test_case.param).name;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace inlay::golden
