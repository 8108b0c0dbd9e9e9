// Requests of an engine, and what they come to alone.
#pragma once

#include <optional>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "src/engine/requests.h"
#include "tests/support/engine_sessions.h"

namespace inlay::test {

// Seeds of schedules: `usual` ones, or those of INLAY_TEST_SCHEDULES, a number or first:end.
struct Seeds {
  uint32_t first = 0, end = 0;
  bool are_many = true;  // as many as usual, so that things happen that single ones need not show
  explicit Seeds(uint32_t usual) : end(usual) {
    const char* given = std::getenv("INLAY_TEST_SCHEDULES");
    if (given == nullptr) return;
    char* rest = nullptr;
    end = static_cast<uint32_t>(std::strtoul(given, &rest, 10));
    if (*rest == ':') first = end, end = static_cast<uint32_t>(std::strtoul(rest + 1, &rest, 10));
    EXPECT_EQ(*rest, '\0') << "INLAY_TEST_SCHEDULES is a number or first:end";
    are_many = end - first >= usual;
  }
};

// What a host collects of one request.
struct Collected {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
  std::string text;
  RequestEnd end;
  int n_ends = 0;
  std::string message;  // of the end
};

class EngineRequests : public EngineSessions {
 protected:
  void SetUp() override {
    EngineSessions::SetUp();
    if (engine_) queue_ = engine_->requests().add_queue(engine_, {});
  }

  void load_with(EngineOptions options, const QueueLimits& limits = {}) {
    queue_.reset();
    engine_ = load(options);
    ASSERT_NE(engine_, nullptr);
    queue_ = engine_->requests().add_queue(engine_, limits);
    n_events_ = 0;
  }
  // On the CPU time passes with what is computed, so that a schedule is the same on a slow machine. Before anything is submitted.
  void use_own_clock() {
    if (GetParam() != DeviceKind::cpu) return;
    const auto now = std::make_shared<std::atomic<int64_t>>(1'000'000);
    engine_->requests().live().set_hooks({.now = [now] { return *now += 2; }});
    engine_->backend().set_inspection({.fault = [now] { return *now += 10, Status(); }});
  }
  // Of a pool of n blocks.
  EngineOptions with_blocks(int32_t n, int32_t max_sessions = 4) {
    const EngineOptions all{.n_context = 128, .max_sessions = 4, .n_threads = 2, .prefill_chunk = 32};
    const auto whole = load(all);
    const uint64_t bytes = whole->info().memory.kv / static_cast<uint64_t>(whole->stats().n_kv_blocks);
    EngineOptions out = all;
    out.max_sessions = max_sessions;
    out.kv_budget_bytes = bytes * static_cast<uint64_t>(n);
    return out;
  }

  uint64_t submit(const std::vector<int32_t>& prompt, const RequestOptions& options = plain(12)) {
    uint64_t id = 0;
    const Status status = engine_->requests().submit(queue_, prompt, options, id);
    EXPECT_TRUE(status.ok()) << status.message;
    return id;
  }
  Status refused(const std::vector<int32_t>& prompt, const RequestOptions& options) {
    uint64_t id = 0;
    Status status = engine_->requests().submit(queue_, prompt, options, id);
    EXPECT_EQ(id, 0u);
    return status;
  }
  static RequestOptions plain(int32_t max_tokens) {
    return {.session = {.max_tokens = max_tokens, .ignore_end_of_generation = true}};
  }

  // All that there is to poll, in rooms of these sizes.
  void poll(size_t n_events = 8, size_t n_tokens = 32, size_t n_text = 256) {
    for (;;) {
      const size_t n = poll_once(n_events, n_tokens, n_text);
      if (n == 0) return;
    }
  }
  size_t poll_once(size_t n_events, size_t n_tokens, size_t n_text) {
    std::vector<TokenLogprob> tokens(n_tokens);
    std::string text(n_text, '\0');
    const auto polled = queue_->poll({.n_events = n_events, .tokens = tokens, .text = text}, [&](size_t, const RequestEvent& event) {
      EXPECT_EQ(event.number, ++n_events_);
      Collected& own = collected_[event.request];
      EXPECT_EQ(own.n_ends, 0) << "an event behind the end";
      for (const TokenLogprob& token : std::span(tokens).subspan(event.first_token, event.n_tokens)) {
        own.tokens.push_back(token.token);
        own.logprobs.push_back(token.logprob);
      }
      (event.is_end ? own.message : own.text) += text.substr(event.first_byte, event.n_text);
      if (event.is_end) own.end = event.end, ++own.n_ends;
    });
    if (!polled.ok()) {
      EXPECT_EQ(polled.status().code, Code::invalid_state) << polled.status().message;
      return 0;
    }
    engine_->requests().note_polled();
    return *polled;
  }

  // Until nothing is left to compute.
  void run_all(int64_t budget_us = 0) {
    for (int i = 0; i < 100'000; ++i) {
      const auto result = engine_->requests().run({.us = budget_us});
      ASSERT_TRUE(result.ok()) << result.status().message;
      poll();
      if (result->n_requests == 0) return;
    }
    FAIL() << "requests do not come to an end";
  }

