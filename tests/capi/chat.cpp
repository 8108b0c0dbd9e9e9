// Conversations with tools through the C interface: messages of other projects' models, and calls that models of random weights write under constraints.
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/capi/chat_client.h"
#include "tests/support/chat_fixtures.h"
#include "tests/support/chat_pieces.h"

namespace inlay::test {
namespace {

using chat_fixtures::Fixture;
using chat_fixtures::Json;

const std::vector<Fixture>& fixtures() {
  static const std::vector<Fixture> all = [] {
    const std::string folder = INLAY_FIXTURES_DIR;
    return folder.empty() ? std::vector<Fixture>() : chat_fixtures::fixtures_in(std::filesystem::path(folder) / "templates");
  }();
  return all;
}

#define NEEDS_FIXTURES \
  if (fixtures().empty()) GTEST_SKIP() << "needs INLAY_FIXTURES: model vendors' templates are not in this repository"

EnginePtr engine_of(const Fixture& fixture, MarkerTokens markers) {
  ChatModel model{fixture.source, {}, markers};
  for (const std::string_view token : chat_fixtures::kTurnTokens) model.controls.emplace_back(token);
  return load_chat_model(model);
}

Tokens tokens_of(const EnginePtr& engine, std::string_view text, inlay_tokenize_flags flags = INLAY_TOKENIZE_PARSE_SPECIAL) {
  Tokens out(text.size() + 8);
  size_t n = 0;
  inlay_error err;
  EXPECT_EQ(inlay_tokenize(engine.get(), text.data(), text.size(), INLAY_TOKENIZE_NO_BOS_EOS | flags, out.data(), out.size(), &n, &err), INLAY_OK) << err.message;
  out.resize(n);
  return out;
}

// As a model writes it: of the control tokens only the format's markers.
Tokens written_tokens(const EnginePtr& engine, const Fixture& fixture, const std::string& text) {
  Tokens out;
  for (const ChatPiece& piece : cut(text, *shared(fixture.found.format, true)))
    std::ranges::copy(tokens_of(engine, piece.text, piece.is_control ? INLAY_TOKENIZE_PARSE_SPECIAL : 0), std::back_inserter(out));
  return out;
}

std::string format_of(const EnginePtr& engine) {
  std::string out(1024, '\0');
  size_t n = 0;
  EXPECT_EQ(inlay_chat_get_format(engine.get(), nullptr, out.data(), out.size(), &n, nullptr), INLAY_OK);
  return out.substr(0, n);
}

// What a parser makes of tokens: its deltas put together, which must be its message.
struct Read {
  ChatMessage message;
  Json json;
};

void add_deltas(const ParserPtr& parser, size_t cap_text, ChatMessage& message) {
  std::vector<inlay_chat_delta> deltas(3);
  std::string text(cap_text, '\0');
  for (size_t n = 1; n > 0;) {
    inlay_error err;
    ASSERT_EQ(inlay_chat_parser_take(parser.get(), deltas.data(), deltas.size(), sizeof deltas[0], text.data(), text.size(), &n, &err), INLAY_OK) << err.message;
    for (size_t i = 0; i < n; ++i) {
      const inlay_chat_delta& delta = deltas[i];
      const ChatDelta own{static_cast<ChatDelta::Kind>(delta.kind), static_cast<uint32_t>(delta.call), text.substr(delta.first_byte, delta.text_bytes),
                          (delta.flags & INLAY_CHAT_DELTA_FLAG_WHOLE) != 0};
      inlay::add_deltas({&own, 1}, message);
    }
  }
}

// A format and a template that are not the model's own.
struct Given {
  const char *format = nullptr, *chat_template = nullptr;

