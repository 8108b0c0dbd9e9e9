// Decode steps in slices: what they come to, what they refuse meanwhile, and what is left of one that is given up.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "src/engine/inspect.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/compare.h"
#include "tests/support/engine_sessions.h"

namespace inlay {
namespace {

class Slices : public test::EngineSessions {
 protected:
  std::shared_ptr<Session> begun(int32_t start, int32_t n_tokens = 20,
                                 const SessionOptions& options = {.ignore_end_of_generation = true}) {
    auto s = session(options);
    EXPECT_TRUE(prefill(*s, prompt(n_tokens, start)).ok());
    return s;
  }

  // One slice, which must work.
  int32_t slice(std::span<Session* const> sessions, int32_t max_units, std::span<StepEvent> events) {
    int32_t left = -1;
    const Status status = engine_->decode_slice(sessions, max_units, events, left);
    EXPECT_TRUE(status.ok()) << status.message;
    return left;
  }

  std::vector<float> logits(Session& s) const {
    std::vector<float> out(static_cast<size_t>(engine_->spec().n_vocab));
    EXPECT_TRUE(s.copy_logits(out).ok());
    return out;
  }

  int32_t n_units() const { return static_cast<int32_t>(step_units(engine_->plan()).size()); }
};
INLAY_ON_CPU_AND_CUDA(Slices);

TEST_P(Slices, UnitsAreCountedDown) {
  const auto s = begun(3);
  Session* one[] = {s.get()};
  StepEvent event;
  event.sample.token = 77;
  EXPECT_EQ(slice(one, 0, {&event, 1}), 1) << "nothing but a draw, from the prompt's logits";
  EXPECT_EQ(slice(one, 1, {&event, 1}), 0);
  EXPECT_NE(event.sample.token, 77);
  const int32_t all = n_units();
  ASSERT_GE(all, 3);
  event.sample.token = 77;
  EXPECT_EQ(slice(one, 0, {&event, 1}), all);
  EXPECT_EQ(slice(one, 0, {&event, 1}), all);
  for (int32_t left = all - 1; left > 0; --left) EXPECT_EQ(slice(one, 1, {&event, 1}), left);
  EXPECT_EQ(event.sample.token, 77) << "no event before the end";
  EXPECT_EQ(s->info().n_tokens, 21);
  EXPECT_EQ(slice(one, 1, {&event, 1}), 0);
  EXPECT_NE(event.sample.token, 77);
  EXPECT_EQ(s->info().n_tokens, 22);
  EXPECT_EQ(slice(one, 1 << 30, {&event, 1}), 0) << "a whole step at once";
  EXPECT_EQ(engine_->stats().n_decode_steps, 3u);
  EXPECT_EQ(engine_->stats().n_decode_tokens, 3u);
}

// Sessions at different points: one has its prompt's logits, one has its last token to run, one has drawn. Step after
// step with another number of units a slice, whole steps among them.
TEST_P(Slices, DrawWhatStepsDraw) {
  SessionOptions options{.ignore_end_of_generation = true};
  options.sampler = {
      .temperature = 0.9f, .top_k = 40, .repetition_penalty = 1.1f, .penalty_window = -1, .seed = 5, .n_logprobs = 3};
  struct Run {
    std::vector<int32_t> tokens;
    std::vector<float> logprobs, logits;
  };
  const auto run = [&](const std::function<Status(std::span<Session* const>, std::span<StepEvent>, int32_t)>& next) {
    Run out;
    const std::shared_ptr<Session> owned[] = {begun(3, 20, options), begun(50, 33, options), begun(90, 31, options)};
    EXPECT_TRUE(owned[1]->truncate(32).ok());
    step(*owned[2]);
    Session* all[] = {owned[0].get(), owned[1].get(), owned[2].get()};
    StepEvent events[3];
    for (int32_t i = 0; i < 40; ++i) {
      const Status status = next(all, events, i);
      EXPECT_TRUE(status.ok()) << status.message;
      for (size_t k = 0; k < 3; ++k) {
        out.tokens.push_back(events[k].sample.token);
        out.logprobs.push_back(events[k].sample.logprob);
        const std::vector<float> row = logits(*all[k]);
        out.logits.insert(out.logits.end(), row.begin(), row.end());
      }
    }
    return out;
  };
  const Run whole = run([&](auto sessions, auto events, int32_t) { return engine_->decode_step(sessions, events); });
  const Run cut = run([&](auto sessions, auto events, int32_t i) {
    if (i % 5 == 4) return engine_->decode_step(sessions, events);
    for (int32_t left = 1; left > 0;) INLAY_TRY(engine_->decode_slice(sessions, 1 + i % 4, events, left));
    return Status();
  });
  EXPECT_EQ(cut.tokens, whole.tokens);
  EXPECT_TRUE(test::same_bits(cut.logprobs, whole.logprobs));
  EXPECT_TRUE(test::same_bits(cut.logits, whole.logits));
  // Negative control: another seed is noticed.
  options.sampler.seed = 6;
  EXPECT_NE(run([&](auto sessions, auto events, int32_t) { return engine_->decode_step(sessions, events); }).tokens,
            whole.tokens);
}

TEST_P(Slices, APendingStepRefusesOtherWork) {
  const auto s = begun(3), other = begun(50);
  step(*s), step(*other);
  Session* one[] = {s.get()};
  Session* others[] = {other.get()};
  StepEvent event, unused;
  const int32_t left = slice(one, 1, {&event, 1});
  ASSERT_GT(left, 0);

  const auto refused = [](const Status& status, const char* what) {
    EXPECT_EQ(status.code, Code::invalid_state) << what << ": " << status.message;
    EXPECT_NE(status.message.find("in slices"), std::string::npos) << what << ": " << status.message;
  };
  int32_t others_left = -1;
  refused(prefill(*s, prompt(3)), "prefill");
  refused(prefill(*other, prompt(3)), "prefill of another");
  refused(engine_->decode_step(one, {&unused, 1}), "step");
  refused(engine_->decode_step(others, {&unused, 1}), "step of another");
  refused(engine_->decode_slice(others, 1, {&unused, 1}, others_left), "slice of another");
  EXPECT_EQ(others_left, 0);
  refused(engine_->decode_abandon(others), "abandoning others");
  refused(s->fork().status(), "fork");
  refused(s->truncate(4), "truncate");
  refused(s->set_sampler({}), "sampler");
  std::vector<float> vector(static_cast<size_t>(engine_->spec().d_model));
  const std::vector<int32_t> text = prompt(5);
  const std::span<const int32_t> texts[] = {text};
  refused(embed(*engine_, texts, {.pooling = Pooling::mean}, vector), "embed");
  refused(profile_step(*engine_, {}).status(), "profile");

  // What does not compute goes on.
  EXPECT_EQ(s->info().n_tokens, 21);
  const auto child = other->fork();
  ASSERT_TRUE(child.ok()) << child.status().message;
  EXPECT_TRUE(other->truncate(10).ok());
  EXPECT_TRUE(other->set_sampler({}).ok());
  EXPECT_EQ(logits(*s).size(), static_cast<size_t>(engine_->spec().n_vocab));

  // And the pending step is what it would have been.
  EXPECT_EQ(slice(one, left, {&event, 1}), 0);
  const auto twin = begun(3);
  step(*twin);
  EXPECT_EQ(event.sample.token, step(*twin).sample.token);
  EXPECT_TRUE(test::same_bits(logits(*s), logits(*twin)));
}

TEST_P(Slices, AnAbandonedStepLeavesNothing) {
  const auto s = begun(3, 31), other = begun(50, 64), twin = begun(3, 31);
  step(*s), step(*twin), step(*other);
  const int32_t blocks = engine_->stats().n_kv_blocks_used, held = s->info().n_kv_blocks;
  const std::vector<float> before = logits(*s);
  Session* both[] = {s.get(), other.get()};
  Session* swapped[] = {other.get(), s.get()};
  StepEvent events[2];
  for (int32_t n = 0; n < n_units(); ++n) {
    EXPECT_EQ(slice(both, n, events), n_units() - n);
    EXPECT_GT(engine_->stats().n_kv_blocks_used, blocks) << "negative control: a step takes the blocks it needs";
    EXPECT_EQ(engine_->decode_abandon(swapped).code, Code::invalid_state);
    EXPECT_TRUE(test::same_bits(logits(*s), before)) << "after " << n << " units";
    ASSERT_TRUE(engine_->decode_abandon(both).ok());
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, blocks);
    EXPECT_EQ(s->info().n_kv_blocks, held);
    EXPECT_EQ(s->info().n_tokens, 32);
    EXPECT_TRUE(test::same_bits(logits(*s), before)) << "after " << n << " units";
  }
  ASSERT_TRUE(engine_->decode_abandon(both).ok()) << "there is none";
  for (int32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(step(*s).sample.token, step(*twin).sample.token);
    EXPECT_TRUE(test::same_bits(logits(*s), logits(*twin)));
  }
  EXPECT_FALSE(test::same_bits(logits(*s), before)) << "negative control";
}

TEST_P(Slices, FreeingASessionDropsItsStep) {
  const auto twin = begun(3);
  step(*twin);
  const auto s = begun(3);
  step(*s);
  auto other = begun(50);
  step(*other);
  Session* both[] = {s.get(), other.get()};
  StepEvent events[2];
  slice(both, 1, events);
  other.reset();
  EXPECT_EQ(step(*s).sample.token, step(*twin).sample.token);
  EXPECT_EQ(logits(*s), logits(*twin));

  // The engine's last owners are the sessions of a pending step.
  Session* one[] = {s.get()};
  EXPECT_GT(slice(one, 1, events), 0);
  const Engine* engine = engine_.get();
  engine_.reset();
  EXPECT_EQ(&s->engine(), engine);
  int32_t left = -1;
  EXPECT_TRUE(s->engine().decode_slice(one, 1 << 20, events, left).ok());
  EXPECT_EQ(left, 0);
}

TEST_P(Slices, BlocksAreTakenWhenAStepBegins) {
  engine_ =
      load({.n_context = 128, .max_sessions = 2, .kv_budget_bytes = engine_->info().memory.kv / 4, .n_threads = 2});
  ASSERT_NE(engine_, nullptr);
  const int32_t n_blocks = engine_->stats().n_kv_blocks;
  ASSERT_GE(n_blocks, 3);
  const auto s = begun(3, kKvBlockTokens);
  step(*s);
  const auto other = begun(50, kKvBlockTokens * (n_blocks - 1));
  ASSERT_EQ(engine_->stats().n_kv_blocks_used, n_blocks);
  Session* one[] = {s.get()};
  StepEvent event;
  int32_t left = -1;
  const Status full = engine_->decode_slice(one, 1, {&event, 1}, left);
  EXPECT_EQ(full.code, Code::kv_full);
  EXPECT_EQ(event.status.code, Code::kv_full);
  EXPECT_EQ(left, 0) << "the step has ended: nobody took part";
  ASSERT_TRUE(other->truncate(kKvBlockTokens * (n_blocks - 2)).ok());
  EXPECT_GT(slice(one, 0, {&event, 1}), 0);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, n_blocks) << "its block is there before it has run anything";
  EXPECT_EQ(slice(one, 1 << 20, {&event, 1}), 0);
}