  // Without a poll.
  void run_once_through() {
    const auto result = engine_->requests().run({});
    ASSERT_TRUE(result.ok()) << result.status().message;
  }

  // The same prompt in a session of its own, on an engine where nothing else runs. drew: called after each token.
  Collected alone(Engine& engine, const std::vector<int32_t>& prompt, const SessionOptions& options, const std::function<void(Session&)>& drew = {}) {
    Collected out;
    const auto session = engine.create_session(options);
    EXPECT_TRUE(session.ok());
    size_t n_done = 0;
    EXPECT_TRUE((*session)->prefill(prompt, n_done).ok());
    for (;;) {
      Session* one[] = {session->get()};
      StepEvent event;
      const Status status = engine.decode_step(one, {&event, 1});
      EXPECT_TRUE(status.ok()) << status.message;
      if (!status.ok()) return out;
      if (event.sample.token >= 0) {
        if (drew) drew(**session);
        out.tokens.push_back(event.sample.token);
        out.logprobs.push_back(event.sample.logprob);
      }
      out.end.reason = event.finish_reason;
      if (event.finish_reason != FinishReason::none) break;
    }
    out.text.resize((*session)->n_pending_text());
    out.text.resize((*session)->take_text(out.text.data(), out.text.size()));
    return out;
  }
  void expect_as_alone(const Collected& own, const Collected& alone, const std::string& what) {
    EXPECT_EQ(own.n_ends, 1) << what;
    EXPECT_EQ(own.end.reason, alone.end.reason) << what << ": " << own.message;
    EXPECT_EQ(own.text, alone.text) << what;
    if (GetParam() == DeviceKind::cuda) return;  // a prompt that is cut elsewhere has other last bits there
    EXPECT_EQ(own.tokens, alone.tokens) << what;
    EXPECT_EQ(own.logprobs, alone.logprobs) << what;
  }
  // The same; but on CUDA the tokens may agree up to the first near tie alone, to which few requests come. docs/design/batch-invariance.md
  void expect_near_alone(const Collected& own, const Collected& alone, const std::string& what) {
    if (GetParam() != DeviceKind::cuda) return expect_as_alone(own, alone, what);
    ++n_compared_;
    EXPECT_EQ(own.n_ends, 1) << what;
    EXPECT_NE(own.end.reason, FinishReason::error) << what << ": " << own.message;
    const size_t n = std::min(own.tokens.size(), alone.tokens.size());
    const auto n_same = static_cast<size_t>(std::mismatch(own.tokens.begin(), own.tokens.begin() + static_cast<std::ptrdiff_t>(n), alone.tokens.begin()).first - own.tokens.begin());
    for (size_t i = 0; i < n_same; ++i) EXPECT_NEAR(own.logprobs[i], alone.logprobs[i], 0.05f) << what << ", token " << i;
    if (n_same < n) return void(++n_different_);
    EXPECT_EQ(own.tokens.size(), alone.tokens.size()) << what;
    EXPECT_EQ(own.end.reason, alone.end.reason) << what;
    EXPECT_EQ(own.text, alone.text) << what;
  }
  void expect_few_differ() { EXPECT_LE(n_different_ * 20, n_compared_) << "requests that draw other tokens than alone"; }

  std::shared_ptr<RequestQueue> queue_;
  std::map<uint64_t, Collected> collected_;
  uint64_t n_events_ = 0;
  int n_compared_ = 0, n_different_ = 0;

  // Steps and polls of requests that go on. The rooms are taken once.
  void run_rounds(int n) {
    for (int i = 0; i < n; ++i) {
      EXPECT_TRUE(engine_->requests().run({.us = i % 2 == 0 ? 0 : 1000, .one_step = true}).ok());
      EXPECT_TRUE(queue_->poll({.n_events = 8, .tokens = rounds_tokens_, .text = rounds_text_}, [](size_t, const RequestEvent&) {}).ok());
      engine_->requests().note_polled();
    }
  }
  // The tokens of the queue's only request, as a thread of its own waits for them; none where a call failed.
  std::optional<std::vector<int32_t>> read_to_end(RequestQueue& queue) {
    std::vector<int32_t> got;
    for (bool ended = false; !ended;) {
      const auto woken = queue.wait(10'000'000);
      if (!woken.ok() || *woken != RequestQueue::Waited::ready) return {};
      std::vector<TokenLogprob> room(8);
      std::string text(64, '\0');
      const auto polled = queue.poll({.n_events = 4, .tokens = room, .text = text}, [&](size_t, const RequestEvent& event) {
        for (const TokenLogprob& token : std::span(room).subspan(event.first_token, event.n_tokens)) got.push_back(token.token);
        ended = event.is_end;
      });
      if (!polled.ok()) return {};
      engine_->requests().note_polled();
    }
    return got;
  }

 private:
  std::vector<TokenLogprob> rounds_tokens_ = std::vector<TokenLogprob>(64);
  std::string rounds_text_ = std::string(1024, '\0');
};

}  // namespace inlay::test
