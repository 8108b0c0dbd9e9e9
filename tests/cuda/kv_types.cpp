// KV caches of one byte a value: their size, and what they change in a model's logits.
#include <gtest/gtest.h>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cuda_backend.h"
#include "src/backend/host_buffers.h"
#include "src/engine/engine.h"
#include "tests/support/compare.h"
#include "tests/support/needs_gpu.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

// The pool is sized by the one and read by the other.
TEST(KvTypes, BlocksHaveTheBytesThatTheKernelsExpect) {
  ModelSpec spec;
  for (const int32_t d_head : {16, 80, 128}) {
    spec.n_heads = 12, spec.n_kv_heads = 3, spec.d_head = d_head;
    const auto bytes = [&](cuda::KvType type) { return 2 * cuda::kv_block_bytes(type, 3, d_head, kKvBlockTokens); };
    EXPECT_EQ(kv_block_bytes(spec, KvDType::f16), bytes(cuda::KvType::f16));
    EXPECT_EQ(kv_block_bytes(spec, KvDType::fp8), bytes(cuda::KvType::fp8_e4m3));
    EXPECT_EQ(kv_block_bytes(spec, KvDType::int8), bytes(cuda::KvType::int8));
  }
}

class CudaKvTypes : public testing::TestWithParam<KvDType> {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }

  static std::shared_ptr<Engine> load(KvDType type) {
    const auto engine = Engine::load(
        kModel, {.device = DeviceKind::cuda, .n_context = 512, .max_sessions = 3, .kv_dtype = type, .n_threads = 4});
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    return engine.ok() ? *engine : nullptr;
  }
};

// A prompt, then single tokens: both paths read what both wrote.
std::vector<float> logits(Engine& engine, Session& session, int32_t n_prompt, int32_t n_single) {
  size_t n_done = 0;
  std::vector<int32_t> prompt{2043};
  for (int32_t i = 1; i < n_prompt; ++i) prompt.push_back(100 + (i * 37) % 1500);
  EXPECT_TRUE(session.prefill(prompt, n_done).ok());
  for (int32_t i = 0; i < n_single; ++i) {
    const int32_t token[] = {200 + (i * 53) % 1500};
    EXPECT_TRUE(session.prefill(token, n_done).ok());
  }
  std::vector<float> out(static_cast<size_t>(engine.plan().spec.n_vocab));
  EXPECT_TRUE(session.copy_logits(out).ok());
  return out;
}

TEST_P(CudaKvTypes, cuda_LogitsStayNearThoseOfF16) {
  const auto exact = load(KvDType::f16), rounded = load(GetParam());
  const auto a = *exact->create_session({}), b = *rounded->create_session({});
  const std::vector<float> x = logits(*exact, *a, 200, 70), y = logits(*rounded, *b, 200, 70);
  const double error = test::nmse(y, x);
  EXPECT_LT(error, GetParam() == KvDType::int8 ? 2e-3 : 2e-2);
  EXPECT_GT(error, 1e-9) << "the cache is rounded";
  EXPECT_LT(rounded->info().memory.kv, exact->info().memory.kv * 6 / 10);
}

// A fork's block is copied with its scales once one of the two writes to it.
TEST_P(CudaKvTypes, cuda_AForkGoesOnAsTheSessionWouldHave) {
  const auto engine = load(GetParam());
  const auto generate = [&](Session& session) {
    std::vector<int32_t> tokens;
    Session* one[] = {&session};
    StepEvent event;
    for (int i = 0; i < 40; ++i) {
      EXPECT_TRUE(engine->decode_step(one, {&event, 1}).ok());
      tokens.push_back(event.sample.token);
    }
    return tokens;
  };
  const auto first = *engine->create_session({.ignore_end_of_generation = true});
  logits(*engine, *first, 75, 0);
  const auto forked = *first->fork();
  EXPECT_EQ(generate(*first), generate(*forked));
}

INSTANTIATE_TEST_SUITE_P(Types, CudaKvTypes, testing::Values(KvDType::fp8, KvDType::int8),
                         [](const auto& type) { return type.param == KvDType::fp8 ? "fp8" : "int8"; });

}  // namespace
}  // namespace inlay
