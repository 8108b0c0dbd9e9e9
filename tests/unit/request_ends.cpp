// What becomes of requests and of those who wait when the device is lost, or when nobody computes any more; and how much of the time the engine's thread takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "src/engine/requests.h"
#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

using Waited = RequestQueue::Waited;

// The device is lost at the n-th wait from now on.
class RequestsOfALostDevice : public test::EngineRequests {
 protected:
  void lose_at(int n) {
    engine_->backend().set_inspection({.fault = [this, n, n_waits = 0]() mutable {
      is_lost_ = is_lost_ || ++n_waits == n;
      return is_lost_ ? error(Code::device_lost, "lost on purpose") : Status();
    }});
  }
  void expect_ends(const std::vector<uint64_t>& ids, const std::string& what) {
    poll();
    for (const uint64_t id : ids) {
      ASSERT_TRUE(collected_.contains(id)) << what;
      EXPECT_EQ(collected_[id].n_ends, 1) << what;
      EXPECT_EQ(collected_[id].end.reason, FinishReason::error) << what;
      EXPECT_EQ(collected_[id].end.status.code, Code::device_lost) << what;
    }
    EXPECT_EQ(refused(prompt(5), plain(2)).code, Code::device_lost) << what;
    EXPECT_EQ(engine_->requests().check_wait(*queue_).code, Code::device_lost) << what;
  }
  bool is_lost_ = false;
};
INSTANTIATE_TEST_SUITE_P(Host, RequestsOfALostDevice, ::testing::Values(DeviceKind::cpu), ::inlay::test::device_of);

TEST_P(RequestsOfALostDevice, EachEndsOnceByWhoeverComputes) {
  for (const int n : {1, 2, 7}) {
    for (const int64_t budget : {int64_t{0}, int64_t{1}}) {
      is_lost_ = false;
      load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32});
      collected_.clear();
      n_events_ = 0;
      std::vector<uint64_t> ids;
      for (int32_t i = 0; i < 5; ++i) ids.push_back(submit(prompt(20, i), plain(20)));
      lose_at(n);
      Status status;
      for (int i = 0; i < 1'000 && status.ok(); ++i) status = engine_->requests().run({.us = budget, .one_step = budget == 0}).status();
      EXPECT_EQ(status.code, Code::device_lost);
      expect_ends(ids, "wait " + std::to_string(n) + ", budget " + std::to_string(budget));
      EXPECT_EQ(engine_->requests().run({}).status().code, Code::device_lost);
    }
  }
}

TEST_P(RequestsOfALostDevice, TheThreadEndsAllAndWaitersWake) {
  const auto other = engine_->requests().add_queue(engine_, {});
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  std::atomic<int> n_told{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) waiters.emplace_back([&] { n_told += *other->wait({}) == Waited::nobody_computes; });
  while (other->n_waiting() < 3) std::this_thread::yield();
  lose_at(4);
  std::vector<uint64_t> ids;
  for (int32_t i = 0; i < 4; ++i) {
    uint64_t id = 0;
    const Status status = engine_->requests().submit(queue_, prompt(20, i), plain(50), id);
    EXPECT_TRUE(status.ok() || status.code == Code::device_lost) << status.message;
    if (status.ok()) ids.push_back(id);
  }
  ASSERT_FALSE(ids.empty());
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(n_told, 3) << "of a queue that has no request";
  size_t n_ended = 0;
  while (n_ended < ids.size()) {
    ASSERT_TRUE(queue_->wait(60'000'000).ok());
    poll();
    n_ended = static_cast<size_t>(std::ranges::count_if(ids, [&](uint64_t id) { return collected_[id].n_ends == 1; }));
  }
  expect_ends(ids, "the engine's thread");
}

// Nobody computes them any more: who asks ends them.
TEST_P(RequestsOfALostDevice, ASessionsStepThatLosesItEndsThemAtThePoll) {
  const auto session = engine_->create_session(plain(20).session);
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE(prefill(**session, prompt(10)).ok());
  const std::vector<uint64_t> ids = {submit(prompt(20), plain(20)), submit(prompt(30), plain(20))};
  ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok()) << "they run";
  lose_at(1);
  StepEvent event;
  Session* one[] = {session->get()};
  EXPECT_EQ(engine_->decode_step(one, {&event, 1}).code, Code::device_lost);
  engine_->requests().end_expired();
  expect_ends(ids, "a session's step");
}

class RequestsThread : public test::EngineRequests {};
INLAY_ON_CPU_AND_CUDA(RequestsThread);

