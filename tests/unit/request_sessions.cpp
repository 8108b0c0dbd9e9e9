// Requests that continue a session of the host's, and those that compute a prompt alone: docs/design/requests.md, "Sessions for requests".
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>
#include <thread>

#include "src/engine/saved_session.h"
#include "tests/support/engine_requests.h"

namespace inlay {
namespace {

using test::Collected;

class RequestSessions : public test::EngineRequests {
 protected:
  // Prompts of a chat's turns, and how each is drawn.
  struct Turn {
    std::vector<int32_t> prompt;
    int32_t n_drawn;
  };
  const std::vector<Turn> turns_ = {{prompt(21), 7}, {prompt(5, 40), 9}, {prompt(1, 90), 1}, {prompt(14, 33), 12}, {prompt(9, 5), 3}};

  static SessionOptions drawing(int32_t n = 0) {
    SessionOptions out{.max_tokens = n, .ignore_end_of_generation = true};
    out.sampler = {.temperature = 0.8f, .top_k = 30, .repetition_penalty = 1.1f, .seed = 11};
    return out;
  }
  std::shared_ptr<Session> for_requests(SessionOptions options = drawing(8)) {
    options.for_requests = true;
    return session(options);
  }
  static RequestOptions on(const std::shared_ptr<Session>& session, int32_t n_drawn, bool replaces = false) {
    return {.session = drawing(n_drawn), .continues = session, .replaces = replaces};
  }

  // What a session of the host's comes to that runs the same turns itself.
  static std::vector<int32_t> stepped(Engine& engine, const std::vector<Turn>& turns) {
    const auto made = engine.create_session(drawing());
    EXPECT_TRUE(made.ok()) << made.status().message;
    Session& session = **made;
    for (const Turn& turn : turns) {
      EXPECT_TRUE(session.set_max_tokens(turn.n_drawn).ok());
      EXPECT_TRUE(prefill(session, turn.prompt).ok());
      StepEvent event;
      for (Session* one[] = {&session}; event.finish_reason == FinishReason::none;) {
        event = {};
        EXPECT_TRUE(engine.decode_step(one, {&event, 1}).ok());
      }
    }
    return {session.tokens().begin(), session.tokens().end()};
  }
  static std::vector<int32_t> tokens_of(const Session& session) { return {session.tokens().begin(), session.tokens().end()}; }

  // Equal; on CUDA a prompt that was cut elsewhere may turn a near tie.
  void expect_tokens(const Session& session, const std::vector<int32_t>& wanted, const std::string& what, bool same_cuts = true) {
    const std::vector<int32_t> own = tokens_of(session);
    if (same_cuts || GetParam() != DeviceKind::cuda) {
      EXPECT_EQ(own, wanted) << what;
    } else {
      ++n_compared_;
      n_different_ += own != wanted;
      EXPECT_EQ(own.size(), wanted.size()) << what;
    }
  }
};
INLAY_ON_CPU_AND_CUDA(RequestSessions);

TEST_P(RequestSessions, TurnsAreThoseOfASessionAndEachTokenIsComputedOnce) {
  const std::vector<int32_t> wanted = stepped(*engine_, turns_);
  load_with({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32, .no_prefix_cache = true});
  const auto session = for_requests();
  int32_t n_before = 0;
  uint64_t n_run = 0;
  for (const Turn& turn : turns_) {
    const uint64_t id = submit(turn.prompt, on(session, turn.n_drawn));
    run_all();
    const Collected& own = collected_[id];
    const auto n_new = static_cast<int32_t>(turn.prompt.size());
    EXPECT_EQ(own.end.reason, FinishReason::max_tokens) << own.message;
    EXPECT_EQ(own.end.n_prompt, n_before + n_new);
    EXPECT_EQ(own.end.n_cached, std::max(0, n_before - 1)) << "the token that was drawn last was not run yet";
    EXPECT_EQ(own.tokens.size(), static_cast<size_t>(turn.n_drawn));
    n_run += static_cast<uint64_t>(n_new) + (n_before > 0 ? 1 : 0);
    n_before += n_new + turn.n_drawn;
    EXPECT_EQ(session->info().n_tokens, n_before);
    EXPECT_EQ(session->info().n_drawn, turn.n_drawn);
    EXPECT_EQ(engine_->stats().n_sessions, 0) << "between requests it has no place";
  }
  EXPECT_EQ(engine_->stats().n_prefill_tokens, n_run);
  expect_tokens(*session, wanted, "five turns");
}

// All at once, of more sessions than there are places, and of another one whose requests stand between.
TEST_P(RequestSessions, RequestsForOneSessionRunInTheirOrder) {
  const std::vector<int32_t> wanted = stepped(*engine_, turns_);
  load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32});
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 5; ++i) sessions.push_back(for_requests());
  for (const Turn& turn : turns_) {
    for (const auto& session : sessions) submit(turn.prompt, on(session, turn.n_drawn));
  }
  run_all();
  for (const auto& session : sessions) expect_tokens(*session, wanted, "one of five", false);
  expect_few_differ();
}

