// What a load finds out about its fast ways: nothing to refuse where they are right, and each refused alone where its
// launches compute nothing, after which results are those of the simple launches.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "src/backend/cuda/cuda_backend.h"
#include "src/backend/cuda/fault.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/needs_gpu.h"

namespace inlay {
namespace {

const char* const kModel = INLAY_SOURCE_DIR "/tests/data/models/llama-q4_k_m.gguf";
const char* const kRefused = "are not used";

Result<std::unique_ptr<Backend>> load(const std::string& path, bool one_launch = true, int32_t n_context = 128) {
  return golden::load_backend(path, {"cuda", golden::Runs::cuda},
                              {.n_kv_blocks = 8 * n_context / kKvBlockTokens,
                               .max_step_tokens = n_context,
                               .max_sequences = 8,
                               .n_logit_slots = n_context,
                               .n_context = n_context,
                               .allow_token_kernel = one_launch});
}

TEST(SelfCheck, cuda_RefusesNothingThatIsRight) {
  if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  int n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(INLAY_SOURCE_DIR "/tests/data/models")) {
    if (entry.path().extension() != ".gguf") continue;
    const auto backend = load(entry.path().string(), true, 64);
    ASSERT_TRUE(backend.ok()) << entry.path() << ": " << backend.status().message;
    EXPECT_EQ((*backend)->remark().find(kRefused), std::string::npos) << entry.path() << ": " << (*backend)->remark();
    ++n;
  }
  EXPECT_GE(n, 20);
}

struct Fault {
  CudaPoint point;
  const char* way;
};
class SelfCheckOf : public ::testing::TestWithParam<Fault> {};

TEST_P(SelfCheckOf, cuda_AWayThatComputesNothingIsRefused) {
  if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  std::vector<int32_t> prompt(100);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i * 37 % 150);
  const auto right = load(kModel, false);
  ASSERT_TRUE(right.ok()) << right.status().message;
  const auto expected = golden::logits_of(**right, prompt);
  ASSERT_TRUE(expected.ok()) << expected.status().message;
  const InjectedCudaFault fault({.point = GetParam().point, .error = 1});
  const auto backend = load(kModel);
  ASSERT_TRUE(backend.ok()) << backend.status().message;
  if (!fault.happened()) GTEST_SKIP() << "needs a GPU of compute capability 9.0: this device has no such way";
  const std::string remark = (*backend)->remark();
  EXPECT_NE(remark.find(std::string(GetParam().way) + " gave other values"), std::string::npos) << remark;
  EXPECT_EQ(remark.find(kRefused), remark.rfind(kRefused)) << "the others are used: " << remark;
  const auto logits = golden::logits_of(**backend, prompt);
  ASSERT_TRUE(logits.ok()) << logits.status().message;
  ASSERT_EQ(logits->size(), expected->size());
  double apart = 0, length = 0;
  for (size_t i = 0; i < expected->size(); ++i) {
    apart += std::pow((*logits)[i] - (*expected)[i], 2);
    length += std::pow((*expected)[i], 2);
  }
  EXPECT_LT(apart, 1e-3 * length);
}

INSTANTIATE_TEST_SUITE_P(Ways, SelfCheckOf,
                         ::testing::Values(Fault{CudaPoint::step_without_body, "one launch for all layers"},
                                           Fault{CudaPoint::group_without_body, "products by clusters"},
                                           Fault{CudaPoint::prompt_without_body, "products of prompts"}),
                         [](const auto& p) {
                           std::string name = p.param.way;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace inlay
