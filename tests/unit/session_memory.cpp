// Memory that runs out in the midst of a session's calls: the call says so, the session is as it was, and the same call done again comes to the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <random>

#include "tests/support/allocation_counter.h"
#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

// Two engines of the same model: what is done to a session of the one is done to that of the other, where memory never runs out.
class SessionMemory : public test::EngineSessions {
 protected:
  struct Pair {
    std::shared_ptr<Session> own, other;
  };
  int32_t below(int32_t n) { return static_cast<int32_t>(random_() % static_cast<uint32_t>(n)); }

  // The call; false: it threw or said that memory ran out.
  template <class Call>
  bool short_of_memory(int64_t n, const Call& call) {
    test::fail_allocation(n);
    Status status;
    bool threw = false;
    try {
      status = call();
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    test::fail_allocation(0);
    return !threw && status.code != Code::out_of_memory;
  }
  template <class Call>
  void make(const Call& call) {
    if (short_of_memory(below(2) == 0 ? 1 + below(12) : 0, call)) return;
    ++n_failed_;
    const Status again = call();
    EXPECT_TRUE(again.ok()) << again.message;
  }
  // Once or twice on a session's own engine, the first time short of memory; the second time it has to come to what the other engine gives.
  template <class Call>
  void both(Pair& pair, const char* what, const Call& call) {
    const std::vector<int32_t> before(pair.own->tokens().begin(), pair.own->tokens().end());
    const SessionInfo info = pair.own->info();
    Status status;
    if (const int64_t n = below(2) == 0 ? 1 + below(6) : 0; !short_of_memory(n, [&] { return status = call(*pair.own); })) {
      ++n_failed_;
      EXPECT_TRUE(std::ranges::equal(before, pair.own->tokens())) << what << ": the tokens changed";
      const SessionInfo after = pair.own->info();
      EXPECT_EQ(after.n_tokens, info.n_tokens) << what;
      EXPECT_EQ(after.n_drawn, info.n_drawn) << what;
      EXPECT_EQ(after.finish_reason, info.finish_reason) << what;
      EXPECT_EQ(after.n_pending_text, info.n_pending_text) << what;
      status = call(*pair.own);
    }
    EXPECT_EQ(call(*pair.other).code, status.code) << what << ": " << status.message;
    expect_equal(pair, what);
  }
  void expect_equal(const Pair& pair, const char* what) {
    EXPECT_TRUE(std::ranges::equal(pair.own->tokens(), pair.other->tokens())) << what;
    const SessionInfo own = pair.own->info(), other = pair.other->info();
    EXPECT_EQ(own.n_tokens, other.n_tokens) << what;
    EXPECT_EQ(own.n_drawn, other.n_drawn) << what;
    EXPECT_EQ(own.finish_reason, other.finish_reason) << what;
    EXPECT_EQ(own.n_pending_text, other.n_pending_text) << what;
    EXPECT_EQ(own.n_kv_blocks, other.n_kv_blocks) << what;
    const auto logits = pair.own->view_logits(), others = pair.other->view_logits();
    ASSERT_EQ(logits.ok(), others.ok()) << what;
    if (logits.ok()) {
      EXPECT_TRUE(std::ranges::equal(*logits, *others)) << what << ": the logits differ";
    }
  }

  void play(uint32_t seed) {
    random_.seed(seed);
    const EngineOptions options{.n_context = 128, .max_sessions = 4, .n_threads = 1, .prefill_chunk = 32};
    engine_ = load(options);
    const auto other = load(options);
    own_constraint_ = constraint_of(*engine_), other_constraint_ = constraint_of(*other);
    std::vector<Pair> pairs;
    for (int i = 0; i < 120 && !HasFailure(); ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", call " + std::to_string(i));
      if (pairs.empty() || (pairs.size() < 4 && below(12) == 0)) {
        create(*other, pairs);
      } else {
        act(pairs, static_cast<size_t>(below(static_cast<int32_t>(pairs.size()))), *other);
      }
    }
    pairs.clear();
    EXPECT_EQ(engine_->stats().n_sessions, 0);
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  }
  static std::shared_ptr<const constraint::Constraint> constraint_of(Engine& engine) {
    auto made = engine.make_constraint({.text = R"({"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 3})"});
    EXPECT_TRUE(made.ok()) << made.status().message;
    return made.ok() ? made->constraint : nullptr;
  }
  SessionOptions drawing() {
    SessionOptions out{.max_tokens = 20 + below(40), .ignore_end_of_generation = true};
    out.sampler = {.temperature = 0.9f, .top_k = 30, .seed = random_()};
    if (below(2) == 0) out.sampler.repetition_penalty = 1.1f;
    if (below(3) == 0) out.sampler.n_logprobs = 3;
    if (below(3) == 0) out.stops = {std::string(30, 'z'), "never in the text"};
    return out;
  }
  void create(Engine& other, std::vector<Pair>& pairs) {
    SessionOptions options = drawing();
    options.ignore_end_of_generation = below(2) == 0;
    Pair made;
    const auto call = [&](Engine& engine, std::shared_ptr<Session>& out) -> Status {
      SessionOptions own = options;
      if (!own.ignore_end_of_generation) own.constraint = &engine == &other ? other_constraint_ : own_constraint_;
      INLAY_ASSIGN(out, engine.create_session(own));
      return {};
    };
    make([&] { return call(*engine_, made.own); });
    EXPECT_TRUE(call(other, made.other).ok());
    pairs.push_back(std::move(made));
  }
  void act(std::vector<Pair>& pairs, size_t at, Engine& other) {
    Pair& pair = pairs[at];
    const int32_t n_tokens = pair.own->info().n_tokens;
    switch (below(14)) {
      case 0:
      case 1: {
        const std::vector<int32_t> tokens = prompt(1 + below(40), below(200));
        return both(pair, "prefill", [&](Session& s) { return prefill(s, tokens); });
      }
      case 2: {
        const int32_t n = below(n_tokens + 1);
        return both(pair, "truncate", [&](Session& s) { return s.truncate(n); });
      }
      case 3: {
        const auto first = static_cast<size_t>(below(n_tokens + 1)), n = static_cast<size_t>(below(20));
        return both(pair, "shift", [&](Session& s) { return s.shift(first, n); });
      }
      case 4: {
        const SessionOptions options = drawing();
        return both(pair, "set_sampler", [&](Session& s) { return s.set_sampler(options.sampler); });
      }
      case 5: {
        const std::vector<std::string> stops{std::string(static_cast<size_t>(20 + below(20)), 'y')};
        return both(pair, "set_stop", [&](Session& s) { return s.set_stop(stops); });
      }
      case 6: {
        const std::vector<int32_t> tokens = prompt(1, below(200));
        return both(pair, "accept", [&](Session& s) {
          size_t n = 0;
          return s.accept(tokens, n);
        });
      }
      case 7: return fork(pairs, at);
      case 8: return void(pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(at)));
      case 9: {
        std::string own(64, '\0'), others(64, '\0');
        own.resize(pair.own->take_text(own.data(), own.size()));
        others.resize(pair.other->take_text(others.data(), others.size()));
        EXPECT_EQ(own, others);
        return;
      }
      default: return step(pairs, other);
    }
  }
  void fork(std::vector<Pair>& pairs, size_t at) {
    if (pairs.size() == 4) return;
    Pair made;
    const auto call = [&](Session& s, std::shared_ptr<Session>& out) -> Status {
      INLAY_ASSIGN(out, s.fork());
      return {};
    };
    make([&] { return call(*pairs[at].own, made.own); });
    EXPECT_TRUE(call(*pairs[at].other, made.other).ok());
    expect_equal(made, "fork");
    pairs.push_back(std::move(made));
  }
  // All of them. One that memory ran out for has not advanced, and does so with the next call.
  void step(std::vector<Pair>& pairs, Engine& other) {
    std::vector<Session*> own, others;
    for (const Pair& pair : pairs) own.push_back(pair.own.get()), others.push_back(pair.other.get());
    std::vector<StepEvent> events(own.size()), wanted(own.size());
    (void)other.decode_step(others, wanted);
    std::vector<int32_t> n_before;
    for (const Session* s : own) n_before.push_back(s->info().n_tokens);
    for (StepEvent& event : events) event.status.code = Code::out_of_memory;  // what a call that throws leaves
    (void)short_of_memory(below(2) == 0 ? 1 + below(6) : 0, [&] { return engine_->decode_step(own, events); });
    std::vector<Session*> again;
    std::vector<size_t> which;
    for (size_t i = 0; i < own.size(); ++i) {
      if (events[i].status.code != Code::out_of_memory) continue;
      EXPECT_EQ(own[i]->info().n_tokens, n_before[i]) << "a token that nobody was told of";
      again.push_back(own[i]);
      which.push_back(i);
    }
    std::vector<StepEvent> rest(again.size());
    if (!again.empty()) ++n_failed_, (void)engine_->decode_step(again, rest);
    for (size_t i = 0; i < which.size(); ++i) events[which[i]] = std::move(rest[i]);
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(events[i].status.code, wanted[i].status.code) << events[i].status.message;
      EXPECT_EQ(events[i].sample.token, wanted[i].sample.token);
      EXPECT_EQ(events[i].finish_reason, wanted[i].finish_reason);
      expect_equal(pairs[i], "step");
    }
  }

  std::mt19937 random_;
  std::shared_ptr<const constraint::Constraint> own_constraint_, other_constraint_;
  int n_failed_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Host, SessionMemory, ::testing::Values(DeviceKind::cpu), ::inlay::test::device_of);

TEST_P(SessionMemory, ACallThatFoundNoneCanBeDoneAgain) {
  const test::Seeds seeds(60);
  for (uint32_t seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) play(seed);
  std::printf("%d calls found no memory\n", n_failed_);
  if (!seeds.are_many) return;
  EXPECT_GT(n_failed_, 100);
}

}  // namespace
}  // namespace inlay