TEST_P(RequestSessions, ItsOwnOptionsHoldWhereTheRequestHasNone) {
  const auto own = for_requests(drawing(5));
  RequestOptions none{.continues = own, .has_options = false};
  const uint64_t first = submit(prompt(10), none);
  const uint64_t second = submit(prompt(4, 8), on(own, 9));
  const uint64_t third = submit(prompt(3, 70), none);
  run_all();
  EXPECT_EQ(collected_[first].tokens.size(), 5u);
  EXPECT_EQ(collected_[second].tokens.size(), 9u);
  EXPECT_EQ(collected_[third].tokens.size(), 9u) << "those of the request before hold from then on";
  expect_tokens(*own, stepped(*engine_, {{prompt(10), 5}, {prompt(4, 8), 9}, {prompt(3, 70), 9}}), "three turns");
}

TEST_P(RequestSessions, ItsSamplerSaysHowManyLikeliestTokensCome) {
  SessionOptions options = drawing(5);
  options.sampler.n_logprobs = 2;
  const auto own = for_requests(options);
  submit(prompt(10), {.continues = own, .has_options = false});
  run_once_through();
  std::vector<TokenLogprob> room(64);
  std::string text(64, '\0');
  size_t n_tokens = 0;
  const auto polled = queue_->poll({.n_events = 8, .tokens = room, .text = text}, [&](size_t, const RequestEvent& event) {
    EXPECT_EQ(event.n_top, event.is_end ? 0 : 2);
    n_tokens += event.n_tokens;
  });
  ASSERT_TRUE(polled.ok()) << polled.status().message;
  EXPECT_EQ(n_tokens, 5u);
}

// Others need all blocks meanwhile: it is computed again, and goes on as if nothing had been.
TEST_P(RequestSessions, WhatRestsGivesItsBlocks) {
  for (const bool keeps : {true, false}) {
    EngineOptions options = with_blocks(4);
    options.no_prefix_cache = !keeps;
    load_with(options);
    const std::vector<int32_t> wanted = stepped(*engine_, turns_);
    const auto session = for_requests();
    for (size_t i = 0; i < turns_.size(); ++i) {
      const uint64_t id = submit(turns_[i].prompt, on(session, turns_[i].n_drawn));
      run_all();
      EXPECT_EQ(collected_[id].end.reason, FinishReason::max_tokens) << collected_[id].message;
      EXPECT_GT(session->info().n_kv_blocks, 0);
      const uint64_t other = submit(prompt(60 + static_cast<int32_t>(i), 7), plain(4));
      run_all();
      EXPECT_EQ(collected_[other].tokens.size(), 4u) << collected_[other].message;
      if (i == 2) {  // a session of the host's takes them, too
        const auto stepping = this->session();
        ASSERT_TRUE(prefill(*stepping, prompt(64)).ok());
        EXPECT_EQ(session->info().n_kv_blocks, 0);
      }
    }
    expect_tokens(*session, wanted, keeps ? "with a cache" : "without one", false);
  }
  expect_few_differ();
}

