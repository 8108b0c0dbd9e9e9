// Blocks of a GPU's cache that go to page-locked memory of the host and come back: nobody waits for them, and a system that gives no more of it harms nothing.
#include "src/engine/host_blocks.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/backend/cuda/cuda_backend.h"
#include "src/backend/cuda/fault.h"
#include "src/engine/requests.h"
#include "tests/support/needs_gpu.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

class CudaHostBlocks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (n_cuda_devices() == 0) GTEST_SKIP() << INLAY_NEEDS_GPU;
    EngineOptions one{.device = DeviceKind::cuda, .n_context = 256, .max_sessions = 2, .kv_budget_bytes = 1, .n_threads = 2};
    block_bytes_ = Engine::plan_memory(kModel, one).status().required;
    ASSERT_GT(block_bytes_, 0u);
  }

  void open(uint64_t n_blocks, uint64_t host_bytes) {
    queue_.reset();
    const auto engine = Engine::load(kModel, {.device = DeviceKind::cuda,
                                              .n_context = 256,
                                              .max_sessions = 2,
                                              .kv_budget_bytes = block_bytes_ * n_blocks,
                                              .prefix_cache_host_bytes = host_bytes,
                                              .n_threads = 2});
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    engine_ = *engine;
    queue_ = engine_->requests().add_queue(engine_, {});
    if (engine_->host_blocks() != nullptr) engine_->host_blocks()->wait_until_taken();
  }

  struct Outcome {
    std::vector<int32_t> tokens;
    std::vector<float> logprobs;
    int32_t n_cached = 0;
    uint64_t most_waits = 0;  // of a call of run()
    bool operator==(const Outcome&) const = default;
  };
  // One request, step by step.
  Outcome run(int32_t n_tokens, int32_t start) {
    std::vector<int32_t> prompt;
    for (int32_t i = 0; i < n_tokens; ++i) prompt.push_back(100 + (start + i * 37) % 1500);
    uint64_t id = 0;
    EXPECT_TRUE(engine_->requests().submit(queue_, prompt, {.session = {.max_tokens = 4, .ignore_end_of_generation = true}}, id).ok());
    Outcome out;
    for (bool ended = false; !ended;) {
      const BackendCounters before = engine_->backend().counters();
      const auto ran = engine_->requests().run({.one_step = true});
      const BackendCounters after = engine_->backend().counters();
      EXPECT_TRUE(ran.ok()) << ran.status().message;
      if (!ran.ok()) return out;
      EXPECT_EQ(after.n_allocations, before.n_allocations);
      out.most_waits = std::max(out.most_waits, after.n_host_waits - before.n_host_waits);
      std::vector<TokenLogprob> tokens(16);
      std::string text(256, '\0');
      const auto polled = queue_->poll({.n_events = 8, .tokens = tokens, .text = text}, [&](size_t, const RequestEvent& event) {
        for (const TokenLogprob& token : std::span(tokens).subspan(event.first_token, event.n_tokens)) {
          out.tokens.push_back(token.token);
          out.logprobs.push_back(token.logprob);
        }
        if (!event.is_end) return;
        ended = true;
        out.n_cached = event.end.n_cached;
        EXPECT_EQ(event.end.reason, FinishReason::max_tokens);
      });
      EXPECT_TRUE(polled.ok());
    }
    return out;
  }

  uint64_t block_bytes_ = 0;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<RequestQueue> queue_;
};

// In the same schedule, blocks that come back make each step what it is with those that never left: the same bits, and no wait more.
TEST_F(CudaHostBlocks, cuda_NobodyWaitsForBlocksThatGoAndComeBack) {
  const auto turns = [&] {
    std::vector<Outcome> out;
    for (const int32_t n_tokens : {130, 200, 240}) {
      for (int32_t i = 0; i < 6; ++i) out.push_back(run(n_tokens, 41 * i));
    }
    return out;
  };
  open(64, 0);
  const std::vector<Outcome> wanted = turns();
  EXPECT_GT(wanted.back().n_cached, 0);
  open(9, 64 * block_bytes_);
  const BackendCounters before = engine_->backend().counters();
  const std::vector<Outcome> own = turns();
  EXPECT_EQ(engine_->backend().counters().n_pinned_allocations, before.n_pinned_allocations) << "its memory was there";
  for (size_t i = 0; i < own.size(); ++i) EXPECT_EQ(own[i], wanted[i]) << i;
  const auto stored = engine_->stats().stored;
  EXPECT_GT(stored.n_moved_out, 40u);
  EXPECT_GT(stored.n_moved_back, 30u);
  EXPECT_EQ(stored.n_given_up, 0u);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
}

// The thread is refused its second chunk: what is there is all there is.
TEST_F(CudaHostBlocks, cuda_PageLockedMemoryMayEnd) {
  const uint64_t n_chunk = std::max<uint64_t>(1, HostBlocks::kChunkBytes / block_bytes_);
  open(9, n_chunk * block_bytes_);
  const auto n_calls = static_cast<int64_t>(engine_->backend().counters().n_pinned_allocations);
  queue_.reset();
  engine_.reset();
  const InjectedCudaFault fault({.point = CudaPoint::pinned_allocation, .nth = n_calls + 1, .error = cudaErrorMemoryAllocation});
  open(9, 3 * n_chunk * block_bytes_);
  EXPECT_TRUE(fault.happened());
  EXPECT_EQ(engine_->stats().prefix_cache_host_bytes_taken, n_chunk * block_bytes_);
  for (int32_t i = 0; i < 30; ++i) EXPECT_EQ(run(130, 7 * i).tokens.size(), 4u);
  EXPECT_GT(engine_->stats().stored.n_stored, 50);
  EXPECT_EQ(run(130, 0).n_cached, 128) << "of blocks that came back";
  EXPECT_GT(engine_->stats().stored.n_moved_back, 0u);
}

}  // namespace
}  // namespace inlay
