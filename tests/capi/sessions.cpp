// Sessions through the shared library: what is drawn, in which company, and what happens where something ends or is
// full.
#include <atomic>
#include <cmath>
#include <thread>

#include "tests/capi/client.h"

namespace inlay::test {
namespace {

class Sessions : public OnEachDevice {};
INLAY_ON_EACH_DEVICE(Sessions);

inlay_sampler_params hot(uint64_t seed) {
  inlay_sampler_params params = sized<inlay_sampler_params>();
  params.temperature = 1.5f;
  params.seed = seed;
  return params;
}

SessionPtr hot_session(const EnginePtr& engine, uint64_t seed, uint64_t stream) {
  const inlay_sampler_params sampler = hot(seed);
  inlay_session_params params = sized<inlay_session_params>();
  params.sampler = &sampler;
  params.stream = stream;
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  return new_session(engine, &params);
}

TEST_P(Sessions, DrawWhatTheFixturesSay) {
  const EnginePtr engine = load(params());
  const SessionPtr plain = new_session(engine), chat = new_session(engine);
  prefill(plain, kPlain);
  prefill(chat, kChat);
  EXPECT_EQ(greedy(plain, kPlainReply.size()), kPlainReply);
  EXPECT_EQ(greedy(chat, kChatReply.size()), kChatReply);
  const inlay_session_info info = info_of(chat);
  EXPECT_EQ(info.n_tokens, static_cast<int32_t>(kChat.size() + kChatReply.size()));
  EXPECT_EQ(info.n_generated, static_cast<int32_t>(kChatReply.size()));
  EXPECT_EQ(info.finish_reason, INLAY_FINISH_NONE);
}

TEST_P(Sessions, RunningAheadDrawsTheSame) {
  inlay_load_params p = params();
  p.flags |= INLAY_LOAD_RUN_AHEAD;
  const EnginePtr engine = load(p);
  const SessionPtr session = new_session(engine);
  prefill(session, kChat);
  EXPECT_EQ(greedy(session, kChatReply.size()), kChatReply);
  const SessionPtr other = new_session(engine);
  prefill(other, kPlain);
  EXPECT_EQ(greedy(other, kPlainReply.size()), kPlainReply);
}

TEST_P(Sessions, PrefillInPartsEqualsPrefillAtOnce) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  for (const int32_t token : kChat) prefill(session, {token});
  EXPECT_EQ(greedy(session, kChatReply.size()), kChatReply);
}

TEST_P(Sessions, CompanyChangesNothing) {
  const EnginePtr engine = load(params());
  constexpr size_t kSessions = 6, kSteps = 24;
  const auto prompt = [](size_t i) { return Tokens(kChat.begin(), kChat.begin() + 3 + 7 * static_cast<ptrdiff_t>(i)); };
  std::vector<Tokens> alone(kSessions), together(kSessions);
  for (size_t i = 0; i < kSessions; ++i) {
    const SessionPtr session = hot_session(engine, 7, i);
    prefill(session, prompt(i));
    alone[i] = greedy(session, kSteps);
  }
  std::vector<SessionPtr> sessions;
  std::vector<inlay_session*> order;
  for (size_t i = 0; i < kSessions; ++i) {
    sessions.push_back(hot_session(engine, 7, i));
    prefill(sessions.back(), prompt(i));
    order.push_back(sessions.back().get());
  }
  std::vector<inlay_event> events(kSessions);
  for (size_t n = 0; n < kSteps; ++n) {
    ASSERT_EQ(inlay_decode_step(order.data(), kSessions, events.data(), sizeof(inlay_event), nullptr), INLAY_OK);
    for (size_t i = 0; i < kSessions; ++i) {
      EXPECT_EQ(events[i].session_index, static_cast<int32_t>(i));
      EXPECT_EQ(events[i].kind, INLAY_EVENT_TOKEN);
      together[i].push_back(events[i].token);
    }
  }
  EXPECT_EQ(together, alone);
  EXPECT_NE(alone[1], alone[2]);  // or the test would not notice swapped sessions
}

TEST_P(Sessions, SeedAndStreamDecideTheDraw) {
  const EnginePtr engine = load(params());
  const auto draw = [&](uint64_t seed, uint64_t stream) {
    const SessionPtr session = hot_session(engine, seed, stream);
    prefill(session, kPlain);
    return greedy(session, 24);
  };
  const Tokens first = draw(1, 0);
  EXPECT_EQ(draw(1, 0), first);
  EXPECT_NE(draw(2, 0), first);
  EXPECT_NE(draw(1, 1), first);
}

TEST_P(Sessions, LogprobsAreThoseOfTheLogits) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.n_logprobs = 5;
  set_sampler(session, &sampler);
  prefill(session, kPlain);
  const inlay_event event = step(session);
  std::vector<float> logits(kVocab);
  ASSERT_EQ(inlay_session_copy_logits(session.get(), logits.data(), logits.size(), nullptr, nullptr), INLAY_OK);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  ASSERT_EQ(event.n_logprobs, 5);
  EXPECT_EQ(event.top[0].token, event.token);
  EXPECT_EQ(event.top[0].logprob, event.logprob);
  for (int i = 0; i < 5; ++i) {
    const double want = static_cast<double>(logits[static_cast<size_t>(event.top[i].token)]) - std::log(sum);
    EXPECT_NEAR(event.top[i].logprob, want, 1e-4) << i;
    EXPECT_LE(event.top[i].logprob, event.top[i > 0 ? i - 1 : 0].logprob);
  }
}