  template <class Params>
  void say(Params& params) const {
    params.format = format, params.format_len = format ? SIZE_MAX : 0;
    params.chat_template = chat_template, params.template_len = chat_template ? SIZE_MAX : 0;
  }
};

Read read(const EnginePtr& engine, const std::string& tools, const Tokens& prompt, const Tokens& written, const Given& given = {}) {
  inlay_chat_parser_params params = sized<inlay_chat_parser_params>();
  given.say(params);
  params.tools = tools.data();
  params.tools_len = tools.size();
  params.prompt = prompt.data();
  params.n_prompt = prompt.size();
  inlay_chat_parser* made = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_chat_parser_create(engine.get(), &params, &made, &err), INLAY_OK) << err.message;
  const ParserPtr parser(made);
  Read out;
  for (size_t at = 0; at < written.size(); at += 3) {
    EXPECT_EQ(inlay_chat_parser_append(made, written.data() + at, std::min<size_t>(3, written.size() - at), &err), INLAY_OK) << err.message;
    add_deltas(parser, 600, out.message);
  }
  EXPECT_EQ(inlay_chat_parser_finish(made, &err), INLAY_OK);
  add_deltas(parser, 512, out.message);
  inlay_chat_parser_info info = sized<inlay_chat_parser_info>();
  EXPECT_EQ(inlay_chat_parser_get_info(made, &info, &err), INLAY_OK);
  out.message.complete = (info.flags & INLAY_CHAT_PARSER_INFO_COMPLETE) != 0;
  out.message.malformed = (info.flags & INLAY_CHAT_PARSER_INFO_MALFORMED) != 0;
  EXPECT_EQ(static_cast<size_t>(info.n_calls), out.message.calls.size());
  std::string text(1 << 20, '\0');
  size_t n = 0;
  EXPECT_EQ(inlay_chat_parser_get_message(made, text.data(), text.size(), &n, &err), INLAY_OK) << err.message;
  out.json = Json::parse(text.substr(0, n));
  return out;
}

// The message that is appended to a conversation is the one of the deltas.
void check_json(const Read& read, const std::string& where) {
  EXPECT_EQ(read.json["role"], "assistant") << where;
  EXPECT_EQ(read.json["content"], read.message.content) << where;
  EXPECT_EQ(read.json.value("reasoning_content", ""), read.message.reasoning) << where;
  const Json calls = read.json.value("tool_calls", Json::array());
  ASSERT_EQ(calls.size(), read.message.calls.size()) << where;
  for (size_t i = 0; i < calls.size(); ++i) {
    const ChatCall& call = read.message.calls[i];
    const Json& function = calls[i]["function"];
    EXPECT_EQ(calls[i]["id"], call.id) << where;
    EXPECT_FALSE(call.id.empty()) << where;
    EXPECT_EQ(function["name"], call.name) << where;
    const Json arguments = function["arguments"].is_string() ? Json::parse(function["arguments"].get<std::string>(), nullptr, false) : function["arguments"];
    EXPECT_EQ(arguments, Json::parse(call.arguments, nullptr, false)) << where;
  }
}

size_t check_message(const Fixture& fixture, const EnginePtr& engine, const Json& context, size_t at) {
  const auto turn = turn_of(fixture, context, at);
  if (!turn) return 0;
  chat_fixtures::Message want = written_part(fixture, context["messages"][at], turn->written);
  const Json listed = context.value("tools", Json());
  Read got = read(engine, listed.is_null() ? "" : listed.dump(), tokens_of(engine, turn->prompt), written_tokens(engine, fixture, turn->written));
  check_json(got, turn->written);
  for (size_t i = 0; i < std::min<size_t>(want.calls.size(), got.message.calls.size()); ++i)
    if (want.calls[i]["id"] == "" || fixture.found.format.name == "mistral") want.calls[i]["id"] = got.message.calls[i].id;  // none is written, or behind the call
  EXPECT_EQ(difference(got.message, want, true), "") << fixture.name << ": " << turn->written;
  return 1;
}

TEST(CapiChat, EveryAssistantMessageOfOtherProjectsParsesBack) {
  NEEDS_FIXTURES;
  size_t n = 0;
  for (const Fixture& fixture : fixtures())
    for (const MarkerTokens markers : {MarkerTokens::normal, MarkerTokens::user_defined, MarkerTokens::control}) {
      if (markers == MarkerTokens::normal && fixture.found.format.channels.used()) continue;  // whose prompts no turn would end
      const EnginePtr engine = engine_of(fixture, markers);
      EXPECT_EQ(Json::parse(format_of(engine))["name"], fixture.found.format.name);
      for (const auto& [test, context] : fixture.cases)
        for (size_t at = 0; at < context["messages"].size(); ++at) {
          const Json& message = context["messages"][at];
          if (message["role"] == "assistant" && !message.value("content", Json()).is_array()) n += check_message(fixture, engine, context, at);
        }
    }
  EXPECT_GT(n, 2000u);
}

// ---- what models write under constraints

constexpr const char* kTools = R"([{"type": "function", "function": {"name": "weather", "description": "Tells the weather", "parameters": {"type": "object", "properties": {
    "city": {"type": "string", "minLength": 1, "maxLength": 4}, "days": {"type": "integer", "minimum": 1, "maximum": 9}, "unit": {"type": "string", "enum": ["C", "F"]}},
    "required": ["city", "days"], "additionalProperties": false}}}])";
