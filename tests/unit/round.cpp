// The order of work under a virtual clock: schedules of arrivals, cancels and a small pool, played from a seed.
#include "src/engine/round.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <string>

namespace inlay {
namespace {

using State = PlannedRequest::State;

void plan_round(std::span<const PlannedRequest> requests, const RoundLimits& limits, int64_t now, Round& out) {
  RoundPlanner().plan(requests, limits, now, out);
}

constexpr int32_t kBlock = 16;

struct Job {
  PlannedRequest view;
  uint64_t id = 0;
  int32_t n_answer = 0;      // tokens that it draws in all
  int32_t n_answered = 0;
  int64_t began = -1, ended = -1;
  int32_t n_put_out = 0;
  bool draws = true;  // else it ends when all of it is computed
};

// Requests that come, run, give way and end. What a step takes is a formula; what it did is checked at every step.
class World {
 public:
  World(const RoundLimits& limits, uint32_t seed) : limits_(limits), random_(seed) {}

  void submit(int32_t n_prompt, int32_t n_answer, int32_t priority, int64_t deadline = INT64_MAX) {
    Job job;
    job.id = next_id_++;
    job.n_answer = n_answer;
    job.view = {.priority = priority, .submitted = now_, .waiting_since = now_, .deadline = deadline, .n_tokens = n_prompt};
    jobs_.push_back(job);
  }
  // One that only computes its tokens, as a whole or in chunks.
  void submit_vector(int32_t n_tokens, bool is_whole, int32_t priority) {
    submit(n_tokens, 0, priority);
    jobs_.back().draws = false;
    jobs_.back().view.is_whole = is_whole;
    jobs_.back().view.n_most = n_tokens;
  }
  void cancel(size_t i) {
    ended_.push_back(jobs_[i]);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  // One round; false: nobody is there. `spoil`: changes what was planned.
  bool step(const std::function<void(const std::deque<Job>&, Round&)>& spoil = {}) {
    if (jobs_.empty()) return false;
    std::vector<PlannedRequest> views;
    for (const Job& job : jobs_) views.push_back(job.view);
    limits_.n_free = limits_.n_blocks - n_used();
    Round round, again;
    plan_round(views, limits_, now_, round);
    plan_round(views, limits_, now_, again);
    expect(same(round, again), "the same requests and the same time give another round");
    if (spoil) spoil(jobs_, round);
    apply(round);
    return true;
  }

  const std::deque<Job>& jobs() const { return jobs_; }
  const std::vector<Job>& ended() const { return ended_; }
  int64_t now() const { return now_; }
  void pass(int64_t time) { now_ += time; }
  std::mt19937& random() { return random_; }
  int32_t below(int32_t n) { return static_cast<int32_t>(random_() % static_cast<uint32_t>(n)); }
  const std::string& fault() const { return fault_; }  // the first one; empty: none
  int32_t n_put_out() const { return n_put_out_; }
  int32_t n_mixed() const { return n_mixed_; }
  int32_t n_whole() const { return n_whole_; }
  int32_t n_beyond() const { return n_beyond_; }  // steps with more of prompts than they may have, for one that is whole

 private:
  static bool same(const Round& a, const Round& b) {
    const auto part = [](const Round::Part& x, const Round::Part& y) { return x.request == y.request && x.n_tokens == y.n_tokens && x.draws == y.draws; };
    return std::ranges::equal(a.parts, b.parts, part) && a.put_out == b.put_out && a.begun == b.begun && a.asks == b.asks;
  }
  void expect(bool holds, const std::string& what) {
    if (!holds && fault_.empty()) fault_ = what + " at " + std::to_string(now_);
  }
  int32_t n_used() const {
    int32_t n = 0;
    for (const Job& job : jobs_) n += job.view.n_blocks;
    return n;
  }
  static int32_t blocks_for(int32_t n) { return (n + kBlock - 1) / kBlock; }

  void apply(const Round& round) {
    for (const size_t i : round.put_out) {
      Job& job = jobs_[i];
      expect(job.view.state == State::running, "what does not run is put out");
      expect(job.view.n_drawn >= limits_.min_drawn, "put out again before it has drawn its tokens");
      job.view.state = State::resting;
      job.view.waiting_since = now_;
      job.view.n_cached = job.view.n_blocks = job.view.n_drawn = 0;
      ++job.n_put_out, ++n_put_out_;
    }
    for (const size_t i : round.begun) {
      Job& job = jobs_[i];
      expect(job.view.state != State::running, "what runs begins");
      expect_its_turn(i, round);
      job.view.state = State::running;
      job.view.n_blocks = blocks_for(std::min(job.view.n_most, job.view.n_tokens + limits_.min_drawn));
      if (job.began < 0) job.began = now_;
    }
    expect(std::ranges::count(jobs_, State::running, [](const Job& job) { return job.view.state; }) <= limits_.max_sequences, "too many run");
    int32_t n_tokens = 0, n_prompt = 0, n_rows = 0, n_chunks = 0, n_most_of_whole = 0;
    std::vector<bool> has_part(jobs_.size());
    for (const Round::Part& part : round.parts) {
      Job& job = jobs_[part.request];
      expect(job.view.state == State::running, "a part of what does not run");
      expect(!has_part[part.request], "two parts of one request");
      has_part[part.request] = true;
      const bool is_row = job.view.n_tokens - job.view.n_cached == 1;
      (is_row ? n_rows : n_prompt) += part.n_tokens;
      n_chunks += is_row ? 0 : 1;
      if (job.view.is_whole) {
        expect(part.n_tokens == job.view.n_tokens && job.view.n_cached == 0, "a part of what is whole");
        n_most_of_whole = part.n_tokens;
        n_whole_ += is_row ? 0 : 1;
      }
      n_tokens += part.n_tokens;
      job.view.waiting_since = now_;
      job.view.n_cached += part.n_tokens;
      job.view.n_blocks = std::max(job.view.n_blocks, blocks_for(job.view.n_cached));
      expect(part.draws == (job.view.n_cached == job.view.n_tokens && !job.view.is_unread), "draws where it cannot, or does not where it can");
      if (!part.draws || !job.draws) continue;
      ++job.view.n_tokens, ++job.view.n_drawn, ++job.n_answered;
    }
    expect(n_tokens <= limits_.max_step_tokens && round.parts.size() <= static_cast<size_t>(limits_.max_sequences), "a step is too large");
    expect(n_prompt <= std::max(limits_.max_prompt_tokens, 1) || (n_chunks == 1 && n_prompt == n_most_of_whole), "too much of prompts");
    if (n_prompt > limits_.max_prompt_tokens) ++n_beyond_;
    expect(n_used() <= limits_.n_blocks, "more blocks than there are");
    n_mixed_ += n_rows > 0 && n_prompt > 0 ? 1 : 0;
    now_ += 500 + 20 * n_rows + 10 * n_prompt;
    for (size_t i = jobs_.size(); i-- > 0;) {
      const Job& job = jobs_[i];
      if (job.draws ? job.n_answered < job.n_answer : job.view.n_cached < job.view.n_tokens) continue;
      jobs_[i].ended = now_;
      cancel(i);
    }
    n_idle_ = n_tokens == 0 ? n_idle_ + 1 : 0;
    expect(n_idle_ < 3, "nothing goes on");
  }

  // Nobody who still waits comes before it.
  void expect_its_turn(size_t i, const Round& round) {
    const auto key = [&](const Job& job) {
      const int64_t n_levels = (now_ - job.view.waiting_since) / limits_.age;  // more than there are: before all that have a deadline to come
      const int64_t deadline = n_levels > kTopLevel ? std::min(job.view.deadline, job.view.waiting_since + (kTopLevel + 1) * limits_.age) : job.view.deadline;
      return std::tuple(-level_of(job.view, now_, limits_.age), job.view.state != State::resting, deadline, job.view.submitted);
    };
    for (size_t k = 0; k < jobs_.size(); ++k) {
      if (jobs_[k].view.state == State::running || std::ranges::find(round.begun, k) != round.begun.end()) continue;
      if (std::ranges::find(round.put_out, k) != round.put_out.end()) continue;
      expect(!(key(jobs_[k]) < key(jobs_[i])), "a waiting request is passed over");
    }
  }

  RoundLimits limits_;
  std::mt19937 random_;
  std::deque<Job> jobs_;
  std::vector<Job> ended_;
  uint64_t next_id_ = 0;
  int64_t now_ = 0;
  int32_t n_put_out_ = 0, n_mixed_ = 0, n_idle_ = 0, n_whole_ = 0, n_beyond_ = 0;
  std::string fault_;
};

RoundLimits usual() {
  return {.max_sequences = 8, .max_step_tokens = 256, .max_prompt_tokens = 192, .block_tokens = kBlock, .n_blocks = 200, .n_free = 200};
}

TEST(Round, RandomSchedulesKeepTheRulesAndEnd) {
  int32_t n_put_out = 0, n_mixed = 0, n_whole = 0, n_beyond = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    RoundLimits limits = usual();
    if (seed % 2 == 1) limits.n_blocks = 44;  // a quarter of what they would take, and a whole request at least
    World world(limits, seed);
    for (int32_t round = 0; round < 300; ++round) {
      for (int32_t n = world.below(4) == 0 ? world.below(4) : 0; n > 0; --n) {
        const int64_t deadline = world.below(3) == 0 ? world.now() + world.below(1'000'000) : INT64_MAX;
        const int32_t priority = world.below(kTopLevel + 1);
        const bool is_vector = world.below(4) == 0, is_whole = world.below(2) == 0;
        is_vector ? world.submit_vector(1 + world.below(248), is_whole, priority) : world.submit(1 + world.below(300), 1 + world.below(120), priority, deadline);
      }
      if (world.below(40) == 0 && !world.jobs().empty()) world.cancel(static_cast<size_t>(world.below(static_cast<int32_t>(world.jobs().size()))));
      world.step();
      if (world.below(8) == 0) world.pass(world.below(200'000));
    }
    for (int32_t round = 0; round < 200'000 && world.step(); ++round) {
    }
    ASSERT_EQ(world.fault(), "") << "seed " << seed;
    EXPECT_TRUE(world.jobs().empty()) << "seed " << seed << ": " << world.jobs().size() << " never end";
    n_put_out += world.n_put_out(), n_mixed += world.n_mixed(), n_whole += world.n_whole(), n_beyond += world.n_beyond();
  }
  EXPECT_GT(n_put_out, 25) << "the pool was never short";
  EXPECT_GT(n_mixed, 150) << "prompts never rode with decode rows";
  EXPECT_GT(n_whole, 150);
  EXPECT_GT(n_beyond, 20) << "no text that cannot be cut was longer than what a step may have of prompts";
}

TEST(Round, WrongPlansAreNoticed) {
  const auto waits = [](const Job& job) { return job.view.state == State::waiting; };
  const struct {
    const char* fault;
    std::function<void(const std::deque<Job>&, Round&)> spoil;
  } kinds[] = {
      {"two parts of one request", [](auto&, Round& r) { if (!r.parts.empty()) r.parts.push_back(r.parts[0]); }},
      {"a part of what does not run", [&](auto& jobs, Round& r) {
         for (size_t i = 0; i < jobs.size(); ++i) if (waits(jobs[i]) && std::ranges::find(r.begun, i) == r.begun.end()) r.parts.push_back({i, 1, false});
       }},
      {"draws where it cannot", [](auto&, Round& r) { if (!r.parts.empty()) r.parts[0].draws = !r.parts[0].draws; }},
      {"a waiting request is passed over", [&](auto& jobs, Round& r) {
         for (size_t i = jobs.size(); i-- > 0 && !r.begun.empty();) {
           if (waits(jobs[i]) && jobs[i].view.priority == 0 && std::ranges::find(r.begun, i) == r.begun.end()) r.begun.back() = i;
         }
       }},
      {"put out again before", [](auto& jobs, Round& r) { if (jobs[0].view.state == State::running && jobs[0].view.n_drawn == 3) r.parts.clear(), r.put_out.push_back(0); }},
      {"a part of what is whole", [](auto& jobs, Round& r) {
         for (Round::Part& part : r.parts) if (jobs[part.request].view.is_whole && part.n_tokens > 1) --part.n_tokens, part.draws = false;
       }},
      {"nothing goes on", [](auto&, Round& r) { r = {}; }},
  };
  for (const auto& kind : kinds) {
    RoundLimits limits = usual();
    limits.max_sequences = 3;
    World world(limits, 9);
    for (int32_t i = 0; i < 12; ++i) i == 2 ? world.submit_vector(40, true, 2) : world.submit(40, 20, i % 3);
    for (int32_t round = 0; round < 60 && world.fault().empty(); ++round) world.step(kind.spoil);
    EXPECT_EQ(world.fault().find(kind.fault), 0u) << kind.fault << ": " << world.fault();
  }
}

// How long one request of the lowest level waits while others of the highest never end to come.
int64_t wait_under_load(int64_t age) {
  RoundLimits limits = usual();
  limits.age = age;
  World world(limits, 3);
  for (int32_t i = 0; i < 8; ++i) world.submit(50, 40, kTopLevel);
  world.step();
  world.submit(50, 4, 0);
  for (int32_t round = 0; round < 30'000; ++round) {
    while (world.jobs().size() < 24) world.submit(50, 40, kTopLevel);
    world.step();
    const auto low = std::ranges::find(world.jobs(), uint64_t{8}, &Job::id);
    if (low == world.jobs().end() || low->began >= 0) break;
  }
  EXPECT_EQ(world.fault(), "");
  const auto low = std::ranges::find(world.jobs(), uint64_t{8}, &Job::id);
  return low == world.jobs().end() || low->began >= 0 ? world.now() : INT64_MAX;
}

TEST(Round, WaitingHasABoundUnderEndlessLoad) {
  // At the top it comes behind those that were submitted before it reached it, at most 16 of 40 tokens, eight at a time.
  const int64_t age = 10'000;
  EXPECT_LE(wait_under_load(age), kTopLevel * age + 4 * 60'000);
  EXPECT_EQ(wait_under_load(INT64_MAX / 16), INT64_MAX) << "negative control: without what it gains by waiting it never begins";
}

// However slow a step is: all that wait have risen to the top long before those that run have ended.
TEST(Round, WhoGainedByWaitingPutsOutNoEqual) {
  RoundLimits limits = usual();
  limits.max_sequences = 3;
  limits.age = 1;
  World world(limits, 4);
  for (int32_t i = 0; i < 12; ++i) world.submit(40, 100, 2);
  for (int32_t i = 0; i < 3; ++i) world.step();
  world.submit(40, 10, 1);  // less important, and waits as long
  while (world.step()) {
  }
  EXPECT_EQ(world.fault(), "");
  EXPECT_EQ(world.ended().size(), 13u);
  EXPECT_EQ(world.n_put_out(), 0);
}

TEST(Round, ShortOfBlocksTheLeastImportantGivesWayAndComesBackFirst) {
  RoundLimits limits = usual();
  limits.n_blocks = 20;
  World world(limits, 1);
  world.submit(60, 200, 1);
  world.submit(60, 200, 1);
  for (int32_t i = 0; i < 30; ++i) world.step();
  ASSERT_EQ(world.n_put_out(), 0);
  world.submit(200, 20, 5);  // wants 13 blocks
  world.step();
  ASSERT_EQ(world.fault(), "");
  EXPECT_EQ(world.n_put_out(), 1);
  EXPECT_EQ(world.jobs()[1].n_put_out, 1) << "the later one of two equals";
  EXPECT_GE(world.jobs()[2].began, 0);
  world.submit(10, 5, 1);  // of the same level: behind the one that was put out
  while (world.step()) {
  }
  EXPECT_EQ(world.fault(), "");
  EXPECT_EQ(world.ended().size(), 4u);
}

TEST(Round, WhoIsUnreadDrawsNothingAndLosesNothing) {
  const RoundLimits limits = usual();
  std::vector<PlannedRequest> requests(2);
  for (PlannedRequest& r : requests) r = {.state = State::running, .priority = 3, .n_cached = 20, .n_tokens = 21, .n_blocks = 2, .n_drawn = 40};
  requests[1].submitted = 1;
  requests[0].is_unread = true;
  Round round;
  plan_round(requests, limits, 100, round);
  ASSERT_EQ(round.parts.size(), 1u);
  EXPECT_EQ(round.parts[0].request, 1u);
  EXPECT_TRUE(round.put_out.empty());
  requests[0].is_unread = false;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.parts.size(), 2u) << "negative control";
}

// Also to one of a lower level, and before it has drawn its tokens: nobody knows when it is polled.
TEST(Round, WhoIsUnreadGivesWay) {
  RoundLimits limits = usual();
  limits.max_sequences = 1;
  std::vector<PlannedRequest> requests(2);
  requests[0] = {.state = State::running, .priority = 5, .n_cached = 20, .n_tokens = 21, .n_blocks = 2, .n_drawn = 1, .is_unread = true};
  requests[1] = {.priority = 0, .submitted = 1, .n_tokens = 10};
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.put_out, std::vector<size_t>{0});
  EXPECT_EQ(round.begun, std::vector<size_t>{1});
  requests[0].is_unread = false;
  plan_round(requests, limits, 100, round);
  EXPECT_TRUE(round.put_out.empty()) << "negative control";
}

// As where a call with a budget comes behind calls without one, on a device that cuts steps of fewer sequences alone.
TEST(Round, NoMoreRunThanAStepMayHave) {
  RoundLimits limits = usual();
  limits.max_sequences = 4;
  std::vector<PlannedRequest> requests(4);
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i] = {.state = State::running, .priority = 3, .submitted = static_cast<int64_t>(i), .n_cached = 20, .n_tokens = 21, .n_blocks = 2, .n_drawn = 1};
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.parts.size(), 4u) << "negative control";
  EXPECT_TRUE(round.put_out.empty()) << "negative control";
  limits.max_sequences = 2;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.parts.size(), 2u);
  EXPECT_EQ(round.put_out, (std::vector<size_t>{3, 2}));
  requests[0].is_unread = true;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.parts.size(), 2u);
  EXPECT_EQ(round.put_out, (std::vector<size_t>{0, 3}));
}

