// Constraints of messages: whatever is drawn under one, at random, parses back to calls of the tools with arguments of their schemas.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "src/constraint/constraint.h"
#include "src/constraint/json_schema.h"
#include "src/engine/chat_messages.h"
#include "src/engine/message_grammar.h"
#include "tests/support/chat_pieces.h"
#include "tests/unit/tokenizer_vocabularies.h"

namespace inlay {
namespace {

using constraint::Constraint;
using constraint::ConstraintState;
using constraint::Piece;
using constraint::PieceKind;
using constraint::TokenTrie;
using Json = nlohmann::ordered_json;
using Open = ChatParser::Open;

constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "weather", "description": "Tells it", "parameters": {"type": "object", "properties": {
    "city": {"type": "string", "minLength": 1, "maxLength": 5}, "days": {"type": "integer", "minimum": 1, "maximum": 9},
    "unit": {"type": "string", "enum": ["C", "F"]}, "exact": {"type": "boolean"},
    "places": {"type": "array", "maxItems": 2, "items": {"type": "object", "properties": {"x": {"type": ["boolean", "null"]}, "s": {"type": "string", "maxLength": 3}},
               "required": ["x"], "additionalProperties": false}}},
    "required": ["city", "days"], "additionalProperties": false}}},
  {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": false}}}])";

// How a vocabulary has a format's markers.
enum class Markers : uint8_t { letters, words, controls };

std::string in_byte_alphabet(std::string_view text) {
  std::string out;
  for (const char c : text) out += testing::byte_char(static_cast<unsigned char>(c));
  return out;
}

// Bytes, an end, and the format's markers.
ModelChatFormatPtr format_with(const ChatFormat& format, Markers how) {
  testing::VocabularyFile file;
  file.merges.emplace();
  for (int byte = 0; byte < 256; ++byte) file.add(testing::byte_char(byte));
  file.numbers = {{"eos_token_id", static_cast<uint32_t>(file.add("<|im_end|>", testing::kControl))}, {"bos_token_id", UINT32_MAX}};
  for (const Marker* marker : format.markers()) {
    if (how == Markers::letters || !test::looks_like_a_token(marker->text)) {
      if (marker->text.size() > 1) file.add(in_byte_alphabet(marker->text));
    } else {
      file.add(marker->text, how == Markers::words ? testing::kUserDefined : testing::kControl);
    }
  }
  return std::make_shared<const ModelChatFormat>(testing::load_good(file), format);
}

std::shared_ptr<const TokenTrie> trie_of(const ModelChatFormat& format) {
  std::vector<Piece> pieces;
  for (int32_t id = 0; id < format.tokenizer->n_tokens(); ++id) {
    const std::string_view text = format.tokenizer->piece(id);
    if (format.tokenizer->is_end_of_generation(id))
      pieces.push_back({{}, PieceKind::end});
    else if (format.tokenizer->kind(id) == TokenKind::control || format.vocabulary.is_marker(id))
      pieces.push_back({{}, PieceKind::control});
    else
      pieces.push_back({text, PieceKind::text});
  }
  return *TokenTrie::make(pieces);
}

struct Drawn {
  std::vector<int32_t> tokens;
  std::string text;  // with control tokens
  bool is_whole = false;
};

// Tokens that are allowed, at random; longer ones and ends often, so that texts end.
Drawn draw(const ModelChatFormat& format, std::shared_ptr<const Constraint> constraint, std::mt19937& random) {
  const Tokenizer& tokenizer = *format.tokenizer;
  ConstraintState state(std::move(constraint));
  std::vector<uint32_t> words(state.n_mask_words());
  Drawn out;
  for (int i = 0; i < 600; ++i) {
    EXPECT_TRUE(state.mask(words).ok());
    std::vector<int32_t> allowed, special;
    for (int32_t id = 0; id < tokenizer.n_tokens(); ++id) {
      if ((words[static_cast<size_t>(id) / 32] >> (id % 32) & 1) == 0) continue;
      allowed.push_back(id);
      if (id > 255 || std::string_view("\"}])").find(static_cast<char>(id)) != std::string_view::npos) special.push_back(id);
    }
    if (allowed.empty()) break;
    const std::vector<int32_t>& from = !special.empty() && random() % 3 == 0 ? special : allowed;
    const int32_t token = from[random() % from.size()];
    if (tokenizer.is_end_of_generation(token)) {
      out.is_whole = true;
      break;
    }
    EXPECT_TRUE(state.accept_token(token).ok());
    EXPECT_FALSE(state.is_dead());
    out.tokens.push_back(token);
    out.text += tokenizer.piece(token);
  }
  out.is_whole = out.is_whole || state.is_complete();
  return out;
}

std::shared_ptr<const Constraint> compile(const ModelChatFormat& format, const Json& demand, Open open, Status* status = nullptr) {
  const auto fail = [&](Status why) {
    if (status)
      *status = std::move(why);
    else
      ADD_FAILURE() << format.written->name << ": " << why.message;
    return nullptr;
  };
  auto read = MessageDemand::read(demand.dump());
  if (!read.ok()) return fail(std::move(read).status());
  auto made = message_grammar(format, *read, open, {}, false);
  if (!made.ok()) return fail(std::move(made).status());
  auto out = Constraint::make(std::move(made->grammar), trie_of(format));
  if (!out.ok()) return fail(std::move(out).status());
  return *out;
}

bool is_of_schema(const Json& schema, const std::string& text) {
  auto compiled = constraint::compile_json_schema(schema.dump());
  EXPECT_TRUE(compiled.ok());
  static const std::shared_ptr<const TokenTrie> bytes = [] {
    const std::vector<Piece> none{{{}, PieceKind::end}};
    return *TokenTrie::make(none);
  }();
  ConstraintState state(*Constraint::make(std::move(compiled->grammar), bytes));
  EXPECT_TRUE(state.accept_bytes(text).ok());
  return state.is_complete();
}

Json parsed(const ModelChatFormatPtr& format, const Drawn& drawn, const std::string& tools) {
  auto parser = MessageParser::make(format, {.tools = *ToolTypes::read(tools)});
  EXPECT_TRUE((*parser)->append(drawn.tokens).ok());
  (*parser)->finish();
  Json out = Json::parse(*(*parser)->message());
  out["complete"] = (*parser)->is_complete();
  out["malformed"] = (*parser)->is_malformed();
  return out;
}

void check_calls(const Json& message, const std::string& where) {
  const Json tools = Json::parse(kTools);
  for (const Json& call : message.value("tool_calls", Json::array())) {
    const Json& function = call["function"];
    const auto tool = std::find_if(tools.begin(), tools.end(), [&](const Json& t) { return t["function"]["name"] == function["name"]; });
    ASSERT_NE(tool, tools.end()) << where;
    ASSERT_TRUE(function["arguments"].is_object()) << where;
    EXPECT_TRUE(is_of_schema((*tool)["function"]["parameters"], function["arguments"].dump())) << function.dump() << "\n" << where;
  }
}

std::vector<ChatFormat> formats_with_calls() {
  std::vector<ChatFormat> out;
  for (const std::string_view name : chat_format_names()) {
    auto format = ChatFormat::read(std::string(chat_format_json(name)), std::string(name));
    if (format->has_calls()) out.push_back(*std::move(format));
  }
  return out;
}

struct Case {
  const char* choice;  // JSON
  bool parallel;
};

void check_format(const ChatFormat& written, Markers how, const Case& one, size_t& n_calls) {
  const ModelChatFormatPtr format = format_with(written, how);
  const Json demand = {{"tools", Json::parse(kTools)}, {"tool_choice", Json::parse(one.choice)}, {"parallel_tool_calls", one.parallel}};
  const auto constraint = compile(*format, demand, Open::nothing);
  if (!constraint) return;
  std::mt19937 random(7);
  size_t n_whole = 0;
  for (int i = 0; i < 25; ++i) {
    const Drawn drawn = draw(*format, constraint, random);
    const std::string where = written.name + " " + std::to_string(static_cast<int>(how)) + " " + one.choice + ": " + drawn.text;
    const Json message = parsed(format, drawn, kTools);
    if (!drawn.is_whole) continue;
    ++n_whole;
    EXPECT_TRUE(message["complete"].get<bool>()) << where;
    EXPECT_FALSE(message["malformed"].get<bool>()) << where;
    const Json calls = message.value("tool_calls", Json::array());
    n_calls += calls.size();
    check_calls(message, where);
    EXPECT_TRUE(one.parallel || calls.size() <= 1) << where;
    if (std::string_view(one.choice) == "\"auto\"") continue;
    if (std::string_view(one.choice) == "\"none\"") {
      EXPECT_TRUE(calls.empty()) << where;
      continue;
    }
    EXPECT_GE(calls.size(), 1u) << where;
    EXPECT_EQ(message["content"], "") << where;
    const bool is_named = std::string_view(one.choice).find("weather") != std::string_view::npos;
    for (const Json& call : calls) EXPECT_TRUE(!is_named || call["function"]["name"] == "weather") << where;
  }
  EXPECT_GT(n_whole, 8u) << written.name << static_cast<int>(how) << one.choice;
}

TEST(MessageConstraint, WhatIsDrawnParsesBackInEveryFormat) {
  const Case cases[] = {{"\"required\"", true},
                        {"\"required\"", false},
                        {R"({"type": "function", "function": {"name": "weather"}})", false},
                        {"\"auto\"", true},
                        {"\"none\"", true}};
  const std::vector<ChatFormat> formats = formats_with_calls();
  EXPECT_EQ(formats.size(), 17u);
  for (const ChatFormat& format : formats)
    for (const Markers how : {Markers::letters, Markers::words, Markers::controls}) {
      size_t n_calls = 0;
      for (const Case& one : cases) check_format(format, how, one, n_calls);
      EXPECT_GT(n_calls, 50u) << format.name;
    }
}

// Whether a text may be written as it is, token by token as far as markers are tokens.
bool lets_through(const ModelChatFormat& format, const std::shared_ptr<const Constraint>& constraint, std::string_view text) {
  if (!constraint) return false;
  ConstraintState state(constraint);
  std::vector<int32_t> ids;
  EXPECT_TRUE(format.tokenizer->encode(text, {.add_special = false, .parse_special = true}, ids).ok());
  for (const int32_t id : ids)
    if (!state.accept_token(id).ok() || state.is_dead()) return false;
  return state.is_complete();
}

TEST(MessageConstraint, AutoLetsPlainTextThrough) {
  for (const ChatFormat& written : formats_with_calls()) {
    if (written.channels.used()) continue;
    for (const Markers how : {Markers::letters, Markers::words, Markers::controls}) {
      const ModelChatFormatPtr format = format_with(written, how);
      const auto constraint = compile(*format, {{"tools", Json::parse(kTools)}}, Open::nothing);
      for (const char* text : {"", "Hello!\n\nIt is 7 < 8, and [1] says {so}.", "x {\"name\": \"weather\"}", "Stra\u00dfe <b>bold</b> <tool", "  indented"})
        EXPECT_TRUE(lets_through(*format, constraint, text)) << written.name << ": " << text;
      const std::string reasoned = written.reasoning_begin.text + "Hm {" + written.reasoning_end.text + "\n\nYes.";
      EXPECT_TRUE(written.reasoning_begin.empty() || lets_through(*format, constraint, reasoned)) << written.name;
    }
  }
}

TEST(MessageConstraint, KnownMessages) {
  const struct {
    const char *format, *text;
    bool may, must, never;
  } kRows[] = {
      {"hermes", "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>", true, true, false},
      {"hermes", "Let me see.\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>", true, false, false},
      {"hermes", "<think>\nwhy\n</think>\n\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>", true, true, false},
      {"hermes", "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>", true, true, false},
      {"hermes", "<tool_call>\n{\"name\": \"then\", \"arguments\": {}}\n</tool_call>", false, false, false},
      {"hermes", "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>", false, false, false},
      {"hermes", "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 10}}\n</tool_call>", false, false, false},
      {"hermes", "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 3}}\n</tool_call>", true, true, false},
      {"hermes", "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}", false, false, false},
      {"hermes", "Hello", true, false, true},
      {"mistral", "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}, {\"name\": \"now\", \"arguments\": {}, \"id\": \"ab12CD34e\"}]", true, true, false},
      {"llama3", "{\"name\": \"now\", \"parameters\": {}}", true, true, false},
      {"llama3", "{\"name\": \"now\"}", false, false, false},
      {"deepseek-v3", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", true, true, false},
      {"kimi", "<|tool_calls_section_begin|><|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", true, true, false},
      {"qwen3-coder", "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>", true, true, false},
      {"qwen3-coder", "<tool_call>\n<function=weather>\n<parameter=city>\nRome\n</parameter>\n<parameter=days>\n33\n</parameter>\n</function>\n</tool_call>", false, false, false},
      {"glm", "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", true, true, false},
      {"lfm2", "<|tool_call_start|>[weather(city=\"Rome\", days=3, exact=True), now()]<|tool_call_end|>", true, true, false},
      {"pythonic", "[now()]", true, true, false},
      {"pythonic", "[1] is not", true, false, true},
      {"harmony", "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>commentary to=functions.now <|constrain|>json<|message|>{}<|call|>", true, true, false},
      {"harmony", "<|channel|>final<|message|>Hello<|return|>", true, false, true},
      {"command", "<|START_THINKING|>why<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"now\", \"parameters\": {}}\n]<|END_ACTION|>", true, true, false},
  };
  for (const auto& row : kRows) {
    const auto written = ChatFormat::read(std::string(chat_format_json(row.format)));
    for (const Markers how : {Markers::letters, Markers::words, Markers::controls}) {
      const ModelChatFormatPtr format = format_with(*written, how);
      const auto check = [&](const char* choice, bool want) {
        const auto constraint = compile(*format, {{"tools", Json::parse(kTools)}, {"tool_choice", choice}}, Open::nothing);
        EXPECT_EQ(lets_through(*format, constraint, row.text), want) << row.format << static_cast<int>(how) << choice << ": " << row.text;
      };
      check("auto", row.may);
      check("required", row.must);
      check("none", row.never);
    }
  }
}

// What the prompt has begun.
TEST(MessageConstraint, GoesOnWhereThePromptEnds) {
  const auto written = ChatFormat::read(std::string(chat_format_json("hermes")));
  const ModelChatFormatPtr format = format_with(*written, Markers::words);
  const Json demand = {{"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "a"}, {"schema", {{"type", "boolean"}}}}}}}};
  const auto none = compile(*format, demand, Open::nothing), open = compile(*format, demand, Open::reasoning), content = compile(*format, demand, Open::content);
  EXPECT_TRUE(lets_through(*format, none, "true"));
  EXPECT_TRUE(lets_through(*format, none, "<think>\nwhy?\n</think>\n\ntrue"));
  EXPECT_FALSE(lets_through(*format, none, "why?\n</think>\n\ntrue"));
  EXPECT_FALSE(lets_through(*format, none, "yes"));
  EXPECT_TRUE(lets_through(*format, open, "why?\n</think>\n\ntrue"));
  EXPECT_FALSE(lets_through(*format, open, "true"));
  EXPECT_TRUE(lets_through(*format, content, "true"));
  EXPECT_FALSE(lets_through(*format, content, "<think>\nwhy?\n</think>\n\ntrue"));
  Status status;
  EXPECT_EQ(compile(*format, demand, Open::call, &status), nullptr);
  EXPECT_EQ(status.code, Code::invalid_argument);
}

TEST(MessageConstraint, RefusesByName) {
  const struct {
    const char *format, *demand;
    Code code;
    const char* words;
  } kRows[] = {
      {"hermes", R"({"tolls": []})", Code::format, "tolls"},
      {"hermes", R"({"tools": [{"type": "web", "name": "a"}]})", Code::unsupported, "tools[0].type"},
      {"hermes", R"({"tools": [{"name": "a"}, {"name": "a"}]})", Code::format, "tools[1].name"},
      {"hermes", R"({"tools": [{"name": "a", "parameters": {"unevaluatedItems": false}}]})", Code::unsupported, "unevaluatedItems"},
      {"hermes", R"({"tool_choice": "required"})", Code::format, "tool_choice"},
      {"hermes", R"({"tools": [{"name": "a"}], "tool_choice": "b"})", Code::format, "tool_choice"},
      {"hermes", R"({"tools": [{"name": "a"}], "tool_choice": {"type": "function", "function": {"name": "b"}}})", Code::format, "none of the tools"},
      {"hermes", R"({"response_format": {"type": "xml"}})", Code::format, "response_format"},
      {"think", R"({"tools": [{"name": "a"}]})", Code::unsupported, "'think' has no calls"},
      {"kimi", R"({"tools": [{"name": "a b"}]})", Code::unsupported, "'a b'"},
      {"lfm2", R"({"tools": [{"name": "a", "parameters": {"properties": {"a b": {}}}}]})", Code::unsupported, "a b"},
      {"qwen3-coder", R"({"tools": [{"name": "a", "parameters": {"properties": {"b": {"type": "string", "pattern": "^c"}}}}]})", Code::unsupported, "'pattern'"},
      {"qwen3-coder", R"({"tools": [{"name": "a", "parameters": {"minProperties": 1}}]})", Code::unsupported, "'minProperties'"},
  };
  for (const auto& row : kRows) {
    const auto written = ChatFormat::read(std::string(chat_format_json(row.format)));
    Status status;
    EXPECT_EQ(compile(*format_with(*written, Markers::words), Json::parse(row.demand), Open::nothing, &status), nullptr) << row.demand;
    EXPECT_EQ(status.code, row.code) << row.demand << ": " << status.message;
    EXPECT_NE(status.message.find(row.words), std::string::npos) << status.message;
  }
}

// Whatever the demand is, it is compiled, or refused with a message.
TEST(MessageConstraint, AnyDemandIsCompiledOrRefused) {
  const std::string right = Json{{"tools", Json::parse(kTools)},
                                 {"tool_choice", "auto"},
                                 {"parallel_tool_calls", false},
                                 {"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", {{"type", "boolean"}}}}}}}}
                                .dump();
  std::mt19937 random(11);
  const std::string pieces[] = {"\"", "{", "}", "[", "]", ",", "null", "true", "-1", "\"string\"", "\"object\"", "\"$ref\":\"#\",", "\"type\":3,", "\"required\""};
  size_t n_made = 0, n_refused = 0;
  for (const char* name : {"hermes", "qwen3-coder", "lfm2", "harmony"}) {
    const auto written = ChatFormat::read(std::string(chat_format_json(name)));
    const ModelChatFormatPtr format = format_with(*written, Markers::words);
    for (int i = 0; i < 1500; ++i) {
      std::string text = right;
      for (size_t n = 1 + random() % 3; n > 0; --n) text.replace(random() % text.size(), random() % 12, i % 3 == 0 ? "" : pieces[random() % std::size(pieces)]);
      auto demand = MessageDemand::read(text);
      auto made = demand.ok() ? message_grammar(*format, *demand, Open::nothing, {}, i % 2 == 0) : Result<MessageGrammar>(demand.status());
      ++(made.ok() ? n_made : n_refused);
      EXPECT_TRUE(made.ok() || !made.status().message.empty()) << text;
    }
  }
  EXPECT_GT(n_made, 200u);
  EXPECT_GT(n_refused, 200u);
}

}  // namespace
}  // namespace inlay
