// Sessions of an engine: forks, cuts, full pools, cancellation, ends.
#include "src/engine/embed.h"
#include "src/engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "tests/support/allocation_counter.h"
#include "tests/support/engine_sessions.h"

namespace inlay {
namespace {

class EngineTest : public test::EngineSessions {
 protected:
  std::vector<int32_t> draw(Session& s, int32_t n) {
    std::vector<int32_t> out;
    for (int32_t i = 0; i < n; ++i) out.push_back(step(s).sample.token);
    return out;
  }
};
INLAY_ON_CPU_AND_CUDA(EngineTest);

TEST_P(EngineTest, ForkSharesBlocksUntilOneSideWrites) {
  const auto parent = session();
  ASSERT_TRUE(prefill(*parent, prompt(40)).ok());
  const int32_t used = engine_->stats().n_kv_blocks_used;
  auto child = parent->fork();
  ASSERT_TRUE(child.ok()) << child.status().message;
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, used) << "a fork takes no block";

  // Different continuations on both sides, each as if it had always been alone.
  ASSERT_TRUE(prefill(**child, {5, 6, 7}).ok());
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, used + 1)
      << "the block written to was copied, the full one still shared";
  const std::vector<int32_t> parent_draws = draw(*parent, 20), child_draws = draw(**child, 20);

  const auto fresh_parent = session(), fresh_child = session();
  ASSERT_TRUE(prefill(*fresh_parent, prompt(40)).ok());
  EXPECT_EQ(draw(*fresh_parent, 20), parent_draws);
  ASSERT_TRUE(prefill(*fresh_child, prompt(40)).ok());
  ASSERT_TRUE(prefill(*fresh_child, {5, 6, 7}).ok());
  EXPECT_EQ(draw(*fresh_child, 20), child_draws);
  EXPECT_NE(parent_draws, child_draws) << "negative control: the continuations differ";
}

TEST_P(EngineTest, ForkOfADrawnSequenceContinuesAlike) {
  const auto parent = session();
  ASSERT_TRUE(prefill(*parent, prompt(33)).ok());
  draw(*parent, 5);
  auto child = parent->fork();
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(draw(*parent, 30), draw(**child, 30));
}

TEST_P(EngineTest, ForkHasTheLogitsOfItsParent) {
  const auto n_vocab = static_cast<size_t>(engine_->spec().n_vocab);
  std::vector<float> of_parent(n_vocab), of_child(n_vocab), before(n_vocab);
  const auto parent = session();
  ASSERT_EQ((*parent->fork())->copy_logits(of_child).code, Code::invalid_state) << "nothing was run";
  ASSERT_TRUE(prefill(*parent, prompt(33)).ok());
  for (const int n_draws : {0, 1, 5}) {  // before a draw the logits wait for it, after it they stay readable
    draw(*parent, n_draws);
    const auto child = parent->fork();
    ASSERT_TRUE(child.ok());
    ASSERT_TRUE(parent->copy_logits(of_parent).ok());
    const Status copied = (*child)->copy_logits(of_child);
    ASSERT_TRUE(copied.ok()) << copied.message;
    EXPECT_EQ(of_child, of_parent);
    if (n_draws == 5) {
      EXPECT_NE(of_child, before) << "negative control: the logits change";
    }
    before = of_child;
  }
}

TEST_P(EngineTest, TruncatedSequenceGoesOnAsIfItHadNeverBeenLonger) {
  const auto s = session();
  ASSERT_TRUE(prefill(*s, prompt(70)).ok());
  draw(*s, 10);
  ASSERT_TRUE(s->truncate(45).ok());
  const auto fresh = session();
  ASSERT_TRUE(prefill(*fresh, prompt(45)).ok());
  EXPECT_EQ(draw(*s, 12), draw(*fresh, 12));
  EXPECT_EQ(s->truncate(1000).code, Code::invalid_argument);
  EXPECT_EQ(s->truncate(-1).code, Code::invalid_argument);
  ASSERT_TRUE(s->truncate(0).ok());
  EXPECT_EQ(step(*s).status.code, Code::invalid_state) << "an empty sequence has nothing to draw from";
  EXPECT_EQ(s->info().n_kv_blocks, 0);
}