// A view has what a copy has, whatever other sessions do meanwhile; the session's own step gives other logits.
TEST_P(Sessions, LogitsAreSeenWhereTheyLie) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine), other = new_session(engine);
  auto view = sized<inlay_logits>();
  EXPECT_EQ(inlay_session_view_logits(session.get(), &view, nullptr), INLAY_INVALID_STATE) << "nothing was run";
  prefill(session, kPlain);
  prefill(other, kChat);
  std::vector<float> copy(kVocab), before;
  for (int i = 0; i < 3; ++i) {
    step(session);
    ASSERT_EQ(inlay_session_view_logits(session.get(), &view, nullptr), INLAY_OK);
    ASSERT_EQ(view.n_values, copy.size());
    greedy(other, 2);
    const std::vector<float> seen(view.values, view.values + view.n_values);
    ASSERT_EQ(inlay_session_copy_logits(session.get(), copy.data(), copy.size(), nullptr, nullptr), INLAY_OK);
    EXPECT_EQ(seen, copy);
    EXPECT_NE(seen, before);
    before = seen;
  }
}

TEST_P(Sessions, ForkGoesOnLikeItsParent) {
  const EnginePtr engine = load(params());
  SessionPtr parent = new_session(engine);
  prefill(parent, kChat);
  const Tokens begun = greedy(parent, 3);
  SessionPtr child = fork(parent), other = fork(parent);
  const int32_t n_shared = stats_of(engine).n_kv_blocks_used;
  EXPECT_EQ(n_shared, info_of(parent).n_kv_blocks);
  const Tokens rest(kChatReply.begin() + 3, kChatReply.end());
  EXPECT_EQ(begun, Tokens(kChatReply.begin(), kChatReply.begin() + 3));
  force(other, 'x');  // writes into a shared block
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, n_shared + 1);
  EXPECT_EQ(greedy(parent, rest.size()), rest);
  parent.reset();
  EXPECT_EQ(greedy(child, rest.size()), rest);
  child.reset();
  other.reset();
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 0);
}

TEST_P(Sessions, TruncateGoesBack) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  prefill(session, kChat);
  EXPECT_EQ(greedy(session, kChatReply.size()), kChatReply);
  ASSERT_EQ(inlay_session_truncate(session.get(), kChat.size(), nullptr), INLAY_OK);
  EXPECT_EQ(info_of(session).n_tokens, static_cast<int32_t>(kChat.size()));
  EXPECT_EQ(info_of(session).n_generated, 0);
  EXPECT_EQ(greedy(session, kChatReply.size()), kChatReply);
  ASSERT_EQ(inlay_session_truncate(session.get(), 0, nullptr), INLAY_OK);
  EXPECT_EQ(info_of(session).n_kv_blocks, 0);
  step(session, INLAY_INVALID_STATE);
  prefill(session, kPlain);
  EXPECT_EQ(greedy(session, kPlainReply.size()), kPlainReply);
}

