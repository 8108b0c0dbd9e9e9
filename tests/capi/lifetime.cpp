// Many sessions one after the other, and a session that is cancelled at work: nothing stays behind, nothing goes on.
#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/capi/client.h"
#include "tests/support/alone.h"

namespace inlay::test {
namespace {

class Lifetime : public OnEachDevice {};
INLAY_ON_EACH_DEVICE(Lifetime);

uint64_t free_device_bytes() {
  expect_to_be_alone();
  for (int32_t i = 0; i < inlay_device_count(); ++i) {
    inlay_device_info info = sized<inlay_device_info>();
    if (inlay_device_get(i, &info, nullptr) == INLAY_OK && info.kind == INLAY_DEVICE_CUDA) return info.free_bytes;
  }
  return 0;
}

// Calls `when_used` after two sessions and after a thousand more.
void use_a_thousand(const EnginePtr& engine, const std::function<void()>& when_used) {
  const auto use_one = [&](size_t i) {
    const SessionPtr session = new_session(engine);
    prefill(session, i % 2 == 0 ? kPlain : kChat);
    const SessionPtr child = fork(session);
    EXPECT_EQ(step(child).token, i % 2 == 0 ? kPlainReply[0] : kChatReply[0]);
    EXPECT_EQ(step(child).token, i % 2 == 0 ? kPlainReply[1] : kChatReply[1]);
  };
  use_one(0);
  use_one(1);
  when_used();
  const int32_t n_peak = stats_of(engine).n_kv_blocks_peak;
  for (size_t i = 0; i < 1000; ++i) use_one(i);
  const inlay_stats stats = stats_of(engine);
  EXPECT_EQ(stats.n_sessions, 0);
  EXPECT_EQ(stats.n_kv_blocks_used, 0);
  EXPECT_EQ(stats.n_kv_blocks_peak, n_peak);
  when_used();
}

TEST_P(Lifetime, AThousandSessionsLeaveNothing) {
  use_a_thousand(load(params()), [] {});
}

// Of the GPU; other programs take of the host's memory all the time.
TEST(LifetimeOnTheGpu, cuda_alone_AThousandSessionsTakeNoDeviceMemory) {
  if (!has_device(INLAY_DEVICE_CUDA)) GTEST_SKIP() << INLAY_NEEDS_GPU;
  std::vector<uint64_t> free;
  use_a_thousand(load(on(INLAY_DEVICE_CUDA)), [&] { free.push_back(free_device_bytes()); });
  ASSERT_EQ(free.size(), 2u);
  EXPECT_GT(free[0], 0u);
  EXPECT_EQ(free[1], free[0]);
}

// A step at work may still end; the one after it does not draw.
TEST_P(Lifetime, CancelFromAnotherThreadEndsWithinOneStep) {
  const EnginePtr engine = load(params());
  inlay_session_params endless = sized<inlay_session_params>();
  endless.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  int n_full = 0;
  for (int round = 0; round < 20; ++round) {
    const SessionPtr session = new_session(engine, &endless);
    prefill(session, kPlain);
    std::atomic<int> n_drawn{0};
    inlay_event last = {};
    std::thread decoder([&] {
      do {
        last = step(session);
        if (last.kind == INLAY_EVENT_TOKEN) n_drawn.fetch_add(1);
      } while (last.finish_reason == INLAY_FINISH_NONE && last.status == INLAY_OK);
    });
    while (n_drawn.load() < 3) std::this_thread::yield();
    inlay_session_cancel(session.get());
    const int n_at_cancel = n_drawn.load();
    decoder.join();
    EXPECT_EQ(last.kind, INLAY_EVENT_FINISHED);
    EXPECT_LE(n_drawn.load(), n_at_cancel + 1);
    EXPECT_EQ(info_of(session).n_tokens, static_cast<int32_t>(kPlain.size()) + n_drawn.load());
    // This thread may be without its CPU until the context is full.
    if (last.finish_reason == INLAY_FINISH_CONTEXT_FULL && n_full++ < 200) {
      --round;
      continue;
    }
    EXPECT_EQ(last.finish_reason, INLAY_FINISH_CANCELLED);
  }
}

#ifndef _WIN32
std::atomic<inlay_session*> interrupted{nullptr};

// The signal meets the thread anywhere: in allocations, in locks, in the same call.
TEST_P(Lifetime, CancelFromASignalHandlerEndsAStep) {
  const EnginePtr engine = load(params());
  inlay_session_params endless = sized<inlay_session_params>();
  endless.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) { inlay_session_cancel(interrupted); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  int n_cancelled = 0;
  for (int round = 0; round < 40; ++round) {
    const SessionPtr session = new_session(engine, &endless);
    prefill(session, kPlain);
    interrupted = session.get();
    std::atomic<int> n_drawn{0};
    std::atomic<bool> ended{false};
    inlay_event last = {};
    std::thread decoder([&] {
      do {
        last = step(session);
        n_drawn.fetch_add(1);
      } while (last.finish_reason == INLAY_FINISH_NONE && last.status == INLAY_OK);
      while (!ended) std::this_thread::yield();  // the signal needs somebody to meet
    });
    while (n_drawn.load() < 1 + round % 5) std::this_thread::yield();
    EXPECT_EQ(pthread_kill(decoder.native_handle(), SIGUSR1), 0);
    ended = true;
    decoder.join();
    n_cancelled += last.finish_reason == INLAY_FINISH_CANCELLED;  // another one filled the context before
    EXPECT_TRUE(last.finish_reason == INLAY_FINISH_CANCELLED || last.finish_reason == INLAY_FINISH_CONTEXT_FULL) << round;
  }
  EXPECT_GT(n_cancelled, 0);
  EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}
#endif

}  // namespace
}  // namespace inlay::test
