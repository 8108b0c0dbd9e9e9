// Requests: each comes to what it comes to alone, whatever runs beside it; its events; who may call what.
#include "src/engine/requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/support/allocation_counter.h"
#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

using test::Collected;

class EngineRequests : public test::EngineRequests {
 protected:
  void compare_with_alone(bool stores);  // those that are put out, also on the CPU
};
INLAY_ON_CPU_AND_CUDA(EngineRequests);

TEST_P(EngineRequests, OneComesToWhatASessionComesTo) {
  const std::vector<int32_t> tokens = prompt(50);
  const uint64_t id = submit(tokens);
  run_all();
  const Collected& own = collected_[id];
  expect_as_alone(own, alone(*engine_, tokens, plain(12).session), "one request");
  EXPECT_EQ(own.tokens.size(), 12u);
  EXPECT_EQ(own.end.n_prompt, 50);
  EXPECT_EQ(own.end.n_drawn, 12);
  EXPECT_EQ(engine_->stats().n_sessions, 0);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
}

// Arrivals, cancels, priorities and a pool of a quarter of the need, from a seed; whole steps and units.
void EngineRequests::compare_with_alone(bool stores) {
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  uint64_t n_put_out = 0, n_again = 0, n_back = 0, n_all = 0;
  const test::Seeds seeds(24);
  for (uint32_t seed = seeds.first; seed < seeds.end; ++seed) {
    const bool small = seed % 2 == 1;
    const int64_t budget = seed % 3 == 2 ? 300 : 0;
    load_with(with_blocks(small ? 4 : 16));
    use_own_clock();
    if (stores) engine_->requests().live().store_put_outs(64);
    n_events_ = 0;
    collected_.clear();
    std::mt19937 random(seed);
    const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
    struct Job {
      uint64_t id;
      std::vector<int32_t> prompt;
      SessionOptions options;
      bool cancelled = false;
    };
    std::vector<Job> jobs;
    const int n_jobs = 14;
    int n_rounds = 0;
    for (; n_rounds < 20'000; ++n_rounds) {
      if (jobs.size() < n_jobs && below(3) == 0) {
        Job job{.id = 0, .prompt = prompt(1 + below(70), below(200)), .options = plain(1 + below(40)).session};
        job.options.sampler = {.temperature = 0.8f, .top_k = 20, .seed = random()};
        if (below(2) == 0) job.options.sampler.repetition_penalty = 1.1f;
        if (below(4) == 0) job.options.sampler.mirostat_tau = 3;
        job.id = submit(job.prompt, {.session = job.options, .priority = below(kTopLevel + 1)});
        jobs.push_back(std::move(job));
      }
      if (!jobs.empty() && below(40) == 0) {
        Job& job = jobs[static_cast<size_t>(below(static_cast<int32_t>(jobs.size())))];
        if (const auto request = queue_->cancel(job.id)) engine_->requests().cancel(*request), job.cancelled = true;
      }
      const auto result = engine_->requests().run({.us = budget, .one_step = budget == 0});
      ASSERT_TRUE(result.ok()) << result.status().message;
      if (below(3) == 0) poll(static_cast<size_t>(1 + below(3)), static_cast<size_t>(1 + below(5)), static_cast<size_t>(4 + below(20)));
      if (jobs.size() == n_jobs && result->n_requests == 0) break;
    }
    poll();
    ASSERT_EQ(collected_.size(), jobs.size()) << seed;
    for (const Job& job : jobs) {
      const Collected& own = collected_[job.id];
      const std::string what = "seed " + std::to_string(seed) + ", request " + std::to_string(job.id);
      if (job.cancelled) {
        EXPECT_EQ(own.n_ends, 1) << what;
        EXPECT_EQ(own.end.reason, FinishReason::cancelled) << what;
        continue;
      }
      expect_near_alone(own, alone(*other, job.prompt, job.options), what);
    }
    n_put_out += engine_->requests().counts().n_put_out;
    n_again += engine_->requests().counts().n_computed_again;
    n_back += engine_->requests().counts().n_copied_back;
    n_all += engine_->stats().n_prefill_tokens + engine_->stats().n_decode_tokens;
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0) << seed;
    EXPECT_EQ(engine_->stats().n_sessions, 0) << seed;
  }
  if (!seeds.are_many) return;
  EXPECT_GT(n_put_out, 20u);
  EXPECT_LE((n_again + n_back) * 10, n_all) << "what is computed or copied again";
  if (stores || GetParam() == DeviceKind::cuda) {
    EXPECT_EQ(n_again, 0u);
    EXPECT_GT(n_back, 100u);
  } else {
    EXPECT_EQ(n_back, 0u);
  }
  std::printf("%llu put out, %llu of %llu tokens computed again, %llu copied\n", static_cast<unsigned long long>(n_put_out),
              static_cast<unsigned long long>(n_again), static_cast<unsigned long long>(n_all), static_cast<unsigned long long>(n_back));
  expect_few_differ();
}

