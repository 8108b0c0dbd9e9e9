// Profiles: the arithmetic of the tables and the trace on figures made by hand, then whole steps of a model.
#include "src/profile/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "src/engine/inspect.h"
#include "tests/support/devices.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";

// 100 MB in 100 us is 1000 GB/s, half of what the memory gives.
Profile made_by_hand() {
  Profile p{.device = "a \"GPU\" \\ one",
            .n_tokens = 1,
            .n_past = 7,
            .n_repetitions = 3,
            .step_us = 250,
            .read_bandwidth = 2e12};
  p.ops.push_back({.index = 0, .kind = "embed", .begin_us = 0, .us = 50, .activation_bytes = 1000});
  p.ops.push_back({.index = 1,
                   .kind = "ffn_in",
                   .layer = 0,
                   .begin_us = 50,
                   .us = 100,
                   .weight_bytes = 90'000'000,
                   .kv_bytes = 6'000'000,
                   .activation_bytes = 4'000'000,
                   .flops = 500'000'000});
  p.ops.push_back({.index = 2, .kind = "ffn_in", .layer = 1, .begin_us = 150, .us = 200, .weight_bytes = 100'000'000});
  return p;
}

std::string line_with(const std::string& text, const std::string& start) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.find(start) != std::string::npos) return line;
    at = end + 1;
  }
  return {};
}

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

using Words = std::vector<std::string>;

TEST(Profile, TimelineGivesRatesAndShares) {
  const std::string table = timeline_table(made_by_hand());
  EXPECT_EQ(words(line_with(table, "   1     0")),
            (Words{"1", "0", "ffn_in", "100.00", "90000000", "6000000", "4000000", "1000.0", "50.0"}))
      << table;
  EXPECT_EQ(words(line_with(table, "embed"))[1], "-") << table;
}

TEST(Profile, KindsAreAddedUp) {
  const std::string table = kind_table(made_by_hand());
  EXPECT_EQ(words(line_with(table, "ffn_in")),
            (Words{"ffn_in", "2", "300.0", "85.7", "200000000", "666.7", "33.3", "1666.7"}))
      << table;
  EXPECT_EQ(words(line_with(table, "sum")),
            (Words{"sum", "3", "350.0", "100.0", "200001000", "571.4", "28.6", "1428.6"}))
      << table;
  // The step itself took less than the sum of its ops with times between them.
  EXPECT_EQ(words(line_with(table, "whole step"))[3], "250.0") << table;
}

TEST(Profile, NoTimeIsNoRate) {
  Profile p = made_by_hand();
  p.ops[1].us = 0;
  p.read_bandwidth = 0;
  EXPECT_EQ(words(line_with(timeline_table(p), "   1     0"))[7], "0.0");
  EXPECT_EQ(chrome_trace({&p, 1}).find("inf"), std::string::npos);
}

TEST(Profile, TraceIsJsonThatViewersRead) {
  const Profile both[] = {made_by_hand(), made_by_hand()};
  const auto trace = nlohmann::json::parse(chrome_trace(both));
  const auto& events = trace.at("traceEvents");
  ASSERT_EQ(events.size(), 2 * (2 + 3u));
  EXPECT_EQ(events[0].at("args").at("name"), "1 tokens after 7, a \"GPU\" \\ one");
  const auto& op = events[3];
  EXPECT_EQ(op.at("ph"), "X");
  EXPECT_EQ(op.at("name"), "ffn_in");
  EXPECT_DOUBLE_EQ(op.at("ts"), 50);
  EXPECT_DOUBLE_EQ(op.at("dur"), 100);
  EXPECT_EQ(op.at("args").at("weight_bytes"), 90'000'000);
  EXPECT_DOUBLE_EQ(op.at("args").at("gb_per_s"), 1000);
  EXPECT_DOUBLE_EQ(op.at("args").at("share_of_read_bandwidth"), 0.5);
  EXPECT_NE(events[0].at("pid"), events[5].at("pid"));
  EXPECT_EQ(nlohmann::json::parse(chrome_trace({})).at("traceEvents").size(), 0u);
}

class StepProfile : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    INLAY_SKIP_WITHOUT(GetParam());
    const auto engine =
        Engine::load(kModel, {.device = GetParam(), .n_context = 256, .max_sessions = 2, .n_threads = 2});
    ASSERT_TRUE(engine.ok()) << engine.status().message;
    engine_ = *engine;
  }
  Result<Profile> profile(int32_t n_tokens, int32_t n_past) { return profile_step(*engine_, {n_tokens, n_past, 5}); }

  std::shared_ptr<Engine> engine_;
};

