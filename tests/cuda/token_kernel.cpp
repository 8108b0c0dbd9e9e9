// Decode steps of one session by the token kernel, beside the same steps as launches of every op: the same bits.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "src/backend/cuda/cuda_backend.h"
#include "src/engine/engine.h"

namespace inlay {
namespace {

constexpr int kSteps = 40;

std::string path_of(const std::string& name) {
  return name == "tales" ? std::string(INLAY_SOURCE_DIR) + "/examples/model/tales.gguf"
                         : std::string(INLAY_FIXTURES_DIR) + "/models/" + name + ".gguf";
}

class TokenKernel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << "no CUDA device";
    if (!std::filesystem::exists(path_of(GetParam()))) GTEST_SKIP() << "no fixtures";
  }

  struct Run {
    std::vector<int32_t> tokens;
    std::vector<float> logits;  // of all steps
    std::string log;
  };

  static Run run(bool allow_token_kernel) {
    Run out;
    EngineOptions options{.device = DeviceKind::cuda, .n_context = 512, .max_sessions = 2};
    options.allow_token_kernel = allow_token_kernel;
    options.log = [&out](LogLevel, std::string_view text) { out.log += std::string(text) + "\n"; };
    const auto engine = Engine::load(path_of(GetParam()), options);
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    if (!engine.ok()) return out;
    const auto session = *(*engine)->create_session({.ignore_end_of_generation = true});
    const std::vector<int32_t> prompt = {1, 5, 9, 30, 31, 7, 100};
    size_t n_done = 0;
    EXPECT_TRUE(session->prefill(prompt, n_done).ok());
    std::vector<float> logits(static_cast<size_t>((*engine)->plan().spec.n_vocab));
    Session* one[] = {session.get()};
    StepEvent event;
    for (int i = 0; i < kSteps; ++i) {
      const Status stepped = (*engine)->decode_step(one, {&event, 1});
      EXPECT_TRUE(stepped.ok()) << stepped.message;
      EXPECT_TRUE(session->copy_logits(logits).ok());
      out.tokens.push_back(event.sample.token);
      out.logits.insert(out.logits.end(), logits.begin(), logits.end());
      // A prompt in between leaves other values in the engine's buffers.
      if (i == kSteps / 2) {
        EXPECT_TRUE(session->prefill(prompt, n_done).ok());
      }
    }
    return out;
  }
};

TEST_P(TokenKernel, cuda_OneLaunchGivesTheBitsOfMany) {
  const Run one = run(true), many = run(false);
  if (one.log.find("one launch") == std::string::npos) GTEST_SKIP() << "this device has no token kernel";
  EXPECT_EQ(many.log.find("one launch"), std::string::npos);
  EXPECT_EQ(one.tokens, many.tokens);
  EXPECT_EQ(one.logits, many.logits);
}

INSTANTIATE_TEST_SUITE_P(Models, TokenKernel,
                         testing::Values("llama-q4_k_m", "qwen2-q4_k_m", "llama-q6_k", "llama-q8_0", "qwen3-q8_0"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace inlay