TEST_P(EngineTest, AFullContextEndsTheSequence) {
  const auto s = session();
  EXPECT_EQ(prefill(*s, prompt(129)).code, Code::context_full);
  EXPECT_EQ(s->info().n_tokens, 0);
  ASSERT_TRUE(prefill(*s, prompt(126)).ok());
  EXPECT_EQ(step(*s).finish_reason, FinishReason::none);
  const StepEvent last = step(*s);
  EXPECT_TRUE(last.status.ok());
  EXPECT_GE(last.sample.token, 0);
  EXPECT_EQ(last.finish_reason, FinishReason::context_full);
  EXPECT_EQ(s->info().n_tokens, 128);
  EXPECT_EQ(step(*s).status.code, Code::invalid_state);
  EXPECT_EQ(prefill(*s, prompt(1)).code, Code::context_full);
  ASSERT_TRUE(s->truncate(100).ok());
  EXPECT_TRUE(step(*s).status.ok());

  const auto filled = session();
  ASSERT_TRUE(prefill(*filled, prompt(128)).ok());
  const StepEvent none = step(*filled);
  EXPECT_TRUE(none.status.ok());
  EXPECT_EQ(none.sample.token, -1);
  EXPECT_EQ(none.finish_reason, FinishReason::context_full);
  EXPECT_EQ(filled->info().n_tokens, 128);
}

TEST_P(EngineTest, AGenerationThatReservesDoesNotMeetAFullPool) {
  const uint64_t block = 2u * 2 * static_cast<uint64_t>(engine_->spec().d_kv()) * kKvBlockTokens *
                         static_cast<uint64_t>(engine_->spec().n_layers);
  engine_ = load({.n_context = 128, .max_sessions = 4, .kv_budget_bytes = 6 * block, .n_threads = 2});
  ASSERT_NE(engine_, nullptr);
  const int32_t n_blocks = engine_->stats().n_kv_blocks;
  for (const bool reserve : {false, true}) {
    std::vector<std::shared_ptr<Session>> sessions;
    int32_t n_refused = 0, n_full = 0, n_ended = 0;
    for (int i = 0; i < 4; ++i) {
      sessions.push_back(*engine_->create_session({.max_tokens = 50, .ignore_end_of_generation = true, .reserve = reserve}));
      const Status status = prefill(*sessions.back(), prompt(20));
      if (status.ok()) continue;
      EXPECT_EQ(status.code, Code::kv_full);
      sessions.pop_back();
      ++n_refused;
    }
    for (size_t left = sessions.size(); left > 0;) {
      for (auto& s : sessions) {
        if (!s) continue;
        const StepEvent event = step(*s);
        n_full += event.status.code == Code::kv_full;
        n_ended += event.finish_reason == FinishReason::max_tokens;
        if (event.status.ok() && event.finish_reason == FinishReason::none) continue;
        EXPECT_LE(s->info().n_kv_blocks, kv_blocks_for(70));
        if (event.status.code == Code::kv_full) {
          left = 0;  // nobody gives anything back
          break;
        }
        s.reset();
        --left;
      }
    }
    if (reserve) {
      EXPECT_GT(n_refused, 0) << n_blocks;
      EXPECT_EQ(n_full, 0);
      EXPECT_EQ(n_ended, 4 - n_refused);
    } else {
      EXPECT_EQ(n_refused, 0) << "the control";
      EXPECT_GT(n_full, 0);
    }
    sessions.clear();
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  }

  // What was reserved goes back with the end, a cut, and a cancel; what a truncated sequence still has is its own.
  const auto s = *engine_->create_session({.max_tokens = 60, .ignore_end_of_generation = true, .reserve = true});
  ASSERT_TRUE(prefill(*s, prompt(5)).ok());
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, kv_blocks_for(65));
  EXPECT_EQ(s->info().n_kv_blocks, kv_blocks_for(65));
  ASSERT_TRUE(s->truncate(3).ok());
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 1);
  ASSERT_TRUE(prefill(*s, prompt(5)).ok());
  draw(*s, 3);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, kv_blocks_for(68));
  s->cancel();
  EXPECT_EQ(step(*s).finish_reason, FinishReason::cancelled);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 1);
}