// Blocks that others use as well do not become free.
TEST(Round, SharedBlocksMakeNoRoom) {
  RoundLimits limits = usual();
  limits.n_free = 0;
  std::vector<PlannedRequest> requests(2);
  requests[0] = {.state = State::running, .priority = 1, .n_cached = 100, .n_tokens = 101, .n_blocks = 9, .n_drawn = 20};
  requests[1] = {.priority = 7, .submitted = 1, .n_tokens = 100};  // wants 8 blocks
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.begun, std::vector<size_t>{1});
  requests[0].n_shared = 3;
  plan_round(requests, limits, 100, round);
  EXPECT_TRUE(round.begun.empty() && round.put_out.empty());
}

// Of its 8 blocks request 1 finds 5 that request 0 has.
TEST(Round, WhoFindsBlocksOfOneThatRunsLacksTheOthers) {
  RoundLimits limits = usual();
  limits.n_free = 3;
  std::vector<PlannedRequest> requests(2);
  requests[0] = {.state = State::running, .n_cached = 80, .n_tokens = 81, .n_blocks = 9, .n_drawn = 20};
  requests[1] = {.submitted = 1, .n_tokens = 100, .n_found = PlannedRequest::kNotLookedFor};
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.asks, 1u);
  EXPECT_TRUE(round.begun.empty());
  for (const int32_t n_found : {4, 5}) {
    requests[1].n_found = n_found;
    plan_round(requests, limits, 100, round);
    EXPECT_EQ(round.asks, Round::kNone);
    EXPECT_EQ(round.begun.size(), n_found == 5 ? 1u : 0u);
  }
  requests[1].n_found = PlannedRequest::kNotLookedFor;
  limits.n_free = 8;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.asks, Round::kNone) << "where there is room nobody has to look";
  EXPECT_EQ(round.begun, std::vector<size_t>{1});
}

