// Weights on their way to a GPU: from every source and with any number of threads the same; stopped anywhere, nothing
// stays.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "src/engine/engine.h"
#include "src/engine/placement.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/alone.h"
#include "tests/support/needs_gpu.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

using Bytes = testing::GgufImage::Bytes;

// Several pieces a matrix: an embedding of 24 MB, gate and up of 5.9 MB each with a last tile that is not full.
const Bytes& image() {
  static const Bytes bytes = testing::llama_image(
      {.d_model = 512, .d_ff = 2872, .n_heads = 8, .n_kv_heads = 2, .d_head = 64, .n_rot = 64, .n_vocab = 12001});
  return bytes;
}

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

// The driver keeps a little for the streams of threads that it had not seen before.
constexpr uint64_t kOfTheDriver = uint64_t{8} << 20;

struct Reading {
  const Bytes* bytes;
  std::thread::id thread = std::this_thread::get_id();
  int n_elsewhere = 0;

  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    auto& self = *static_cast<Reading*>(user);
    if (std::this_thread::get_id() != self.thread) ++self.n_elsewhere;
    std::memcpy(into, self.bytes->data() + offset, n);
    return 0;
  }
};

Result<std::unique_ptr<Backend>> load(Result<Checkpoint> opened, golden::Runs on, int32_t n_threads,
                                      const LoadProgress& progress = {}) {
  INLAY_ASSIGN(const Checkpoint checkpoint, std::move(opened));
  INLAY_ASSIGN(const Model model, Model::from_checkpoint(checkpoint));
  const BackendConfig config{
      .n_kv_blocks = 2, .max_step_tokens = 32, .n_logit_slots = 32, .n_context = 64, .n_threads = n_threads};
  INLAY_ASSIGN(Plan plan, build_plan(model, config.n_context));
  WeightReader reader(checkpoint, model);
  if (on == golden::Runs::cpu) return make_cpu_backend(std::move(plan), reader, config, {}, cpu::Isa::generic);
  return make_cuda_backend(std::move(plan), reader, config, 0, progress);
}

std::vector<float> logits(Result<std::unique_ptr<Backend>> backend) {
  if (!backend.ok()) {
    ADD_FAILURE() << backend.status().message;
    return {};
  }
  const std::vector<int32_t> tokens = {1,    12000, 7,  4099, 8195, 11999, 300,   2047,
                                       2048, 6000,  12, 9999, 5,    5,     10001, 42};
  const auto out = golden::logits_of(**backend, tokens);
  EXPECT_TRUE(out.ok()) << out.status().message;
  return out.ok() ? *out : std::vector<float>{};
}

class CudaLoading : public ::testing::Test {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
  }
};

TEST_F(CudaLoading, cuda_EverySourceAndNumberOfThreadsGiveTheSame) {
  const auto memory = [] { return read_gguf(borrow_memory(image(), "image")); };
  const std::vector<float> one = logits(load(memory(), golden::Runs::cuda, 1));
  ASSERT_FALSE(one.empty());
  EXPECT_EQ(logits(load(memory(), golden::Runs::cuda, 3)), one);
  EXPECT_EQ(logits(load(memory(), golden::Runs::cuda, 64)), one);
  Reading reading{&image()};
  EXPECT_EQ(
      logits(load(read_gguf(read_through(Reading::read, &reading, image().size(), "reader")), golden::Runs::cuda, 8)),
      one);
  EXPECT_EQ(reading.n_elsewhere, 0) << "a callback was called on another thread";
  const std::string path = ::testing::TempDir() + "inlay-loading-" + std::to_string(getpid()) + ".gguf";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(image().data()), static_cast<std::streamsize>(image().size()));
  EXPECT_EQ(logits(load(open_gguf(path), golden::Runs::cuda, 8)), one);
  std::remove(path.c_str());

  const std::vector<float> host = logits(load(memory(), golden::Runs::cpu, 4));
  double error = 0.0, square = 0.0;
  for (size_t i = 0; i < host.size(); ++i)
    error += std::pow(double{one[i]} - host[i], 2), square += std::pow(double{host[i]}, 2);
  EXPECT_LT(error, 1e-6 * square) << "weights are in the wrong places";
}

