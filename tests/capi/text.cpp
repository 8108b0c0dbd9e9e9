// Text through the shared library: tokens both ways, and what of it leaves in events and when.
#include <ctime>

#include "tests/capi/client.h"

namespace inlay::test {
namespace {

using Texts = std::vector<std::string>;

class Text : public OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    if (IsSkipped()) return;
    engine = load(params());
    session = new_session(engine);
    prefill(session, kPlain);
  }

  std::string take(size_t cap, inlay_status want = INLAY_OK) {
    std::string buf(cap, '\0');
    size_t n = 99;
    inlay_error err;
    EXPECT_EQ(inlay_session_take_text(session.get(), buf.data(), cap, &n, &err), want) << err.message;
    return buf.substr(0, n);
  }

  // A stop string that never comes holds n bytes back; another byte sets them free.
  inlay_event release(const std::string& held) {
    set_stops(session, {held + "#"});
    for (const std::string& text : force_text(session, held)) EXPECT_EQ(text, "");
    return force(session, '.');
  }

  EnginePtr engine;
  SessionPtr session;
};
INLAY_ON_EACH_DEVICE(Text);

Tokens tokenize(const EnginePtr& engine, std::string_view text, inlay_tokenize_flags flags) {
  Tokens tokens(text.size() + 2);
  size_t n = 0;
  inlay_error err;
  EXPECT_EQ(inlay_tokenize(engine.get(), text.data(), text.size(), flags, tokens.data(), tokens.size(), &n, &err),
            INLAY_OK)
      << err.message;
  tokens.resize(n);
  return tokens;
}

std::string detokenize(const EnginePtr& engine, const Tokens& tokens, inlay_detokenize_flags flags = 0) {
  std::string out(4096, '\0');
  size_t needed = 0;
  EXPECT_EQ(
      inlay_detokenize(engine.get(), tokens.data(), tokens.size(), flags, out.data(), out.size(), &needed, nullptr),
      INLAY_OK);
  return out.substr(0, needed);
}

// The warnings in an engine's log.
std::vector<std::string> warnings(const EnginePtr& engine) {
  std::vector<std::string> out;
  uint64_t cursor = 0;
  inlay_log_level level;
  char buf[512];
  size_t n = 0;
  while (inlay_log_read(engine.get(), &cursor, &level, buf, sizeof buf, &n, nullptr) == INLAY_OK)
    if (level == INLAY_LOG_WARNING) out.emplace_back(buf, n);
  return out;
}

TEST_P(Text, TwoBosAreSaidOnceForAnEngine) {
  for (int i = 0; i < 2; ++i) {
    const EnginePtr adds_bos = load(params(), "chat-spm-llama-f32");
    const size_t before = warnings(adds_bos).size();
    const std::string bos = detokenize(adds_bos, {tokenize(adds_bos, "hi", 0).front()}, INLAY_DETOKENIZE_SHOW_SPECIAL);
    tokenize(adds_bos, "hi", INLAY_TOKENIZE_PARSE_SPECIAL);
    tokenize(adds_bos, bos + "hi", 0);
    tokenize(adds_bos, bos + "hi", INLAY_TOKENIZE_PARSE_SPECIAL | INLAY_TOKENIZE_NO_BOS_EOS);
    EXPECT_EQ(warnings(adds_bos).size(), before);
    for (int j = 0; j < 3; ++j) EXPECT_EQ(tokenize(adds_bos, bos + "hi", INLAY_TOKENIZE_PARSE_SPECIAL)[1], tokenize(adds_bos, "hi", 0)[0]);
    const std::vector<std::string> after = warnings(adds_bos);
    ASSERT_EQ(after.size(), before + 1);
    EXPECT_NE(after.back().find("there are two"), std::string::npos) << after.back();
  }
}