constexpr const char* kConversation = R"({"messages": [{"role": "user", "content": "Rome?"}], "tools": )";

std::vector<int32_t> prompt_of(const EnginePtr& engine, const std::string& conversation) {
  inlay_chat_params params = sized<inlay_chat_params>();
  params.flags = INLAY_CHAT_ADD_GENERATION_PROMPT;
  Tokens out(1 << 15);
  size_t n = 0;
  inlay_error err;
  EXPECT_EQ(inlay_chat_tokenize(engine.get(), conversation.data(), conversation.size(), &params, out.data(), out.size(), &n, &err), INLAY_OK) << err.message;
  out.resize(n);
  return out;
}

struct FreeMade {
  void operator()(inlay_constraint* c) const { inlay_constraint_free(c); }
};

std::unique_ptr<inlay_constraint, FreeMade> message_constraint(const EnginePtr& engine, const Json& demand, const Tokens& prompt, const Given& given = {}) {
  const std::string text = demand.dump();
  inlay_constraint_params params = sized<inlay_constraint_params>();
  given.say(params);
  params.kind = INLAY_CONSTRAINT_MESSAGE;
  params.flags = INLAY_CONSTRAINT_FLAG_COMPACT;
  params.text = text.data();
  params.text_len = text.size();
  params.prompt = prompt.data();
  params.n_prompt = prompt.size();
  inlay_constraint* made = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_constraint_create(engine.get(), &params, &made, &err), INLAY_OK) << err.message;
  return std::unique_ptr<inlay_constraint, FreeMade>(made);
}

// Control tokens are likely, so that a model of random weights ends its reasoning.
std::vector<inlay_logit_bias> likely_markers(const EnginePtr& engine) {
  std::vector<inlay_logit_bias> out;
  inlay_token_info info = sized<inlay_token_info>();
  for (int32_t id = 256; inlay_token_get_info(engine.get(), id, &info, nullptr) == INLAY_OK; ++id) out.push_back({id, 3});
  return out;
}

struct Generated {
  Tokens tokens;
  inlay_finish_reason reason = INLAY_FINISH_NONE;
};

Generated generate(const EnginePtr& engine, const Tokens& prompt, const inlay_constraint* constraint, uint64_t seed) {
  const std::vector<inlay_logit_bias> biases = likely_markers(engine);
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.temperature = 1;
  sampler.seed = seed;
  sampler.bias = biases.data();
  sampler.n_bias = biases.size();
  inlay_session_params params = sized<inlay_session_params>();
  params.sampler = &sampler;
  params.max_tokens = 400;
  params.constraint = constraint;
  const SessionPtr session = new_session(engine, &params);
  prefill(session, prompt);
  Generated out;
  while (out.reason == INLAY_FINISH_NONE) {
    const inlay_event event = step(session);
    if (event.status != INLAY_OK) break;
    if (event.token >= 0) out.tokens.push_back(event.token);
    out.reason = event.finish_reason;
  }
  return out;
}

bool is_weather(const Json& arguments) {
  if (!arguments.is_object() || !arguments.contains("city") || !arguments.contains("days")) return false;
  for (const auto& [key, value] : arguments.items())
    if (key != "city" && key != "days" && key != "unit") return false;
  return arguments["city"].is_string() && arguments["days"].is_number_integer() && arguments["days"] >= 1 && arguments["days"] <= 9 &&
         (!arguments.contains("unit") || arguments["unit"] == "C" || arguments["unit"] == "F");
}

