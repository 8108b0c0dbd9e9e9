// An engine on a GPU: what it takes it gives back, and its steps agree with the processor's.
#include "src/engine/engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cuda_backend.h"
#include "tests/support/alone.h"
#include "tests/support/needs_gpu.h"
#include "tests/support/random_model.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

uint64_t free_bytes() {
  test::expect_to_be_alone();
  const auto device = describe_cuda_device(0);
  return device.ok() ? device->free_bytes : 0;
}

// Buffers taken and not given back.
uint64_t n_held() {
  const BackendCounters c = cuda_counters();
  return c.n_allocations - c.n_frees + c.n_pinned_allocations - c.n_pinned_frees;
}

// The driver keeps a little for streams of which there were fewer at once before; less than a leak of 20 loads.
constexpr uint64_t kOfTheDriver = uint64_t{8} << 20;

std::vector<int32_t> some_tokens(int32_t n) {
  std::vector<int32_t> out{2043};
  for (int32_t i = 1; i < n; ++i) out.push_back(100 + (i * 37) % 1500);
  return out;
}

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

// Can be read up to a point.
struct Shelf {
  const std::vector<std::byte>& bytes;
  uint64_t n_readable;

  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    const auto* self = static_cast<const Shelf*>(user);
    if (offset + n > self->n_readable) return 5;
    std::memcpy(into, self->bytes.data() + offset, n);
    return 0;
  }
};

class CudaEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }

  static std::shared_ptr<Engine> load(DeviceKind device, int32_t max_sessions = 33) {
    const auto engine =
        Engine::load(kModel, {.device = device, .n_context = 512, .max_sessions = max_sessions, .n_threads = 4});
    EXPECT_TRUE(engine.ok()) << engine.status().message;
    return engine.ok() ? *engine : nullptr;
  }
};

TEST_F(CudaEngine, cuda_alone_GivesItsMemoryBack) {
  const auto use = [](Engine& engine) {
    const auto session = engine.create_session({.ignore_end_of_generation = true});
    ASSERT_TRUE(session.ok());
    size_t n_done = 0;
    ASSERT_TRUE((*session)->prefill(some_tokens(300), n_done).ok());
    Session* one[] = {session->get()};
    StepEvent event;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine.decode_step(one, {&event, 1}).ok());
  };
  use(*load(DeviceKind::cuda));  // the context and the modules stay
  const uint64_t before = free_bytes(), held = n_held();
  for (int cycle = 0; cycle < 20; ++cycle) {
    const auto engine = load(DeviceKind::cuda);
    use(*engine);
    EXPECT_LT(free_bytes(), before) << "negative control: an engine takes device memory";
    EXPECT_GE(before - free_bytes(), engine->info().memory.weights);
  }
  EXPECT_EQ(n_held(), held);
  EXPECT_GE(free_bytes() + kOfTheDriver, before);
}

TEST_F(CudaEngine, cuda_alone_AFailedLoadGivesItsMemoryBack) {
  const std::vector<std::byte> bytes = file_bytes(kModel);
  const auto load_part = [&](size_t n_bytes, LoadProgress progress) {
    return Engine::load(borrow_memory(std::span(bytes).first(n_bytes), "part"),
                        {.device = DeviceKind::cuda, .n_context = 512, .progress = std::move(progress)})
        .status();
  };
  int n_calls = 0;
  ASSERT_TRUE(load_part(bytes.size(), [&](uint64_t, uint64_t) { return ++n_calls > 0; }).ok());
  ASSERT_GT(n_calls, 1);
  const uint64_t before = free_bytes(), held = n_held();
  for (int at = 1; at <= n_calls; at += std::max(1, n_calls / 8)) {
    int call = 0;
    EXPECT_EQ(load_part(bytes.size(), [&](uint64_t, uint64_t) { return ++call < at; }).code, Code::cancelled);
    EXPECT_GE(free_bytes() + kOfTheDriver, before) << "cancelled at call " << at;
    EXPECT_EQ(n_held(), held) << "cancelled at call " << at;
  }
  for (const size_t n_bytes : {bytes.size() / 3, bytes.size() - 1}) {
    EXPECT_EQ(load_part(n_bytes, {}).code, Code::format);
    EXPECT_GE(free_bytes() + kOfTheDriver, before) << n_bytes << " bytes";
    EXPECT_EQ(n_held(), held) << n_bytes << " bytes";
  }
  // Readers that fail in the header, among the weights and at the last of them.
  for (const uint64_t n_readable : {uint64_t{100}, uint64_t{bytes.size() / 2}, uint64_t{bytes.size() - 1}}) {
    Shelf shelf{bytes, n_readable};
    const auto engine = Engine::load(read_through(Shelf::read, &shelf, bytes.size(), "shelf"),
                                     {.device = DeviceKind::cuda, .n_context = 512});
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.status().code, Code::io) << engine.status().message;
    EXPECT_GE(free_bytes() + kOfTheDriver, before) << n_readable << " readable bytes";
    EXPECT_EQ(n_held(), held) << n_readable << " readable bytes";
  }
  EXPECT_TRUE(load_part(bytes.size(), {}).ok()) << "nothing of it stays behind";
}

