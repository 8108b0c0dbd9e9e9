// inlay_run with NO_WAIT: what a device that computes by itself is given, and when it is collected. The CPU passes for one (Inspection::is_done).
#include <gtest/gtest.h>

#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

class RequestsWithoutWaiting : public test::EngineRequests {
 protected:
  void SetUp() override {
    test::EngineRequests::SetUp();
    if (engine_) pass_for_a_device();
  }
  // Each part is done when it is asked for the third time.
  void pass_for_a_device() {
    if (GetParam() != DeviceKind::cpu) return;
    engine_->backend().set_inspection({.is_done = [this] { return ++n_polls_ % 3 == 0; }});
  }
  RunResult run(int64_t budget_us) {
    const auto result = engine_->requests().run({.us = budget_us, .no_wait = true});
    EXPECT_TRUE(result.ok()) << result.status().message;
    return result.ok() ? *result : RunResult{};
  }
  struct Calls {
    int n = 0, n_tokens = 0;
  };
  Calls run_out(int64_t budget_us) {
    Calls calls;
    while (++calls.n < 1'000'000) {
      const RunResult result = run(budget_us);
      calls.n_tokens += result.n_tokens;
      poll();
      if (result.n_requests > 0) continue;
      EXPECT_FALSE(result.has_work);
      break;
    }
    return calls;
  }

  int n_polls_ = 0;
};
INLAY_ON_CPU_AND_CUDA(RequestsWithoutWaiting);

TEST_P(RequestsWithoutWaiting, ComeToWhatTheyComeToAlone) {
  const std::vector<std::vector<int32_t>> prompts{prompt(15), prompt(70, 50), prompt(33, 90), prompt(1, 7)};
  for (const int64_t budget_us : {int64_t{0}, int64_t{1}, int64_t{300}, int64_t{10'000'000}}) {
    std::vector<uint64_t> ids;
    for (const auto& tokens : prompts) ids.push_back(submit(tokens));
    collected_.clear();
    const Calls calls = run_out(budget_us);
    EXPECT_EQ(calls.n_tokens, 4 * 12);
    for (size_t i = 0; i < ids.size(); ++i)
      expect_near_alone(collected_[ids[i]], alone(*engine_, prompts[i], plain(12).session), "budget " + std::to_string(budget_us) + ", request " + std::to_string(i));
    if (GetParam() == DeviceKind::cpu) {
      EXPECT_GE(calls.n, 3 * 12) << "three for each step at least";
    }
  }
}

TEST_P(RequestsWithoutWaiting, TellNothingOfWhatIsNotDone) {
  const uint64_t id = submit(prompt(20), plain(3));
  if (GetParam() == DeviceKind::cpu) {
    bool is_done = false;
    engine_->backend().set_inspection({.is_done = [&] { return is_done; }});
    for (int i = 0; i < 10; ++i) {
      const RunResult result = run(0);
      EXPECT_EQ(result.n_tokens, 0);
      EXPECT_EQ(result.n_requests, 1);
      EXPECT_TRUE(result.has_work);
    }
    is_done = true;
    EXPECT_EQ(run(0).n_tokens, 1);
    pass_for_a_device();
  }
  run_out(0);
  EXPECT_EQ(collected_[id].tokens.size(), 3u);
}

// What is queued is waited for by whoever computes for a session, and collected then.
TEST_P(RequestsWithoutWaiting, StandBesideSessions) {
  const std::vector<int32_t> of_session = prompt(20, 40), of_request = prompt(33);
  const auto s = session(), other = session();
  ASSERT_TRUE(prefill(*other, of_session).ok());
  const uint64_t id = submit(of_request);
  (void)run(1);
  ASSERT_TRUE(prefill(*s, of_session).ok());
  for (int i = 0; i < 8; ++i) {
    (void)run(i % 2 == 0 ? 1 : 0);
    EXPECT_EQ(step(*s).sample.token, step(*other).sample.token);
  }
  run_out(1);
  expect_near_alone(collected_[id], alone(*engine_, of_request, plain(12).session), "the request");
}

TEST_P(RequestsWithoutWaiting, EndInTheMiddle) {
  const uint64_t cancelled = submit(prompt(60), plain(40)), other = submit(prompt(30, 9), plain(4));
  (void)run(1);
  const auto request = queue_->cancel(cancelled);
  ASSERT_NE(request, nullptr);
  engine_->requests().cancel(*request);
  run_out(1);
  EXPECT_EQ(collected_[cancelled].end.reason, FinishReason::cancelled);
  EXPECT_EQ(collected_[other].tokens.size(), 4u);
  const uint64_t closed = submit(prompt(60, 5), plain(40));
  (void)run(1);
  engine_->requests().close();
  poll();
  EXPECT_EQ(collected_[closed].end.reason, FinishReason::cancelled);
}

// With and without, in turns.
TEST_P(RequestsWithoutWaiting, MayBeMixedWithOthers) {
  const std::vector<int32_t> tokens = prompt(50);
  const uint64_t id = submit(tokens, plain(20));
  for (int i = 0; i < 400 && collected_[id].n_ends == 0; ++i) {
    const auto result = engine_->requests().run({.us = i % 5 == 0 ? 1 : 0, .one_step = true, .no_wait = i % 3 != 0});
    ASSERT_TRUE(result.ok()) << result.status().message;
    poll();
  }
  expect_near_alone(collected_[id], alone(*engine_, tokens, plain(20).session), "the request");
}

}  // namespace
}  // namespace inlay
