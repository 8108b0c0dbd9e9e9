// Requests of kind embed: each gives the vector that embed() gives, whatever runs beside it; who takes it, and when.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "src/engine/embed.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/compare.h"
#include "tests/support/engine_requests.h"
#include "tests/unit/llama_image.h"

namespace inlay {
namespace {

using test::Collected;
using testing::GgufImage;
using Vector = std::vector<float>;

RequestOptions embedding(Pooling pooling, bool normalize = false) {
  return {.kind = RequestKind::embed, .embed = {.pooling = pooling, .normalize = normalize}};
}

Vector vector_alone(Engine& engine, const std::vector<int32_t>& text, const EmbedOptions& options) {
  Vector out(embedding_width(engine, options));
  const std::span<const int32_t> one[] = {text};
  const Status status = embed(engine, one, options, out);
  EXPECT_TRUE(status.ok()) << status.message;
  return out;
}

class RequestVectors : public test::EngineRequests {
 protected:
  Vector take(uint64_t id) {
    Vector out(collected_[id].end.n_values);
    size_t n = 0;
    const Status status = queue_->take_values(id, out, false, n);
    EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(n, out.size());
    return out;
  }
  void expect_vector(uint64_t id, const Vector& wanted, const std::string& what) {
    const Collected& own = collected_[id];
    ASSERT_EQ(own.end.reason, FinishReason::embedded) << what << ": " << own.message;
    EXPECT_EQ(own.n_ends, 1) << what;
    EXPECT_TRUE(own.tokens.empty() && own.text.empty()) << what;
    EXPECT_EQ(own.end.n_drawn, 0) << what;
    const Vector got = take(id);
    ASSERT_EQ(got.size(), wanted.size()) << what;
    if (GetParam() == DeviceKind::cuda) {  // other last bits, as where a prompt is cut
      EXPECT_LT(test::nmse(got, wanted), 1e-4) << what;
    } else {
      EXPECT_EQ(got, wanted) << what;
    }
  }
  // Of a model in memory.
  void load_image(const std::function<void(GgufImage&)>& more, int nan_token = -1) {
    queue_.reset();
    engine_.reset();
    const testing::LlamaSizes sizes{.d_model = 64, .d_ff = 96, .n_heads = 2, .n_kv_heads = 1, .d_head = 32, .n_rot = 32, .n_vocab = 100, .n_context = 128};
    image_ = testing::llama_image(sizes, [&](GgufImage& image) { image.text("tokenizer.ggml.model", "no_vocab"), more(image); }, 1, nan_token);
    const auto loaded = Engine::load(borrow_memory(image_, "model"), {.device = GetParam(), .n_context = 96, .max_sessions = 3, .n_threads = 2, .prefill_chunk = 64});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message;
    engine_ = *loaded;
    queue_ = engine_->requests().add_queue(engine_, {});
    collected_.clear();
    n_events_ = 0;
  }
  void run_schedules(bool stores);
  void share_steps();