// Request 2 begins with 5 blocks of request 0. When that one goes, these are not free.
TEST(Round, BlocksThatOneBeginsWithMakeNoRoom) {
  RoundLimits limits = usual();
  limits.n_free = 0;
  std::vector<PlannedRequest> requests(3);
  requests[0] = {.state = State::running, .submitted = 5, .n_cached = 80, .n_tokens = 81, .n_blocks = 8, .n_drawn = 20};  // the last, so the first to go
  requests[1] = {.state = State::running, .submitted = 1, .n_cached = 20, .n_tokens = 21, .n_blocks = 4, .n_drawn = 20};
  requests[2] = {.priority = 7, .submitted = 6, .n_tokens = 100, .n_found = 5, .found_at = 0};  // 8 blocks
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.put_out, std::vector<size_t>{0}) << "in the usual order: 3 of its blocks are free";
  EXPECT_EQ(round.begun, std::vector<size_t>{2});
  requests[0].n_blocks = 7;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.put_out, (std::vector<size_t>{0, 1}));
  requests[0].n_blocks = 5;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.put_out, std::vector<size_t>{1}) << "nobody goes for nothing";
  EXPECT_EQ(round.begun, std::vector<size_t>{2});
  requests[0].n_blocks = 8;
  requests[0].n_shared = 5;  // a session that rests has the same ones
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.put_out, std::vector<size_t>{0});
  requests[0].n_shared = 0;
  // A later one lacks 3 blocks. Of request 0 it gets what the first one leaves.
  requests.push_back({.priority = 6, .submitted = 7, .n_tokens = 30});
  limits.n_free = 3;
  requests[1] = {.state = State::running, .priority = 7, .submitted = 1, .n_cached = 20, .n_tokens = 21, .n_blocks = 2, .n_drawn = 20};
  for (const int32_t n_blocks : {7, 8}) {
    requests[0].n_blocks = n_blocks;
    plan_round(requests, limits, 100, round);
    EXPECT_EQ(round.begun.size(), n_blocks == 8 ? 2u : 1u) << n_blocks;
    EXPECT_EQ(round.put_out.size(), n_blocks == 8 ? 1u : 0u) << n_blocks;
  }
}