TEST_P(Sessions, AFullContextEndsTheGeneration) {
  inlay_load_params small = params();
  small.n_context = static_cast<int32_t>(kPlain.size()) + 3;
  const EnginePtr engine = load(small);
  const SessionPtr session = new_session(engine), company = new_session(engine);
  inlay_error err;
  size_t n_done = 99;
  EXPECT_EQ(inlay_prefill(session.get(), kChat.data(), kChat.size(), &n_done, &err), INLAY_CONTEXT_FULL);
  EXPECT_EQ(n_done, 0u);
  EXPECT_EQ(err.required, kChat.size());
  EXPECT_EQ(err.available, kPlain.size() + 3);
  EXPECT_EQ(info_of(session).n_tokens, 0);

  prefill(session, kPlain);
  prefill(company, {kPlain[0]});
  EXPECT_EQ(greedy(session, 2), Tokens(kPlainReply.begin(), kPlainReply.begin() + 2));
  inlay_session* both[] = {session.get(), company.get()};
  inlay_event events[2];
  EXPECT_EQ(inlay_decode_step(both, 2, events, sizeof *events, &err), INLAY_OK) << err.message;
  EXPECT_EQ(events[0].kind, INLAY_EVENT_TOKEN);
  EXPECT_EQ(events[0].token, kPlainReply[2]);
  EXPECT_EQ(events[0].finish_reason, INLAY_FINISH_CONTEXT_FULL);
  EXPECT_EQ(events[1].finish_reason, INLAY_FINISH_NONE);
  EXPECT_EQ(info_of(session).n_tokens, small.n_context);
  EXPECT_EQ(info_of(session).finish_reason, INLAY_FINISH_CONTEXT_FULL);
  EXPECT_EQ(inlay_decode_step(both, 2, events, sizeof *events, &err), INLAY_INVALID_STATE);
  EXPECT_EQ(events[1].kind, INLAY_EVENT_TOKEN);
  ASSERT_EQ(inlay_session_truncate(session.get(), kPlain.size() + 1, nullptr), INLAY_OK);
  EXPECT_EQ(step(session).token, kPlainReply[1]);

  // A prompt that fills the context leaves no room for a token.
  Tokens whole(static_cast<size_t>(small.n_context), kPlain[0]);
  ASSERT_EQ(inlay_session_truncate(session.get(), 0, nullptr), INLAY_OK);
  prefill(session, whole);
  const inlay_event none = step(session);
  EXPECT_EQ(none.kind, INLAY_EVENT_FINISHED);
  EXPECT_EQ(none.token, -1);
  EXPECT_EQ(none.finish_reason, INLAY_FINISH_CONTEXT_FULL);
}

TEST_P(Sessions, FullPoolLeavesTheSessionAlone) {
  const inlay_stats usual = stats_of(load(params()));
  inlay_load_params tight = params();
  inlay_memory_info plan = sized<inlay_memory_info>();
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &tight, &plan, nullptr), INLAY_OK);
  tight.kv_budget_bytes = 3 * (plan.kv_bytes / static_cast<uint64_t>(usual.n_kv_blocks));
  const EnginePtr engine = load(tight);
  ASSERT_EQ(stats_of(engine).n_kv_blocks, 3);
  const SessionPtr first = new_session(engine);
  SessionPtr second = new_session(engine);
  const auto n_block = static_cast<size_t>(stats_of(engine).n_block_tokens);
  prefill(first, Tokens(n_block, 65));
  prefill(second, Tokens(n_block + 1, 66));

  step(first);  // the prefill's logits; the token that it draws is the first of a new block
  const inlay_session_info before = info_of(first);
  step(first, INLAY_KV_FULL);
  EXPECT_EQ(info_of(first).n_tokens, before.n_tokens);
  inlay_error err;
  size_t n_done = 99;
  const Tokens more(n_block, 67);
  EXPECT_EQ(inlay_prefill(first.get(), more.data(), more.size(), &n_done, &err), INLAY_KV_FULL);
  EXPECT_EQ(n_done, 0u);
  EXPECT_GT(err.required, err.available);
  EXPECT_EQ(info_of(first).n_tokens, before.n_tokens);
  second.reset();
  step(first);
  EXPECT_EQ(info_of(first).n_tokens, before.n_tokens + 1);
}