// Who cannot take part has an event of its own at the end; the others draw.
TEST_P(Slices, StatusesAreThoseOfAStep) {
  const auto a = begun(3), empty = session(), cancelled = begun(50), banned = begun(90);
  for (Session* s : {a.get(), cancelled.get(), banned.get()}) step(*s);
  SamplerParams nothing;
  for (int32_t t = 0; t < engine_->spec().n_vocab; ++t) nothing.bias.push_back({t, -INFINITY});
  ASSERT_TRUE(banned->set_sampler(nothing).ok());
  cancelled->cancel();
  Session* all[] = {a.get(), empty.get(), cancelled.get(), banned.get()};
  StepEvent events[4];
  EXPECT_EQ(slice(all, 1, events), n_units() - 1);
  a->cancel();  // for the next step
  int32_t left = -1;
  EXPECT_EQ(engine_->decode_slice(all, 1 << 20, events, left).code, Code::invalid_state) << "the first session's error";
  EXPECT_EQ(left, 0);
  EXPECT_TRUE(events[0].status.ok());
  EXPECT_GE(events[0].sample.token, 0);
  EXPECT_EQ(events[1].status.code, Code::invalid_state);
  EXPECT_EQ(events[2].finish_reason, FinishReason::cancelled);
  EXPECT_EQ(events[3].status.code, Code::invalid_argument);
  EXPECT_EQ(step(*a).finish_reason, FinishReason::cancelled);

  // Nobody can: it ends at once.
  Session* none[] = {empty.get()};
  EXPECT_EQ(engine_->decode_slice(none, 0, {events, 1}, left).code, Code::invalid_state);
  EXPECT_EQ(left, 0);
  EXPECT_TRUE(prefill(*empty, prompt(3)).ok()) << "and is not pending";
}