TEST_P(EngineTest, TheLimitOfTokensCanBeChanged) {
  const auto s = session();
  ASSERT_TRUE(prefill(*s, prompt(5)).ok());
  ASSERT_TRUE(s->set_max_tokens(3).ok());
  draw(*s, 1);
  EXPECT_EQ(step(*s).finish_reason, FinishReason::none);
  ASSERT_TRUE(s->set_max_tokens(1).ok());
  EXPECT_EQ(step(*s).finish_reason, FinishReason::max_tokens) << "it has drawn more already";
  ASSERT_TRUE(s->set_max_tokens(2).ok());
  ASSERT_TRUE(prefill(*s, prompt(5)).ok());
  EXPECT_EQ(step(*s).finish_reason, FinishReason::none);
  EXPECT_EQ(step(*s).finish_reason, FinishReason::max_tokens);
  ASSERT_TRUE(s->set_max_tokens(0).ok());
  ASSERT_TRUE(prefill(*s, prompt(5)).ok());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(step(*s).finish_reason, FinishReason::none);
  EXPECT_EQ(s->set_max_tokens(-1).code, Code::invalid_argument);
}

TEST_P(EngineTest, FullPoolStopsOneSessionAndNotTheOthers) {
  const uint64_t block = 2u * 2 * static_cast<uint64_t>(engine_->spec().d_kv()) * kKvBlockTokens *
                         static_cast<uint64_t>(engine_->spec().n_layers);
  engine_ = load({.n_context = 128, .max_sessions = 4, .kv_budget_bytes = 4 * block, .n_threads = 2});
  ASSERT_NE(engine_, nullptr);
  const auto a = session(), b = session();
  ASSERT_TRUE(prefill(*a, prompt(64)).ok());
  ASSERT_TRUE(prefill(*b, prompt(60)).ok());
  EXPECT_EQ(prefill(*b, prompt(10)).code, Code::kv_full);
  EXPECT_EQ(b->info().n_tokens, 60);
  Session* both[] = {a.get(), b.get()};
  StepEvent events[2];
  ASSERT_TRUE(engine_->decode_step(both, events).ok()) << "drawing from logits at hand needs no block";
  EXPECT_EQ(engine_->decode_step(both, events).code, Code::kv_full);
  EXPECT_EQ(events[0].status.code, Code::kv_full);
  EXPECT_TRUE(events[1].status.ok()) << "the other session went on";
  EXPECT_EQ(a->info().n_tokens, 65);
  EXPECT_EQ(b->info().n_tokens, 62);
  // Room for one makes the other go on as if nothing had happened.
  ASSERT_TRUE(b->truncate(0).ok());
  const auto fresh = session();
  std::vector<int32_t> a_draws = draw(*a, 6);
  ASSERT_TRUE(a->truncate(0).ok());
  ASSERT_TRUE(prefill(*fresh, prompt(64)).ok());
  const std::vector<int32_t> fresh_draws = draw(*fresh, 7);
  EXPECT_EQ(std::vector<int32_t>(fresh_draws.begin() + 1, fresh_draws.end()), a_draws);
}

TEST_P(EngineTest, FreeingSessionsReturnsSlotsAndBlocks) {
  {
    std::vector<std::shared_ptr<Session>> all;
    for (int i = 0; i < 4; ++i) all.push_back(session());
    for (auto& s : all) ASSERT_TRUE(prefill(*s, prompt(50)).ok());
    const auto fifth = engine_->create_session({});
    EXPECT_EQ(fifth.status().code, Code::session_limit);
    EXPECT_EQ(all[0]->fork().status().code, Code::session_limit);
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 8);
  }
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  EXPECT_EQ(engine_->stats().n_sessions, 0);
  EXPECT_EQ(engine_->stats().n_kv_blocks_peak, 8);
}