// With RESERVE a limit that is raised is kept, too, whatever others take; one that cannot be kept changes nothing.
TEST_P(Sessions, ARaisedLimitIsReserved) {
  const inlay_stats usual = stats_of(load(params()));
  inlay_memory_info plan = sized<inlay_memory_info>();
  inlay_load_params tight = params();
  ASSERT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &tight, &plan, nullptr), INLAY_OK);
  tight.kv_budget_bytes = 8 * (plan.kv_bytes / static_cast<uint64_t>(usual.n_kv_blocks));
  const EnginePtr engine = load(tight);
  const int32_t n_block = usual.n_block_tokens, n_prompt = static_cast<int32_t>(kPlain.size());
  ASSERT_EQ(stats_of(engine).n_kv_blocks, 8);
  inlay_session_params reserving = sized<inlay_session_params>();
  reserving.flags = INLAY_SESSION_RESERVE | INLAY_SESSION_IGNORE_END_OF_GENERATION;
  reserving.max_tokens = n_block;
  const SessionPtr session = new_session(engine, &reserving);
  inlay_error err;
  const auto set_limit = [&](int32_t max_tokens) { return inlay_session_set_max_tokens(session.get(), max_tokens, &err); };
  EXPECT_EQ(set_limit(5 * n_block), INLAY_OK);
  EXPECT_EQ(set_limit(n_block), INLAY_OK);
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 0) << "no generation is under way";
  prefill(session, kPlain);
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 2);
  greedy(session, 3);
  EXPECT_EQ(set_limit(3 * n_block), INLAY_OK) << err.message;
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 4);
  EXPECT_EQ(info_of(session).n_kv_blocks, 4);
  EXPECT_EQ(set_limit(2 * n_block), INLAY_OK);
  EXPECT_EQ(set_limit(3 * n_block), INLAY_OK) << "what it has stays";
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 4);
  const SessionPtr other = new_session(engine);
  prefill(other, Tokens(static_cast<size_t>(4 * n_block), 65));
  for (const int32_t too_many : {5 * n_block, 0, INT32_MAX}) {
    EXPECT_EQ(set_limit(too_many), INLAY_KV_FULL) << too_many;
    EXPECT_GT(err.required, err.available);
  }
  EXPECT_EQ(stats_of(engine).n_kv_blocks_used, 8);
  greedy(session, static_cast<size_t>(3 * n_block - 4));
  EXPECT_EQ(step(session).finish_reason, INLAY_FINISH_MAX_TOKENS) << "the limit is that of before";
  EXPECT_EQ(info_of(session).n_tokens, n_prompt + 3 * n_block);
  EXPECT_EQ(set_limit(INT32_MAX), INLAY_OK) << "the generation is over";
}

TEST_P(Sessions, StepIgnoresWhoHasFinished) {
  const EnginePtr engine = load(params());
  inlay_session_params two = sized<inlay_session_params>();
  two.max_tokens = 2;
  const SessionPtr finite = new_session(engine, &two), other = new_session(engine);
  prefill(finite, kPlain);
  prefill(other, kChat);
  EXPECT_EQ(step(finite).finish_reason, INLAY_FINISH_NONE);
  EXPECT_EQ(step(finite).finish_reason, INLAY_FINISH_MAX_TOKENS);
  inlay_session* both[] = {finite.get(), other.get()};
  inlay_event events[2];
  inlay_error err;
  EXPECT_EQ(inlay_decode_step(both, 2, events, sizeof *events, &err), INLAY_INVALID_STATE);
  EXPECT_EQ(events[0].status, INLAY_INVALID_STATE);
  EXPECT_EQ(events[0].finish_reason, INLAY_FINISH_MAX_TOKENS);
  EXPECT_EQ(events[1].token, kChatReply[0]);
  prefill(finite, {65});  // a new generation
  EXPECT_EQ(step(finite).finish_reason, INLAY_FINISH_NONE);
  EXPECT_EQ(step(finite).finish_reason, INLAY_FINISH_MAX_TOKENS);
}