  GgufImage::Bytes image_;
};
INLAY_ON_CPU_AND_CUDA(RequestVectors);

// Arrivals of vectors, answers and prefills, cancels, timeouts, sessions that put requests out, a pool of a quarter of the need, from a seed; whole
// steps, units, and parts that nobody waits for.
void RequestVectors::run_schedules(bool stores) {
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  uint64_t n_put_out = 0;
  int n_vectors = 0, n_gone = 0, n_polls = 0;
  const test::Seeds seeds(24);
  for (uint32_t seed = seeds.first; seed < seeds.end; ++seed) {
    const int64_t budget = seed % 3 == 2 ? 300 : 0;
    load_with(with_blocks(seed % 2 == 1 ? 4 : 16, seed % 2 == 1 ? 2 : 4));
    if (stores) engine_->requests().live().store_put_outs(64);
    const bool no_wait = seed % 4 >= 2;
    if (GetParam() == DeviceKind::cpu && no_wait) engine_->backend().set_inspection({.progress = [&] { return TicketProgress{.is_done = ++n_polls % 3 == 0}; }});
    collected_.clear();
    std::mt19937 random(seed);
    const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
    struct Job {
      uint64_t id;
      std::vector<int32_t> text;
      RequestOptions options;
      bool may_end = false;  // before it has come to what it is to come to
    };
    std::vector<Job> jobs;
    std::shared_ptr<Session> session;
    const int n_jobs = 16;
    for (int n_rounds = 0;; ++n_rounds) {
      ASSERT_LT(n_rounds, 20'000) << seed;
      if (jobs.size() < n_jobs && below(3) == 0) {
        Job job{.id = 0, .text = prompt(1 + below(90), below(200)), .options = plain(1 + below(30))};
        if (below(3) > 0) job.options = embedding(static_cast<Pooling>(below(3)), below(2) == 0);
        else if (below(4) == 0) job.options.kind = RequestKind::prefill;
        job.options.priority = below(kTopLevel + 1);
        if (below(12) == 0) job.options.timeout_us = 1 + below(2000), job.may_end = true;
        job.id = submit(job.text, job.options);
        jobs.push_back(std::move(job));
      }
      if (!jobs.empty() && below(40) == 0) {
        Job& job = jobs[static_cast<size_t>(below(static_cast<int32_t>(jobs.size())))];
        if (const auto request = queue_->cancel(job.id)) engine_->requests().cancel(*request), job.may_end = true;
      }
      if (below(6) == 0) session = session ? nullptr : this->session();
      const auto result = engine_->requests().run({.us = budget, .one_step = budget == 0, .no_wait = no_wait && below(4) > 0});
      ASSERT_TRUE(result.ok()) << result.status().message;
      if (below(3) == 0) poll(static_cast<size_t>(1 + below(3)), static_cast<size_t>(1 + below(5)), static_cast<size_t>(4 + below(20)));
      if (jobs.size() == n_jobs && result->n_requests == 0) break;
      if (jobs.size() == n_jobs && below(20) == 0) session = nullptr;
    }
    session = nullptr;
    poll();
    ASSERT_EQ(collected_.size(), jobs.size()) << seed;
    for (const Job& job : jobs) {
      const Collected& own = collected_[job.id];
      const std::string what = "seed " + std::to_string(seed) + ", request " + std::to_string(job.id);
      if (job.may_end && (own.end.reason == FinishReason::cancelled || own.end.reason == FinishReason::timeout)) {
        EXPECT_EQ(own.n_ends, 1) << what;
        EXPECT_EQ(own.end.n_values, 0u) << what;
        ++n_gone;
        continue;
      }
      if (job.options.kind == RequestKind::prefill) {
        EXPECT_EQ(own.end.reason, FinishReason::prefilled) << what << own.message;
      } else if (job.options.kind == RequestKind::generate) {
        expect_near_alone(own, alone(*other, job.text, job.options.session), what);
      } else {
        EXPECT_EQ(own.end.n_cached, 0) << what;
        EXPECT_EQ(own.end.n_prompt, static_cast<int32_t>(job.text.size())) << what;
        expect_vector(job.id, vector_alone(*other, job.text, job.options.embed), what);
        ++n_vectors;
      }
    }
    n_put_out += engine_->requests().counts().n_put_out;
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0) << seed;
    EXPECT_EQ(engine_->stats().n_sessions, 0) << seed;
  }
  if (!seeds.are_many) return;
  EXPECT_GT(n_vectors, 150);
  EXPECT_GT(n_gone, 10);
  EXPECT_GT(n_put_out, 8u);
  expect_few_differ();
}

TEST_P(RequestVectors, EachIsAsAlone) { run_schedules(false); }
TEST_P(RequestVectors, EachIsAsAloneThroughTheHostsMemory) { run_schedules(true); }

// One that was put out after n steps, behind whole chunks: what it had computed is computed again, or comes back; no row counts twice.
TEST_P(RequestVectors, PuttingOutChangesNoBit) {
  const std::vector<int32_t> text = prompt(110);
  for (const bool stores : {false, true}) {
    for (const Pooling pooling : {Pooling::mean, Pooling::first, Pooling::last}) {
      for (const int n_steps : {1, 2, 3}) {
        load_with(with_blocks(4, 2));
        collected_.clear();
        engine_->requests().live().store_put_outs(stores ? 64 : 0);
        const Vector wanted = vector_alone(*engine_, text, {.pooling = pooling});
        const uint64_t id = submit(text, embedding(pooling));
        for (int i = 0; i < n_steps; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
        {
          const auto a = session(), b = session();
          ASSERT_TRUE(prefill(*a, prompt(110, 7)).ok());
        }
        run_all();
        const RequestCounts counts = engine_->requests().counts();
        EXPECT_EQ(counts.n_put_out, 1u);
        EXPECT_EQ(stores ? counts.n_copied_back : counts.n_computed_again, static_cast<uint64_t>(32 * n_steps));
        expect_vector(id, wanted, "behind " + std::to_string(n_steps) + " steps");
      }
    }
  }
}

// Beside a request that draws and a prompt: one step has them all, where a device can. Else those that draw come in the next one.
TEST_P(RequestVectors, SharesItsSteps) {
  for (const bool passes_for_a_device : {false, true}) {
    load_with({.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 64});
    collected_.clear();
    if (passes_for_a_device && GetParam() == DeviceKind::cpu) engine_->backend().set_inspection({.progress = [] { return TicketProgress{.is_done = true}; }});
    EXPECT_EQ(engine_->backend().asks_beside_singles(), !passes_for_a_device && GetParam() == DeviceKind::cpu);
    share_steps();
  }
}

void RequestVectors::share_steps() {
  submit(prompt(10), plain(40));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  const EngineStats before = engine_->stats();
  const uint64_t id = submit(prompt(30, 60), embedding(Pooling::mean));
  submit(prompt(20, 90), plain(40));
  const auto result = engine_->requests().run({.one_step = true});
  ASSERT_TRUE(result.ok());
  const EngineStats after = engine_->stats();
  EXPECT_EQ(after.n_prefill_tokens - before.n_prefill_tokens, 50u);
  EXPECT_EQ(after.n_decode_tokens - before.n_decode_tokens, engine_->backend().asks_beside_singles() ? 2u : 1u);
  poll();
  EXPECT_EQ(collected_[id].n_ends, 1);
  const int32_t n_drawn = engine_->requests().run({.one_step = true})->n_tokens;
  EXPECT_EQ(n_drawn, 2) << "nothing is left of the text";
  // A text of one token, and one of which a chunk leaves one: with those that draw, or in steps of their own.
  const uint64_t one = submit(prompt(1, 40), embedding(Pooling::mean)), more = submit(prompt(64, 9), embedding(Pooling::mean));
  for (int i = 0; i < 20 && collected_[one].n_ends + collected_[more].n_ends < 2; ++i) {
    ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
    poll();
  }
  expect_vector(one, vector_alone(*engine_, prompt(1, 40), {.pooling = Pooling::mean}), "of one token");
  expect_vector(more, vector_alone(*engine_, prompt(64, 9), {.pooling = Pooling::mean}), "of one more than there is room for");
}

// A text waits for no prefix that others compute, begins behind none, and leaves none. So a vector does not depend on what was there before.
TEST_P(RequestVectors, NeitherLooksForAPrefixNorLeavesOne) {
  const std::vector<int32_t> text = prompt(96);
  submit(text, plain(2));
  run_all();
  const uint64_t n_before = engine_->stats().n_prefill_tokens;
  const uint64_t id = submit(text, embedding(Pooling::last));
  run_all();
  EXPECT_EQ(collected_[id].end.n_cached, 0);
  EXPECT_EQ(engine_->stats().n_prefill_tokens - n_before, 96u);
  load_with({.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32});
  collected_.clear();
  submit(text, embedding(Pooling::mean));
  ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  RequestOptions important = plain(2);
  important.priority = kTopLevel;
  const uint64_t beside = submit(text, important);
  int n_drawn = 0;
  for (int i = 0; i < 3; ++i) n_drawn += engine_->requests().run({.one_step = true})->n_tokens;
  EXPECT_EQ(n_drawn, 1) << "the prompt of 3 steps did not wait for the text, of which 2 steps were left";
  run_all();
  EXPECT_EQ(collected_[beside].end.n_cached, 0);
}

// Whose tokens see those behind them: a text is one part, and several share a step.
TEST_P(RequestVectors, OfTextsThatAreWhole) {
  load_image([](GgufImage& image) { image.boolean("llama.attention.causal", false).u32("llama.pooling_type", 1); });
  if (HasFatalFailure()) return;
  const int32_t n_vocab = engine_->spec().n_vocab;
  std::vector<std::vector<int32_t>> texts;
  for (const int32_t n : {1, 64, 7, 30, 33, 2, 1, 63}) {
    texts.emplace_back();
    for (int32_t k = 0; k < n; ++k) texts.back().push_back((n + 13 * k) % n_vocab);
  }
  RequestOptions options{.kind = RequestKind::embed};
  const EmbedOptions plain_options;
  for (const int64_t budget_us : {int64_t{0}, int64_t{1}, int64_t{300}}) {
    std::vector<uint64_t> ids;
    for (const auto& text : texts) ids.push_back(submit(text, options));
    run_all(budget_us);
    for (size_t i = 0; i < texts.size(); ++i) expect_vector(ids[i], vector_alone(*engine_, texts[i], plain_options), "text " + std::to_string(i) + ", budget " + std::to_string(budget_us));
  }
  const std::vector<int32_t> longer(65, 1);
  const Status full = refused(longer, options);
  EXPECT_EQ(full.code, Code::context_full);
  EXPECT_EQ(full.message, "the text has 65 tokens; the model's tokens see those behind them, so that a text is one step, of at most 64 (prefill_chunk)");
  EXPECT_EQ(full.required, 65u);
  EXPECT_EQ(full.available, 64u);
  for (const RequestKind kind : {RequestKind::generate, RequestKind::prefill}) {
    const Status refusal = refused({1, 2, 3}, {.kind = kind});
    EXPECT_EQ(refusal.code, Code::unsupported);
    EXPECT_EQ(refusal.message, engine_->check_writes().message);
  }
  // The engine's own thread, with a step that has less room than the texts.
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{.busy_us = 1000, .period_us = 2000, .max_step_us = 1}).ok());
  std::vector<uint64_t> ids;
  for (const auto& text : texts) ids.push_back(submit(text, options));
  for (const uint64_t id : ids) {
    while (collected_[id].n_ends == 0) {
      const auto woken = queue_->wait(10'000'000);
      ASSERT_TRUE(woken.ok() && *woken == RequestQueue::Waited::ready);
      poll();
    }
  }
  ASSERT_TRUE(engine_->requests().set_thread({}).ok());
  for (size_t i = 0; i < texts.size(); ++i) expect_vector(ids[i], vector_alone(*engine_, texts[i], plain_options), "text " + std::to_string(i) + " by the thread");
}

// What the model's own file asks for: several poolings, and layers behind them.
TEST_P(RequestVectors, TheModelsOwnPooling) {
  load_image([](GgufImage& image) { image.u32("llama.pooling_type", 0).texts("inlay.embedding.pooling", {"mean", "max"}); });
  if (HasFatalFailure()) return;
  const std::vector<int32_t> text(90, 3);
  const uint64_t id = submit(text, {.kind = RequestKind::embed, .embed = {.normalize = true}});
  run_all();
  EXPECT_EQ(collected_[id].end.n_values, 2 * static_cast<size_t>(engine_->spec().d_model));
  expect_vector(id, vector_alone(*engine_, text, {.normalize = true}), "two poolings");
}

TEST_P(RequestVectors, WhatCannotBeAVectorIsRefused) {
  RequestOptions none = embedding(Pooling::mean);
  none.embed.pooling = {};
  EXPECT_EQ(refused(prompt(5), none).message, pooling_of(*engine_).status().message);
  EXPECT_EQ(refused({}, embedding(Pooling::mean)).message, "the text has no tokens");
  EXPECT_EQ(refused({1, 5000}, embedding(Pooling::mean)).message.substr(0, 25), "the text: token 1 is 5000");
  EXPECT_EQ(refused(prompt(129), embedding(Pooling::mean)).message, "the text has 129 tokens, too many for the context of 128");
  RequestOptions wrong = embedding(Pooling::mean);
  wrong.priority = 8;
  EXPECT_EQ(refused(prompt(5), wrong).message, "the priority is 8, expected 0 to 7");
  wrong = embedding(Pooling::mean);
  wrong.embed.progress = [](uint64_t, uint64_t) { return true; };
  EXPECT_EQ(refused(prompt(5), wrong).code, Code::invalid_argument);
  wrong = embedding(Pooling::mean);
  wrong.continues = session();
  EXPECT_EQ(refused(prompt(5), wrong).message, "a request of kind EMBED continues no session");
  const uint64_t whole = submit(prompt(128), embedding(Pooling::mean));  // there is no answer that would need room
  run_all();
  expect_vector(whole, vector_alone(*engine_, prompt(128), {.pooling = Pooling::mean}), "the whole context");
  load_with(with_blocks(2));
  EXPECT_EQ(refused(prompt(70), embedding(Pooling::mean)).message, "the text needs 3 blocks of 32 tokens, the whole KV pool has 2");
  submit(prompt(64), embedding(Pooling::mean));
  run_all();
}

// A vector stays until it is taken, once; so long its request has its place.
TEST_P(RequestVectors, AreTakenOnce) {
  load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32}, {.max_requests = 2});
  const uint64_t id = submit(prompt(40), embedding(Pooling::mean)), other = submit(prompt(9), plain(1));
  const auto refusal = [&](uint64_t of, size_t room = 1000) {
    Vector out(room, -1);
    size_t n = 9;
    Status status = queue_->take_values(of, out, false, n);
    EXPECT_EQ(n, status.code == Code::buffer_too_small ? static_cast<size_t>(engine_->spec().d_model) : 0u);
    for (const float v : out) EXPECT_EQ(v, -1) << "nothing is written";
    return status;
  };
  EXPECT_EQ(refusal(id).message, "request " + std::to_string(id) + " has not ended");
  EXPECT_EQ(refusal(12345678).code, Code::not_found);
  run_once_through();
  EXPECT_EQ(refusal(other).message, "request " + std::to_string(other) + " has no vector: it is of another kind than EMBED, or did not end with EMBEDDED");
  const auto width = static_cast<size_t>(engine_->spec().d_model);
  const Status small = refusal(id, width - 1);
  EXPECT_EQ(small.code, Code::buffer_too_small);
  EXPECT_EQ(small.required, width);
  EXPECT_EQ(small.available, width - 1);
  size_t n = 0;
  EXPECT_TRUE(queue_->take_values(id, {}, true, n).ok());
  EXPECT_EQ(n, width) << "asking leaves it";
  poll();
  submit(prompt(5), plain(1));
  EXPECT_EQ(refused(prompt(5), plain(1)).code, Code::queue_full) << "the vector has its place though its end was polled";
  expect_vector(id, vector_alone(*engine_, prompt(40), {.pooling = Pooling::mean}), "taken");
  EXPECT_EQ(refusal(id).code, Code::not_found) << "once";
  const uint64_t early = submit(prompt(5), embedding(Pooling::last));
  run_once_through();
  collected_[early].end.n_values = width;
  (void)take(early);
  EXPECT_EQ(refusal(early).message, "request " + std::to_string(early) + " has no vector: it was taken");
  poll();
  EXPECT_EQ(collected_[early].end.n_values, width) << "the end says so, though it was taken before";
  EXPECT_EQ(refusal(early).code, Code::not_found);
}

