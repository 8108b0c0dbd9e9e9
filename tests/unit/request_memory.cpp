// Memory that runs out for a moment while requests are computed: each has its one end, and nothing that they held is lost.
#include <gtest/gtest.h>

#include <array>
#include <new>
#include <random>

#include "src/engine/requests.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

using test::Collected;

class RequestMemory : public test::EngineRequests {
 protected:
  std::vector<uint64_t> submit_all(const std::shared_ptr<Session>& session) {
    std::vector<uint64_t> ids;
    RequestOptions own = plain(6);
    own.continues = session;
    for (int turn = 0; turn < 2; ++turn) ids.push_back(submit(prompt(10, turn), own));
    RequestOptions stops = plain(40);
    stops.session.stops = {std::string(200, 'x'), "never"};
    ids.push_back(submit(prompt(40, 7), stops));
    ids.push_back(submit(prompt(40, 7), plain(20)));
    return ids;
  }

  int32_t below(int32_t n) { return static_cast<int32_t>(random_() % static_cast<uint32_t>(n)); }
  // The call, in which an allocation may fail; false: it threw.
  template <class Call>
  bool short_of_memory(const Call& call) {
    test::fail_allocation(below(3) > 0 ? 0 : 1 + below(below(2) == 0 ? 2 : 10));
    bool is_done = true;
    try {
      call();
    } catch (const std::bad_alloc&) {
      is_done = false;
    }
    test::fail_allocation(0);
    return is_done;
  }
  struct Seen {
    uint64_t request;
    size_t n_tokens;
    bool is_end;
    FinishReason reason;
    size_t n_values;
  };
  struct Job {
    uint64_t id = 0;
    RequestKind kind = RequestKind::generate;
    int32_t n_wanted = 0;
    bool is_disturbed = false;  // by a cancel or a timeout
  };
  RequestOptions options(Job& job, const std::shared_ptr<Session>& session) {
    job.n_wanted = 1 + below(30);
    RequestOptions out = plain(job.n_wanted);
    job.kind = std::array{RequestKind::generate, RequestKind::generate, RequestKind::prefill, RequestKind::embed}[static_cast<size_t>(below(4))];
    out.kind = job.kind;
    if (below(3) == 0) out.session.stops = {std::string(40, 'x'), "never in the text"};
    if (below(4) == 0) out.session.sampler.n_logprobs = 3;
    if (below(4) == 0 && job.kind != RequestKind::embed) out.continues = session, out.replaces = below(2) == 0;
    if (below(5) == 0) out.timeout_us = 1 + below(4000), job.is_disturbed = true;
    out.priority = below(kTopLevel + 1);
    return out;
  }
  void look() {
    std::array<TokenLogprob, 32> tokens;
    std::array<char, 256> text;
    std::array<Seen, 8> seen;
    size_t n_seen = 0;
    (void)short_of_memory([&] {
      const auto polled = queue_->poll({.n_events = seen.size(), .tokens = tokens, .text = text}, [&](size_t i, const RequestEvent& event) {
        seen[i] = {event.request, event.n_tokens, event.is_end, event.end.reason, event.end.n_values};
        n_seen = i + 1;
      });
      if (polled.ok()) engine_->requests().note_polled();
    });
    for (const Seen& one : std::span(seen).first(n_seen)) {
      Collected& own = collected_[one.request];
      own.tokens.insert(own.tokens.end(), one.n_tokens, 0);
      if (!one.is_end) continue;
      own.end.reason = one.reason;
      ++own.n_ends;
      if (one.n_values == 0) continue;
      std::vector<float> values(one.n_values);
      size_t n = 0;
      EXPECT_TRUE(queue_->take_values(one.request, values, false, n).ok());
    }
  }
  void play(uint32_t seed, int& n_thrown, int& n_failed, int& n_whole) {
    random_.seed(seed);
    collected_.clear();
    load_with({.n_context = 128, .max_sessions = 3, .kv_budget_bytes = below(2) == 0 ? block_bytes_ * 4 : 0, .n_threads = 1, .prefill_chunk = 32}, {.max_unread_tokens = 8});
    use_own_clock();
    if (below(2) == 0) engine_->requests().live().store_put_outs(64);
    auto created = engine_->create_session({.ignore_end_of_generation = true, .for_requests = true});
    ASSERT_TRUE(created.ok());
    std::shared_ptr<Session> session = *std::move(created);
    std::vector<Job> jobs;
    for (int i = 0; i < 600; ++i) {
      const int32_t what = below(10);
      if (what == 0 && jobs.size() < 14) {
        Job job;
        RequestOptions asked = options(job, session);
        std::vector<int32_t> tokens = prompt(1 + below(40), below(2));
        const bool is_done = short_of_memory([&] { (void)engine_->requests().submit(queue_, std::move(tokens), std::move(asked), job.id); });
        n_thrown += is_done ? 0 : 1;
        EXPECT_TRUE(is_done || job.id == 0);
        if (job.id > 0) jobs.push_back(job);
      } else if (what == 1 && !jobs.empty() && below(6) == 0) {
        Job& job = jobs[static_cast<size_t>(below(static_cast<int32_t>(jobs.size())))];
        const auto request = queue_->cancel(job.id);
        if (request) job.is_disturbed = true;
        if (request && !short_of_memory([&] { engine_->requests().cancel(*request); })) ++n_thrown;
      } else if (what <= 3) {
        look();
      } else if (what == 4) {
        n_thrown += short_of_memory([&] { engine_->requests().end_expired(); }) ? 0 : 1;
      } else {
        const RunBudget budget{.us = below(2) * 200, .one_step = below(2) == 0};
        n_thrown += short_of_memory([&] { (void)engine_->requests().run(budget); }) ? 0 : 1;
      }
    }
    run_all();
    for (const Job& job : jobs) {
      const Collected& own = collected_[job.id];
      EXPECT_EQ(own.n_ends, 1) << "request " << job.id;
      n_failed += own.end.reason == FinishReason::error;
      if (own.end.reason == FinishReason::error || own.end.reason == FinishReason::context_full || job.is_disturbed) continue;
      ++n_whole;
      EXPECT_EQ(own.tokens.size(), static_cast<size_t>(job.kind == RequestKind::generate ? job.n_wanted : 0)) << "request " << job.id << " ended with " << static_cast<int>(own.end.reason);
    }
    EXPECT_EQ(collected_.size(), jobs.size()) << "an end of a request that nobody submitted";
    session.reset();
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
    EXPECT_EQ(engine_->stats().n_sessions, 0);
    expect_all_slots();
  }
  void expect_all_slots() {
    std::vector<std::shared_ptr<Session>> all;
    for (int i = 0; i < 3; ++i) {
      auto one = engine_->create_session({});
      EXPECT_TRUE(one.ok()) << "a slot is lost";
      if (one.ok()) all.push_back(*one);
    }
  }
  void SetUp() override {
    test::EngineRequests::SetUp();
    const auto whole = load({.n_context = 128, .max_sessions = 3, .n_threads = 1, .prefill_chunk = 32});
    block_bytes_ = whole->info().memory.kv / static_cast<uint64_t>(whole->stats().n_kv_blocks);
  }