TEST_P(Sessions, StopTokensEndAGeneration) {
  const EnginePtr engine = load(params());
  const int32_t never = kChatReply[0] == 1 ? 2 : 1, stops[] = {never, kChatReply[0]};
  for (const bool at_creation : {true, false}) {
    inlay_session_params stopping = sized<inlay_session_params>();
    if (at_creation) stopping.stop_tokens = stops, stopping.n_stop_tokens = 2;
    const SessionPtr session = new_session(engine, &stopping);
    inlay_error err;
    if (!at_creation) {
      ASSERT_EQ(inlay_session_set_stop_tokens(session.get(), stops, 2, &err), INLAY_OK) << err.message;
    }
    prefill(session, kChat);
    const inlay_event event = step(session);
    EXPECT_EQ(event.token, kChatReply[0]);
    EXPECT_EQ(event.finish_reason, INLAY_FINISH_STOP_TOKEN);
    EXPECT_EQ(event.text_bytes, 0u);
    EXPECT_EQ(info_of(session).n_tokens, static_cast<int32_t>(kChat.size()) + 1);
    ASSERT_EQ(inlay_session_set_stop_tokens(session.get(), &never, 1, &err), INLAY_OK);
    ASSERT_EQ(inlay_session_truncate(session.get(), kChat.size(), &err), INLAY_OK);
    EXPECT_EQ(step(session).finish_reason, INLAY_FINISH_NONE) << "others stop nothing";
  }
}

TEST_P(Sessions, StopStringsCanBeGivenAtCreation) {
  const EnginePtr engine = load(params());
  const inlay_text stops[] = {{"#!", 2}, {"never", SIZE_MAX}};
  inlay_session_params stopping = sized<inlay_session_params>();
  stopping.stops = stops;
  stopping.n_stops = 2;
  const SessionPtr session = new_session(engine, &stopping);
  prefill(session, kPlain);
  EXPECT_EQ(force_text(session, "a#"), (std::vector<std::string>{"a", ""}));
  const SessionPtr child = fork(session);
  EXPECT_EQ(force(session, '!').finish_reason, INLAY_FINISH_STOP_STRING);
  EXPECT_EQ(force(child, '!').finish_reason, INLAY_FINISH_STOP_STRING) << "a fork has them, too";
  set_stops(child, {});
  ASSERT_EQ(inlay_session_truncate(child.get(), kPlain.size(), nullptr), INLAY_OK);
  force_text(child, "a#!b");
  const SessionPtr grandchild = fork(child);
  EXPECT_EQ(text_of(force(grandchild, '.')), ".") << "it has those of now";
  // What is refused takes no session's place.
  inlay_load_params one = params();
  one.max_sessions = 1;
  const EnginePtr small = load(one);
  inlay_session* refused = nullptr;
  const inlay_text empty = {"", 0};
  stopping.stops = &empty;
  stopping.n_stops = 1;
  EXPECT_EQ(inlay_session_create(small.get(), &stopping, &refused, nullptr), INLAY_INVALID_ARGUMENT);
  new_session(small);
}

TEST_P(Sessions, StepRefusesStrangersAndTwins) {
  const EnginePtr engine = load(params()), elsewhere = load(params());
  const SessionPtr session = new_session(engine), stranger = new_session(elsewhere);
  prefill(session, kPlain);
  prefill(stranger, kPlain);
  inlay_event events[2];
  inlay_error err;
  inlay_session* pairs[][2] = {{session.get(), session.get()}, {session.get(), stranger.get()}};
  for (auto& pair : pairs) {
    EXPECT_EQ(inlay_decode_step(pair, 2, events, sizeof *events, &err), INLAY_INVALID_ARGUMENT);
    EXPECT_NE(std::string(err.message).find("session 1"), std::string::npos) << err.message;
    EXPECT_EQ(info_of(session).n_tokens, static_cast<int32_t>(kPlain.size()));
  }
}

TEST_P(Sessions, EndTokenEndsUnlessIgnored) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  const inlay_event last = force(session, kEnd);
  EXPECT_EQ(last.finish_reason, INLAY_FINISH_END_OF_GENERATION);
  EXPECT_EQ(text_of(last), "");
  step(session, INLAY_INVALID_STATE);
  inlay_session_params stubborn = sized<inlay_session_params>();
  stubborn.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  const SessionPtr other = new_session(engine, &stubborn);
  prefill(other, kPlain);
  EXPECT_EQ(force(other, kEnd).finish_reason, INLAY_FINISH_NONE);
  EXPECT_EQ(force(other, 'x').kind, INLAY_EVENT_TOKEN);
}