TEST_P(Slices, WrongArgumentsAreRefusedAndChangeNothing) {
  const auto a = begun(3), b = begun(50);
  step(*a), step(*b);
  Session* two[] = {a.get(), b.get()};
  Session* twice[] = {a.get(), a.get()};
  StepEvent events[2];
  int32_t left = -1;
  EXPECT_EQ(engine_->decode_slice(two, -1, events, left).code, Code::invalid_argument);
  EXPECT_EQ(engine_->decode_slice(two, 1, {events, 1}, left).code, Code::invalid_argument);
  EXPECT_EQ(engine_->decode_slice(twice, 1, events, left).code, Code::invalid_argument);
  EXPECT_EQ(engine_->decode_slice({}, 1, events, left).code, Code::invalid_argument);
  EXPECT_EQ(engine_->decode_abandon(twice).code, Code::invalid_argument);
  EXPECT_TRUE(a->truncate(20).ok()) << "no step is pending";
}

// A prefill whose chunks leave the engine free between them: a step in slices may begin there, and the prefill goes on when it has ended,
// before the next one begins.
TEST_P(Slices, APrefillUnderWayWaitsForTheirEnd) {
  engine_ = load({.n_context = 4096, .max_sessions = 3, .n_threads = 2, .prefill_chunk = 1});
  ASSERT_NE(engine_, nullptr);
  const auto s = begun(3, 4), twin = begun(3, 4), long_one = session();
  step(*s), step(*twin);
  Session* one[] = {s.get()};
  StepEvent event;
  constexpr int kRounds = 20;  // this thread may be without its CPU until the prefill is over
  int n_beside = 0;
  for (int round = 0; round < kRounds && n_beside == 0; ++round) {
    ASSERT_TRUE(long_one->truncate(0).ok());
    const uint64_t generation = long_one->info().generation;
    std::atomic<bool> is_over{false};
    std::thread other([&] {
      size_t n_done = 0;
      EXPECT_TRUE(long_one->prefill(prompt(3000), n_done).ok());
      EXPECT_EQ(n_done, 3000u);
      is_over = true;
    });
    while (long_one->info().generation == generation) std::this_thread::yield();  // one that comes later is refused
    // Slice behind slice, with no pause of which a prefill could make use.
    for (int i = 0; i < 60; ++i) {
      const bool was_over = is_over;
      for (int32_t left = 1; left > 0;) left = slice(one, 1, {&event, 1});
      EXPECT_EQ(event.sample.token, step(*twin).sample.token) << i;
      n_beside += was_over ? 0 : 1;
    }
    other.join();
  }
  EXPECT_GT(n_beside, 0) << "negative control: the prefill was under way";

  // One that waits is cancelled as any other.
  Status cancelled;
  for (int round = 0; round < kRounds && cancelled.ok(); ++round) {
    ASSERT_TRUE(long_one->truncate(0).ok());
    const uint64_t generation = long_one->info().generation;
    size_t n_done = 0;
    std::thread waiting([&] { cancelled = long_one->prefill(prompt(3000), n_done); });
    while (long_one->info().generation == generation) std::this_thread::yield();
    EXPECT_GT(slice(one, 1, {&event, 1}), 0);
    long_one->cancel();
    waiting.join();
    EXPECT_EQ(slice(one, 1 << 20, {&event, 1}), 0);
  }
  EXPECT_EQ(cancelled.code, Code::cancelled) << cancelled.message;
}

TEST_P(Slices, AllocateNothingAfterWarmUp) {
  const auto a = begun(3), b = begun(50);
  Session* both[] = {a.get(), b.get()};
  std::vector<StepEvent> events(2);
  const auto steps = [&](int n) {
    for (int i = 0; i < n; ++i) {
      while (slice(both, 1, events) > 0) {
      }
    }
  };
  steps(3);
  const int64_t before = test::allocation_count();
  steps(40);
  EXPECT_EQ(test::allocation_count(), before);
  ASSERT_TRUE(a->set_stop({"x"}).ok());
  EXPECT_GT(test::allocation_count(), before) << "negative control: the counter sees the engine's";
}

}  // namespace
}  // namespace inlay