  std::mt19937 random_;
  uint64_t block_bytes_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Host, RequestMemory, ::testing::Values(DeviceKind::cpu), ::inlay::test::device_of);

// It is refused when its turn comes, since the session has grown until then.
TEST_P(RequestMemory, ATurnThatDoesNotFitEndsWhicheverAllocationFails) {
  for (int64_t n = 1; n <= 12; ++n) {
    SCOPED_TRACE(n);
    load_with({.n_context = 128, .max_sessions = 3, .n_threads = 1, .prefill_chunk = 32});
    collected_.clear();
    const auto created = engine_->create_session({.ignore_end_of_generation = true, .for_requests = true});
    ASSERT_TRUE(created.ok());
    RequestOptions turn = plain(6);
    turn.continues = *created;
    const uint64_t first = submit(prompt(90), turn), second = submit(prompt(60), turn);
    for (int i = 0; i < 100 && collected_[first].n_ends == 0; ++i) {
      ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
      poll();
    }
    test::fail_allocation(n);
    for (int i = 0; i < 20; ++i) {
      try {
        (void)engine_->requests().run({.one_step = true});
      } catch (const std::bad_alloc&) {
        // of the call, not of the requests
      }
    }
    test::fail_allocation(0);
    run_all();
    EXPECT_EQ(collected_[first].n_ends, 1);
    EXPECT_EQ(collected_[second].n_ends, 1);
    const RequestEnd& end = collected_[second].end;
    EXPECT_EQ(end.reason, FinishReason::error);
    EXPECT_TRUE(end.status.code == Code::context_full || end.status.code == Code::out_of_memory) << end.status.message;
    EXPECT_EQ((*created)->tokens().size(), 96u) << "the session is as before";
  }
}

TEST_P(RequestMemory, EachAllocationMayFail) {
  int64_t n = 0;
  int n_failed = 0;
  for (bool fails = true; fails; ++n) {
    SCOPED_TRACE(n);
    load_with({.n_context = 128, .max_sessions = 3, .n_threads = 1, .prefill_chunk = 32});
    collected_.clear();
    const auto created = engine_->create_session({.ignore_end_of_generation = true, .for_requests = true});
    ASSERT_TRUE(created.ok());
    const std::vector<uint64_t> ids = submit_all(*created);
    const int64_t before = test::allocations_of_this_thread();
    test::fail_allocation(n + 1);
    for (int i = 0; i < 200; ++i) {
      try {
        if (const auto result = engine_->requests().run({.one_step = true}); result.ok() && result->n_requests == 0) break;
      } catch (const std::bad_alloc&) {
        // of the call, not of the requests
      }
    }
    fails = test::allocations_of_this_thread() - before > n;
    test::fail_allocation(0);
    run_all();
    for (size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(collected_[ids[i]].n_ends, 1) << "request " << i;
      constexpr std::array<size_t, 4> kDrawn{6, 6, 40, 20};
      const Collected& own = collected_[ids[i]];
      EXPECT_TRUE(own.end.reason == FinishReason::error || own.tokens.size() == kDrawn[i]) << "request " << i << " drew " << own.tokens.size();
      n_failed += collected_[ids[i]].end.reason == FinishReason::error;
    }
    expect_all_slots();
  }
  EXPECT_GT(n, 5);
  std::printf("%lld allocations, %d requests ended with an error\n", static_cast<long long>(n), n_failed);
}

// Calls of every kind, in each third of which one allocation fails. What a call could not do it says, and nobody else suffers: an accepted request
// ends once, one that was not accepted never, and at the end everything has been given back.
TEST_P(RequestMemory, AnyAllocationOfARandomScheduleMayFail) {
  const test::Seeds seeds(200);
  int n_thrown = 0, n_failed = 0, n_whole = 0;
  for (uint32_t seed = seeds.first; seed < seeds.end; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play(seed, n_thrown, n_failed, n_whole);
    if (HasFailure()) return;
  }
  std::printf("%d calls threw, %d requests ended with an error, %d as asked\n", n_thrown, n_failed, n_whole);
  if (!seeds.are_many) return;
  EXPECT_GT(n_thrown, 500);
  EXPECT_GT(n_failed, 2);
  EXPECT_GT(n_whole, 1000);
}

}  // namespace
}  // namespace inlay