// Blocks that two of them share are free for a third when both give way.
TEST_P(RequestSessions, ForksThatRestGiveWhatTheyShare) {
  load_with(with_blocks(4));
  const auto one = for_requests();
  submit(prompt(50), on(one, 2));
  run_all();
  const auto two = one->fork();
  ASSERT_TRUE(two.ok()) << two.status().message;
  EXPECT_TRUE((*two)->is_for_requests());
  const uint64_t other = submit(prompt(60, 9), plain(3));
  run_all();
  EXPECT_EQ(collected_[other].tokens.size(), 3u) << collected_[other].message;
  submit(prompt(6, 21), on(one, 5));
  run_all();
  submit(prompt(6, 21), on(*two, 5));
  run_all();
  expect_tokens(**two, tokens_of(*one), "a fork", false);
  expect_few_differ();
}

// Its tokens become the prompt: what both begin with is not computed again.
TEST_P(RequestSessions, AConversationTakesThePlaceOfItsTokens) {
  load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32, .no_prefix_cache = true});
  const auto session = for_requests();
  submit(prompt(20), on(session, 6));
  run_all();
  std::vector<int32_t> all = tokens_of(*session);
  ASSERT_EQ(all.size(), 26u);
  struct Row {
    const char* what;
    size_t n_same;
    std::vector<int32_t> more;
    int32_t n_cached;
  };
  const Row rows[] = {{"all of it and more", 26, prompt(8, 60), 25}, {"a part of it and more", 23, prompt(8, 61), 23}, {"nothing of it", 0, prompt(12, 111), 0}, {"a part alone", 12, {}, 11}};
  for (const Row& row : rows) {
    all.resize(row.n_same);
    all.insert(all.end(), row.more.begin(), row.more.end());
    const uint64_t id = submit(all, on(session, 4, true));
    run_all();
    const Collected& own = collected_[id];
    EXPECT_EQ(own.end.n_prompt, static_cast<int32_t>(all.size())) << row.what;
    EXPECT_EQ(own.end.n_cached, row.n_cached) << row.what;
    const Collected wanted = alone(*engine_, all, drawing(4));
    expect_near_alone(own, wanted, row.what);
    all = tokens_of(*session);
  }
}

// One that goes from one conversation to another and back: what the cache still has of the first is found.
TEST_P(RequestSessions, AConversationThatComesBackIsFound) {
  load_with({.n_context = 256, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32});
  const auto session = for_requests();
  std::vector<int32_t> one = prompt(100, 3), two = one;
  std::iota(two.begin() + 3, two.end(), 30);
  struct Row {
    const std::vector<int32_t>& tokens;
    int32_t n_cached;
  };
  const Row rows[] = {{one, 0}, {two, 3}, {one, 96}, {two, 96}};
  for (const Row& row : rows) {
    const uint64_t id = submit(row.tokens, on(session, 4, true));
    run_all();
    EXPECT_EQ(collected_[id].end.n_cached, row.n_cached);
    expect_near_alone(collected_[id], alone(*engine_, row.tokens, drawing(4)), std::to_string(row.n_cached));
  }
  EXPECT_EQ(engine_->stats().n_prefill_tokens - 2 * (100 + 100), 100u + 97 + 4 + 4) << "and those that alone() computes";
}

