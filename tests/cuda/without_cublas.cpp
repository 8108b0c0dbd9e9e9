// Prompts multiplied by cuBLASLt, by the mixed GEMM, by clusters and by the kernels of few rows: the logits agree,
// those by clusters bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cublas.h"
#include "src/base/environment.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/needs_gpu.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr int32_t kLongest = 600;
// Both multiply weights that were rounded to 16 bits. (F32 weights never go to them.)
constexpr double kMaxNmse = 5e-5;  // of BF16; a wrong product gives 1e-2 and more

struct Ways {
  bool cublas = false, mixed_gemm = false, clusters = false;
};
constexpr Ways kCublas{.cublas = true}, kMixedGemm{.mixed_gemm = true}, kClusters{.clusters = true}, kNeither{};

class WithoutCublas : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!can_run(Runs::cuda)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }

  static std::string path() { return test::model_file(GetParam()); }

  static std::unique_ptr<Backend> load(Ways ways) {
    auto backend = load_backend(path(), {"cuda", Runs::cuda},
                                {.n_kv_blocks = kLongest / kKvBlockTokens + 1,
                                 .max_step_tokens = kLongest,
                                 .n_logit_slots = kLongest,
                                 .n_context = kLongest,
                                 .allow_cublas = ways.cublas,
                                 .allow_mixed_gemm = ways.mixed_gemm,
                                 .always_group_rows = ways.clusters});
    EXPECT_TRUE(backend.ok()) << backend.status().message;
    return backend.ok() ? *std::move(backend) : nullptr;
  }

  static std::vector<int32_t> tokens_for(const Backend& backend) {
    std::vector<int32_t> tokens;
    for (int32_t i = 0; i < kLongest; ++i) tokens.push_back((3 + 37 * i + i * i) % backend.plan().spec.n_vocab);
    return tokens;
  }

  // uses: whether some of the products must have been others than those of few rows.
  static void compare(Ways ways, bool uses) {
    const auto with = load(ways), without = load(kNeither);
    ASSERT_TRUE(with && without);
    std::vector<int32_t> tokens = tokens_for(*with);
    double worst = 0;
    bool other_bits = false;
    for (const size_t n : {1, 2, 17, 33, 64, 65, 128, 129, 257, 512, 600}) {
      const auto a = logits_of(*with, std::span(tokens).first(n)), b = logits_of(*without, std::span(tokens).first(n));
      ASSERT_TRUE(a.ok()) << a.status().message;
      ASSERT_TRUE(b.ok()) << b.status().message;
      const double distance = test::nmse(*a, *b);
      EXPECT_LE(distance, kMaxNmse) << n << " tokens";
      worst = std::max(worst, distance);
      other_bits |= !test::same_bits(*a, *b);
    }
    std::printf("%-16s with and without %s: NMSE %.2e (limit %.0e)\n", GetParam(),
                ways.cublas ? "cuBLASLt" : "the mixed GEMM", worst, kMaxNmse);
    EXPECT_EQ(other_bits, uses) << "whether a prompt was multiplied by it";

    // Negative control: one other token is noticed.
    const auto before = logits_of(*with, tokens);
    tokens[5] = (tokens[5] + 1) % with->plan().spec.n_vocab;
    const auto after = logits_of(*with, tokens);
    ASSERT_TRUE(before.ok() && after.ok());
    EXPECT_GT(test::nmse(*after, *before), kMaxNmse);
  }
};

TEST_P(WithoutCublas, PromptsAgree_cuda) {
  const auto api = Cublas::open_library(environment().cublas_directory);
  if (!api.ok()) GTEST_SKIP() << "needs cuBLAS: " << api.status().message;
  compare(kCublas, true);
}

TEST_P(WithoutCublas, PromptsAgreeByMixedGemm_cuda) {
  if (!cuda::has_mixed_gemm(0)) GTEST_SKIP() << "needs a GPU of compute capability 9.0: the device or the build has no mixed GEMM";
  const std::string name = GetParam();
  compare(kMixedGemm, name != "llama-f16" && name != "llama-bf16");
}

TEST_P(WithoutCublas, PromptsHaveTheSameBitsByClusters_cuda) {
  if (cuda::group_rows(DType::q4_k, 9) == 0) GTEST_SKIP() << "needs a GPU of compute capability 9.0: the device or the build has no products by clusters";
  const auto with = load(kClusters), without = load(kNeither);
  ASSERT_TRUE(with && without);
  std::vector<int32_t> tokens = tokens_for(*with);
  tokens.resize(cuda::kMostGroupRows);
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

INSTANTIATE_TEST_SUITE_P(Models, WithoutCublas,
                         testing::Values("llama-f16", "llama-bf16", "llama-q4_k_m", "llama-q5_k_m", "llama-q6_k",
                                         "llama-q8_0", "llama-q4_0", "qwen2-q4_k_m", "qwen3-q8_0", "llama-q2_k_m",
                                         "llama-q3_k_m", "llama-iq4_xs", "llama-zoo"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace inlay::golden