// Then its blocks are free, and who begins with them takes them from there.
TEST(Round, WhoWasPutOutHasNothingThatOthersBeginWith) {
  RoundLimits limits = usual();
  limits.n_free = 0;
  std::vector<PlannedRequest> requests(3);
  requests[0] = {.state = State::running, .n_cached = 160, .n_tokens = 161, .n_blocks = 12, .n_drawn = 20};
  requests[1] = {.priority = 7, .submitted = 1, .n_tokens = 100};  // 8 blocks, and 4 are left
  requests[2] = {.priority = 6, .submitted = 2, .n_tokens = 100, .n_found = 5, .found_at = 0};
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.put_out, std::vector<size_t>{0});
  EXPECT_EQ(round.begun, std::vector<size_t>{1});
  requests[1].n_tokens = 40;  // 4 blocks, and 8 are left
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.begun, (std::vector<size_t>{1, 2})) << "negative control";
}

// Where all that it can find is too little.
TEST(Round, NobodyIsAskedInVain) {
  RoundLimits limits = usual();
  limits.n_free = 1;
  std::vector<PlannedRequest> requests(2);
  requests[0] = {.state = State::running, .priority = 7, .n_cached = 80, .n_tokens = 81, .n_blocks = 9, .n_drawn = 20};
  requests[1] = {.submitted = 1, .n_tokens = 100, .n_found = PlannedRequest::kNotLookedFor};  // finds 6 at most, lacks 8
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.asks, Round::kNone);
  limits.n_free = 2;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.asks, 1u);
  limits.max_sequences = 1;  // no place
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.asks, Round::kNone);
  requests[0].priority = 0;
  requests[1].priority = 7;
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.asks, 1u);
}