// Four conversations with 3 blocks in common and 1 of each in a pool of 7: all go on at once, 8 tokens each.
TEST_P(RequestSessions, BlocksThatConversationsShareAreWantedOnce) {
  for (const bool alike : {true, false}) {
    load_with(with_blocks(7));
    std::vector<std::shared_ptr<Session>> sessions;
    for (int32_t i = 0; i < 4; ++i) {
      sessions.push_back(for_requests());
      std::vector<int32_t> tokens = prompt(96, alike ? 3 : 3 + 50 * i);
      tokens.push_back(200 + i);
      submit(tokens, on(sessions.back(), 4));
    }
    run_all();
    const uint64_t n_steps = engine_->stats().n_decode_steps, n_computed = engine_->stats().n_prefill_tokens;
    for (int32_t i = 0; i < 4; ++i) submit({210 + i}, on(sessions[static_cast<size_t>(i)], 8));
    run_all();
    const uint64_t n_more = engine_->stats().n_decode_steps - n_steps;
    EXPECT_LE(n_more, alike ? 10u : 32u);
    EXPECT_GE(n_more, alike ? 8u : 32u) << "negative control: one at a time";
    EXPECT_EQ(engine_->stats().n_prefill_tokens - n_computed, alike ? 4u * 2 : 4u * 102) << "the last token of before, and the new one; without room for all, everything";
    for (const auto& session : sessions) EXPECT_EQ(session->info().n_tokens, 97 + 4 + 1 + 8);
  }
}

// Of models with windows, too: a session keeps what it has, to the token.
TEST_P(RequestSessions, WindowsAreKeptBetweenRequests) {
  for (const char* model : {"gemma3-f32", "gpt-oss-f32", "olmo3-f32"}) {
    const auto loaded = Engine::load(test::model_file(model), {.device = GetParam(), .n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32});
    ASSERT_TRUE(loaded.ok()) << loaded.status().message;
    std::vector<Turn> turns;
    for (int32_t k = 0; k < 4; ++k) {
      turns.push_back({{}, 6 + k});
      for (int32_t i = 0; i < 12 + k; ++i) turns.back().prompt.push_back(13 * (i + k) % 55 + 5);
    }
    queue_.reset();
    engine_ = *loaded;
    queue_ = engine_->requests().add_queue(engine_, {});
    n_events_ = 0;
    const std::vector<int32_t> wanted = stepped(*engine_, turns);
    const auto session = for_requests();
    for (const Turn& turn : turns) {
      const int32_t n_before = session->info().n_tokens;
      const uint64_t id = submit(turn.prompt, on(session, turn.n_drawn));
      run_all();
      EXPECT_EQ(collected_[id].end.n_cached, std::max(0, n_before - 1)) << model;
    }
    expect_tokens(*session, wanted, model);
  }
}

TEST_P(RequestSessions, OneThatIsCancelledKeepsWhatWasDrawn) {
  const auto session = for_requests();
  const uint64_t id = submit(prompt(20), on(session, 50));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  const uint64_t waits = submit(prompt(3), on(session, 50));
  engine_->requests().cancel(*queue_->cancel(waits));
  EXPECT_EQ(session->enter_call().code, Code::busy);
  engine_->requests().cancel(*queue_->cancel(id));
  poll();
  EXPECT_EQ(collected_[id].end.reason, FinishReason::cancelled);
  EXPECT_EQ(collected_[waits].end.reason, FinishReason::cancelled);
  EXPECT_EQ(session->info().n_tokens, 20 + static_cast<int32_t>(collected_[id].tokens.size())) << "and nothing of one that did not begin";
  EXPECT_EQ(session->info().finish_reason, FinishReason::cancelled);
  ASSERT_TRUE(session->enter_call().ok());
  const uint64_t blocked = submit(prompt(4), on(session, 3));
  run_once_through();
  poll();
  EXPECT_EQ(collected_[blocked].n_ends, 0) << "a call has the session";
  session->leave_call();
  run_all();
  EXPECT_EQ(collected_[blocked].tokens.size(), 3u);
}

TEST_P(RequestSessions, ACancelOfTheSessionEndsItsRequest) {
  const auto session = for_requests();
  const uint64_t id = submit(prompt(20), on(session, 50));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine_->requests().run({.one_step = true}).ok());
  session->cancel();
  const uint64_t next = submit(prompt(3), on(session, 2));
  run_all();
  EXPECT_EQ(collected_[id].end.reason, FinishReason::cancelled);
  EXPECT_EQ(collected_[next].end.reason, FinishReason::max_tokens) << "the cancel is spent";
}