TEST_F(CudaEngine, cuda_alone_AStepTakesNoDeviceMemory) {
  const auto engine = load(DeviceKind::cuda);
  const auto session = engine->create_session({.ignore_end_of_generation = true});
  ASSERT_TRUE(session.ok());
  size_t n_done = 0;
  ASSERT_TRUE((*session)->prefill(some_tokens(100), n_done).ok());  // loads the kernels that prompts need
  const uint64_t before = free_bytes();
  ASSERT_TRUE((*session)->truncate(0).ok());
  ASSERT_TRUE((*session)->prefill(some_tokens(100), n_done).ok());
  Session* one[] = {session->get()};
  StepEvent event;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(engine->decode_step(one, {&event, 1}).ok());
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(CudaEngine, cuda_alone_ASliceWaitsOnceAndTakesNoMemory) {
  const auto engine = load(DeviceKind::cuda, 8);
  std::vector<std::shared_ptr<Session>> owned;
  std::vector<Session*> all;
  for (int32_t i = 0; i < 5; ++i) {
    owned.push_back(*engine->create_session({.ignore_end_of_generation = true}));
    size_t n_done = 0;
    ASSERT_TRUE(owned.back()->prefill(some_tokens(50 + i), n_done).ok());
    all.push_back(owned.back().get());
  }
  std::vector<StepEvent> events(all.size());
  int32_t left = 0;
  ASSERT_TRUE(engine->decode_slice(all, 1, events, left).ok());
  ASSERT_EQ(left, 0) << "a draw alone";
  const int32_t all_units = static_cast<int32_t>(step_units(engine->plan()).size());
  const uint64_t free = free_bytes();
  for (const int32_t most : {1, 3, all_units}) {
    for (left = all_units; left > 0;) {
      const BackendCounters before = engine->backend().counters();
      ASSERT_TRUE(engine->decode_slice(all, most, events, left).ok());
      const BackendCounters after = engine->backend().counters();
      EXPECT_EQ(after.n_host_waits - before.n_host_waits, 1u) << left << " units left";
      EXPECT_EQ(after.n_allocations, before.n_allocations);
      EXPECT_EQ(after.n_pinned_allocations, before.n_pinned_allocations);
    }
  }
  EXPECT_EQ(free_bytes(), free);
}

TEST_F(CudaEngine, cuda_StepsOfMoreThan64SessionsAreNotCut) {
  const auto engine = load(DeviceKind::cuda, 65);
  std::vector<std::shared_ptr<Session>> owned;
  std::vector<Session*> all;
  for (int32_t i = 0; i < 65; ++i) {
    owned.push_back(*engine->create_session({.ignore_end_of_generation = true}));
    size_t n_done = 0;
    ASSERT_TRUE(owned.back()->prefill(some_tokens(3), n_done).ok());
    all.push_back(owned.back().get());
  }
  std::vector<StepEvent> events(all.size());
  int32_t left = 0;
  const Status refused = engine->decode_slice(all, 1, events, left);
  EXPECT_EQ(refused.code, Code::invalid_argument);
  EXPECT_NE(refused.message.find("at most 64"), std::string::npos) << refused.message;
  EXPECT_TRUE(engine->decode_step(all, events).ok()) << "nothing is pending";
  for (left = 1; left > 0;) ASSERT_TRUE(engine->decode_slice(std::span(all).first(64), 2, events, left).ok());
}

void draw_some(Engine& engine, std::vector<int32_t>& draws) {
  const auto s = *engine.create_session({.ignore_end_of_generation = true});
  size_t n_done = 0;
  const Status prefilled = s->prefill(some_tokens(50), n_done);
  ASSERT_TRUE(prefilled.ok()) << prefilled.message;
  Session* one[] = {s.get()};
  StepEvent event;
  for (int k = 0; k < 30; ++k) {
    const Status stepped = engine.decode_step(one, {&event, 1});
    ASSERT_TRUE(stepped.ok()) << stepped.message;
    draws.push_back(event.sample.token);
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
  EXPECT_NEAR(x.sample.logprob, y.sample.logprob, 0.05);
  ASSERT_EQ(x.sample.n_logprobs, 5);
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(x.sample.top[i].logprob, y.sample.top[i].logprob, 0.05);
}

using Logits = std::vector<float>;

// Of three sessions after each of ten steps, where reads(step, session); else empty.
template <class Reads>
std::vector<std::vector<Logits>> logits_of_steps(Engine& engine, const Reads& reads) {
  constexpr int kSessions = 3, kSteps = 10;
  std::vector<std::shared_ptr<Session>> owned;
  std::vector<Session*> sessions;
  for (int i = 0; i < kSessions; ++i) {
    SessionOptions options{.ignore_end_of_generation = true};
    options.sampler.temperature = 0;
    owned.push_back(*engine.create_session(options));
    size_t n_done = 0;
    EXPECT_TRUE(owned.back()->prefill(some_tokens(20 + i), n_done).ok());
    sessions.push_back(owned.back().get());
  }
  std::vector<std::vector<Logits>> out(kSteps, std::vector<Logits>(kSessions));
  std::vector<StepEvent> events(kSessions);
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_TRUE(engine.decode_step(sessions, events).ok());
    for (int i = 0; i < kSessions; ++i) {
      if (!reads(step, i)) continue;
      Logits& row = out[static_cast<size_t>(step)][static_cast<size_t>(i)];
      row.resize(static_cast<size_t>(engine.spec().n_vocab));
      EXPECT_TRUE(sessions[static_cast<size_t>(i)]->copy_logits(row).ok());
    }
  }
  return out;
}

// Logits that were read after the last step come with the next one; others are fetched.
TEST_F(CudaEngine, cuda_LogitsAreTheSameHoweverOftenTheyAreRead) {
  const auto engine = load(DeviceKind::cuda, 3);
  std::vector<std::vector<Logits>> fetched;
  for (int step = 0; step < 10; ++step)
    fetched.push_back(logits_of_steps(*engine, [&](int at, int) { return at == step; })[static_cast<size_t>(step)]);
  EXPECT_NE(fetched[8], fetched[9]) << "negative control";
  EXPECT_EQ(logits_of_steps(*engine, [](int, int) { return true; }), fetched);
  const auto some = [](int step, int session) { return (step / 2 + session) % 3 != 0; };
  const auto read = logits_of_steps(*engine, some);
  for (int step = 0; step < 10; ++step) {
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<size_t>(step), of = static_cast<size_t>(i);
      if (!some(step, i)) continue;
      EXPECT_EQ(read[at][of], fetched[at][of]) << "step " << step << ", session " << i;
    }
  }
}

