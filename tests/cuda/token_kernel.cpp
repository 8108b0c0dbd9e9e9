// Decode steps of one session and of several by the token kernel, beside the same steps as launches of every op: the
// same bits.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "examples/cli/synthetic_model.h"
#include "src/backend/cuda/cuda_backend.h"
#include "src/backend/cuda/fault.h"
#include "src/engine/engine.h"
#include "tests/support/needs_gpu.h"
#include "tests/support/random_model.h"
#include "tests/support/test_data.h"

namespace inlay {
namespace {

constexpr int kSteps = 40;
constexpr int kMostSessions = 8;  // of a step that is one launch

class TokenKernel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }

  struct Run {
    std::vector<int32_t> tokens;
    std::vector<float> logits;  // of all steps
    std::string log;
  };

  static Run run(bool allow_token_kernel) {
    Run out;
    EngineOptions options{.device = DeviceKind::cuda, .n_context = 512, .max_sessions = kMostSessions};
    options.allow_token_kernel = allow_token_kernel;
    options.log = [&out](LogLevel, std::string_view text) { out.log += std::string(text) + "\n"; };
    const auto engine = Engine::load(test::model_file(GetParam()), options);
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    if (!engine.ok()) return out;
    // Steps of one session, then of more and of fewer again, prompts of many lengths and positions.
    const std::vector<int32_t> prompt = {1, 5, 9, 30, 31, 7, 100};
    std::vector<std::shared_ptr<Session>> sessions;
    std::vector<Session*> all;
    for (int i = 0; i < kMostSessions; ++i) {
      sessions.push_back(*(*engine)->create_session({.ignore_end_of_generation = true}));
      all.push_back(sessions.back().get());
      size_t n_done = 0;
      for (int k = 0; k <= 2 * i; ++k) EXPECT_TRUE(all.back()->prefill(prompt, n_done).ok());
    }
    std::vector<float> logits(static_cast<size_t>((*engine)->plan().spec.n_vocab));
    constexpr size_t kSets[] = {1, 2, 3, 8, 5, 4, 1, 7, 6, 1};
    for (int i = 0; i < kSteps; ++i) {
      const std::span<Session* const> set = std::span(all).first(kSets[static_cast<size_t>(i / 4) % std::size(kSets)]);
      StepEvent events[kMostSessions];
      const Status stepped = (*engine)->decode_step(set, std::span(events).first(set.size()));
      EXPECT_TRUE(stepped.ok()) << stepped.message;
      for (size_t k = 0; k < set.size(); ++k) {
        EXPECT_TRUE(set[k]->copy_logits(logits).ok());
        out.tokens.push_back(events[k].sample.token);
        out.logits.insert(out.logits.end(), logits.begin(), logits.end());
      }
      // A prompt in between leaves other values in the engine's buffers.
      if (i == kSteps / 2) {
        size_t n_done = 0;
        EXPECT_TRUE(all[0]->prefill(prompt, n_done).ok());
      }
    }
    return out;
  }
};

TEST_P(TokenKernel, cuda_OneLaunchGivesTheBitsOfMany) {
  const Run one = run(true), many = run(false);
  if (one.log.find("one launch") == std::string::npos) GTEST_SKIP() << "needs a GPU of compute capability 9.0: this device has no token kernel";
  EXPECT_EQ(many.log.find("one launch"), std::string::npos);
  EXPECT_EQ(one.tokens, many.tokens);
  EXPECT_EQ(one.logits, many.logits);
}

// As on a device of which a process has only a part.
TEST_P(TokenKernel, cuda_WhereCtasCannotAllBeResidentEveryOpIsLaunched) {
  if (run(true).log.find("one launch") == std::string::npos) GTEST_SKIP() << "needs a GPU of compute capability 9.0: this device has no token kernel";
  const Run many = run(false);
  const InjectedCudaFault fault({.point = CudaPoint::resident_launch, .error = cudaErrorCooperativeLaunchTooLarge});
  const Run refused = run(true);
  EXPECT_TRUE(fault.happened());
  EXPECT_EQ(refused.log.find("are one launch"), std::string::npos) << refused.log;
  EXPECT_NE(refused.log.find("every operation has its own"), std::string::npos) << refused.log;
  EXPECT_EQ(refused.tokens, many.tokens);
  EXPECT_EQ(refused.logits, many.logits);
}

