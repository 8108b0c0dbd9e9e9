// Prompts of 9 to 32 tokens multiplied by clusters of CTAs and by the kernels of few rows: the logits have the same
// bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"

namespace inlay::golden {
namespace {

constexpr int32_t kLongest = 32;

class ClusterProducts : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!can_run(Runs::cuda)) GTEST_SKIP() << "no CUDA device";
    if (!std::filesystem::exists(path())) GTEST_SKIP() << "INLAY_FIXTURES is not set";
  }

  static std::string path() { return std::string(INLAY_FIXTURES_DIR) + "/models/" + GetParam() + ".gguf"; }

  static std::unique_ptr<Backend> load(bool by_clusters) {
    auto backend = load_backend(path(), {"cuda", Runs::cuda},
                                {.n_kv_blocks = kLongest / kKvBlockTokens + 1,
                                 .max_step_tokens = kLongest,
                                 .n_logit_slots = kLongest,
                                 .n_context = kLongest,
                                 .always_group_rows = by_clusters});
    EXPECT_TRUE(backend.ok()) << backend.status().message;
    return backend.ok() ? *std::move(backend) : nullptr;
  }
};

TEST_P(ClusterProducts, HaveTheSameBits_cuda) {
  if (cuda::group_rows(DType::q4_k, 256, 9) == 0) GTEST_SKIP() << "the device or the build has no products by clusters";
  const auto with = load(true), without = load(false);
  ASSERT_TRUE(with && without);
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < kLongest; ++i) tokens.push_back((3 + 37 * i + i * i) % with->plan().spec.n_vocab);
  for (const size_t n : {8, 9, 16, 17, 31, 32}) {
    const auto a = logits_of(*with, std::span(tokens).first(n)), b = logits_of(*without, std::span(tokens).first(n));
    ASSERT_TRUE(a.ok()) << a.status().message;
    ASSERT_TRUE(b.ok()) << b.status().message;
    EXPECT_TRUE(test::same_bits(*a, *b)) << n << " tokens";
  }
  // Negative control: one other token is noticed.
  const auto before = logits_of(*with, tokens);
  tokens[5] = (tokens[5] + 1) % with->plan().spec.n_vocab;
  const auto after = logits_of(*with, tokens);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_FALSE(test::same_bits(*after, *before));
}

INSTANTIATE_TEST_SUITE_P(Models, ClusterProducts,
                         testing::Values("llama-q4_k_m", "llama-q5_k_m", "llama-q6_k", "qwen2-q4_k_m"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace inlay::golden