// Between the draw of a token and its telling: the last one is then not told, so its end must not say that the text is whole.
TEST_P(EngineRequests, ACancelThatComesWithItsLastTokenIsWhatEndsIt) {
  for (const int32_t at : {1, 3}) {
    uint64_t id = 0;
    int32_t n_drawn = 0;
    load_with({.n_context = 128, .max_sessions = 1, .n_threads = 1, .prefill_chunk = 32});
    n_events_ = 0;
    collected_.clear();
    engine_->requests().live().set_hooks({.drew = [&](const Request&, int32_t) {
      if (++n_drawn == at) { EXPECT_TRUE(queue_->cancel(id)); }
    }});
    id = submit(prompt(20), plain(3));
    run_all();
    EXPECT_EQ(collected_[id].n_ends, 1);
    EXPECT_EQ(collected_[id].end.reason, FinishReason::cancelled);
    EXPECT_EQ(collected_[id].tokens.size(), static_cast<size_t>(at - 1)) << "after cancel returns no token is told";
    engine_->requests().live().set_hooks({});
  }
}

TEST_P(EngineRequests, EachComesToWhatItComesToAlone) { compare_with_alone(false); }
TEST_P(EngineRequests, EachComesToWhatItComesToAloneThroughTheHostsMemory) { compare_with_alone(true); }