// Negative control: what else a launch answers fails the load.
TEST_P(TokenKernel, cuda_AnyOtherRefusalOfTheLaunchIsAnError) {
  if (run(true).log.find("one launch") == std::string::npos) GTEST_SKIP() << "needs a GPU of compute capability 9.0: this device has no token kernel";
  const InjectedCudaFault fault({.point = CudaPoint::resident_launch, .error = cudaErrorInvalidConfiguration});
  const auto engine = Engine::load(test::model_file(GetParam()), {.device = DeviceKind::cuda, .n_context = 512});
  EXPECT_TRUE(fault.happened());
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().native_code, cudaErrorInvalidConfiguration) << engine.status().message;
}

INSTANTIATE_TEST_SUITE_P(Models, TokenKernel, testing::Values("llama-q4_k_m", "llama-q8_0", "qwen3-q8_0"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

// Rows of several splits, of as many as there are, and of more parts than the device has SMs; what a long row has left
// lies behind a short one.
class TokenKernelSplits : public testing::TestWithParam<test::HeadShape> {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }

  static std::vector<float> run(bool allow_token_kernel, std::string& log) {
    const std::vector<std::byte> model = test::random_model(GetParam());
    EngineOptions options{.device = DeviceKind::cuda, .n_context = 17000, .max_sessions = kMostSessions};
    options.weight_dtype = WeightDType::q8_0;
    options.allow_token_kernel = allow_token_kernel;
    options.log = [&log](LogLevel, std::string_view text) { log += std::string(text) + "\n"; };
    const auto engine = Engine::load(borrow_memory(model, "random model"), options);
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    if (!engine.ok()) return {};
    std::vector<std::shared_ptr<Session>> sessions;
    for (int i = 0; i < kMostSessions; ++i) {
      sessions.push_back(*(*engine)->create_session({.ignore_end_of_generation = true}));
    }
    std::vector<float> all, logits(test::kRandomModelVocab);
    const auto prefill = [&](Session& session, size_t n) {
      std::vector<int32_t> prompt(n);
      for (size_t i = 0; i < n; ++i)
        prompt[i] = static_cast<int32_t>((i * 7919 + all.size()) % test::kRandomModelVocab);
      size_t n_done = 0;
      EXPECT_TRUE(session.prefill(prompt, n_done).ok());
    };
    const auto step = [&](const std::vector<Session*>& set) {
      StepEvent events[kMostSessions];
      const Status stepped = (*engine)->decode_step(set, std::span(events).first(set.size()));
      EXPECT_TRUE(stepped.ok()) << stepped.message;
      for (Session* s : set) {
        EXPECT_TRUE(s->copy_logits(logits).ok());
        all.insert(all.end(), logits.begin(), logits.end());
      }
    };
    const auto extend = [&](Session& session, size_t n) {
      prefill(session, n);
      for (int i = 0; i < 3; ++i) {
        const bool alone = i == 0 || sessions[1]->info().n_tokens == 0;
        step(alone ? std::vector{&session} : std::vector{sessions[0].get(), sessions[1].get()});
      }
    };
    extend(*sessions[0], 1100);
    extend(*sessions[1], 300);
    extend(*sessions[0], 900);
    extend(*sessions[1], 1);
    extend(*sessions[0], 14600);
    extend(*sessions[1], 700);
    // Rows of one split and of many side by side: what a CTA has begins in one row and ends in another.
    std::vector<Session*> everyone{sessions[0].get(), sessions[1].get()};
    for (const size_t n : {5, 260, 513, 1, 2000, 33}) {
      everyone.push_back(sessions[everyone.size()].get());
      prefill(*everyone.back(), n);
    }
    for (int i = 0; i < 3; ++i) step(everyone);
    return all;
  }
};

TEST_P(TokenKernelSplits, cuda_GiveTheBitsOfLaunches) {
  std::string one_log, many_log;
  const std::vector<float> one = run(true, one_log), many = run(false, many_log);
  if (one_log.find("one launch") == std::string::npos) GTEST_SKIP() << "needs a GPU of compute capability 9.0: this device has no token kernel";
  ASSERT_EQ(one.size(), many.size());
  for (size_t i = 0; i < one.size(); ++i) {
    ASSERT_EQ(one[i], many[i]) << "row " << i / test::kRandomModelVocab << ", logit " << i % test::kRandomModelVocab;
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, TokenKernelSplits,
                         testing::Values(test::HeadShape{64, 2, 1}, test::HeadShape{128, 12, 2},
                                         test::HeadShape{96, 8, 1}, test::HeadShape{64, 4, 4},
                                         test::HeadShape{64, 32, 2}),
                         [](const auto& test) {
                           return std::to_string(test.param.n_heads) + "x" + std::to_string(test.param.d_head) +
                                  "_by_" + std::to_string(test.param.n_kv_heads);
                         });

// Layers of true width: weights go round the ring many times in every token, those of two types in stages of two sizes.
struct Shape {
  const char *name, *recipe;
  int32_t n_layers;
};
class TokenKernelShapes : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }

  static std::vector<float> run(std::span<const std::byte> image, bool allow_token_kernel, std::string& log) {
    EngineOptions options{.device = DeviceKind::cuda, .n_context = 512, .max_sessions = kMostSessions};
    options.allow_token_kernel = allow_token_kernel;
    options.log = [&log](LogLevel, std::string_view text) { log += std::string(text) + "\n"; };
    const auto engine = Engine::load(borrow_memory(image, "synthetic model"), options);
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    if (!engine.ok()) return {};
    std::vector<std::shared_ptr<Session>> owned;
    std::vector<Session*> sessions;
    for (int i = 0; i < kMostSessions; ++i) {
      owned.push_back(*(*engine)->create_session({.ignore_end_of_generation = true}));
      sessions.push_back(owned.back().get());
      size_t n_done = 0;
      EXPECT_TRUE(sessions.back()->prefill(std::vector<int32_t>{1, 5, 9 + i}, n_done).ok());
    }
    std::vector<float> all, logits(static_cast<size_t>((*engine)->spec().n_vocab));
    StepEvent events[kMostSessions];
    for (int i = 0; i < 40; ++i) {
      const size_t n = i < 20 ? 1 : i < 35 ? kMostSessions : 3;
      const Status stepped = (*engine)->decode_step(std::span(sessions).first(n), std::span(events).first(n));
      EXPECT_TRUE(stepped.ok()) << stepped.message;
      for (size_t k = 0; k < n; ++k) {
        EXPECT_TRUE(sessions[k]->copy_logits(logits).ok());
        all.insert(all.end(), logits.begin(), logits.end());
      }
    }
    return all;
  }
};