TEST_P(Sessions, LimitIsTheOneAskedFor) {
  inlay_load_params two = params();
  two.max_sessions = 2;
  const EnginePtr engine = load(two);
  SessionPtr first = new_session(engine);
  const SessionPtr second = new_session(engine);
  inlay_session* third = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_session_create(engine.get(), nullptr, &third, &err), INLAY_SESSION_LIMIT);
  EXPECT_EQ(err.available, 2u);
  EXPECT_EQ(inlay_session_fork(first.get(), &third, &err), INLAY_SESSION_LIMIT);
  EXPECT_EQ(third, nullptr);
  first.reset();
  EXPECT_TRUE(new_session(engine));
}

TEST_P(Sessions, EveryOrderOfFreesIsFine) {
  EnginePtr engine = load(params());
  SessionPtr session = new_session(engine);
  engine.reset();
  prefill(session, kPlain);
  SessionPtr child = fork(session);
  session.reset();
  EXPECT_EQ(greedy(child, kPlainReply.size()), kPlainReply);
}

TEST_P(Sessions, CancelFinishesTheNextStep) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  greedy(session, 3);
  inlay_session_cancel(session.get());
  const inlay_event event = step(session);
  EXPECT_EQ(event.kind, INLAY_EVENT_FINISHED);
  EXPECT_EQ(event.finish_reason, INLAY_FINISH_CANCELLED);
  EXPECT_EQ(event.token, -1);
  EXPECT_EQ(info_of(session).n_tokens, static_cast<int32_t>(kPlain.size()) + 3);
  step(session, INLAY_INVALID_STATE);
  prefill(session, {65});  // the request was for once
  EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
}

TEST_P(Sessions, ACancelIsOfOneGeneration) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  EXPECT_EQ(info_of(session).generation, 0u);
  inlay_session_cancel_generation(session.get(), 0, nullptr);
  prefill(session, kPlain);
  EXPECT_EQ(info_of(session).generation, 1u);
  EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
  inlay_session_cancel_generation(session.get(), 1, nullptr);
  EXPECT_EQ(step(session).finish_reason, INLAY_FINISH_CANCELLED);
  inlay_session_cancel_generation(session.get(), 1, nullptr);  // too late
  prefill(session, {65});
  EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
  inlay_session_cancel_generation(session.get(), 3, nullptr);  // of the coming one
  inlay_session_cancel_generation(session.get(), 1, nullptr);  // takes nothing of that away
  EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
  const SessionPtr child = fork(session);
  EXPECT_EQ(info_of(child).generation, 2u);
  EXPECT_EQ(inlay_prefill(session.get(), kPlain.data(), kPlain.size(), nullptr, nullptr), INLAY_CANCELLED);
  prefill(session, kPlain);
  EXPECT_EQ(info_of(session).generation, 4u);
  EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
  prefill(child, kPlain);  // the request was the parent's
  // A truncation begins another generation, too.
  inlay_session_cancel_generation(session.get(), 4, nullptr);
  ASSERT_EQ(inlay_session_truncate(session.get(), 3, nullptr), INLAY_OK);
  EXPECT_EQ(info_of(session).generation, 5u);
  EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
  inlay_session_cancel_generation(session.get(), 5, nullptr);
  EXPECT_EQ(step(session).finish_reason, INLAY_FINISH_CANCELLED);
  ASSERT_EQ(inlay_session_truncate(session.get(), 4, nullptr), INLAY_OK) << "nothing is cut";
  EXPECT_EQ(step(session).kind, INLAY_EVENT_TOKEN);
}

// Requests come before, in and after their generations: no other one ends because of one.
TEST_P(Sessions, LateCancelsEndNoLaterGeneration) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  const int n_rounds = GetParam() == INLAY_DEVICE_CPU ? 10000 : 500;
  std::atomic<uint64_t> wanted{0};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (uint64_t last = 0; !stop.load();) {
      const uint64_t number = wanted.load();
      if (number == last) continue;
      for (uint64_t i = 0; i < number % 512; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
      inlay_session_cancel_generation(session.get(), last = number, nullptr);
    }
  });
  int n_cancelled = 0, n_wrong = 0;
  for (int round = 0; round < n_rounds; ++round) {
    ASSERT_EQ(inlay_session_truncate(session.get(), 0, nullptr), INLAY_OK);
    const bool asks = round % 2 == 1;  // every other generation is asked to end
    if (asks) wanted.store(info_of(session).generation + 1);
    bool cancelled = inlay_prefill(session.get(), kPlain.data(), 2, nullptr, nullptr) == INLAY_CANCELLED;
    if (!cancelled) cancelled = step(session).finish_reason == INLAY_FINISH_CANCELLED;
    n_cancelled += cancelled;
    n_wrong += cancelled && !asks;
  }
  stop.store(true);
  other.join();
  EXPECT_EQ(n_wrong, 0);
  EXPECT_GT(n_cancelled, 0);
}