// One that is put out by a session, and beside it one that is not: the same schedule, the same bits. Undrawn logits, sampler and held-back text come
// along. Blocks that nobody needed meanwhile are not copied.
TEST_P(EngineRequests, PuttingOutChangesNoBit) {
  const std::vector<int32_t> tokens = prompt(45);
  RequestOptions options = plain(60);
  options.session.sampler = {.temperature = 0.9f, .repetition_penalty = 1.2f, .seed = 5, .mirostat_tau = 3};
  options.session.stops = {"never in the text"};
  for (const int n_steps : {1, 2, 9, 30}) {
    for (const bool is_needed : {true, false}) {
      Collected wanted;
      for (const bool puts_out : {false, true}) {
        load_with(with_blocks(4, 2));
        engine_->requests().live().store_put_outs(64);
        n_events_ = 0;
        collected_.clear();
        const uint64_t id = submit(tokens, options);
        for (int i = 0; i < n_steps; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
        if (puts_out) {
          const auto a = engine_->create_session({}), b = engine_->create_session({});
          ASSERT_TRUE(a.ok() && b.ok());
          const Status filled = is_needed ? prefill(**a, prompt(110, 7)) : Status();
          ASSERT_TRUE(filled.ok()) << filled.message;
        }
        run_all();
        const RequestCounts counts = engine_->requests().counts();
        EXPECT_EQ(counts.n_put_out, puts_out ? 1u : 0u);
        EXPECT_EQ(counts.n_stored, puts_out ? 1u : 0u);
        EXPECT_EQ(counts.n_computed_again, 0u);
        const uint64_t n_copied = counts.n_copied_back;
        EXPECT_TRUE(!puts_out || (is_needed ? n_copied >= 32 : n_copied < 32)) << n_copied << ": if nobody needed them, but the block that is not full";
        Collected& own = collected_[id];
        if (!puts_out) {
          wanted = own;
          continue;
        }
        EXPECT_EQ(own.tokens, wanted.tokens) << n_steps;
        EXPECT_EQ(own.logprobs, wanted.logprobs) << n_steps;
        EXPECT_EQ(own.text, wanted.text) << n_steps;
        EXPECT_EQ(own.end.reason, wanted.end.reason) << n_steps;
      }
    }
  }
}

// Of models with windows: tables that begin behind the first block come back as they were.
TEST_P(EngineRequests, PuttingOutKeepsWindows) {
  for (const char* model : {"gemma3-f32", "gpt-oss-f32", "olmo3-f32"}) {
    const auto loaded = Engine::load(test::model_file(model), {.device = GetParam(), .n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32, .no_prefix_cache = true});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message;
    std::vector<int32_t> tokens;
    for (int32_t k = 0; k < 80; ++k) tokens.push_back(13 * k % 55 + 5);
    Collected wanted;
    for (const bool puts_out : {false, true}) {
      queue_.reset();
      engine_ = *loaded;
      engine_->requests().live().store_put_outs(64);
      queue_ = engine_->requests().add_queue(engine_, {});
      n_events_ = 0;
      collected_.clear();
      const uint64_t before = engine_->requests().counts().n_copied_back, id = submit(tokens, plain(20));
      for (int i = 0; i < 9; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
      if (puts_out) {
        const auto a = engine_->create_session({}), b = engine_->create_session({});
        ASSERT_TRUE(a.ok() && b.ok());
        ASSERT_TRUE(prefill(**a, tokens).ok());
      }
      run_all();
      EXPECT_EQ(engine_->requests().counts().n_copied_back - before, puts_out ? 86u : 0u) << model;
      if (!puts_out) {
        wanted = collected_[id];
        continue;
      }
      EXPECT_EQ(collected_[id].tokens, wanted.tokens) << model;
      EXPECT_EQ(collected_[id].logprobs, wanted.logprobs) << model;
    }
  }
}

// The host's memory for it has a bound; a request that ends while it is put out gives its part back.
TEST_P(EngineRequests, WhatTheHostsMemoryCannotHoldIsComputedAgain) {
  load_with(with_blocks(8, 2));
  engine_->requests().live().store_put_outs(1);
  const std::vector<int32_t> one = prompt(20), two = prompt(25, 9), three = prompt(30, 21);
  const auto put_all_out = [&] {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
    const auto a = engine_->create_session({}), b = engine_->create_session({});
    ASSERT_TRUE(a.ok() && b.ok());
  };
  const uint64_t first = submit(one, plain(20)), second = submit(two, plain(20));
  put_all_out();
  EXPECT_EQ(engine_->requests().counts().n_put_out, 2u);
  EXPECT_EQ(engine_->requests().counts().n_stored, 1u);
  const auto request = queue_->cancel(second);
  ASSERT_NE(request, nullptr);
  engine_->requests().cancel(*request);
  const uint64_t third = submit(three, plain(20));
  put_all_out();
  EXPECT_EQ(engine_->requests().counts().n_put_out, 4u);
  EXPECT_EQ(engine_->requests().counts().n_stored, 2u) << "the cancelled one, or the one that came back, has made room";
  run_all();
  EXPECT_GT(engine_->requests().counts().n_copied_back, 0u);
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  expect_near_alone(collected_[first], alone(*other, one, plain(20).session), "the first");
  expect_near_alone(collected_[third], alone(*other, three, plain(20).session), "the third");
}

// What can be wrong is refused when it is submitted, in words that name it.
TEST_P(EngineRequests, WhatCannotRunIsRefused) {
  const auto with = [](const auto& change) {
    RequestOptions options = plain(8);
    change(options);
    return options;
  };
  EXPECT_EQ(refused({}, plain(8)).code, Code::invalid_argument);
  EXPECT_EQ(refused({1, 5000}, plain(8)).message.substr(0, 15), "token 1 is 5000");
  EXPECT_EQ(refused(prompt(128), plain(8)).code, Code::context_full);
  EXPECT_EQ(refused(prompt(5), with([](RequestOptions& o) { o.priority = 8; })).message, "the priority is 8, expected 0 to 7");
  EXPECT_EQ(refused(prompt(5), with([](RequestOptions& o) { o.session.max_tokens = -1; })).code, Code::invalid_argument);
  EXPECT_EQ(refused(prompt(5), with([](RequestOptions& o) { o.session.sampler.temperature = -1; })).code, Code::invalid_argument);
  EXPECT_EQ(refused(prompt(5), with([](RequestOptions& o) { o.session.stops = {""}; })).code, Code::invalid_argument);
  EXPECT_EQ(refused(prompt(5), with([](RequestOptions& o) { o.session.stop_tokens = {-1}; })).code, Code::invalid_argument);
  load_with(with_blocks(2));
  const Status full = refused(prompt(60), plain(8));
  EXPECT_EQ(full.code, Code::kv_full);
  EXPECT_EQ(full.message, "the prompt and its first tokens need 3 blocks of 32 tokens, the whole KV pool has 2");
  submit(prompt(16), plain(8));
  run_all();
}

TEST_P(EngineRequests, AFullQueueSaysSoAndAPolledEndMakesRoom) {
  load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32}, {.max_requests = 2});
  submit(prompt(5), plain(2));
  submit(prompt(6), plain(2));
  EXPECT_EQ(refused(prompt(5), plain(2)).code, Code::queue_full);
  ASSERT_TRUE(engine_->requests().run({}).ok());
  EXPECT_EQ(refused(prompt(5), plain(2)).code, Code::queue_full) << "an end that nobody has polled still has its place";
  poll();
  submit(prompt(5), plain(2));
  run_all();
  EXPECT_EQ(collected_.size(), 3u);
}