TEST_P(EngineTest, CancelKeepsWholeChunks) {
  const auto s = session();
  s->cancel();
  size_t n_done = 99;
  EXPECT_EQ(s->prefill(prompt(100), n_done).code, Code::cancelled);
  EXPECT_EQ(n_done % 32, 0u);
  EXPECT_EQ(static_cast<size_t>(s->info().n_tokens), n_done);
  EXPECT_EQ(s->info().n_kv_blocks, 0);
  ASSERT_TRUE(prefill(*s, prompt(100)).ok()) << "the request is spent";
  s->cancel();
  const StepEvent event = step(*s);
  EXPECT_TRUE(event.status.ok());
  EXPECT_EQ(event.finish_reason, FinishReason::cancelled);
  EXPECT_EQ(event.sample.token, -1);
  EXPECT_EQ(step(*s).status.code, Code::invalid_state);
  ASSERT_TRUE(s->truncate(100).ok());
  EXPECT_TRUE(step(*s).status.ok());
}

// A backend failure in the middle of a prompt keeps the chunks that were done, and the sequence usable.
TEST_P(EngineTest, CancelInTheMiddleOfAPromptKeepsWhatWasRun) {
  const auto s = session();
  int chunks = 0;
  engine_->backend().set_inspection({.tap = [&](const Tap& tap) {
    if (tap.op->kind == OpKind::embed && ++chunks == 2) s->cancel();
  }});
  size_t n_done = 0;
  EXPECT_EQ(s->prefill(prompt(100), n_done).code, Code::cancelled);
  engine_->backend().set_inspection({});
  EXPECT_EQ(n_done, 64u);
  const auto fresh = session();
  ASSERT_TRUE(prefill(*fresh, prompt(64)).ok());
  EXPECT_EQ(draw(*s, 8), draw(*fresh, 8));
}

// As where memory runs out in the middle of a step. Three times: a backend has room for two open steps.
TEST_P(EngineTest, StepsThatAnExceptionLeavesAreOver) {
  for (const bool run_ahead : {false, true}) {
    engine_ = load({.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32, .run_ahead = run_ahead});
    ASSERT_NE(engine_, nullptr);
    const auto s = session(), twin = session();
    ASSERT_TRUE(prefill(*s, prompt(20)).ok() && prefill(*twin, prompt(20)).ok());
    EXPECT_EQ(draw(*s, 3), draw(*twin, 3));
    Session* one[] = {s.get()};
    StepEvent event;
    int32_t left = -1;
    const std::vector<int32_t> text = prompt(5);
    const std::span<const int32_t> texts[] = {text};
    std::vector<float> vector(static_cast<size_t>(engine_->spec().d_model));
    const auto finds_no_memory = [&] {
      const Status status = engine_->decode_step(one, {&event, 1});
      EXPECT_TRUE(status.ok() || status.code == Code::out_of_memory) << status.message;
      return !status.ok();
    };
    for (int i = 0; i < 3; ++i) {
      engine_->backend().set_inspection({.tap = [](const Tap&) { throw std::bad_alloc(); }});
      if (!finds_no_memory()) {  // a step that a GPU had begun ahead, before the tap was there
        EXPECT_TRUE(run_ahead && i == 0);
        engine_->backend().set_inspection({});
        draw(*twin, 1);
        engine_->backend().set_inspection({.tap = [](const Tap&) { throw std::bad_alloc(); }});
        EXPECT_TRUE(finds_no_memory());
      }
      EXPECT_THROW((void)embed(*engine_, texts, {.pooling = Pooling::mean}, vector), std::bad_alloc);
      EXPECT_THROW((void)engine_->decode_slice(one, 1, {&event, 1}, left), std::bad_alloc);
      engine_->backend().set_inspection({});
      ASSERT_TRUE(engine_->decode_abandon(one).ok());
    }
    EXPECT_EQ(draw(*s, 5), draw(*twin, 5));
    EXPECT_TRUE(embed(*engine_, texts, {.pooling = Pooling::mean}, vector).ok());
  }
}