// Neither for its place nor for its blocks.
TEST(Round, NobodyIsPutOutForOneThatDoesNotBegin) {
  RoundLimits limits = usual();
  limits.max_sequences = 2;
  limits.n_free = 1;
  std::vector<PlannedRequest> requests(3);
  requests[0] = {.state = State::running, .priority = 0, .n_cached = 20, .n_tokens = 21, .n_blocks = 2, .n_drawn = 20};
  requests[1] = {.state = State::running, .priority = 7, .submitted = 1, .n_cached = 20, .n_tokens = 21, .n_blocks = 2, .n_drawn = 20};
  requests[2] = {.priority = 5, .submitted = 2, .waiting_since = 100, .n_tokens = 40};  // wants 4 blocks
  Round round;
  plan_round(requests, limits, 100, round);
  EXPECT_TRUE(round.put_out.empty() && round.begun.empty());
  requests[2].n_tokens = 20;  // 3 blocks
  plan_round(requests, limits, 100, round);
  EXPECT_EQ(round.put_out, std::vector<size_t>{0}) << "negative control";
  EXPECT_EQ(round.begun, std::vector<size_t>{2}) << "negative control";
}

size_t first_in_round(std::span<const PlannedRequest> requests, const RoundLimits& limits, int64_t now) {
  Round round;
  plan_round(requests, limits, now, round);
  return round.parts.empty() ? requests.size() : round.parts[0].request;
}