// A request has its session before there is room for it: a cancel of the generation that the session then tells ends it, one of an
// earlier generation does not.
TEST_P(RequestSessions, ACancelEndsARequestThatWaitsForRoom) {
  load_with({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  const auto session = for_requests();
  uint64_t ended = 0;
  for (int round = 0; round < 2; ++round) {
    auto takes_the_place = this->session(drawing(3));
    uint64_t id = submit(prompt(20), on(session, 3));
    run_once_through();
    session->cancel_generation(session->info().generation);
    run_once_through();
    poll();
    EXPECT_EQ(collected_[id].end.reason, FinishReason::cancelled) << round;
    session->cancel_generation(session->info().generation);
    id = submit(prompt(4), on(session, 3));
    run_once_through();
    session->cancel_generation(ended);
    run_once_through();
    takes_the_place.reset();
    run_all();
    EXPECT_EQ(collected_[id].end.reason, FinishReason::max_tokens) << round;
    ended = session->info().generation;
  }
}

// Only now is known that it does not fit: the session stays as it is.
TEST_P(RequestSessions, APromptThatTheSessionHasNoRoomForEnds) {
  const auto session = for_requests();
  submit(prompt(60), on(session, 20));
  const uint64_t too_long = submit(prompt(48), on(session, 5));
  const uint64_t fits = submit(prompt(47), on(session, 5));
  run_all();
  EXPECT_EQ(collected_[too_long].end.reason, FinishReason::error);
  EXPECT_EQ(collected_[too_long].end.status.code, Code::context_full);
  EXPECT_EQ(collected_[too_long].message, "the session has 80 tokens and the prompt adds 48; the context of 128 has room for 127 and an answer");
  EXPECT_EQ(collected_[fits].end.reason, FinishReason::context_full) << "127 tokens, and one that is drawn";
  EXPECT_EQ(collected_[fits].tokens.size(), 1u);
  EXPECT_EQ(session->info().n_tokens, 128);
}

TEST_P(RequestSessions, WhatDoesNotMeanAnythingIsRefused) {
  const auto stepping = session(), own = for_requests();
  EXPECT_EQ(refused(prompt(3), on(stepping, 3)).code, Code::invalid_argument);
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 1, .prefill_chunk = 32});
  SessionOptions options = drawing(3);
  options.for_requests = true;
  EXPECT_EQ(refused(prompt(3), on(*other->create_session(options), 3)).code, Code::invalid_argument);
  EXPECT_EQ(prefill(*own, prompt(3)).code, Code::invalid_state);
  submit(prompt(20), on(own, 3));
  run_all();
  EXPECT_EQ(step(*own).status.code, Code::invalid_state);
  EXPECT_EQ(own->view_logits().status().code, Code::invalid_state);
  EXPECT_EQ(own->shift(2, 3).code, Code::invalid_state);
  EXPECT_TRUE(own->shift(20, 3).ok()) << "the end alone is a truncation";
  EXPECT_EQ(own->info().n_tokens, 20);
}

TEST_P(RequestSessions, TruncatedSavedAndRestoredItGoesOn) {
  const auto session = for_requests();
  submit(prompt(30), on(session, 8));
  run_all();
  ASSERT_TRUE(session->truncate(33).ok());
  auto saved = SavedSession::of(*session);
  ASSERT_TRUE(saved.ok()) << saved.status().message;
  std::vector<std::byte> bytes;
  ASSERT_TRUE(saved->write([&](std::span<const std::byte> part) { return bytes.insert(bytes.end(), part.begin(), part.end()), Status(); }).ok());
  const auto restored = restore_session(engine_, bytes);
  ASSERT_TRUE(restored.ok()) << restored.status().message;
  EXPECT_TRUE((*restored)->is_for_requests());
  EXPECT_EQ(engine_->stats().n_sessions, 0);
  const uint64_t one = submit(prompt(7, 50), on(session, 9));
  run_all();
  const uint64_t two = submit(prompt(7, 50), on(*restored, 9));
  run_all();
  EXPECT_EQ(collected_[one].tokens, collected_[two].tokens);
  EXPECT_EQ(collected_[one].logprobs, collected_[two].logprobs);
  EXPECT_EQ(collected_[two].end.n_cached, collected_[one].end.n_cached);
  EXPECT_GT(collected_[two].end.n_cached, 30);
}