void check_generation(const Fixture& fixture, MarkerTokens markers, size_t& n_calls) {
  const EnginePtr engine = engine_of(fixture, markers);
  const Tokens prompt = prompt_of(engine, std::string(kConversation) + kTools + "}");
  const Json tools = Json::parse(kTools);
  const auto required = message_constraint(engine, {{"tools", tools}, {"tool_choice", "required"}, {"parallel_tool_calls", false}}, prompt);
  size_t n_whole = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Generated written = generate(engine, prompt, required.get(), seed);
    const Read got = read(engine, kTools, prompt, written.tokens);
    const std::string where = fixture.name + std::to_string(static_cast<int>(markers)) + ": " + got.json.dump(-1, ' ', false, Json::error_handler_t::replace);
    check_json(got, where);
    EXPECT_NE(written.reason, INLAY_FINISH_DEAD_END) << where;
    if (written.reason == INLAY_FINISH_MAX_TOKENS) continue;
    ++n_whole;
    EXPECT_TRUE(got.message.complete && !got.message.malformed) << where;
    EXPECT_EQ(got.message.content, "") << where;
    ASSERT_EQ(got.message.calls.size(), 1u) << where;
    EXPECT_EQ(got.message.calls[0].name, "weather") << where;
    EXPECT_TRUE(is_weather(Json::parse(got.message.calls[0].arguments))) << where;
    n_calls += got.message.calls.size();
  }
  EXPECT_GE(n_whole, 2u) << fixture.name << static_cast<int>(markers);
}

TEST(CapiChat, RequiredCallsParseBackInEveryFormat) {
  NEEDS_FIXTURES;
  std::vector<std::string> formats;
  size_t n_calls = 0;
  for (const Fixture& fixture : fixtures()) {
    const std::string& name = fixture.found.format.name;
    if (!fixture.found.format.has_calls()) continue;
    if (std::find(formats.begin(), formats.end(), name) == formats.end()) formats.push_back(name);
    for (const MarkerTokens markers : {MarkerTokens::user_defined, MarkerTokens::control}) check_generation(fixture, markers, n_calls);
  }
  EXPECT_GE(formats.size(), 9u);
  EXPECT_GT(n_calls, 100u);
}

// The template of these tests: hermes, with reasoning.
constexpr const char* kHermes = R"({%- for m in messages %}<|im_start|>{{ m.role }}
{% if m.content %}{{ m.content }}{% endif %}{% for c in m.tool_calls or [] %}<tool_call>{{ {"name": c.function.name, "arguments": c.function.arguments}|tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if think %}<think>{% endif %}{% endif %})";

TEST(CapiChat, AutoWritesTextAndOtherChoicesDoNot) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  EXPECT_EQ(format_of(engine), R"({"name": "hermes", "reasoning": true, "calls": true, "arguments": "object", "remark": ""})");
  const Tokens prompt = prompt_of(engine, R"([{"role": "user", "content": "a"}])");
  const Json tools = Json::parse(kTools);
  size_t n_texts = 0, n_calls = 0, n_reasoned = 0;
  const auto may = message_constraint(engine, {{"tools", tools}}, prompt), never = message_constraint(engine, {{"tools", tools}, {"tool_choice", "none"}}, prompt);
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Read got = read(engine, kTools, prompt, generate(engine, prompt, may.get(), seed).tokens);
    n_texts += !got.message.content.empty();
    n_calls += got.message.calls.size();
    n_reasoned += !got.message.reasoning.empty();
    for (const ChatCall& call : got.message.calls) EXPECT_TRUE(!call.complete || is_weather(Json::parse(call.arguments))) << call.arguments;
    const Read none = read(engine, kTools, prompt, generate(engine, prompt, never.get(), seed).tokens);
    EXPECT_TRUE(none.message.calls.empty() && !none.message.malformed);
  }
  EXPECT_GT(n_texts, 3u);
  EXPECT_GT(n_calls, 3u);
  EXPECT_GT(n_reasoned, 1u);
}

TEST(CapiChat, ContentBySchemaBehindFreeReasoning) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  const Tokens prompt = prompt_of(engine, R"({"messages": [{"role": "user", "content": "a"}], "think": true})");
  const auto constraint = message_constraint(
      engine, Json::parse(R"({"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer", "minimum": 10, "maximum": 99}}}})"), prompt);
  size_t n_whole = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Generated written = generate(engine, prompt, constraint.get(), seed);
    if (written.reason == INLAY_FINISH_MAX_TOKENS) continue;
    const Read got = read(engine, "", prompt, written.tokens);
    const Json value = Json::parse(got.message.content, nullptr, false);
    EXPECT_TRUE(value.is_number_integer() && value >= 10 && value <= 99) << got.message.content;
    ++n_whole;
  }
  EXPECT_GT(n_whole, 4u);
}