// Else it would hold its place and its blocks without end, below prompts that come and come.
TEST(Round, WhoComputesItsPromptRisesAsWhoWaits) {
  RoundLimits limits = usual();
  limits.max_prompt_tokens = 32;
  const int64_t now = 6 * limits.age;
  std::vector<PlannedRequest> requests(2);
  requests[0] = {.state = State::running, .priority = 0, .n_tokens = 100, .n_blocks = 9};
  requests[1] = {.state = State::running, .priority = 4, .submitted = 1, .waiting_since = now, .n_tokens = 100, .n_blocks = 9};
  EXPECT_EQ(first_in_round(requests, limits, now), 0u);
  requests[0].waiting_since = now - 3 * limits.age;
  EXPECT_EQ(first_in_round(requests, limits, now), 1u) << "negative control";
}

// At the top those that have a deadline come and come, and one without is not behind them for ever.
TEST(Round, DeadlinesHoldNobodyUpForEver) {
  RoundLimits limits = usual();
  limits.max_sequences = 1;
  const int64_t now = 9 * limits.age;
  for (const State state : {State::waiting, State::running}) {
    std::vector<PlannedRequest> requests(2);
    requests[0] = {.state = state, .priority = 7, .submitted = 5, .waiting_since = now, .deadline = now + 10, .n_tokens = 300, .n_blocks = 20};
    requests[1] = {.state = state, .priority = 0, .submitted = 1, .waiting_since = now - 8 * limits.age, .n_tokens = 300, .n_blocks = 20};
    if (state == State::running) limits.max_sequences = 2;
    EXPECT_EQ(first_in_round(requests, limits, now), 1u);
    requests[1].waiting_since = now - 7 * limits.age;
    EXPECT_EQ(first_in_round(requests, limits, now), 0u) << "negative control: at the top, but not for long";
  }
}

