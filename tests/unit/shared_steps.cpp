// Calls of several threads that share a step.
#include "src/engine/shared_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "tests/support/engine_sessions.h"

namespace inlay {
namespace {

// A call of sessions of an engine, as src/capi makes them.
class Caller final : public StepCaller {
 public:
  explicit Caller(std::vector<Session*> sessions) : events(sessions.size()), sessions_(std::move(sessions)) {}

  size_t n_sessions() const override { return sessions_.size(); }
  Session& first_session() const override { return *sessions_[0]; }
  void name_sessions(std::span<Session*> room) override { std::ranges::copy(sessions_, room.begin()); }
  void take_events(const Status& failed, std::span<Session* const> sessions, std::span<const StepEvent> taken) override {
    EXPECT_TRUE(std::ranges::equal(sessions, sessions_));
    std::ranges::copy(taken, events.begin());
    failure = failed;
    ++n_taken;
  }

  std::vector<StepEvent> events;
  Status failure;
  int n_taken = 0;

 private:
  std::vector<Session*> sessions_;
};

class SharedStepsOfEngines : public test::EngineSessions {
 protected:
  using Members = std::vector<std::vector<Session*>>;

  // Steps each member on a thread of its own, in the order of `members`, while another thread's prompt computes until all of them wait.
  std::vector<std::unique_ptr<Caller>> step_at_once(const Members& members, std::vector<Status>& statuses) {
    const auto long_one = session();
    std::atomic<bool> computes{false};
    std::atomic<size_t> n_expected{0};
    const auto prompt_thread = std::make_shared<std::thread::id>();
    engine_->backend().set_inspection({.tap_op = 0, .tap = [&](const Tap&) {
                                         if (std::this_thread::get_id() != *prompt_thread) return;
                                         computes = true;
                                         while (engine_->n_sharing() < members.size()) std::this_thread::yield();
                                       }});
    std::thread other([&] {
      *prompt_thread = std::this_thread::get_id();
      EXPECT_TRUE(prefill(*long_one, prompt(8)).ok());
      computes = true;
    });
    while (!computes) std::this_thread::yield();
    std::vector<std::unique_ptr<Caller>> callers;
    std::vector<std::thread> threads;
    statuses.assign(members.size(), {});
    for (const auto& sessions : members) callers.push_back(std::make_unique<Caller>(sessions));
    for (size_t i = 0; i < members.size(); ++i) {
      threads.emplace_back([&, i] { statuses[i] = engine_->decode_step(*callers[i]); });
      while (i + 1 < members.size() && engine_->n_sharing() < i + 1) std::this_thread::yield();
    }
    for (std::thread& thread : threads) thread.join();
    other.join();
    engine_->backend().set_inspection({});
    return callers;
  }
  uint64_t n_steps() const { return engine_->stats().n_decode_steps; }
  std::shared_ptr<Session> begun(int32_t start, int32_t n_tokens) {
    auto s = session({.ignore_end_of_generation = true});
    EXPECT_TRUE(prefill(*s, prompt(n_tokens, start)).ok());
    return s;
  }
};
INLAY_ON_CPU_AND_CUDA(SharedStepsOfEngines);

TEST_P(SharedStepsOfEngines, AreOneForAllThatWait) {
  engine_ = load({.n_context = 128, .max_sessions = 9, .n_threads = 2});
  ASSERT_NE(engine_, nullptr);
  std::vector<std::shared_ptr<Session>> s, alone;
  for (const int32_t start : {3, 40, 70, 90}) {
    s.push_back(begun(start, 20));
    alone.push_back(begun(start, 20));
  }
  const Members members{{s[2].get()}, {s[0].get(), s[3].get()}, {s[1].get()}};
  std::vector<Status> statuses;
  for (int round = 0; round < 3; ++round) {
    const uint64_t before = n_steps();
    const auto callers = step_at_once(members, statuses);
    EXPECT_EQ(n_steps(), before + 1);
    for (size_t i = 0; i < callers.size(); ++i) {
      EXPECT_TRUE(statuses[i].ok()) << statuses[i].message;
      EXPECT_EQ(callers[i]->n_taken, 1);
    }
    const std::vector<int32_t> drawn{callers[1]->events[0].sample.token, callers[2]->events[0].sample.token, callers[0]->events[0].sample.token,
                                     callers[1]->events[1].sample.token};
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(drawn[i], step(*alone[i]).sample.token);
  }
  EXPECT_EQ(engine_->n_sharing(), 0u);
}

TEST_P(SharedStepsOfEngines, TellEachCallOfItsOwnSessions) {
  engine_ = load({.n_context = 128, .max_sessions = 4, .n_threads = 2});
  ASSERT_NE(engine_, nullptr);
  const auto good = begun(3, 20), empty = session();
  std::vector<Status> statuses;
  const auto callers = step_at_once({{good.get()}, {empty.get()}}, statuses);
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].message;
  EXPECT_EQ(good->info().n_tokens, 21);
  EXPECT_EQ(statuses[1].code, Code::invalid_state);
  EXPECT_TRUE(callers[1]->failure.ok()) << "the step itself went well";
}

TEST_P(SharedStepsOfEngines, AreNotForSessionsWithMoreToRun) {
  engine_ = load({.n_context = 128, .max_sessions = 8, .n_threads = 2});
  ASSERT_NE(engine_, nullptr);
  const auto first = begun(3, 20), behind = begun(40, 40), third = begun(90, 20), alone = begun(40, 40);
  const std::vector<int32_t> accepted = prompt(5, 9);
  size_t n = 0;
  ASSERT_TRUE(behind->accept(accepted, n).ok());
  ASSERT_TRUE(alone->accept(accepted, n).ok());
  const uint64_t before = n_steps();
  std::vector<Status> statuses;
  const auto callers = step_at_once({{first.get()}, {behind.get()}, {third.get()}}, statuses);
  for (const Status& status : statuses) EXPECT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(n_steps(), before + 2);
  EXPECT_EQ(callers[1]->events[0].sample.token, step(*alone).sample.token);
}

TEST_P(SharedStepsOfEngines, HaveRoomForAsManyAsTheEngine) {
  engine_ = load({.n_context = 128, .max_sessions = 3, .n_threads = 2});
  ASSERT_NE(engine_, nullptr);
  const auto a = begun(3, 20), b = begun(40, 20);
  std::vector<Status> statuses;
  const uint64_t before = n_steps();
  (void)step_at_once({{a.get()}, {b.get()}}, statuses);
  EXPECT_EQ(n_steps(), before + 1);
  // A device that is lost, or a step in slices that is pending, is told to each call.
  StepEvent event;
  int32_t units_left = 0;
  const std::array<Session*, 1> sliced{a.get()};
  ASSERT_TRUE(engine_->decode_slice(sliced, 0, {&event, 1}, units_left).ok());
  Caller caller({b.get()});
  EXPECT_EQ(engine_->decode_step(caller).code, Code::invalid_state);
  EXPECT_EQ(caller.failure.code, Code::invalid_state);
  ASSERT_TRUE(engine_->decode_abandon(sliced).ok());
  EXPECT_TRUE(engine_->decode_step(caller).ok());
}

// Without an engine: who leads, who is waited for, what a failure leaves.
class NoSession final : public StepCaller {
 public:
  size_t n_sessions() const override { return 1; }
  Session& first_session() const override { throw std::logic_error("not asked for here"); }
  void name_sessions(std::span<Session*>) override {}
  void take_events(const Status&, std::span<Session* const>, std::span<const StepEvent>) override {}
};

const auto everybody = [](StepCaller&) { return true; };

TEST(SharedSteps, ALeaderThatFailsHandsTheLeadOn) {
  SharedSteps steps(8);
  NoSession callers[3];
  uint64_t latest[3] = {};
  std::vector<std::thread> threads;
  std::atomic<int> n_out_of_memory{0}, n_led{0};
  try {
    const SharedSteps::Call leader(steps, callers[0], latest[0]);
    ASSERT_TRUE(leader.leads());
    for (const int i : {1, 2}) {
      threads.emplace_back([&, i] {
        SharedSteps::Call call(steps, callers[i], latest[i]);
        if (call.leads()) {
          ++n_led;
          for (SharedSteps::Call* member : steps.gather(everybody)) member->end({}, false);
        }
        n_out_of_memory += call.take_status().code == Code::out_of_memory;
      });
      while (steps.n_waiting() < static_cast<size_t>(i) + 1) std::this_thread::yield();
    }
    ASSERT_EQ(steps.gather([&](const StepCaller& caller) { return &caller == &callers[1]; }).size(), 2u);
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_out_of_memory, 1) << "of the call that was in the failed step";
  EXPECT_EQ(n_led, 1) << "the one that was not";
  EXPECT_EQ(steps.n_waiting(), 0u);

  // One that fails before it has gathered anybody leaves nothing behind, too.
  try {
    const SharedSteps::Call leader(steps, callers[0], latest[0]);
    throw std::bad_alloc();
  } catch (const std::bad_alloc&) {
  }
  EXPECT_EQ(steps.n_waiting(), 0u);
  SharedSteps::Call call(steps, callers[0], latest[0]);
  EXPECT_TRUE(call.leads());
}

// A step of two takes 100 ms: whoever leads the next one waits for the other, a millisecond at most.
TEST(SharedSteps, ALeaderWaitsForThoseOfTheStepBefore) {
  SharedSteps steps(8);
  NoSession callers[2];
  uint64_t latest[2] = {};
  std::atomic<int> n_steps{0};
  std::atomic<size_t> n_members{0};
  const auto take_part = [&](int i, bool goes_on) {
    SharedSteps::Call call(steps, callers[i], latest[i]);
    if (!call.leads()) return;
    while (n_steps == 0 && steps.n_waiting() < 2) std::this_thread::yield();
    const std::span<SharedSteps::Call*> members = steps.gather(everybody);
    n_members = members.size();
    ++n_steps;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (SharedSteps::Call* member : members) member->end({}, goes_on);
  };
  std::thread other([&] { take_part(1, true); });
  take_part(0, true);
  other.join();
  ASSERT_EQ(n_steps, 1);
  ASSERT_EQ(n_members, 2u);
  EXPECT_NE(latest[0], 0u);
  EXPECT_EQ(latest[0], latest[1]);
  // One comes alone: it is a step of its own, and afterwards nobody is expected.
  const auto begin = std::chrono::steady_clock::now();
  take_part(0, true);
  EXPECT_EQ(n_steps, 2);
  EXPECT_EQ(n_members, 1u);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(101)) << "it waited for the other one";
  EXPECT_EQ(latest[0], 0u);
}

}  // namespace
}  // namespace inlay
