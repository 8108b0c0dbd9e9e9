// inlay_run with NO_WAIT: what a device that computes by itself is given, and when it is collected. The CPU passes for one (Inspection::progress).
#include <gtest/gtest.h>

#include <utility>

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
    engine_->backend().set_inspection({.progress = [this] { return TicketProgress{.is_done = ++n_polls_ % 3 == 0}; }});
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
    engine_->backend().set_inspection({.progress = [&] { return TicketProgress{.is_done = is_done}; }});
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

// The host's budget, where launching and telling take so much of a clock that nothing else moves.
struct HostCosts {
  int64_t op_us, graph_us, token_us;  // graph: of a whole step
};

class HostsBudget : public RequestsWithoutWaiting {
 protected:
  void TearDown() override { queue_.reset(), engine_.reset(); }  // the clock is of this object
  void pass_for_a_slow_host(const HostCosts& costs) {
    load_with({.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32});
    now_ = 1'000'000;
    n_drawn_ = 0;
    is_learning_ = true;
    n_launches_ = n_ops_ = 0;
    queued_us_ = 0;
    engine_->requests().live().set_hooks({.now = [this] { return now_; }, .drew = [this, costs](const Request&, int32_t) { now_ += costs.token_us; }});
    engine_->backend().set_inspection({.progress = [this] { return TicketProgress{.is_done = true, .seconds = 1e-6 * static_cast<double>(std::exchange(queued_us_, 0))}; },
                                       .launch = [this, costs](std::span<const StepUnit> units) {
                                         int64_t n_ops = 0;
                                         for (const StepUnit& unit : units) n_ops += std::max(1, unit.end_op - unit.first_op);
                                         const bool is_whole = units.size() == 1 && n_ops == static_cast<int64_t>(engine_->backend().plan().ops.size());
                                         now_ += is_whole ? costs.graph_us : costs.op_us * n_ops;
                                         queued_us_ += 5 * n_ops;
                                         n_ops_ += n_ops;
                                         ++n_launches_;
                                       }});
  }
  // Of calls until all has ended the longest, behind those in which the engine learns what things take.
  int64_t longest_call(const RunBudget& budget) {
    int64_t longest = 0;
    for (int i = 0; i < 100'000; ++i) {
      const int64_t began = now_;
      const auto result = engine_->requests().run(budget);
      EXPECT_TRUE(result.ok());
      if (n_drawn_ >= 60 && std::exchange(is_learning_, false)) n_launches_ = n_ops_ = 0;
      if (!is_learning_) longest = std::max(longest, now_ - began);
      if (result.ok()) n_drawn_ += result->n_tokens;
      poll();
      if (!result.ok() || result->n_requests == 0) return longest;
    }
    ADD_FAILURE() << "requests do not come to an end";
    return 0;
  }

  int64_t now_ = 0;
  int64_t n_launches_ = 0, n_ops_ = 0, queued_us_ = 0;
  int32_t n_drawn_ = 0;
  bool is_learning_ = true;
};
INSTANTIATE_TEST_SUITE_P(cpu, HostsBudget, testing::Values(DeviceKind::cpu), [](const auto&) { return std::string("cpu"); });