// Draws until the session ends, or n tokens; -1: no token came.
Tokens drawn(const SessionPtr& session, size_t n) {
  Tokens out;
  for (inlay_finish_reason reason = INLAY_FINISH_NONE; reason == INLAY_FINISH_NONE && out.size() < n;) {
    const inlay_event event = step(session);
    EXPECT_EQ(event.status, INLAY_OK);
    if (event.status != INLAY_OK) break;
    reason = event.finish_reason;
    out.push_back(event.kind == INLAY_EVENT_TOKEN ? event.token : -1);
  }
  return out;
}

// The prompt opens reasoning; which token closes it, and where, in forks, restored and truncated sessions as in the one that they come from.
TEST(CapiChat, ReasoningIsClosedBehindItsTokens) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  const Tokens prompt = prompt_of(engine, R"({"messages": [{"role": "user", "content": "a"}], "think": true})");
  const Tokens end = tokens_of(engine, "</think>");
  ASSERT_EQ(end.size(), 1u);
  const inlay_logit_bias never_likely{end[0], -1000};
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.temperature = 1;
  sampler.seed = 4;
  sampler.bias = &never_likely;
  sampler.n_bias = 1;
  for (const int limit : {0, 1, 5, -1}) {
    const auto constraint = message_constraint(engine, {{"reasoning", {{"max_tokens", limit < 0 ? Json() : Json(limit)}}}}, prompt);
    inlay_session_params params = sized<inlay_session_params>();
    params.sampler = &sampler;
    params.max_tokens = 12;
    params.constraint = constraint.get();
    const SessionPtr session = new_session(engine, &params);
    prefill(session, prompt);
    const size_t n_first = static_cast<size_t>(std::clamp(limit - 2, 0, 3));
    const Tokens first = drawn(session, n_first);
    SessionPtr other = fork(session);
    size_t n_bytes = 0;
    std::vector<std::byte> saved(1 << 20);
    ASSERT_EQ(inlay_session_save(session.get(), saved.data(), saved.size(), &n_bytes, nullptr), INLAY_OK);
    const Tokens rest = drawn(session, 100);
    Tokens all = first;
    all.insert(all.end(), rest.begin(), rest.end());
    const auto closed = static_cast<int>(std::ranges::find(all, end[0]) - all.begin());
    EXPECT_EQ(closed, limit < 0 ? 12 : limit);  // without a limit never, as the bias has it: the negative control
    EXPECT_EQ(drawn(other, 100), rest) << limit;
    other.reset();
    inlay_session* restored = nullptr;
    ASSERT_EQ(inlay_session_restore(engine.get(), saved.data(), n_bytes, &restored, nullptr), INLAY_OK);
    other.reset(restored);
    EXPECT_EQ(drawn(other, 100), rest) << limit;
    if (limit != 5) continue;
    ASSERT_EQ(inlay_session_truncate(session.get(), prompt.size() + 4, nullptr), INLAY_OK);
    const Tokens again = drawn(session, 2);
    ASSERT_EQ(again.size(), 2u);
    EXPECT_NE(again[0], end[0]);
    EXPECT_EQ(again[1], end[0]);
  }
}

// A model whose template knows no calls writes them as the host says, also from a saved session on, whatever formats came between.
TEST(CapiChat, CallsInAFormatOfTheHost) {
  constexpr const char* kOwn = R"({"name": "own", "calls": {"written": "json", "begin": "<call>", "end": "</call>", "name_key": "tool", "arguments_key": "with"}})";
  constexpr const char* kBare = R"({"name": "bare", "calls": {"written": "json", "begin": "CALL ", "name_key": "name", "arguments_key": "arguments"}})";
  const EnginePtr engine = load_chat_model({"{{ messages[0].content }}", {"<call>", "</call>", "<tool_call>", "</tool_call>"}});
  EXPECT_EQ(Json::parse(format_of(engine))["calls"], false);
  const Json demand = {{"tools", Json::parse(kTools)}, {"tool_choice", "required"}, {"parallel_tool_calls", false}};
  const Tokens prompt = tokens_of(engine, "Rome?");
  const std::pair<Given, const char*> rows[] = {{{kOwn}, "<call>"}, {{kBare}, "CALL "}, {{nullptr, kHermes}, "<tool_call>"}, {{kOwn, kHermes}, "<call>"}};
  for (const auto& [given, begin] : rows) {
    const auto constraint = message_constraint(engine, demand, prompt, given);
    size_t n_whole = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      const Generated written = generate(engine, prompt, constraint.get(), seed);
      if (written.reason == INLAY_FINISH_MAX_TOKENS) continue;
      const Read got = read(engine, kTools, prompt, written.tokens, given);
      ASSERT_EQ(got.message.calls.size(), 1u) << begin;
      EXPECT_TRUE(got.message.complete && !got.message.malformed && is_weather(Json::parse(got.message.calls[0].arguments))) << begin;
      const auto at = std::ranges::find_if(written.tokens, [](int32_t token) { return token != '\n'; });
      EXPECT_EQ(tokens_of(engine, begin)[0], *at) << begin;
      ++n_whole;
    }
    EXPECT_GE(n_whole, 2u) << begin;
    inlay_session_params params = sized<inlay_session_params>();
    inlay_sampler_params sampler = sized<inlay_sampler_params>();
    sampler.temperature = 1, sampler.seed = 8;
    params.sampler = &sampler, params.max_tokens = 60, params.constraint = constraint.get();
    const SessionPtr session = new_session(engine, &params);
    prefill(session, prompt);
    drawn(session, 5);
    std::vector<std::byte> saved(1 << 20);
    size_t n_bytes = 0;
    ASSERT_EQ(inlay_session_save(session.get(), saved.data(), saved.size(), &n_bytes, nullptr), INLAY_OK);
    inlay_session* restored = nullptr;
    ASSERT_EQ(inlay_session_restore(engine.get(), saved.data(), n_bytes, &restored, nullptr), INLAY_OK);
    EXPECT_EQ(drawn(SessionPtr(restored), 100), drawn(session, 100)) << begin;
  }
}