// Who never polls rests, and harms nobody else.
TEST_P(EngineRequests, UnreadTokensLetARequestRest) {
  load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32}, {.max_unread_tokens = 5});
  const auto read = engine_->requests().add_queue(engine_, {});
  const std::vector<int32_t> tokens = prompt(20);
  const uint64_t id = submit(tokens, plain(30));
  uint64_t other = 0;
  ASSERT_TRUE(engine_->requests().submit(read, tokens, plain(30), other).ok());
  const auto result = engine_->requests().run({});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->n_tokens, 35) << "30 of the one, 5 of the other";
  EXPECT_FALSE(result->has_work);
  for (int i = 0; i < 20 && collected_[id].n_ends == 0; ++i) {
    poll_once(1, 3, 64);
    ASSERT_TRUE(engine_->requests().run({}).ok());
  }
  expect_as_alone(collected_[id], alone(*engine_, tokens, plain(30).session), "read three by three");
}

TEST_P(EngineRequests, ACancelIsTheEndOfTokens) {
  const uint64_t waits = submit(prompt(5)), runs = submit(prompt(9), plain(40)), over = submit(prompt(3), plain(1));
  const auto request = queue_->cancel(waits);
  ASSERT_NE(request, nullptr);
  engine_->requests().cancel(*request);
  poll();
  EXPECT_EQ(collected_[waits].end.reason, FinishReason::cancelled) << "without a step";
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  EXPECT_EQ(queue_->cancel(over), nullptr) << "its end was first";
  const auto running = queue_->cancel(runs);
  ASSERT_NE(running, nullptr);
  engine_->requests().cancel(*running);
  EXPECT_EQ(queue_->cancel(12345678), nullptr);
  run_all();
  EXPECT_EQ(collected_[runs].end.reason, FinishReason::cancelled);
  EXPECT_EQ(collected_[runs].tokens.size(), 5u) << "those of before arrive";
  EXPECT_EQ(collected_[over].end.reason, FinishReason::max_tokens);
}