// Of an engine that is gone: what is there can be taken, what is not there ends.
TEST_P(RequestVectors, EndWithTheEngine) {
  const uint64_t there = submit(prompt(20), embedding(Pooling::mean));
  const Vector wanted = vector_alone(*engine_, prompt(20), {.pooling = Pooling::mean});
  run_once_through();
  const uint64_t runs = submit(prompt(100), embedding(Pooling::mean)), waits = submit(prompt(30), embedding(Pooling::mean));
  ASSERT_TRUE(engine_->requests().run({.us = 1}).ok());
  const auto request = queue_->cancel(waits);
  ASSERT_NE(request, nullptr);
  engine_->requests().cancel(*request);
  ASSERT_TRUE(engine_->requests().run({.us = 1}).ok());
  engine_->requests().close();
  poll();
  EXPECT_EQ(collected_[runs].end.reason, FinishReason::cancelled);
  EXPECT_EQ(collected_[waits].end.reason, FinishReason::cancelled);
  expect_vector(there, wanted, "before");
}

TEST_P(RequestVectors, TimeOut) {
  RequestOptions options = embedding(Pooling::mean);
  options.timeout_us = 1;
  const uint64_t waits = submit(prompt(100), options);
  options.timeout_us = 20'000;
  const uint64_t runs = submit(prompt(100), options);
  std::this_thread::sleep_for(std::chrono::microseconds(10));
  ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  engine_->requests().end_expired();
  poll();
  for (const uint64_t id : {waits, runs}) {
    EXPECT_EQ(collected_[id].end.reason, FinishReason::timeout);
    EXPECT_EQ(collected_[id].end.n_values, 0u);
  }
}

