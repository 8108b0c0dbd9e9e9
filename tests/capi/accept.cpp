// Tokens that the host chose instead of draws, and a sequence that is read back.
#include <cstring>

#include "tests/capi/client.h"

namespace inlay::test {
namespace {

class Accept : public OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (!IsSkipped()) engine_ = load(params());
  }

  static size_t accept(const SessionPtr& session, const Tokens& tokens, inlay_status want = INLAY_OK) {
    size_t n = 99;
    inlay_error err;
    EXPECT_EQ(inlay_session_accept(session.get(), tokens.data(), tokens.size(), &n, &err), want) << err.message;
    return n;
  }
  static Tokens read(const SessionPtr& session, size_t first = 0) {
    Tokens tokens(1000);
    size_t n = 0;
    inlay_error err;
    EXPECT_EQ(inlay_session_get_tokens(session.get(), first, tokens.data(), tokens.size(), &n, &err), INLAY_OK) << err.message;
    tokens.resize(n);
    return tokens;
  }
  static Tokens joined(Tokens a, const Tokens& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Tokens bytes(std::string_view text) {
    Tokens out;
    for (const char c : text) out.push_back(static_cast<unsigned char>(c));
    return out;
  }
  // What is drawn after `tokens` as the prompt, with its logits.
  std::pair<int32_t, std::vector<float>> drawn_after(const Tokens& tokens, const inlay_sampler_params& sampler) const {
    const SessionPtr session = new_session(engine_);
    prefill(session, tokens);
    set_sampler(session, &sampler);
    const int32_t token = step(session).token;
    return {token, logits_of(session)};
  }
  static std::vector<float> logits_of(const SessionPtr& session) {
    std::vector<float> logits(kVocab);
    EXPECT_EQ(inlay_session_copy_logits(session.get(), logits.data(), logits.size(), nullptr, nullptr), INLAY_OK);
    return logits;
  }

  EnginePtr engine_;
};
INLAY_ON_EACH_DEVICE(Accept);

// Whether a sequence was drawn or accepted makes no difference to what follows, after one token or many, at any time.
TEST_P(Accept, WhatFollowsIsThatOfTheSequence) {
  for (const size_t n_drawn : {0, 1, 3}) {
    for (const size_t n : {1, 2, 7}) {
      const SessionPtr session = new_session(engine_);
      prefill(session, kPlain);
      const Tokens before = greedy(session, n_drawn);
      const Tokens chosen(kChat.begin(), kChat.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(accept(session, chosen), n);
      const Tokens all = joined(joined(kPlain, before), chosen);
      EXPECT_EQ(read(session), all);
      const SessionPtr other = new_session(engine_);
      prefill(other, all);
      EXPECT_EQ(greedy(session, 6), greedy(other, 6)) << n_drawn << " drawn, " << n << " accepted";
      EXPECT_EQ(read(session).size(), all.size() + 6);
    }
  }
}

// Greedy draws that are accepted instead of drawn: the same session, bit for bit on the CPU.
TEST_P(Accept, IsAsIfItHadBeenDrawn) {
  const SessionPtr session = new_session(engine_), drawing = new_session(engine_);
  prefill(session, kPlain);
  prefill(drawing, kPlain);
  std::string text;
  for (const int32_t token : kPlainReply) {
    EXPECT_EQ(accept(session, {token}), 1u);
    const inlay_event event = step(drawing);
    EXPECT_EQ(event.token, token);
    text += text_of(event);
    EXPECT_EQ(info_of(session).n_generated, info_of(drawing).n_generated);
  }
  std::string taken(4096, '\0');
  size_t n = 0;
  EXPECT_EQ(inlay_session_take_text(session.get(), taken.data(), taken.size(), &n, nullptr), INLAY_OK);
  EXPECT_EQ(taken.substr(0, n), text);
  EXPECT_EQ(step(session).token, step(drawing).token);
  EXPECT_EQ(stats_of(engine_).n_decode_tokens, kPlainReply.size() + 2) << "accepted tokens were not drawn";
}

TEST_P(Accept, LogitsStayUntilTheNextStep) {
  const SessionPtr session = new_session(engine_);
  prefill(session, kPlain);
  const std::vector<float> before = logits_of(session);
  accept(session, {65, 66});
  EXPECT_EQ(logits_of(session), before);
  step(session);
  EXPECT_NE(logits_of(session), before);
}

// Penalties and DRY look at the sequence; so does a draw with a seed at its position.
TEST_P(Accept, SamplersSeeTheTokens) {
  inlay_sampler_params penalized = sized<inlay_sampler_params>(), hot = penalized, dry = penalized;
  penalized.frequency_penalty = 100;
  hot.temperature = 1.5f;
  hot.seed = 7;
  dry.dry_multiplier = 100;
  const Tokens chosen = {65, 66, 67, 65, 66};
  for (const inlay_sampler_params& sampler : {penalized, hot, dry}) {
    const SessionPtr session = new_session(engine_);
    prefill(session, kPlain);
    set_sampler(session, &sampler);
    accept(session, chosen);
    EXPECT_EQ(step(session).token, drawn_after(joined(kPlain, chosen), sampler).first);
  }
}

// Mirostat's average is of tokens that it drew: accepting changes nothing of it.
TEST_P(Accept, AveragesStay) {
  inlay_sampler_params mirostat = sized<inlay_sampler_params>();
  mirostat.temperature = 1;
  mirostat.mirostat_tau = 2;
  mirostat.seed = 3;
  Tokens drawn[2];
  for (const bool in_two : {false, true}) {
    const SessionPtr session = new_session(engine_);
    prefill(session, kPlain);
    set_sampler(session, &mirostat);
    greedy(session, 4);
    if (in_two) {
      accept(session, {65});
      accept(session, {66});
    } else {
      accept(session, {65, 66});
    }
    drawn[in_two] = greedy(session, 8);
  }
  EXPECT_EQ(drawn[0], drawn[1]);
}

TEST_P(Accept, EndsAsADrawnTokenDoes) {
  struct Case {
    inlay_finish_reason reason;
    Tokens tokens;
    size_t n_accepted;
    std::string text;
  };
  const int32_t stop_token = 'q';
  for (const Case& c : {Case{INLAY_FINISH_NONE, bytes("ab"), 2, "ab"},
                        Case{INLAY_FINISH_END_OF_GENERATION, {'a', kEnd, 'b'}, 2, "a"},
                        Case{INLAY_FINISH_STOP_TOKEN, {'a', stop_token, 'b'}, 2, "a"},
                        Case{INLAY_FINISH_STOP_STRING, bytes("a#!b"), 3, "a"},
                        Case{INLAY_FINISH_MAX_TOKENS, bytes("abcdefgh"), 5, "abcde"}}) {
    inlay_session_params limited = sized<inlay_session_params>();
    limited.max_tokens = 5;
    limited.stop_tokens = &stop_token;
    limited.n_stop_tokens = 1;
    const SessionPtr session = new_session(engine_, &limited);
    set_stops(session, {"#!"});
    prefill(session, kPlain);
    EXPECT_EQ(accept(session, c.tokens), c.n_accepted) << c.reason;
    const inlay_session_info info = info_of(session);
    EXPECT_EQ(info.finish_reason, c.reason);
    EXPECT_EQ(info.n_generated, static_cast<int32_t>(c.n_accepted));
    EXPECT_EQ(info.n_tokens, static_cast<int32_t>(kPlain.size() + c.n_accepted));
    char text[64];
    size_t n = 0;
    EXPECT_EQ(inlay_session_take_text(session.get(), text, sizeof text, &n, nullptr), INLAY_OK);
    EXPECT_EQ(std::string(text, n), c.text) << c.reason;
    if (c.reason == INLAY_FINISH_NONE) continue;
    EXPECT_EQ(accept(session, {'a'}, INLAY_INVALID_STATE), 0u);
    step(session, INLAY_INVALID_STATE);
    prefill(session, {65});
    EXPECT_EQ(accept(session, bytes("xy")), 2u) << "a prefill begins another generation";
  }
}

// Text that accepted tokens hold back comes with the event that sets it free; a character may come of both.
TEST_P(Accept, TextComesWithTheNextEvent) {
  const SessionPtr session = new_session(engine_);
  set_stops(session, {"abc"});
  prefill(session, kPlain);
  accept(session, bytes("xab"));
  EXPECT_EQ(info_of(session).text_pending, 1u) << "what may begin a stop string is held back";
  EXPECT_EQ(text_of(force(session, '.')), "xab.");
  accept(session, {0xC3});
  EXPECT_EQ(text_of(force(session, 0xA9)), "\xC3\xA9");
}

TEST_P(Accept, TheContextEndsIt) {
  inlay_load_params small = params();
  small.n_context = static_cast<int32_t>(kPlain.size()) + 3;
  const EnginePtr engine = load(small);
  const SessionPtr session = new_session(engine);
  prefill(session, kPlain);
  EXPECT_EQ(accept(session, {1, 2, 3, 4}), 3u);
  EXPECT_EQ(info_of(session).finish_reason, INLAY_FINISH_CONTEXT_FULL);
  // A prompt that has filled it leaves no room, as in a step.
  ASSERT_EQ(inlay_session_truncate(session.get(), kPlain.size(), nullptr), INLAY_OK);
  prefill(session, {1, 2, 3});
  EXPECT_EQ(accept(session, {1}), 0u);
  EXPECT_EQ(info_of(session).finish_reason, INLAY_FINISH_CONTEXT_FULL);
}

TEST_P(Accept, RefusesWhatCannotBe) {
  const SessionPtr session = new_session(engine_);
  EXPECT_EQ(accept(session, {65}, INLAY_INVALID_STATE), 0u) << "there is no sequence yet";
  prefill(session, kPlain);
  EXPECT_EQ(accept(session, {}), 0u);
  EXPECT_EQ(accept(session, {65, kVocab}, INLAY_INVALID_ARGUMENT), 0u);
  EXPECT_EQ(read(session), kPlain) << "none of them was taken";
  step(session);
  inlay_session* one = session.get();
  inlay_event event;
  int32_t left = 0;
  ASSERT_EQ(inlay_decode_slice(&one, 1, 0, &event, sizeof event, &left, nullptr), INLAY_OK);
  EXPECT_EQ(accept(session, {65}, INLAY_INVALID_STATE), 0u) << "a step in slices is pending";
  ASSERT_EQ(inlay_decode_abandon(&one, 1, nullptr), INLAY_OK);
  EXPECT_EQ(accept(session, {65}), 1u);
}

// Forks, cuts and shifts of tokens that were not run yet.
TEST_P(Accept, TokensThatWereNotRunAreCutAndForked) {
  const SessionPtr session = new_session(engine_);
  prefill(session, kPlain);
  accept(session, {65, 66, 67, 68});
  const SessionPtr child = fork(session);
  EXPECT_EQ(read(child), read(session));
  ASSERT_EQ(inlay_session_truncate(session.get(), kPlain.size() + 2, nullptr), INLAY_OK);
  const SessionPtr two = new_session(engine_), four = new_session(engine_);
  prefill(two, joined(kPlain, {65, 66}));
  prefill(four, joined(kPlain, {65, 66, 67, 68}));
  EXPECT_EQ(greedy(session, 5), greedy(two, 5));
  EXPECT_EQ(greedy(child, 5), greedy(four, 5));
  accept(child, {65, 66, 67, 68});
  ASSERT_EQ(inlay_session_shift(child.get(), 1, read(child).size() - 3, nullptr), INLAY_OK);
  EXPECT_EQ(read(child), (Tokens{kPlain[0], 67, 68}));
  const SessionPtr rest = new_session(engine_);
  prefill(rest, read(child));
  EXPECT_EQ(step(child).token, step(rest).token) << "nothing behind the first token was kept";
}

TEST_P(Accept, RunAheadIsLeft) {
  inlay_load_params ahead = params();
  ahead.flags = INLAY_LOAD_RUN_AHEAD;
  const EnginePtr engine = load(ahead);
  const SessionPtr session = new_session(engine), plain = new_session(engine_);
  for (const SessionPtr* s : {&session, &plain}) {
    prefill(*s, kPlain);
    greedy(*s, 3);
    accept(*s, {65});
  }
  EXPECT_EQ(greedy(session, 6), greedy(plain, 6));
}

TEST_P(Accept, ReadsTheSequenceFromAnywhere) {
  const SessionPtr session = new_session(engine_);
  EXPECT_EQ(read(session), Tokens());
  prefill(session, kPlain);
  EXPECT_EQ(read(session, 2), Tokens(kPlain.begin() + 2, kPlain.end()));
  EXPECT_EQ(read(session, kPlain.size()), Tokens());
  size_t n = 0;
  inlay_error err;
  int32_t few[2] = {-7, -7};
  EXPECT_EQ(inlay_session_get_tokens(session.get(), 1, nullptr, 0, &n, &err), INLAY_OK);
  EXPECT_EQ(n, kPlain.size() - 1);
  EXPECT_EQ(inlay_session_get_tokens(session.get(), 0, few, 2, &n, &err), INLAY_BUFFER_TOO_SMALL);
  EXPECT_EQ(n, kPlain.size());
  EXPECT_EQ(err.required, kPlain.size());
  EXPECT_EQ(few[0], -7);
  EXPECT_EQ(inlay_session_get_tokens(session.get(), kPlain.size() + 1, few, 2, &n, &err), INLAY_INVALID_ARGUMENT);
  EXPECT_NE(std::string(err.message).find("first is 7"), std::string::npos) << err.message;
}

}  // namespace
}  // namespace inlay::test