TEST_P(EngineRequests, ATimeoutKeepsTheText) {
  const auto clock = std::make_shared<int64_t>(1'000'000);
  engine_->requests().live().set_hooks({.now = [clock] { return *clock; }});
  RequestOptions options = plain(100);
  options.timeout_us = 20'000;
  const uint64_t runs = submit(prompt(9), options);
  options.timeout_us = 1;
  const uint64_t waits = submit(prompt(9), options);
  *clock += 10;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  *clock += 25'000;
  engine_->requests().end_expired();
  poll();
  EXPECT_EQ(collected_[runs].end.reason, FinishReason::timeout);
  EXPECT_EQ(collected_[runs].tokens.size(), 3u);
  EXPECT_FALSE(collected_[runs].text.empty());
  EXPECT_EQ(collected_[waits].end.reason, FinishReason::timeout);
  EXPECT_TRUE(collected_[waits].tokens.empty());
}

// Sessions take what they need from requests, which come back; what run() left pending makes no call fail.
TEST_P(EngineRequests, SessionsComeFirst) {
  load_with(with_blocks(4, 2));
  const std::vector<int32_t> tokens = prompt(60);
  const uint64_t first = submit(tokens, plain(30)), second = submit(prompt(5), plain(30));
  ASSERT_TRUE(engine_->requests().run({.us = 1}).ok());
  ASSERT_TRUE(engine_->requests().run({.us = 1}).ok());
  const SessionOptions options = plain(40).session;
  const Collected own = alone(*engine_, prompt(70), options);
  EXPECT_EQ(own.tokens.size(), 40u) << "a slot and the whole pool";
  const auto a = engine_->create_session(options), b = engine_->create_session(options);
  EXPECT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(engine_->stats().n_sessions, 2);
  EXPECT_EQ(engine_->create_session(options).status().code, Code::session_limit);
  const auto blocked = engine_->requests().run({});
  ASSERT_TRUE(blocked.ok());
  EXPECT_EQ(blocked->n_requests, 2) << "they wait for a slot";
  const_cast<Result<std::shared_ptr<Session>>&>(a) = Status(error(Code::internal, "freed"));
  run_all();
  expect_as_alone(collected_[first], alone(*engine_, tokens, plain(30).session), "the first");
  expect_as_alone(collected_[second], alone(*engine_, prompt(5), plain(30).session), "the second");
}

TEST_P(EngineRequests, RunIsRefusedBesideAStepInSlicesAndAThread) {
  const auto s = session();
  ASSERT_TRUE(prefill(*s, prompt(5)).ok());
  StepEvent event;
  Session* one[] = {s.get()};
  int32_t left = 0;
  ASSERT_TRUE(engine_->decode_step(one, {&event, 1}).ok());
  ASSERT_TRUE(engine_->decode_slice(one, 1, {&event, 1}, left).ok());
  submit(prompt(5));
  EXPECT_EQ(engine_->requests().run({}).status().code, Code::invalid_state);
  ASSERT_TRUE(engine_->decode_abandon(one).ok());
  run_all();
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  EXPECT_EQ(engine_->requests().run({}).status().code, Code::invalid_state);
  ASSERT_TRUE(engine_->requests().set_thread({}).ok());
  EXPECT_TRUE(engine_->requests().run({}).ok());
}