// The device is asked for the prompt alone, but for its last token; what comes after begins there.
TEST_P(RequestSessions, APrefillComputesAndDrawsNothing) {
  for (const bool in_session : {false, true}) {
    load_with({.n_context = 128, .max_sessions = 2, .n_threads = 2, .prefill_chunk = 32});
    const auto session = in_session ? for_requests() : nullptr;
    RequestOptions first = on(session, 9), more = on(session, 6, true);
    first.kind = RequestKind::prefill;
    const std::vector<int32_t> tokens = prompt(65);
    for (const int32_t n_cached : {0, 64}) {  // the second time all is there
      const uint64_t id = submit(tokens, first);
      run_all();
      EXPECT_EQ(collected_[id].end.reason, FinishReason::prefilled) << collected_[id].message;
      EXPECT_EQ(collected_[id].tokens.size(), 0u);
      EXPECT_EQ(collected_[id].end.n_drawn, 0);
      EXPECT_EQ(collected_[id].end.n_cached, n_cached);
      first.replaces = true;
    }
    EXPECT_EQ(engine_->stats().n_prefill_tokens, 64u);
    EXPECT_EQ(engine_->stats().n_decode_steps, 0u);
    const uint64_t id = submit(tokens, more);
    run_all();
    EXPECT_EQ(collected_[id].end.n_cached, 64);
    EXPECT_EQ(engine_->stats().n_prefill_tokens, 65u);
    first.continues = nullptr, first.replaces = false;
    submit(prompt(20, 150), first);
    run_all();
    EXPECT_EQ(engine_->stats().n_prefill_tokens, 65u + 19) << "of a prompt that is one chunk";
    const auto wanted = alone(*engine_, tokens, drawing(6));
    expect_near_alone(collected_[id], wanted, "behind a prefill");
  }
}

// One token, in units, beside those that draw.
TEST_P(RequestSessions, PrefillsOfAnyLengthEndBesideOthers) {
  std::vector<uint64_t> ids;
  RequestOptions options = plain(3);
  const uint64_t drawing = submit(prompt(30, 8), plain(40));
  options.kind = RequestKind::prefill;
  for (const int32_t n : {1, 2, 16, 17, 33, 100}) ids.push_back(submit(prompt(n, 2 * n), options));
  run_all(300);
  for (const uint64_t id : ids) EXPECT_EQ(collected_[id].end.reason, FinishReason::prefilled) << collected_[id].message;
  EXPECT_EQ(collected_[drawing].tokens.size(), 40u);
  EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0);
}