// Requests for generations that are over come all the time, beside those that follow them.
TEST_P(Sessions, GenerationsThatAreOverCannotBeCancelled) {
  const EnginePtr engine = load(params());
  inlay_session_params limited = sized<inlay_session_params>();
  limited.max_tokens = 2;
  const SessionPtr session = new_session(engine, &limited);
  std::atomic<uint64_t> over{0};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop.load()) inlay_session_cancel_generation(session.get(), over.load(), nullptr);
  });
  int n_wrong = 0;
  for (int round = 0; round < 300; ++round) {
    if (round % 2 == 1) {
      n_wrong += inlay_session_truncate(session.get(), 1, nullptr) != INLAY_OK;
    } else {
      n_wrong += inlay_session_truncate(session.get(), 0, nullptr) != INLAY_OK;
      n_wrong += inlay_prefill(session.get(), kPlain.data(), 2, nullptr, nullptr) != INLAY_OK;
    }
    n_wrong += step(session).finish_reason != INLAY_FINISH_NONE;
    n_wrong += step(session).finish_reason != INLAY_FINISH_MAX_TOKENS;
    over.store(info_of(session).generation);
  }
  stop.store(true);
  other.join();
  EXPECT_EQ(n_wrong, 0);
}

// Cancels until one request meets a prefill at work; what was kept must then be whole chunks that can be gone on from.
TEST_P(Sessions, CancelFromAnotherThreadKeepsWholeChunks) {
  inlay_load_params chunks = params();
  chunks.prefill_chunk = 8;
  const EnginePtr engine = load(chunks);
  Tokens prompt;
  while (prompt.size() < 1024) prompt.insert(prompt.end(), kChat.begin(), kChat.end());
  const SessionPtr undisturbed = new_session(engine);
  prefill(undisturbed, prompt);
  const Tokens want = greedy(undisturbed, 8);

  const SessionPtr session = new_session(engine);
  inlay_status status = INLAY_OK;
  size_t n_done = 0;
  for (int attempt = 0; attempt < 200; ++attempt) {
    ASSERT_EQ(inlay_session_truncate(session.get(), 0, nullptr), INLAY_OK);
    std::atomic<bool> started{false};
    std::thread other([&] {
      while (!started.load()) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(100 * (attempt % 20)));
      inlay_session_cancel(session.get());
    });
    started.store(true);
    status = inlay_prefill(session.get(), prompt.data(), prompt.size(), &n_done, nullptr);
    other.join();
    if (status == INLAY_CANCELLED && n_done > 0) break;
    if (status == INLAY_OK) {  // too late: takes the request back
      const inlay_event event = step(session);
      EXPECT_EQ(event.finish_reason, INLAY_FINISH_CANCELLED);
    }
  }
  ASSERT_EQ(status, INLAY_CANCELLED);
  ASSERT_GT(n_done, 0u);
  ASSERT_LT(n_done, prompt.size());
  EXPECT_EQ(n_done % 8, 0u);
  EXPECT_EQ(info_of(session).n_tokens, static_cast<int32_t>(n_done));
  prefill(session, Tokens(prompt.begin() + static_cast<ptrdiff_t>(n_done), prompt.end()));
  EXPECT_EQ(greedy(session, 8), want);
}

TEST_P(Sessions, StatsCount) {
  const EnginePtr engine = load(params());
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  greedy(session, 4);
  const inlay_stats stats = stats_of(engine);
  EXPECT_EQ(stats.n_sessions, 1);
  EXPECT_EQ(stats.n_prefill_tokens, kPlain.size());
  EXPECT_EQ(stats.n_decode_tokens, 4u);
  EXPECT_EQ(stats.n_decode_steps, 4u);
  EXPECT_GT(stats.decode_seconds, 0);
  EXPECT_EQ(stats.n_kv_blocks_used, 1);
  EXPECT_EQ(stats.n_kv_blocks_peak, 1);
}

}  // namespace
}  // namespace inlay::test