// From 8 threads, computed by the engine's own, with a share and without.
TEST_P(EngineRequests, TheEnginesThreadServesAll) {
  const std::vector<int32_t> tokens = prompt(30);
  const Collected own = alone(*engine_, tokens, plain(20).session);
  for (const ThreadShare share : {ThreadShare{}, ThreadShare{.busy_us = 500, .period_us = 1000}}) {
    ASSERT_TRUE(engine_->requests().set_thread(share).ok());
    std::vector<std::thread> hosts;
    std::atomic<int> n_right{0};
    for (int t = 0; t < 8; ++t) {
      hosts.emplace_back([&] {
        const auto queue = engine_->requests().add_queue(engine_, {});
        uint64_t id = 0;
        if (!engine_->requests().submit(queue, tokens, plain(20), id).ok()) return;
        const auto got = read_to_end(*queue);
        if (!got) return;
        if (GetParam() == DeviceKind::cuda ? got->size() == own.tokens.size() : *got == own.tokens) ++n_right;
      });
    }
    for (std::thread& host : hosts) host.join();
    EXPECT_EQ(n_right, 8);
  }
}

TEST_P(EngineRequests, WaitsAreEnded) {
  using Waited = RequestQueue::Waited;
  constexpr size_t kThreads = 6;
  const auto waited = [&](std::optional<int64_t> timeout_us) { return *queue_->wait(timeout_us); };
  for (int round = 0; round < 50; ++round) {
    std::atomic<size_t> n_woken{0};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { n_woken += waited(i % 2 ? std::optional<int64_t>(60'000'000) : std::nullopt) == Waited::woken; });
    }
    while (queue_->n_waiting() < kThreads) std::this_thread::yield();
    queue_->wake_waits();
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(n_woken, kThreads);
    ASSERT_EQ(queue_->n_waiting(), 0u);
  }
  EXPECT_EQ(waited(1), Waited::time_over) << "those that it has ended were all";
  queue_->wake_waits();
  queue_->wake_waits();
  EXPECT_EQ(waited(0), Waited::time_over) << "who only asks does not wait";
  EXPECT_EQ(waited({}), Waited::woken) << "nobody waited: the next one";
  EXPECT_EQ(waited(1), Waited::time_over) << "once";
  EXPECT_EQ(queue_->n_waiting(), 0u);
  queue_->wake_waits();
  submit(prompt(5), plain(1));
  while (engine_->requests().run({})->n_requests > 0) {
  }
  EXPECT_EQ(waited({}), Waited::ready);
  poll();
  EXPECT_EQ(waited({}), Waited::woken) << "the one before has not waited";
}

TEST_P(EngineRequests, EndsWithTheEngine) {
  std::atomic<int> n_woken{0};
  queue_->set_wake([&] { ++n_woken; });
  const uint64_t id = submit(prompt(30), plain(90));
  const auto handle = queue_->handle();
  EXPECT_TRUE(handle.ok());
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  ASSERT_TRUE(queue_->wait({}).ok());
  std::thread waiter([&] {
    for (;;) {
      const auto woken = queue_->wait({});
      if (!woken.ok()) return;
      poll_once(8, 64, 512);
    }
  });
  engine_->requests().close();
  waiter.join();
  EXPECT_EQ(collected_[id].n_ends, 1);
  EXPECT_GE(n_woken, 1);
  uint64_t none = 0;
  EXPECT_EQ(engine_->requests().submit(queue_, prompt(5), plain(1), none).code, Code::invalid_state);
}