// Turns of several sessions arrive by and by, a quarter of the pool, some are cancelled; each sequence is that of a session alone that ran the same turns.
TEST_P(RequestSessions, EachComesToWhatItsTurnsComeToAlone) {
  const auto other = load({.n_context = 128, .max_sessions = 1, .n_threads = 2, .prefill_chunk = 32});
  const test::Seeds seeds(16);
  for (uint32_t seed = seeds.first; seed < seeds.end; ++seed) {
    load_with(with_blocks(seed % 2 == 0 ? 5 : 12, 3));
    n_events_ = 0;
    collected_.clear();
    std::mt19937 random(seed);
    const auto below = [&](int32_t n) { return static_cast<int32_t>(random() % static_cast<uint32_t>(n)); };
    std::array<std::shared_ptr<Session>, 5> sessions;
    std::array<std::vector<std::pair<uint64_t, Turn>>, 5> turns;
    for (auto& session : sessions) session = for_requests();
    const int64_t budget = seed % 3 == 2 ? 300 : 0;
    for (int n_turns = 0, n_left = 1; n_turns < 20 || n_left > 0;) {
      if (n_turns < 20 && below(3) == 0) {
        const auto i = static_cast<size_t>(below(5));
        Turn turn{prompt(1 + below(12), below(250)), 1 + below(8)};
        RequestOptions options = on(sessions[i], turn.n_drawn);
        options.priority = below(kTopLevel + 1);
        turns[i].emplace_back(submit(turn.prompt, options), turn);
        ++n_turns;
      }
      if (n_turns < 20 && below(8) == 0) submit(prompt(1 + below(60), below(200)), plain(1 + below(9)));
      const auto result = engine_->requests().run({.us = budget, .one_step = budget == 0});
      ASSERT_TRUE(result.ok()) << result.status().message;
      n_left = result->n_requests;
      poll();
    }
    for (size_t i = 0; i < sessions.size(); ++i) {
      std::vector<Turn> ran;
      for (const auto& [id, turn] : turns[i]) {
        EXPECT_EQ(collected_[id].n_ends, 1);
        if (collected_[id].end.reason == FinishReason::error) {
          const Code code = collected_[id].end.status.code;  // what its session has become too long for
          EXPECT_TRUE(code == Code::kv_full || code == Code::context_full) << collected_[id].message;
          continue;
        }
        if (collected_[id].end.reason == FinishReason::max_tokens) ran.push_back(turn);
      }
      if (!ran.empty() && ran.size() == turns[i].size()) expect_tokens(*sessions[i], stepped(*other, ran), "seed " + std::to_string(seed), false);
    }
    EXPECT_EQ(engine_->stats().n_sessions, 0);
    for (auto& session : sessions) session.reset();
    EXPECT_EQ(engine_->stats().n_kv_blocks_used, 0) << seed;
  }
  if (seeds.are_many) expect_few_differ();
}

// Calls from other threads beside the engine's own: BUSY or done, and nothing is lost.
TEST_P(RequestSessions, CallsFromOtherThreads) {
  ASSERT_TRUE(engine_->requests().set_thread(ThreadShare{}).ok());
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 6; ++i) sessions.push_back(for_requests());
  std::vector<std::thread> threads;
  std::atomic<int> n_calls{0}, n_left{0};
  std::atomic<bool> ends{false};
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      int n_own = 0;
      for (uint32_t i = 0; !ends || n_own < 60; ++i) {
        Session& session = *sessions[(i * 5 + static_cast<uint32_t>(t)) % sessions.size()];
        if (!session.enter_call().ok()) continue;
        ++n_calls;
        ++n_own;
        if (i % 3 == 0) {
          EXPECT_TRUE(session.truncate(session.info().n_tokens / 2).ok());
        } else if (i % 3 == 1) {
          EXPECT_TRUE(SavedSession::of(session).ok());
          EXPECT_TRUE(session.fork().ok());
        }
        session.leave_call();
      }
    });
  }
  std::vector<uint64_t> ids;
  for (int round = 0; round < 20; ++round) {
    for (const auto& session : sessions) ids.push_back(submit(prompt(1 + round % 7, round), on(session, 1 + round % 4)));
  }
  for (size_t n_ended = 0; n_ended < ids.size(); std::this_thread::yield()) {
    poll();
    n_ended = 0;
    for (const auto& [id, own] : collected_) n_ended += static_cast<size_t>(own.n_ends);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  for (const uint64_t id : ids) EXPECT_EQ(collected_[id].end.reason, FinishReason::max_tokens) << collected_[id].message;
  EXPECT_GT(n_calls, 100);
}

}  // namespace
}  // namespace inlay