// The device that is asked for is refused, the automatic choice is the CPU, and says why.
TEST_F(CudaLoading, cuda_WhatTheGpuCannotHoldGoesToTheCpu) {
  const auto checkpoint = read_gguf(borrow_memory(image(), "image"));
  ASSERT_TRUE(checkpoint.ok());
  const auto model = Model::from_checkpoint(*checkpoint);
  ASSERT_TRUE(model.ok());
  const auto plan = build_plan(*model, 64);
  ASSERT_TRUE(plan.ok());
  EngineOptions options;
  options.device = DeviceKind::automatic;
  const auto fits = place(*plan, options);
  ASSERT_TRUE(fits.ok()) << fits.status().message;
  EXPECT_EQ(fits->device, DeviceKind::cuda);
  EXPECT_EQ(fits->remark, "");

  options.kv_budget_bytes = uint64_t{1} << 42;
  const auto large = place(*plan, options);
  ASSERT_TRUE(large.ok()) << large.status().message;
  EXPECT_EQ(large->device, DeviceKind::cpu);
  options.device = DeviceKind::cuda;
  const auto refused = place(*plan, options);
  ASSERT_TRUE(refused.ok()) << refused.status().message;
  const Status status = check_memory(*refused);
  EXPECT_EQ(status.code, Code::device_out_of_memory) << status.message;
  const std::string reason = status.message.substr(0, status.message.find(','));  // without what is free at the moment
  EXPECT_NE(large->remark.find("taking the CPU, not the GPU: " + reason), std::string::npos) << large->remark;
}

TEST_F(CudaLoading, cuda_ProgressTellsEveryPieceOnThisThread) {
  uint64_t last = 0, n_total = 0, n_calls = 0;
  const std::thread::id thread = std::this_thread::get_id();
  const LoadProgress progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(std::this_thread::get_id(), thread);
    EXPECT_GE(done, last);
    EXPECT_LE(done - last, uint64_t{4} << 20);
    last = done, n_total = total, ++n_calls;
    return true;
  };
  ASSERT_TRUE(load(read_gguf(borrow_memory(image(), "image")), golden::Runs::cuda, 8, progress).ok());
  EXPECT_EQ(last, n_total);
  EXPECT_GT(n_total, image().size() * 9 / 10);
  EXPECT_GT(n_calls, n_total / (uint64_t{4} << 20));
}

TEST_F(CudaLoading, cuda_alone_StoppedAtAnyCallLeavesNoMemory) {
  for (const int32_t n_threads : {1, 8}) {
    int n_calls = 0;
    const auto stop_at = [&](int at) {
      n_calls = 0;
      return load(read_gguf(borrow_memory(image(), "image")), golden::Runs::cuda, n_threads,
                  [&](uint64_t, uint64_t) { return n_calls++ != at; });
    };
    ASSERT_TRUE(stop_at(-1).ok());  // the context and the modules stay
    const int n = n_calls;
    const uint64_t before = free_bytes(), held = n_held();
    for (int at = 0; at < n; ++at) {
      const auto stopped = stop_at(at);
      ASSERT_FALSE(stopped.ok()) << at;
      EXPECT_EQ(stopped.status().code, Code::cancelled) << stopped.status().message;
      EXPECT_EQ(n_calls, at + 1) << "nothing is reported after the cancelling call";
      ASSERT_EQ(n_held(), held) << "stopped at call " << at << " of " << n;
      ASSERT_GE(free_bytes() + kOfTheDriver, before) << "stopped at call " << at << " of " << n;
    }
  }
}

TEST_F(CudaLoading, cuda_alone_AReadErrorIsReportedAndLeavesNoMemory) {
  const auto failing = [](void* user, uint64_t offset, void* into, uint64_t n) -> int32_t {
    if (offset > (uint64_t{30} << 20)) return 7;
    return Reading::read(user, offset, into, n);
  };
  ASSERT_TRUE(load(read_gguf(borrow_memory(image(), "image")), golden::Runs::cuda, 1).ok());
  const uint64_t before = free_bytes(), held = n_held();
  Reading reading{&image()};
  const auto loaded = load(read_gguf(read_through(failing, &reading, image().size(), "reader")), golden::Runs::cuda, 8);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code, Code::io);
  EXPECT_EQ(loaded.status().native_code, 7);
  EXPECT_EQ(n_held(), held);
  EXPECT_GE(free_bytes() + kOfTheDriver, before);
}

}  // namespace
}  // namespace inlay