// 4 requests with a common beginning of 96 tokens, all at once: it is computed once. Again: not at all.
TEST_P(EngineRequests, ACommonBeginningIsComputedOnce) {
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  for (const bool cached : {true, false}) {
    load_with({.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32, .no_prefix_cache = !cached});
    n_events_ = 0;
    collected_.clear();
    std::vector<std::vector<int32_t>> prompts;
    for (int32_t i = 0; i < 4; ++i) {
      prompts.push_back(prompt(96));
      for (int32_t k = 0; k < 10; ++k) prompts.back().push_back(100 + 20 * i + k);
    }
    std::vector<uint64_t> ids;
    for (const auto& tokens : prompts) ids.push_back(submit(tokens));
    run_all();
    const auto n_prompt = engine_->stats().n_prefill_tokens;
    EXPECT_EQ(n_prompt, cached ? 96u + 4 * 10 : 4u * 106);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(collected_[ids[i]].end.n_cached, cached && i > 0 ? 96 : 0) << i;
      expect_as_alone(collected_[ids[i]], alone(*other, prompts[i], plain(12).session), std::to_string(i));
    }
    const uint64_t again = submit(prompts[2]);
    run_all();
    EXPECT_EQ(engine_->stats().n_prefill_tokens - n_prompt, cached ? 10u : 106u);
    expect_as_alone(collected_[again], alone(*other, prompts[2], plain(12).session), "again");
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0) << "what is only kept is not used";
  }
}

// A prompt that ends or leaves within a cached block goes on behind a copy of it: what it computes is only what is other, and its bits are those of all of it.
TEST_P(EngineRequests, APromptThatLeavesACachedBlockGoesOnWithinIt) {
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  struct Row {
    int32_t n_same, n_more, n_cached;
  };
  const Row rows[] = {{70, 0, 64}, {72, 0, 64}, {73, 0, 72}, {80, 0, 79}, {85, 6, 85}, {95, 1, 95}, {71, 9, 64}, {40, 50, 40}, {31, 3, 31}, {8, 60, 8}, {7, 60, 0}};
  for (const Row& row : rows) {
    load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32});
    collected_.clear();
    const std::vector<int32_t> first = prompt(100);
    const uint64_t id = submit(first, plain(3));
    run_all();
    const uint64_t n_before = engine_->stats().n_prefill_tokens;
    std::vector<int32_t> tokens(first.begin(), first.begin() + row.n_same);
    for (int32_t k = 0; k < row.n_more; ++k) tokens.push_back(211 + k);
    const uint64_t next = submit(tokens), again = submit(first, plain(3));
    run_all();
    const std::string what = std::to_string(row.n_same) + " and " + std::to_string(row.n_more);
    EXPECT_EQ(collected_[next].end.n_cached, row.n_cached) << what;
    EXPECT_EQ(collected_[again].end.n_cached, 96) << what;
    EXPECT_EQ(engine_->stats().n_prefill_tokens - n_before, tokens.size() - static_cast<size_t>(row.n_cached) + 4) << what;
    expect_near_alone(collected_[next], alone(*other, tokens, plain(12).session), what);
    expect_near_alone(collected_[again], alone(*other, first, plain(3).session), what + ": the block that was copied is what it was");
    EXPECT_EQ(collected_[again].tokens, collected_[id].tokens) << what;
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
  }
}

// What others with another salt have computed is not found, and not waited for.
TEST_P(EngineRequests, SaltsKeepRequestsApart) {
  const std::vector<int32_t> tokens = prompt(100);
  const auto salted = [&](uint64_t salt) {
    RequestOptions options = plain(3);
    options.cache_salt = salt;
    return submit(tokens, options);
  };
  load_with({.n_context = 512, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 256});
  const uint64_t first = salted(0), own = salted(7), beside = salted(7);
  ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  EXPECT_GE(engine_->stats().n_prefill_tokens, 200u) << "another salt's prompt is not waited for";
  run_all();
  EXPECT_EQ(collected_[first].end.n_cached, 0);
  EXPECT_EQ(collected_[own].end.n_cached, 0);
  EXPECT_EQ(collected_[beside].end.n_cached, 96) << "of the same salt, which it waited for";
  for (const uint64_t salt : {0, 7, 8}) {
    const uint64_t id = salted(salt);
    run_all();
    EXPECT_EQ(collected_[id].end.n_cached, salt == 8 ? 0 : 96) << salt;
    EXPECT_EQ(collected_[id].tokens.size(), 3u);
  }
}