TEST_P(EngineTest, WrongSetsOfSessionsAreRefusedAndChangeNothing) {
  const auto a = session(), b = session();
  ASSERT_TRUE(prefill(*a, prompt(5)).ok());
  StepEvent events[3];
  Session* twice[] = {a.get(), b.get(), a.get()};
  EXPECT_EQ(engine_->decode_step(twice, events).code, Code::invalid_argument);
  Session* null[] = {a.get(), nullptr};
  EXPECT_EQ(engine_->decode_step(null, events).code, Code::invalid_argument);
  EXPECT_EQ(engine_->decode_step({}, events).code, Code::invalid_argument);
  Session* two[] = {a.get(), b.get()};
  EXPECT_EQ(engine_->decode_step(two, {events, 1}).code, Code::invalid_argument);
  EXPECT_EQ(a->info().n_tokens, 5);
  const auto other = Engine::load(test::model_file("chat-bpe-qwen3-f32"), {.device = GetParam(), .n_context = 64});
  ASSERT_TRUE(other.ok());
  const auto foreign = (*other)->create_session({});
  ASSERT_TRUE(foreign.ok());
  Session* mixed[] = {a.get(), foreign->get()};
  EXPECT_EQ(engine_->decode_step(mixed, events).code, Code::invalid_argument);
  EXPECT_EQ(engine_->decode_step(two, events).code, Code::invalid_state) << "b was never prefilled";
  EXPECT_TRUE(events[0].status.ok());
}

TEST_P(EngineTest, ASessionThatCannotDrawDoesNotStopTheOthers) {
  const auto a = session(), b = session();
  SamplerParams banned;
  for (int32_t t = 0; t < engine_->spec().n_vocab; ++t) banned.bias.push_back({t, -INFINITY});
  ASSERT_TRUE(prefill(*a, prompt(5)).ok());
  ASSERT_TRUE(prefill(*b, prompt(5)).ok());
  ASSERT_TRUE(a->set_sampler(banned).ok());
  Session* both[] = {a.get(), b.get()};
  StepEvent events[2];
  EXPECT_EQ(engine_->decode_step(both, events).code, Code::invalid_argument);
  EXPECT_EQ(events[0].status.code, Code::invalid_argument);
  EXPECT_EQ(a->info().n_tokens, 5);
  EXPECT_TRUE(events[1].status.ok());
  EXPECT_EQ(b->info().n_tokens, 6);
  ASSERT_TRUE(a->set_sampler({}).ok());
  EXPECT_EQ(step(*a).sample.token, events[1].sample.token) << "it goes on as if it had never failed";
}

TEST_P(EngineTest, EndsAfterMaxTokens) {
  const auto s = session({.max_tokens = 3, .ignore_end_of_generation = true});
  ASSERT_TRUE(prefill(*s, prompt(5)).ok());
  EXPECT_EQ(step(*s).finish_reason, FinishReason::none);
  EXPECT_EQ(step(*s).finish_reason, FinishReason::none);
  EXPECT_EQ(step(*s).finish_reason, FinishReason::max_tokens);
  EXPECT_EQ(step(*s).status.code, Code::invalid_state);
  ASSERT_TRUE(prefill(*s, prompt(5)).ok()) << "a new turn";
  EXPECT_EQ(step(*s).finish_reason, FinishReason::none);
}

TEST_P(EngineTest, OptionsOutOfRangeAreNamed) {
  const auto load = [](EngineOptions o) {
    o.device = GetParam();
    return Engine::load(test::model_file("chat-bpe-qwen3-f32"), o).status();
  };
  EXPECT_NE(load({.n_context = -1}).message.find("n_context"), std::string::npos);
  EXPECT_NE(load({.n_context = 1 << 20}).message.find("n_context"), std::string::npos);
  EXPECT_NE(load({.max_sessions = 5000}).message.find("max_sessions"), std::string::npos);
  EXPECT_NE(load({.kv_budget_bytes = 1}).message.find("kv_budget_bytes"), std::string::npos);
  EXPECT_EQ(load({.kv_dtype = KvDType::f32}).code, Code::unsupported);
  EXPECT_EQ(load({.progress = [](uint64_t, uint64_t) { return false; }}).code, Code::cancelled);
  EXPECT_EQ(Engine::load("/nonexistent.gguf", {}).status().code, Code::not_found);
}

