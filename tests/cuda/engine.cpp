// An engine on a GPU: what it takes it gives back, and its steps agree with the processor's.
#include "src/engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "src/backend/cuda/cuda_backend.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

uint64_t free_bytes() {
  const auto device = describe_cuda_device(0);
  return device.ok() ? device->free_bytes : 0;
}

std::vector<int32_t> some_tokens(int32_t n) {
  std::vector<int32_t> out{2043};
  for (int32_t i = 1; i < n; ++i) out.push_back(100 + (i * 37) % 1500);
  return out;
}

class CudaEngine : public testing::Test {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << "no CUDA device";
  }

  static std::shared_ptr<Engine> load(DeviceKind device, int32_t max_sessions = 33) {
    const auto engine = Engine::load(kModel, {.device = device, .n_context = 512, .max_sessions = max_sessions, .n_threads = 4});
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    return engine.ok() ? *engine : nullptr;
  }
};

TEST_F(CudaEngine, cuda_GivesItsMemoryBack) {
  load(DeviceKind::cuda).reset();  // the context and the modules stay
  const uint64_t before = free_bytes();
  {
    const auto engine = load(DeviceKind::cuda);
    EXPECT_LT(free_bytes(), before) << "negative control: an engine takes device memory";
    EXPECT_GE(before - free_bytes(), engine->info().memory.weights);
  }
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(CudaEngine, cuda_AStepTakesNoDeviceMemory) {
  const auto engine = load(DeviceKind::cuda);
  const auto session = engine->create_session({.ignore_end_of_generation = true});
  ASSERT_TRUE(session.ok());
  size_t n_done = 0;
  const uint64_t before = free_bytes();
  ASSERT_TRUE((*session)->prefill(some_tokens(100), n_done).ok());
  Session* one[] = {session->get()};
  StepEvent event;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(engine->decode_step(one, {&event, 1}).ok());
  EXPECT_EQ(free_bytes(), before);
}

// Every number of rows up to 33, so every captured bucket and its padding; sampled and greedy; each as if alone.
TEST_F(CudaEngine, cuda_ManySessionsDrawWhatEachDrawsAlone) {
  const auto engine = load(DeviceKind::cuda);
  for (const float temperature : {0.0f, 0.9f}) {
    SessionOptions options{.ignore_end_of_generation = true};
    options.sampler.temperature = temperature;
    options.sampler.seed = 11;
    options.sampler.top_k = 50;
    options.sampler.repetition_penalty = 1.1f;
    std::vector<std::vector<int32_t>> alone;
    for (int32_t i = 0; i < 33; ++i) {
      const auto s = engine->create_session(options);
      size_t n_done = 0;
      ASSERT_TRUE((*s)->prefill(some_tokens(1 + 7 * i), n_done).ok());
      alone.emplace_back();
      Session* one[] = {s->get()};
      StepEvent event;
      for (int k = 0; k < 12; ++k) {
        ASSERT_TRUE(engine->decode_step(one, {&event, 1}).ok());
        alone.back().push_back(event.sample.token);
      }
    }
    for (const size_t m : {2, 3, 5, 8, 16, 32, 33}) {
      std::vector<std::shared_ptr<Session>> owned;
      std::vector<Session*> all;
      for (size_t i = 0; i < m; ++i) {
        owned.push_back(*engine->create_session(options));
        size_t n_done = 0;
        ASSERT_TRUE(owned.back()->prefill(some_tokens(1 + 7 * static_cast<int32_t>(i)), n_done).ok());
        all.push_back(owned.back().get());
      }
      std::vector<StepEvent> events(m);
      for (size_t k = 0; k < 12; ++k) {
        ASSERT_TRUE(engine->decode_step(all, events).ok());
        for (size_t i = 0; i < m; ++i) EXPECT_EQ(events[i].sample.token, alone[i][k]) << "session " << i << " of " << m << ", token " << k;
      }
    }
  }
}

TEST_F(CudaEngine, cuda_LogprobsAreTheProcessors) {
  const auto gpu = load(DeviceKind::cuda), host = load(DeviceKind::cpu);
  SessionOptions options{.ignore_end_of_generation = true};
  options.sampler.n_logprobs = 5;
  const auto a = *gpu->create_session(options), b = *host->create_session(options);
  size_t n_done = 0;
  ASSERT_TRUE(a->prefill(some_tokens(60), n_done).ok());
  ASSERT_TRUE(b->prefill(some_tokens(60), n_done).ok());
  Session *on_gpu[] = {a.get()}, *on_host[] = {b.get()};
  StepEvent x, y;
  ASSERT_TRUE(gpu->decode_step(on_gpu, {&x, 1}).ok());
  ASSERT_TRUE(host->decode_step(on_host, {&y, 1}).ok());
  ASSERT_EQ(x.sample.token, y.sample.token);
  EXPECT_NEAR(x.sample.logprob, y.sample.logprob, 0.02);
  ASSERT_EQ(x.sample.n_logprobs, 5);
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(x.sample.top[i].logprob, y.sample.top[i].logprob, 0.02);
}

TEST_F(CudaEngine, cuda_TwoEnginesShareADevice) {
  const auto first = load(DeviceKind::cuda, 2), second = load(DeviceKind::cuda, 2);
  std::vector<int32_t> draws[2];
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      const auto& engine = t == 0 ? first : second;
      const auto s = *engine->create_session({.ignore_end_of_generation = true});
      size_t n_done = 0;
      ASSERT_TRUE(s->prefill(some_tokens(50), n_done).ok());
      Session* one[] = {s.get()};
      StepEvent event;
      for (int k = 0; k < 30; ++k) {
        ASSERT_TRUE(engine->decode_step(one, {&event, 1}).ok());
        draws[t].push_back(event.sample.token);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(draws[0], draws[1]);
}

TEST_F(CudaEngine, cuda_TooMuchMemoryIsRefusedWithTheNumbers) {
  const auto engine = Engine::load(kModel, {.device = DeviceKind::cuda, .n_context = 512, .kv_budget_bytes = uint64_t{1} << 42});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().code, Code::device_out_of_memory) << engine.status().message;
  EXPECT_GT(engine.status().required, engine.status().available);
  EXPECT_EQ(Engine::load(kModel, {.device = DeviceKind::cuda, .device_index = 99}).status().code, Code::no_device);
}

}  // namespace
}  // namespace inlay