// The bytes of characters are tokens of this model: a prompt may end anywhere inside of one.
TEST_P(Text, APromptThatEndsInsideACharacter) {
  for (const std::string character : {"\u00E9", "\u20AC", "\U0001F600"}) {
    for (size_t n = 1; n < character.size(); ++n) {
      const SessionPtr own = new_session(engine);
      Tokens prompt = kPlain;
      for (size_t i = 0; i < n; ++i) prompt.push_back(static_cast<unsigned char>(character[i]));
      prefill(own, prompt);
      std::string text;
      for (const std::string& part : force_text(own, character.substr(n) + "!")) text += part;
      EXPECT_EQ(text, character + "!") << n;
    }
  }
  const SessionPtr other = new_session(engine);
  Tokens prompt = kPlain;
  prompt.push_back(0xC3);
  prefill(other, prompt);
  EXPECT_EQ(text_of(force(other, 'x')), "x") << "no completion of the character";
  const SessionPtr whole = new_session(engine);
  prefill(whole, {'a'});
  std::string text;
  for (const std::string& part : force_text(whole, "\xA9!")) text += part;
  EXPECT_EQ(text, "\uFFFD!") << "the prompt began no character";
}

// What a conversation renders to, or the error's message.
std::string chat(const EnginePtr& engine, const char* conversation, const char* form, inlay_chat_flags flags = 0) {
  std::string out(4096, '\0');
  size_t needed = 0;
  inlay_error err;
  const inlay_chat_params params = written_by(form, flags);
  const inlay_status status = inlay_chat_render(engine.get(), conversation, SIZE_MAX, &params, out.data(), out.size(), &needed, &err);
  return status == INLAY_OK ? out.substr(0, needed) : std::to_string(status) + " " + err.message;
}

TEST_P(Text, ConversationsByATemplate) {
  const char* talk = R"([{"role": "user", "content": "caf\u00e9"}])";
  const char* form =
      "{{ messages[0].role }}:{{ messages[0].content }}{{ tools }}{{ documents }}{% if add_generation_prompt %}>{% "
      "endif %}";
  EXPECT_EQ(chat(engine, talk, form), "user:caf\xC3\xA9NoneNone");
  EXPECT_EQ(chat(engine, talk, form, INLAY_CHAT_ADD_GENERATION_PROMPT), "user:caf\xC3\xA9NoneNone>");
  EXPECT_EQ(
      chat(engine, R"({"messages": [], "x": {"b": 1.0, "a": [1, -2, 1e2, true, null]}})", "{{ x|tojson }}{{ x }}"),
      R"({"b": 1.0, "a": [1, -2, 100.0, true, null]}{'b': 1.0, 'a': [1, -2, 100.0, True, None]})");
  EXPECT_EQ(chat(engine, R"({"messages": [], "bos_token": "mine", "tools": [1]})", "{{ bos_token }}{{ tools }}"),
            "mine[1]");
  // The present year, so that the clock is the host's.
  const std::time_t now = std::time(nullptr);
  EXPECT_EQ(chat(engine, "[]", "{{ strftime_now('%Y') }}"), std::to_string(1900 + std::localtime(&now)->tm_year));
}

TEST_P(Text, ConversationsThatFailSayWhere) {
  const auto code = [](inlay_status status) { return std::to_string(status) + " "; };
  EXPECT_EQ(chat(engine, "[]", "a\n{{ b.c }}"),
            code(INLAY_INVALID_ARGUMENT) + "chat template: line 2, column 6: 'b' is undefined");
  EXPECT_EQ(chat(engine, "[]", "{% if %}"),
            code(INLAY_FORMAT) + "chat template: line 1, column 7: found '%}' where an expression should be");
  EXPECT_EQ(chat(engine, "[]", "{{ 1|x }}"),
            code(INLAY_UNSUPPORTED) + "chat template: line 1, column 6: the filter 'x' is not supported");
  EXPECT_EQ(
      chat(engine, "[]", "{{ raise_exception('no') }}"),
      code(INLAY_INVALID_ARGUMENT) + "chat template: line 1, column 4: the template refuses the conversation: no");
  EXPECT_EQ(chat(engine, "1", ""),
            code(INLAY_FORMAT) + "conversation: the document is 1, expected an array of messages or an object");
  EXPECT_EQ(chat(engine, "{}", ""), code(INLAY_FORMAT) + "conversation: the member 'messages' must be an array");
}