// Markers that are tokens of text make a vocabulary of their own. Of those that no constraint has an engine keeps a few; a constraint keeps its own.
TEST(CapiChat, VocabulariesOfAnyNumberOfFormats) {
  const EnginePtr engine = load_chat_model({"{{ messages[0].content }}"});
  const Json demand = {{"tools", Json::parse(kTools)}, {"tool_choice", "required"}, {"parallel_tool_calls", false}};
  const Tokens prompt = tokens_of(engine, "Rome?");
  std::vector<std::string> formats;
  for (char marker = 'g'; marker <= 'p'; ++marker)
    formats.push_back(R"({"name": "n", "calls": {"written": "json", "begin": ")" + std::string(1, marker) + R"(", "name_key": "name", "arguments_key": "arguments"}})");
  const auto first = message_constraint(engine, demand, prompt, {formats[0].c_str()});
  for (int round = 0; round < 2; ++round)
    for (const std::string& format : formats) ASSERT_NE(message_constraint(engine, demand, prompt, {format.c_str()}), nullptr);
  size_t n_whole = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Generated written = generate(engine, prompt, first.get(), seed);
    if (written.reason != INLAY_FINISH_MAX_TOKENS) n_whole += read(engine, kTools, prompt, written.tokens, {formats[0].c_str()}).message.calls.size();
  }
  EXPECT_GE(n_whole, 2u);
}

// A deep demand needs no more of the caller's stack than another.
TEST(CapiChat, DeepDemandsAreCompiledOrRefused) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  for (const auto& [depth, status] : {std::pair(150, INLAY_OK), std::pair(100000, INLAY_FORMAT)}) {
    std::string schema = R"({"type": "integer"})";
    std::string begin, end;
    for (int i = 0; i < depth; ++i) begin += R"({"items": )", end += "}";
    schema = begin + schema + end;
    const std::string text = R"({"tools": [{"name": "a", "parameters": {"properties": {"b": )" + schema + R"(}}}], "tool_choice": "required"})";
    inlay_constraint_params params = sized<inlay_constraint_params>();
    params.kind = INLAY_CONSTRAINT_MESSAGE;
    params.text = text.data();
    params.text_len = text.size();
    inlay_constraint* made = nullptr;
    inlay_error err;
    EXPECT_EQ(inlay_constraint_create(engine.get(), &params, &made, &err), status) << err.message;
    inlay_constraint_free(made);
  }
}

// A message goes into the conversation as it is, and the template writes it as the model did.
TEST(CapiChat, MessagesCanBeAppended) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  const Tokens prompt = prompt_of(engine, R"([{"role": "user", "content": "a"}])");
  const std::string call = R"(<tool_call>{"name": "weather", "arguments": {"city": "Rome", "days": 2}}</tool_call>)";
  const Read got = read(engine, kTools, prompt, tokens_of(engine, call));
  Json conversation = Json::parse(R"([{"role": "user", "content": "a"}])");
  conversation.push_back(got.json);
  const std::string text = conversation.dump();
  std::string out(4096, '\0');
  size_t n = 0;
  inlay_error err;
  ASSERT_EQ(inlay_chat_render(engine.get(), text.data(), text.size(), nullptr, out.data(), out.size(), &n, &err), INLAY_OK) << err.message;
  EXPECT_NE(out.find("<|im_start|>assistant\n" + call + "<|im_end|>"), std::string::npos) << out;
}