TEST_P(TokenKernelShapes, cuda_GiveTheBitsOfLaunches) {
  cli::SyntheticModel model;
  std::string error;
  ASSERT_TRUE(model.build({GetParam().name, GetParam().recipe, GetParam().n_layers, 4096}, error)) << error;
  std::vector<std::byte> image(model.n_bytes());
  model.read(0, image.data(), image.size());
  std::string one_log, many_log;
  const std::vector<float> one = run(image, true, one_log), many = run(image, false, many_log);
  if (one_log.find("one launch") == std::string::npos) GTEST_SKIP() << "needs a GPU of compute capability 9.0: this device has no token kernel";
  ASSERT_EQ(one.size(), many.size());
  for (size_t i = 0; i < one.size(); ++i) ASSERT_EQ(one[i], many[i]) << "row " << i / 4096 << ", logit " << i % 4096;
}

INSTANTIATE_TEST_SUITE_P(Layers, TokenKernelShapes,
                         testing::Values(Shape{"qwen2.5-1.5b", "q4_k_m", 8}, Shape{"llama3.1-8b", "q4_k_m", 4},
                                         Shape{"llama3.1-8b", "q8_0", 2}, Shape{"llama3.2-1b", "bf16", 3}),
                         [](const auto& test) {
                           std::string name = std::string(test.param.name) + "_" + test.param.recipe;
                           for (char& c : name)
                             if (c == '-' || c == '.') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace inlay