// A conversation that sends all of it each time computes what is new, and a part of a block.
TEST_P(EngineRequests, AConversationThatGrowsComputesWhatIsNew) {
  std::vector<int32_t> tokens = prompt(20);
  uint64_t n_computed = 0;
  constexpr int kTurns = 20;
  load_with({.n_context = 512, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32});
  for (int turn = 0; turn < kTurns; ++turn) {
    const uint64_t id = submit(tokens, plain(10));
    run_all();
    const RequestEnd& end = collected_[id].end;
    EXPECT_EQ(end.n_cached, turn == 0 ? 0 : (end.n_prompt - 6) / 32 * 32) << turn;  // the last drawn token was not run
    n_computed += static_cast<uint64_t>(end.n_prompt - end.n_cached);
    tokens.insert(tokens.end(), collected_[id].tokens.begin(), collected_[id].tokens.end());
    for (int32_t k = 0; k < 5; ++k) tokens.push_back(200 + turn * 5 + k);
  }
  EXPECT_LT(n_computed, 20u + (kTurns - 1) * (5 + 32));
}

// Steps and polls of requests that go on take no memory.
TEST_P(EngineRequests, AllocateNothingAfterWarmUp) {
  load_with({.n_context = 512, .max_sessions = 4, .n_threads = 1, .prefill_chunk = 32});
  for (int32_t i = 0; i < 4; ++i) submit(prompt(20, i), plain(300));
  run_rounds(100);
  const int64_t before = test::allocation_count();
  run_rounds(100);
  EXPECT_EQ(test::allocation_count(), before);
  submit(prompt(5));
  EXPECT_GT(test::allocation_count(), before) << "negative control: the counter sees the engine's";
}

// What a freed queue tells those who wait for it.
TEST_P(EngineRequests, AClosedQueueWakesItsWaiters) {
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  const auto queue = engine_->requests().add_queue(engine_, {});
  std::vector<std::thread> waiters;
  std::atomic<int> n_told{0};
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] { n_told += queue->wait({}).status().code == Code::invalid_state; });
  }
  queue->close(true);
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(n_told, 4);
  uint64_t id = 0;
  EXPECT_EQ(engine_->requests().submit(queue, prompt(5), plain(1), id).code, Code::invalid_state);
}

// Every model of the tests' data: three requests at once, whole and in units, come to what sessions come to.
TEST_P(EngineRequests, OfEveryModel) {
  int n_models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(INLAY_TEST_DATA_DIR "/models")) {
    if (entry.path().extension() != ".gguf") continue;
    const std::string name = entry.path().stem().string();
    const EngineOptions options{.device = GetParam(), .n_context = 96, .max_sessions = 3, .n_threads = 2, .prefill_chunk = 16};
    const auto loaded = Engine::load(entry.path().string(), options);
    if (!loaded.ok() || (*loaded)->spec().n_vocab < 100) continue;
    ++n_models;
    for (const int64_t budget_us : {0, 200}) {
      queue_.reset();
      engine_ = *loaded;
      queue_ = engine_->requests().add_queue(engine_, {});
      collected_.clear();
      n_events_ = 0;
      std::vector<std::vector<int32_t>> prompts;
      std::vector<uint64_t> ids;
      for (int32_t i = 0; i < 3; ++i) {
        prompts.emplace_back();
        for (int32_t k = 0; k < 20 + 25 * i; ++k) prompts.back().push_back((7 * i + 13 * k) % 90 + 5);
        ids.push_back(submit(prompts.back(), plain(8)));
      }
      run_all(budget_us);
      for (size_t i = 0; i < 3; ++i) expect_as_alone(collected_[ids[i]], alone(*engine_, prompts[i], plain(8).session), name + " " + std::to_string(i));
    }
  }
  EXPECT_GT(n_models, 20);
}

}  // namespace
}  // namespace inlay