// Kernels and their limits are the device's: two engines that launch at the same time must not change them for each
// other.
TEST_F(CudaEngine, cuda_TwoEnginesShareADevice) {
  const auto first = load(DeviceKind::cuda, 2), second = load(DeviceKind::cuda, 2);
  for (int round = 0; round < 20; ++round) {
    std::vector<int32_t> draws[2];
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] { draw_some(t == 0 ? *first : *second, draws[t]); });
    }
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(draws[0], draws[1]);
    ASSERT_EQ(draws[0].size(), 30u);
  }
}

// Loading allocates, captures and frees; engines that do so at the same time must not spoil it for each other.
TEST_F(CudaEngine, cuda_EnginesAreLoadedSideBySide) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([] {
      for (int round = 0; round < 6; ++round) {
        const auto engine = Engine::load(kModel, {.device = DeviceKind::cuda, .n_context = 256, .max_sessions = 8});
        ASSERT_TRUE(engine.ok()) << engine.status().message;
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_F(CudaEngine, cuda_alone_WhatDoesNotFitIsRefusedWithTheBytes) {
  const auto unharmed = load(DeviceKind::cuda, 2);
  const uint64_t before = free_bytes();
  const auto engine =
      Engine::load(kModel, {.device = DeviceKind::cuda, .n_context = 512, .kv_budget_bytes = uint64_t{1} << 42});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().code, Code::device_out_of_memory) << engine.status().message;
  EXPECT_GT(engine.status().required, engine.status().available);
  EXPECT_GE(engine.status().required, uint64_t{1} << 41) << "the pool's bytes";
  EXPECT_LE(engine.status().available, before);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(Engine::load(kModel, {.device = DeviceKind::cuda, .device_index = 99}).status().code, Code::no_device);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_TRUE(unharmed->create_session({}).ok());
}

// The penalties of three such histories are more than a step's lists hold: they draw in turns, with the same results.
// Tests with code for older devices than this one see the refusal: other_code.sh.
TEST_F(CudaEngine, cuda_RefusesAttentionToLaterTokensByNameWhereItsCodeHasNone) {
  const bool can = cuda::attends_both_ways(0);
  for (const bool causal : {true, false}) {
    const std::vector<std::byte> model = testing::llama_image({.d_model = 32, .d_ff = 64, .n_heads = 2, .n_kv_heads = 1, .d_head = 16, .n_rot = 16, .n_vocab = 50}, [&](testing::GgufImage& image) {
      image.text("tokenizer.ggml.model", "no_vocab").boolean("llama.attention.causal", causal);
    });
    const auto on_gpu = Engine::load(borrow_memory(model, "model"), {.device = DeviceKind::cuda}), automatic = Engine::load(borrow_memory(model, "model"), {});
    ASSERT_TRUE(automatic.ok()) << automatic.status().message;
    EXPECT_EQ((*automatic)->info().device, causal || can ? DeviceKind::cuda : DeviceKind::cpu);
    ASSERT_EQ(on_gpu.ok(), causal || can) << on_gpu.status().message;
    if (on_gpu.ok()) continue;
    EXPECT_EQ(on_gpu.status().code, Code::unsupported);
    EXPECT_NE(on_gpu.status().message.find("no attention to later tokens, which llama models have"), std::string::npos) << on_gpu.status().message;
  }
}

TEST_F(CudaEngine, LongPenaltiesOfManySessionsDrawInTurns) {
  constexpr int32_t kHistory = 30000, kSessions = 3, kDraws = 6;
  const std::vector<std::byte> model = test::random_model({});
  const auto engine = Engine::load(borrow_memory(model, "random model"), {.device = DeviceKind::cuda,
                                                                          .n_context = test::kRandomModelContext,
                                                                          .max_sessions = 2 * kSessions,
                                                                          .n_threads = 4,
                                                                          .prefill_chunk = 4096});
  ASSERT_TRUE(engine.ok()) << engine.status().message;
  std::vector<std::shared_ptr<Session>> together, alone;
  for (int32_t i = 0; i < kSessions; ++i) {
    const SamplerParams params{
        .temperature = 0.8f, .repetition_penalty = 1.3f, .frequency_penalty = 0.02f, .penalty_window = -1, .seed = 7};
    together.push_back(*(*engine)->create_session(
        {.sampler = params, .stream = static_cast<uint64_t>(i), .ignore_end_of_generation = true}));
    std::vector<int32_t> prompt;
    for (int32_t t = 0; t < kHistory; ++t) prompt.push_back((t * t + 17 * i) % test::kRandomModelVocab);
    size_t n_done = 0;
    ASSERT_TRUE(together.back()->prefill(prompt, n_done).ok());
    alone.push_back(*together.back()->fork());
  }
  const auto draw = [&](std::span<const std::shared_ptr<Session>> sessions) {
    std::vector<int32_t> tokens;
    std::vector<Session*> all;
    for (const auto& s : sessions) all.push_back(s.get());
    std::vector<StepEvent> events(all.size());
    for (int32_t i = 0; i < kDraws; ++i) {
      const Status status = (*engine)->decode_step(all, events);
      EXPECT_TRUE(status.ok()) << status.message;
    }
    for (Session* s : all) tokens.insert(tokens.end(), s->tokens().end() - kDraws, s->tokens().end());
    return tokens;
  };
  std::vector<int32_t> expected;
  for (size_t i = 0; i < kSessions; ++i) {
    const std::vector<int32_t> drawn = draw(std::span(alone).subspan(i, 1));
    expected.insert(expected.end(), drawn.begin(), drawn.end());
  }
  const BackendCounters before = (*engine)->backend().counters();
  EXPECT_EQ(draw(together), expected);
  const BackendCounters after = (*engine)->backend().counters();
  EXPECT_EQ(after.n_host_waits - before.n_host_waits, 2u * kDraws) << "two turns for every step";
  EXPECT_EQ(after.n_allocations, before.n_allocations);
}

}  // namespace
}  // namespace inlay