TEST_P(EngineTest, SessionsOfOneEngineWorkFromManyThreads) {
  std::vector<std::vector<int32_t>> draws(4);
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const auto s = session();
        ASSERT_TRUE(prefill(*s, prompt(40)).ok());
        draws[static_cast<size_t>(t)] = draw(*s, 20);
      });
    }
    for (std::thread& t : threads) t.join();
  }
  for (const auto& d : draws) EXPECT_EQ(d, draws[0]);
}

// One that decodes beside another thread's prefill has its turn after every chunk: no chunk follows another one while a
// step is asked for. Every chunk lasts until it is.
TEST_P(EngineTest, StepsComeBetweenTheChunksOfAPrefill) {
  constexpr int kChunks = 40, kSteps = 20;
  engine_ = load({.n_context = 4096, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 1});
  ASSERT_NE(engine_, nullptr);
  const auto s = session(), long_one = session();
  ASSERT_TRUE(prefill(*s, prompt(4)).ok());
  step(*s);
  std::string order;  // of chunks and steps; guarded by the engine
  std::atomic<bool> began{false}, decodes{true};
  const auto decoder = std::this_thread::get_id();
  engine_->backend().set_inspection({.tap_op = 0, .tap = [&](const Tap&) {
                                       const bool is_step = std::this_thread::get_id() == decoder;
                                       order += is_step ? 's' : 'c';
                                       began = true;
                                       while (!is_step && decodes && engine_->n_asking() < 2) std::this_thread::yield();
                                     }});
  std::thread other([&] {
    EXPECT_TRUE(prefill(*long_one, prompt(kChunks)).ok());
    began = true;  // also where no chunk did
  });
  while (!began) std::this_thread::yield();
  for (int i = 0; i < kSteps; ++i) step(*s);
  decodes = false;
  other.join();
  engine_->backend().set_inspection({});
  EXPECT_EQ(order.substr(0, order.rfind('s')).find("cc"), std::string::npos) << order;
}

TEST_P(EngineTest, DecodeStepAllocatesNothingAfterWarmUp) {
  std::vector<std::shared_ptr<Session>> owned;
  std::vector<Session*> all;
  for (int32_t i = 0; i < 4; ++i) {
    SessionOptions options{.ignore_end_of_generation = true};
    options.sampler = {.temperature = 0.8f,
                       .top_k = 20,
                       .top_p = 0.95f,
                       .min_p = 0.01f,
                       .repetition_penalty = 1.1f,
                       .frequency_penalty = 0.1f,
                       .penalty_window = -1,
                       .n_logprobs = 5,
                       .bias = {{7, -1.0f}},
                       .dry_multiplier = i == 1 ? 0.8f : 0.0f,
                       .dry_allowed_length = 1};
    owned.push_back(session(options));
    ASSERT_TRUE(owned.back()->set_stop({"a stop that never comes", "zzzzzz"}).ok());
    ASSERT_TRUE(prefill(*owned.back(), prompt(20 + 9 * i)).ok());
    all.push_back(owned.back().get());
  }
  std::vector<StepEvent> events(4);
  char text[64];
  const auto steps = [&](int n) {
    for (int i = 0; i < n; ++i) {
      ASSERT_TRUE(engine_->decode_step(all, events).ok());
      for (Session* s : all) s->take_text(text, sizeof text);
    }
  };
  steps(3);
  const int64_t before = test::allocation_count();
  steps(50);  // crosses block boundaries
  EXPECT_EQ(test::allocation_count(), before);
  // Negative control: the counter sees an allocation of the engine.
  const auto extra = engine_->stats();
  (void)extra;
  ASSERT_TRUE(prefill(*owned[0], prompt(3)).ok());
  const auto forked = owned[0]->set_stop({"x"});
  ASSERT_TRUE(forked.ok());
  EXPECT_GT(test::allocation_count(), before);
}

}  // namespace
}  // namespace inlay