TEST_P(Text, TokensBothWays) {
  EXPECT_EQ(tokenize(engine, "the quick brown", 0), kPlain);
  EXPECT_EQ(detokenize(engine, kPlain), "the quick brown");
  const std::string chat =
      "<|im_start|>system\nYou are small.<|im_end|>\n<|im_start|>user\nWhat is the weather near the river? "
      "é😀<|im_end|>\n"
      "<|im_start|>assistant\n";
  EXPECT_EQ(tokenize(engine, chat, INLAY_TOKENIZE_PARSE_SPECIAL), kChat);
  EXPECT_EQ(detokenize(engine, kChat, INLAY_DETOKENIZE_SHOW_SPECIAL), chat);
  const Tokens plain = tokenize(engine, chat, 0);
  EXPECT_NE(plain, kChat);
  EXPECT_EQ(detokenize(engine, plain), chat);
}

TEST_P(Text, BosAsTheModelAsks) {
  const EnginePtr spm = load(params(), "chat-spm-llama-f32");
  inlay_engine_info info = sized<inlay_engine_info>();
  ASSERT_EQ(inlay_engine_get_info(spm.get(), &info, nullptr), INLAY_OK);
  EXPECT_EQ(info.flags, INLAY_ENGINE_HAS_TOKENIZER | INLAY_ENGINE_ADDS_BOS);
  const Tokens with = {1, 261, 296, 333, 314, 351, 313};
  EXPECT_EQ(tokenize(spm, "the quick brown", 0), with);
  EXPECT_EQ(tokenize(spm, "the quick brown", INLAY_TOKENIZE_NO_BOS_EOS), Tokens(with.begin() + 1, with.end()));
}

TEST_P(Text, TokenInfo) {
  inlay_token_info info = sized<inlay_token_info>();
  ASSERT_EQ(inlay_token_get_info(engine.get(), kEnd, &info, nullptr), INLAY_OK);
  EXPECT_EQ(info.kind, INLAY_TOKEN_CONTROL);
  EXPECT_EQ(info.flags, INLAY_TOKEN_FLAG_CONTROL | INLAY_TOKEN_FLAG_END_OF_GENERATION);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(info.piece), info.piece_bytes), "<|im_end|>");
  ASSERT_EQ(inlay_token_get_info(engine.get(), 195, &info, nullptr), INLAY_OK);
  EXPECT_EQ(info.kind, INLAY_TOKEN_NORMAL);
  EXPECT_EQ(info.flags, 0u);
  EXPECT_EQ(info.piece_bytes, 1u);
  EXPECT_EQ(info.piece[0], 0xc3);
}

TEST_P(Text, LeavesInWholeCharacters) { EXPECT_EQ(force_text(session, "aé😀"), (Texts{"a", "", "é", "", "", "", "😀"})); }

TEST_P(Text, NeverValidBytesBecomeReplacements) {
  EXPECT_EQ(force_text(session, "a\xff"), (Texts{"a", "\xEF\xBF\xBD"}));
  EXPECT_EQ(force_text(session, "\xc3z"), (Texts{"", "\xEF\xBF\xBDz"}));
}

TEST_P(Text, EndFlushesHalfCharacters) {
  inlay_session_params two = sized<inlay_session_params>();
  two.max_tokens = 2;
  session = new_session(engine, &two);
  prefill(session, kPlain);
  EXPECT_EQ(force_text(session, "a\xc3"), (Texts{"a", "\xEF\xBF\xBD"}));
}

TEST_P(Text, StopStringIsHeldBackAndCutOff) {
  set_stops(session, {"END", "xyz"});
  EXPECT_EQ(force_text(session, "abEN"), (Texts{"a", "b", "", ""}));
  EXPECT_EQ(info_of(session).finish_reason, INLAY_FINISH_NONE);
  const inlay_event last = force(session, 'D');
  EXPECT_EQ(last.finish_reason, INLAY_FINISH_STOP_STRING);
  EXPECT_EQ(text_of(last), "");
  EXPECT_EQ(info_of(session).finish_reason, INLAY_FINISH_STOP_STRING);
  step(session, INLAY_INVALID_STATE);
}