// A token whose row is NaN: the request ends with an error, and not with a vector.
TEST_P(RequestVectors, WhatIsNotFiniteIsAnError) {
  load_image([](GgufImage&) {}, 2);
  if (HasFatalFailure()) return;
  const uint64_t id = submit({1, 2, 3}, embedding(Pooling::mean));
  run_all();
  EXPECT_EQ(collected_[id].end.reason, FinishReason::error);
  EXPECT_EQ(collected_[id].end.status.code, Code::format);
  EXPECT_EQ(collected_[id].end.n_values, 0u);
  EXPECT_NE(collected_[id].message.find("for value 0 of the text"), std::string::npos) << collected_[id].message;
}

// Decoding beside vectors takes no memory but what these take themselves.
TEST_P(RequestVectors, DecodingBesideThemAllocatesNothing) {
  load_with({.n_context = 512, .max_sessions = 4, .n_threads = 1, .prefill_chunk = 32});
  for (int32_t i = 0; i < 3; ++i) submit(prompt(20, i), plain(400));
  run_rounds(50);
  submit(prompt(100), embedding(Pooling::mean));
  run_rounds(50);
  const int64_t before = test::allocation_count();
  run_rounds(100);
  EXPECT_EQ(test::allocation_count(), before);
}

}  // namespace
}  // namespace inlay