TEST_P(RequestsThread, WaitsEndWithIt) {
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  EXPECT_TRUE(engine_->requests().check_wait(*queue_).ok());
  std::thread waiter([&] { EXPECT_EQ(*queue_->wait({}), Waited::nobody_computes); });
  while (queue_->n_waiting() == 0) std::this_thread::yield();
  ASSERT_TRUE(engine_->requests().set_thread({}).ok());
  waiter.join();
  EXPECT_EQ(engine_->requests().check_wait(*queue_).code, Code::invalid_state);
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  EXPECT_EQ(*queue_->wait(1), Waited::time_over) << "nothing of it is left for the next wait";
}

// Whoever looked whether somebody computes, and waits then, is told of what has changed between.
TEST_P(RequestsThread, AWaitIsToldOfAnEndBehindItsCheck) {
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  const uint64_t n_wakes = queue_->n_wakes();
  ASSERT_TRUE(engine_->requests().check_wait(*queue_).ok());
  ASSERT_TRUE(engine_->requests().set_thread({}).ok());
  EXPECT_EQ(*queue_->wait(20'000'000, n_wakes), Waited::nobody_computes);
  EXPECT_EQ(queue_->n_waiting(), 0u);
  EXPECT_EQ(*queue_->wait(1, queue_->n_wakes()), Waited::time_over) << "negative control";
}

// Beside the very first call of inlay_run too.
TEST_P(RequestsThread, WhoIsToldThatAnotherOneRunsMayWait) {
  constexpr int kThreads = 4;
  int n_busy = 0;
  for (int round = 0; round < 1'000 && n_busy < 10; ++round) {
    load_with({.n_context = 64, .max_sessions = 2, .n_threads = 1});
    Requests& requests = engine_->requests();
    std::atomic<int> n_ready{0}, n_told{0}, n_over{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (++n_ready; n_ready < kThreads;) std::this_thread::yield();
        if (requests.run({}).status().code == Code::busy) {
          ++n_told;
          EXPECT_TRUE(requests.check_wait(*queue_).ok());
        }
        ++n_over;
      });
    }
    while (n_over < kThreads) (void)requests.counts();  // which keeps those who run waiting for the engine's lock
    for (std::thread& thread : threads) thread.join();
    n_busy += n_told;
  }
  EXPECT_GT(n_busy, 0);
}

// Also while it sleeps: else it would be late by what is left of the period before.
TEST_P(RequestsThread, TakesAnotherShareAtOnce) {
  constexpr int64_t kLong = 600'000'000;
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{.busy_us = 1, .period_us = kLong}).ok());
  submit(prompt(8), plain(40));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_EQ(queue_->live().size(), 1u) << "negative control: its share of the period is used up";
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  const auto start = std::chrono::steady_clock::now();
  while (!queue_->live().empty() && std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) std::this_thread::yield();
  EXPECT_TRUE(queue_->live().empty());
}

// Half of the time, and a sixteenth: tokens in the same time as with all of it. The share is changed while requests run.
TEST_P(RequestsThread, TakesItsShareOfTheTime) {
  load_with({.n_context = 4096, .max_sessions = 2, .n_threads = 1, .prefill_chunk = 32}, {.max_unread_tokens = 100'000});
  const auto rate = [&](const ThreadShare& share) {
    EXPECT_TRUE(engine_->requests().set_thread(share).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(40));  // what was begun with the share before
    const uint64_t before = engine_->stats().n_decode_tokens;
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(320));
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return static_cast<double>(engine_->stats().n_decode_tokens - before) / took;
  };
  // Where the process does not get the processor, a share of it says nothing: the best of some rounds.
  double half = 1, sixteenth = 1;
  for (int round = 0; round < 25 && (half > 0.75 || sixteenth > 0.5 * half); ++round) {
    for (int i = 0; i < 40; ++i) submit(prompt(8), plain(4000));
    const double all = rate({}), part = rate({.busy_us = 8'000, .period_us = 16'000}), little = rate({.busy_us = 1'000, .period_us = 16'000}), again = rate({});
    const auto left = queue_->live();
    ASSERT_FALSE(left.empty()) << "they drew all of their tokens";
    for (const auto& request : left) engine_->requests().cancel(*request);
    EXPECT_GT(little, 0) << "it goes on with any share";
    ASSERT_GT(std::max(all, again), 0);
    half = part / std::max(all, again);
    sixteenth = little / std::max(all, again);
    std::printf("a half of the time %.2f of the tokens, a sixteenth %.2f\n", half, sixteenth);
  }
  EXPECT_LE(half, 0.75);
  EXPECT_LE(sixteenth, 0.5 * half);
}

}  // namespace
}  // namespace inlay
