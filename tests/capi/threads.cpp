// What the thread classes of the functions promise. ThreadSanitizer sees in these tests what breaks the promise.
#include <atomic>
#include <thread>

#include "tests/capi/client.h"

namespace inlay::test {
namespace {

class Threads : public OnEachDevice {};
INLAY_ON_EACH_DEVICE(Threads);

// One thread decodes; the other calls everything of class `any` on the same handles, until the first is done.
TEST_P(Threads, AnyRunsBesideADecode) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  prefill(session, kChat);
  std::atomic<bool> done{false};
  Tokens reply;
  std::thread decoder([&] {
    reply = greedy(session, kChatReply.size());
    done.store(true);
  });
  int n_rounds = 0;
  int32_t n_tokens = 0;
  do {
    const inlay_session_info info = info_of(session);
    EXPECT_GE(info.n_tokens, n_tokens);
    n_tokens = info.n_tokens;
    EXPECT_GE(stats_of(engine).n_sessions, 1);
    char text[4096];
    size_t n = 0;
    Tokens tokens(64);
    EXPECT_EQ(inlay_tokenize(engine.get(), "the quick brown", SIZE_MAX, 0, tokens.data(), tokens.size(), &n, nullptr),
              INLAY_OK);
    EXPECT_EQ(inlay_detokenize(engine.get(), tokens.data(), n, 0, text, sizeof text, &n, nullptr), INLAY_OK);
    EXPECT_EQ(inlay_plan_text(engine.get(), text, sizeof text, &n, nullptr), INLAY_OK);
    uint64_t cursor = 0;
    EXPECT_EQ(inlay_log_read(engine.get(), &cursor, nullptr, text, sizeof text, &n, nullptr), INLAY_OK);
    const SessionPtr other = new_session(engine);
    inlay_session_cancel(other.get());
    ++n_rounds;
  } while (!done.load());
  decoder.join();
  EXPECT_EQ(reply, kChatReply);
  EXPECT_GT(n_rounds, 0);
}

// Each thread has a session of its own; the engine orders what must not overlap.
TEST_P(Threads, SessionsOnThreadsOfTheirOwn) {
  const EnginePtr engine = load(params());
  constexpr int kThreads = 4;
  std::vector<Tokens> replies(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) {
        const SessionPtr session = new_session(engine);
        prefill(session, i % 2 == 0 ? kPlain : kChat);
        const SessionPtr child = fork(session);
        replies[static_cast<size_t>(i)] = greedy(child, kPlainReply.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i)
    EXPECT_EQ(replies[static_cast<size_t>(i)], i % 2 == 0 ? kPlainReply : kChatReply) << i;
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 0);
  EXPECT_EQ(stats_of(engine).n_sessions, 0);
}

TEST_P(Threads, EnginesDoNotKnowEachOther) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([this] {
      const EnginePtr engine = load(params());
      const SessionPtr session = new_session(engine);
      prefill(session, kPlain);
      EXPECT_EQ(greedy(session, kPlainReply.size()), kPlainReply);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace inlay::test