TEST_P(HostsBudget, BoundsWhatACallTakesOfItsThread) {
  const HostCosts costs{.op_us = 10, .graph_us = 150, .token_us = 40};
  const int64_t of_tokens = 3 * costs.token_us;
  const Plan& plan = engine_->backend().plan();
  const auto n_all_ops = static_cast<int64_t>(plan.ops.size());
  int64_t longest_unit = 0;
  for (const StepUnit& unit : step_units(plan)) longest_unit = std::max<int64_t>(longest_unit, costs.op_us * std::max(1, unit.end_op - unit.first_op));
  struct Row {
    int64_t us, host_us, longest;
    bool cuts;  // steps into several launches
  };
  const Row rows[] = {
      {1'000'000, 0, 150 + of_tokens, false},           // a step as a whole, behind the end of another
      {1'000'000, 200, 200, false},                     // one of the two
      {1'000'000, 145, 145, true},                      // as many units as fit
      {0, 145, 145, true},                              // likewise without a bound on the device
      {0, 1, std::max(longest_unit, of_tokens), true},  // the first thing always goes
      {60, 200, 200, true},                             // of the device as many units as fit
  };
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  for (const Row& row : rows) {
    const std::string what = std::to_string(row.us) + " and " + std::to_string(row.host_us);
    pass_for_a_slow_host(costs);
    collected_.clear();
    const std::vector<std::vector<int32_t>> prompts{prompt(15), prompt(70, 50), prompt(33, 90)};
    std::vector<uint64_t> ids;
    for (const auto& tokens : prompts) ids.push_back(submit(tokens, plain(40)));
    const int64_t longest = longest_call({.us = row.us, .host_us = row.host_us, .no_wait = true});
    EXPECT_LE(longest, row.longest) << what;
    EXPECT_EQ(n_ops_ < n_launches_ * n_all_ops, row.cuts) << what << ": " << n_ops_ << " ops in " << n_launches_ << " launches";
    for (size_t i = 0; i < ids.size(); ++i) expect_as_alone(collected_[ids[i]], alone(*other, prompts[i], plain(40).session), what);
  }
}

// A launch that the call waits for takes 50 us beside its ops: a step in units takes twice as long as one as a whole.
TEST_P(HostsBudget, CallsThatWaitTakeFewLaunchesAndNoLonger) {
  constexpr int64_t kLaunchUs = 50;
  const std::vector<StepUnit> units = step_units(engine_->backend().plan());
  const auto n_all_ops = static_cast<int64_t>(engine_->backend().plan().ops.size()), n_units = static_cast<int64_t>(units.size());
  const int64_t ops_us = kLaunchUs * n_units, whole_us = ops_us + kLaunchUs;
  const auto us_of = [&](int64_t n_ops) { return kLaunchUs + ops_us * n_ops / n_all_ops; };
  const auto n_ops_of = [](const StepUnit& unit) -> int64_t { return std::max(1, unit.end_op - unit.first_op); };
  int64_t longest_unit_us = 0;  // the first one of a call always goes
  for (const StepUnit& unit : units) longest_unit_us = std::max(longest_unit_us, us_of(n_ops_of(unit)));
  struct Row {
    int64_t budget_us;
    double n_launches;  // of a step, at most
  };
  const Row rows[] = {{whole_us / 2, n_units + 0.1}, {3 * whole_us, n_units - 0.5}, {20 * whole_us, 1.5}};
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  for (const auto& [budget_us, n_launches] : rows) {
    const std::string what = "budget " + std::to_string(budget_us) + ", a step " + std::to_string(whole_us);
    pass_for_a_slow_host({});
    engine_->backend().set_inspection({.launch = [&](std::span<const StepUnit> launched) {
      int64_t n_ops = 0;
      for (const StepUnit& unit : launched) n_ops += n_ops_of(unit);
      now_ += us_of(n_ops);
      n_ops_ += n_ops;
      ++n_launches_;
    }});
    collected_.clear();
    const std::vector<std::vector<int32_t>> prompts{prompt(15), prompt(20, 50), prompt(13, 90)};
    std::vector<uint64_t> ids;
    for (const auto& tokens : prompts) ids.push_back(submit(tokens, plain(60)));
    EXPECT_LE(longest_call({.us = budget_us}), std::max(budget_us, longest_unit_us)) << what;
    EXPECT_LE(static_cast<double>(n_launches_ * n_all_ops) / static_cast<double>(n_ops_), n_launches) << what;
    for (size_t i = 0; i < ids.size(); ++i) expect_as_alone(collected_[ids[i]], alone(*other, prompts[i], plain(60).session), what);
  }
}

}  // namespace
}  // namespace inlay