TEST_P(StepProfile, EveryOpHasItsTimeAndBytes) {
  const auto p = profile(1, 100);
  ASSERT_TRUE(p.ok()) << p.status().message;
  ASSERT_EQ(p->ops.size(), engine_->plan().ops.size());
  uint64_t weight_bytes = 0;
  double begin_us = 0;
  for (size_t i = 0; i < p->ops.size(); ++i) {
    const ProfiledOp& op = p->ops[i];
    EXPECT_STREQ(op.kind, op_name(engine_->plan().ops[i].kind));
    EXPECT_GT(op.us, 0) << op.kind;
    EXPECT_DOUBLE_EQ(op.begin_us, begin_us);
    begin_us += op.us;
    weight_bytes += op.weight_bytes;
  }
  EXPECT_GT(weight_bytes, engine_->info().memory.weights / 4);
  EXPECT_GT(p->step_us, 0);
  // Times between the ops cost something, but the same work is measured. What else the machine does may make a single step many times as long.
  bool agrees = false;
  for (int i = 0; i < 50 && !agrees; ++i) {
    const auto again = profile(1, 100);
    ASSERT_TRUE(again.ok()) << again.status().message;
    agrees = again->sum_us() > 0.05 * again->step_us && again->sum_us() < 20 * again->step_us;
  }
  EXPECT_TRUE(agrees) << p->sum_us() << " us of ops, a step of " << p->step_us;
  EXPECT_GT(p->read_bandwidth, 1e8);
  EXPECT_LT(p->read_bandwidth, 1e14);
  EXPECT_GT(p->ops[2].kv_bytes, profile(1, 10)->ops[2].kv_bytes) << "attention after 100 tokens, and after 10";
}

TEST_P(StepProfile, APromptDrawsNothing) {
  const auto one = profile(1, 0), two = profile(2, 0);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_GT(one->ops.back().n_bytes(), 0u);
  EXPECT_EQ(two->ops.back().n_bytes(), 0u);
  EXPECT_GT(two->ops[1].n_bytes(), one->ops[1].n_bytes());
}

TEST_P(StepProfile, LeavesNothingBehind) {
  const auto session = *engine_->create_session({});
  ASSERT_TRUE(profile(1, 30).ok());
  EXPECT_EQ(engine_->stats().n_sessions, 1);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  const auto second = *engine_->create_session({});
  EXPECT_EQ(profile(1, 0).status().code, Code::session_limit) << "negative control: it takes a session";
}

TEST_P(StepProfile, RefusesWhatDoesNotFit) {
  EXPECT_EQ(profile(0, 0).status().code, Code::invalid_argument);
  EXPECT_EQ(profile(1, -1).status().code, Code::invalid_argument);
  EXPECT_EQ(profile(1, 256).status().code, Code::invalid_argument);
  EXPECT_EQ(profile(57, 200).status().code, Code::invalid_argument);
  EXPECT_TRUE(profile(56, 200).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Devices, StepProfile, testing::Values(DeviceKind::cpu, DeviceKind::reference, DeviceKind::cuda),
    [](const auto& test) {
      return std::string(test.param == DeviceKind::cpu ? "cpu" : test.param == DeviceKind::cuda ? "cuda" : "reference");
    });

// The sum over the feed-forward input's ops of each op's least time in all profiles taken so far: other programs only
// add.
class LeastFfnInTime {
 public:
  double us() const { return std::accumulate(us_.begin(), us_.end(), 0.0); }
  void take(Engine& engine, int32_t n_tokens) {
    const auto p = profile_step(engine, {n_tokens, 0, 1});
    ASSERT_TRUE(p.ok()) << p.status().message;
    us_.resize(p->ops.size(), std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < p->ops.size(); ++i)
      us_[i] = engine.plan().ops[i].kind == OpKind::ffn_in ? std::min(us_[i], p->ops[i].us) : 0;
  }

 private:
  std::vector<double> us_;
};

// More tokens take longer, in the ops that work on them: 32 times the work, of which a fifth must show. One thread, in
// turns and until it shows, so that a busy machine needs more profiles instead of failing.
TEST(StepProfileTimes, FollowTheWork) {
  const auto engine =
      Engine::load(kModel, {.device = DeviceKind::reference, .n_context = 256, .max_sessions = 1, .n_threads = 1});
  ASSERT_TRUE(engine.ok());
  LeastFfnInTime one, many;
  for (int attempt = 0; attempt < 40 && (attempt < 2 || many.us() <= 5 * one.us()); ++attempt) {
    ASSERT_NO_FATAL_FAILURE(one.take(**engine, 1));
    ASSERT_NO_FATAL_FAILURE(many.take(**engine, 32));
  }
  EXPECT_GT(many.us(), 5 * one.us());
}

}  // namespace
}  // namespace inlay