TEST_P(Text, WhatWasNoStopStringLeaves) {
  set_stops(session, {"END"});
  EXPECT_EQ(force_text(session, "EEN."), (Texts{"", "E", "", "EN."}));
}

TEST_P(Text, StopStringInsideOfAToken) {
  set_stops(session, {"he"});
  const inlay_event event = force(session, 257);  // "the"
  EXPECT_EQ(text_of(event), "t");
  EXPECT_EQ(event.finish_reason, INLAY_FINISH_STOP_STRING);
}

TEST_P(Text, HeldTextLeavesAtTheEnd) {
  set_stops(session, {"END"});
  force_text(session, "aEN");
  const inlay_event last = force(session, kEnd);
  EXPECT_EQ(last.finish_reason, INLAY_FINISH_END_OF_GENERATION);
  EXPECT_EQ(text_of(last), "EN");
}

TEST_P(Text, HeldTextLeavesWhenTheContextIsFull) {
  inlay_load_params small = params();
  small.n_context = static_cast<int32_t>(kPlain.size()) + 3;
  session = new_session(load(small));
  prefill(session, kPlain);
  set_stops(session, {"END"});
  EXPECT_EQ(force_text(session, "aEN"), (Texts{"a", "", "EN"}));
  EXPECT_EQ(info_of(session).finish_reason, INLAY_FINISH_CONTEXT_FULL);
}

TEST_P(Text, HeldTextLeavesAtACancel) {
  set_stops(session, {"END"});
  force_text(session, "aEN");
  inlay_session_cancel(session.get());
  EXPECT_EQ(text_of(step(session)), "EN");
}

TEST_P(Text, WhatDoesNotFitIsTaken) {
  const std::string held(200, 'a');
  const inlay_event event = release(held);
  EXPECT_EQ(text_of(event), std::string(INLAY_EVENT_TEXT_BYTES, 'a'));
  EXPECT_EQ(event.text_pending, 201u - INLAY_EVENT_TEXT_BYTES);
  EXPECT_EQ(info_of(session).text_pending, event.text_pending);
  EXPECT_EQ(take(50), std::string(50, 'a'));
  EXPECT_EQ(info_of(session).text_pending, event.text_pending - 50);
  EXPECT_EQ(take(1000), std::string(22, 'a') + ".");
  EXPECT_EQ(take(1000), "");
}

TEST_P(Text, WhatIsNotTakenComesFirst) {
  const inlay_event event = release(std::string(300, 'a'));
  ASSERT_EQ(event.text_pending, 301u - INLAY_EVENT_TEXT_BYTES);
  EXPECT_EQ(text_of(force(session, 'b')), std::string(INLAY_EVENT_TEXT_BYTES, 'a'));
  EXPECT_EQ(take(1000), std::string(300 - 2 * INLAY_EVENT_TEXT_BYTES, 'a') + ".b");
}

TEST_P(Text, CharactersAreNotCutByBuffers) {
  std::string held(INLAY_EVENT_TEXT_BYTES - 1, 'a');
  held += "é😀";
  const inlay_event event = release(held);
  EXPECT_EQ(text_of(event), std::string(INLAY_EVENT_TEXT_BYTES - 1, 'a'));
  EXPECT_EQ(take(1, INLAY_BUFFER_TOO_SMALL), "");
  EXPECT_EQ(take(5), "é");
  EXPECT_EQ(take(4), "😀");
  EXPECT_EQ(take(4), ".");
}

TEST_P(Text, PrefillDropsTheRest) {
  release(std::string(200, 'a'));
  EXPECT_GT(info_of(session).text_pending, 0u);
  prefill(session, {65});
  EXPECT_EQ(info_of(session).text_pending, 0u);
  EXPECT_EQ(take(10), "");
}

TEST_P(Text, EventsTellWhatTheModelSays) {
  std::string text;
  for (size_t i = 0; i < kPlainReply.size(); ++i) text += text_of(step(session));
  EXPECT_EQ(text,
            "+++@@@@@@@@y\xEF\xBF\xBD"
            "ad\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\x1f\x1f");
}

}  // namespace
}  // namespace inlay::test