// Templates that put the text of arguments behind other text want text.
TEST(CapiChat, ArgumentsAreAsTheTemplateTakesThem) {
  const EnginePtr engine = load_chat_model({R"({%- for m in messages %}{% for c in m.tool_calls or [] %}{{ "<tool_call>" + c.function.arguments + "</tool_call>" }}{% endfor %}{% endfor %})"});
  EXPECT_EQ(Json::parse(format_of(engine))["arguments"], "text");
  const Read got = read(engine, "", {}, tokens_of(engine, R"(<tool_call>{"name": "a", "arguments": {"b": 1}}</tool_call>)"));
  EXPECT_EQ(got.json["tool_calls"][0]["function"]["arguments"], R"({"b": 1})");
}

// Ids that the model does not write differ from turn to turn, and are the same again.
TEST(CapiChat, IdsAreMade) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  const Tokens written = tokens_of(engine, R"(<tool_call>{"name": "a", "arguments": {}}</tool_call><tool_call>{"name": "a", "arguments": {}}</tool_call>)");
  const Tokens one = tokens_of(engine, "one"), two = tokens_of(engine, "two");
  const Read a = read(engine, "", one, written), b = read(engine, "", two, written), again = read(engine, "", one, written);
  ASSERT_EQ(a.message.calls.size(), 2u);
  EXPECT_EQ(a.message.calls[0].id.size(), 9u);
  EXPECT_NE(a.message.calls[0].id, a.message.calls[1].id);
  EXPECT_NE(a.message.calls[0].id, b.message.calls[0].id);
  EXPECT_EQ(a.message.calls[0].id, again.message.calls[0].id);
}

// Arguments that no conversation takes are text in it.
TEST(CapiChat, ArgumentsWithAKeyTwiceAreText) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  const Read got = read(engine, "", {}, tokens_of(engine, R"(<tool_call>{"name": "a", "arguments": {"b": 1, "b": 2}}</tool_call>)"));
  EXPECT_TRUE(got.message.complete);
  EXPECT_EQ(got.json["tool_calls"][0]["function"]["arguments"], R"({"b": 1, "b": 2})");
}

TEST(CapiChat, OneThreadAtATime) {
  const EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  inlay_chat_parser* made = nullptr;
  ASSERT_EQ(inlay_chat_parser_create(engine.get(), nullptr, &made, nullptr), INLAY_OK);
  const ParserPtr parser(made);
  std::atomic<size_t> n_read{0};
  const std::string text(1000, 'a');
  const auto append = [&] {
    for (int i = 0; i < 300; ++i) {
      const inlay_status status = inlay_chat_parser_append_text(made, text.data(), text.size(), nullptr);
      EXPECT_TRUE(status == INLAY_OK || status == INLAY_BUSY) << status;
      n_read += status == INLAY_OK ? text.size() : 0;
    }
  };
  std::thread one(append), two(append);
  one.join();
  two.join();
  ChatMessage message;
  add_deltas(parser, 512, message);
  EXPECT_EQ(message.content.size(), n_read);
}

TEST(CapiChat, AParserOutlivesItsEngine) {
  EnginePtr engine = load_chat_model({kHermes, {"<|im_start|>"}});
  const Tokens written = tokens_of(engine, "<think>a</think>b");
  inlay_chat_parser* made = nullptr;
  ASSERT_EQ(inlay_chat_parser_create(engine.get(), nullptr, &made, nullptr), INLAY_OK);
  const ParserPtr parser(made);
  engine.reset();
  EXPECT_EQ(inlay_chat_parser_append(made, written.data(), written.size(), nullptr), INLAY_OK);
  EXPECT_EQ(inlay_chat_parser_finish(made, nullptr), INLAY_OK);
  ChatMessage message;
  add_deltas(parser, 512, message);
  EXPECT_EQ(message.reasoning, "a");
  EXPECT_EQ(message.content, "b");
}

}  // namespace
}  // namespace inlay::test