// What may be computed in the time of a step is all of it, but prompts have a few tokens in any case.
TEST(Round, DrawnTokensCountInTheTimeOfAStep) {
  RoundLimits limits = usual();
  limits.max_sequences = 64;
  std::vector<PlannedRequest> requests(41);
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i] = {.state = State::running, .submitted = static_cast<int64_t>(i), .n_cached = 20, .n_tokens = 21, .n_blocks = 8, .n_drawn = 1};
  requests[40].n_cached = 0, requests[40].n_tokens = 100;
  const auto chunk = [&](int32_t max_timed_tokens) {
    limits.max_timed_tokens = max_timed_tokens;
    Round round;
    plan_round(requests, limits, 100, round);
    EXPECT_EQ(round.parts.size(), 41u);
    return round.parts.back().n_tokens;
  };
  EXPECT_EQ(chunk(64), 24);
  EXPECT_EQ(chunk(30), limits.least_chunk);
  EXPECT_EQ(chunk(1000), std::min(100, limits.max_prompt_tokens));
}

// Of texts that cannot be cut: the first has all the room that a step has, one behind it waits until it fits, a short one goes along.
TEST(Round, WhatIsWholeIsNotCut) {
  RoundLimits limits = usual();
  limits.max_prompt_tokens = 50;
  std::vector<PlannedRequest> requests(3);
  const int32_t lengths[] = {80, 30, 20};
  for (size_t i = 0; i < 3; ++i) requests[i] = {.submitted = static_cast<int64_t>(i), .n_tokens = lengths[i], .n_most = lengths[i], .is_whole = true};
  const auto planned = [&] {
    Round round;
    plan_round(requests, limits, 10, round);
    std::vector<std::pair<size_t, int32_t>> out;
    for (const Round::Part& part : round.parts) out.emplace_back(part.request, part.n_tokens);
    return out;
  };
  using Parts = std::vector<std::pair<size_t, int32_t>>;
  EXPECT_EQ(planned(), (Parts{{0, 80}}));
  requests[0].submitted = 9;
  EXPECT_EQ(planned(), (Parts{{1, 30}, {2, 20}}));
  requests[2].n_tokens = requests[2].n_most = 21;
  EXPECT_EQ(planned(), (Parts{{1, 30}}));
  requests[2].submitted = 10, requests[0].n_tokens = requests[0].n_most = 19;
  EXPECT_EQ(planned(), (Parts{{1, 30}, {0, 19}})) << "nothing is left for the last one";
  requests[1].is_whole = requests[2].is_whole = false;
  EXPECT_EQ(planned(), (Parts{{1, 30}, {0, 19}, {2, 1}})) << "negative control: others are cut";
}

TEST(Round, AtOneLevelTheNearerDeadlineComesFirst) {
  RoundLimits limits = usual();
  limits.max_sequences = 1;
  std::vector<PlannedRequest> requests(3);
  for (size_t i = 0; i < 3; ++i) requests[i] = {.priority = 2, .submitted = static_cast<int64_t>(i), .n_tokens = 10};
  requests[2].deadline = 5000;
  Round round;
  plan_round(requests, limits, 10, round);
  EXPECT_EQ(round.begun, std::vector<size_t>{2});
  requests[1].priority = 3;
  plan_round(requests, limits, 10, round);
  EXPECT_EQ(round.begun, std::vector<size_t>{1}) << "a level counts more";
}

}  // namespace
}  // namespace inlay
