// A cuBLASLt that does not know the device is as good as none: loads go on without it, and say so.
// INLAY_REFUSING_CUBLAS_DIR has one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "src/backend/cuda/cublas.h"
#include "src/backend/cuda/cuda_backend.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/needs_gpu.h"

namespace inlay {
namespace {

TEST(RefusingCublas, IsUnsupported) {
  const auto api = Cublas::open_library(INLAY_REFUSING_CUBLAS_DIR);
  ASSERT_TRUE(api.ok()) << api.status().message;
  const auto cublas = Cublas::create(*api, nullptr);
  ASSERT_FALSE(cublas.ok());
  EXPECT_EQ(cublas.status().code, Code::unsupported) << cublas.status().message;
  EXPECT_EQ(cublas.status().native_code, 8);
}

TEST(RefusingCublas, cuda_ALoadGoesOnWithoutIt) {
  if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  ASSERT_EQ(setenv("INLAY_CUBLAS_DIR", INLAY_REFUSING_CUBLAS_DIR, 1), 0);  // before anything has read it
  const auto backend = golden::load_backend(INLAY_SOURCE_DIR "/examples/model/tales.gguf", {"cuda", golden::Runs::cuda},
                                            {.n_kv_blocks = 256 / kKvBlockTokens,
                                             .max_step_tokens = 200,
                                             .n_logit_slots = 200,
                                             .n_context = 256,
                                             .allow_mixed_gemm = false});  // which would leave nothing for cuBLASLt
  ASSERT_TRUE(backend.ok()) << backend.status().message;
  const std::string remark = (*backend)->remark();
  EXPECT_NE(remark.find("without cuBLASLt: cuBLASLt, opening the device: status 8"), std::string::npos) << remark;
  EXPECT_TRUE(golden::logits_of(**backend, std::vector<int32_t>(200, 2043)).ok());
}

}  // namespace
}  // namespace inlay
