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
  bool limited = false;  // reasoning has at most three tokens
};

size_t longest_piece(const ModelChatFormat& format) {
  size_t out = 0;
  for (int32_t id = 0; id < format.tokenizer->n_tokens(); ++id) out = std::max(out, format.tokenizer->piece(id).size());
  return out;
}

void check_format(const ChatFormat& written, Markers how, const Case& one, size_t& n_calls) {
  const ModelChatFormatPtr format = format_with(written, how);
  Json demand = {{"tools", Json::parse(kTools)}, {"tool_choice", Json::parse(one.choice)}, {"parallel_tool_calls", one.parallel}};
  if (one.limited && written.has_reasoning()) demand["reasoning"] = {{"max_tokens", 3}};
  const auto constraint = compile(*format, demand, Open::nothing);
  if (!constraint) return;
  std::mt19937 random(7);
  size_t n_whole = 0, n_reasoned = 0;
  for (int i = 0; i < 25; ++i) {
    const Drawn drawn = draw(*format, constraint, random);
    const std::string where = written.name + " " + std::to_string(static_cast<int>(how)) + " " + one.choice + ": " + drawn.text;
    const Json message = parsed(format, drawn, kTools);
    if (!drawn.is_whole) continue;
    ++n_whole;
    EXPECT_TRUE(message["complete"].get<bool>()) << where;
    EXPECT_FALSE(message["malformed"].get<bool>()) << where;
    if (one.limited) {  // a token is a byte, or a marker's letters
      EXPECT_LE(message.value("reasoning_content", "").size(), 3u + 3u * longest_piece(*format)) << where;
      n_reasoned += message.value("reasoning_content", "").size() == 3;
    }
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
  EXPECT_TRUE(!demand.contains("reasoning") || one.choice[1] != 'r' || n_reasoned > 0) << written.name << static_cast<int>(how);
}

TEST(MessageConstraint, WhatIsDrawnParsesBackInEveryFormat) {
  const Case cases[] = {{"\"required\"", true},
                        {"\"required\"", false},
                        {R"({"type": "function", "function": {"name": "weather"}})", false},
                        {"\"auto\"", true},
                        {"\"none\"", true},
                        {"\"required\"", false, true},
                        {"\"auto\"", true, true}};
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
      {"hermes", "<tool_call>\n{\"name\": \"now\", \"arguments\": {}, \"id\": \"ab12CD34e\"}\n</tool_call>", false, false, false},  // it is read all the same
      {"hermes", "<tool_call>\n{\"id\": \"ab12CD34e\", \"name\": \"now\", \"arguments\": {}}\n</tool_call>", false, false, false},
      {"hermes", "Hello", true, false, true},
      {"mistral", "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}, {\"name\": \"now\", \"arguments\": {}, \"id\": \"ab12CD34e\"}]", true, true, false},
      {"mistral", "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}, \"id\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}]", true, true, false},
      {"mistral", "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}, \"id\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}]", false, false, false},  // no id without an end
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

// A value's strings are not what a parser takes for a call: letters of markers, also where the quote behind a string is one of them.
TEST(MessageConstraint, ContentBySchemaHasNoLettersOfCalls) {
  const Json demand = {{"response_format", {{"type", "json_object"}}}};
  size_t n = 0;
  for (const ChatFormat& written : formats_with_calls()) {
    const ModelChatFormatPtr format = format_with(written, Markers::letters);
    const auto constraint = compile(*format, demand, written.channels.used() ? Open::content : Open::nothing);
    const ChatFormat::Calls& calls = written.calls;
    std::vector<std::string> begins{calls.section_begin.text, written.channels.begin.text};
    for (size_t i = 0; i < std::min<size_t>(calls.begin.size(), calls.bare ? 2 : 1); ++i) begins.push_back(calls.begin[i].text);
    for (std::string letters : begins) {
      if (letters.empty() || (letters == "[" || letters == "{")) continue;
      const bool has_quote = letters.back() == '"';
      if (has_quote) letters.pop_back();
      const auto object = [&](const std::string& text) { return R"({"a": "x)" + text + R"(", "b": 1})"; };
      EXPECT_FALSE(lets_through(*format, constraint, object(letters + (has_quote ? "" : "y")))) << written.name << letters;
      EXPECT_TRUE(lets_through(*format, constraint, object(letters.substr(0, letters.size() - 1)))) << written.name << letters;
      EXPECT_TRUE(lets_through(*format, constraint, object(letters.substr(1) + "y"))) << written.name << letters;
      ++n;
    }
  }
  EXPECT_GT(n, 15u);
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
      {"hermes", R"({"tools": [{"name": "a", "parameters": {"contains": {}, "unevaluatedItems": false}}]})", Code::unsupported, "unevaluatedItems"},
      {"hermes", R"({"tool_choice": "required"})", Code::format, "tool_choice"},
      {"hermes", R"({"tools": [{"name": "a"}], "tool_choice": "b"})", Code::format, "tool_choice"},
      {"hermes", R"({"tools": [{"name": "a"}], "tool_choice": {"type": "function", "function": {"name": "b"}}})", Code::format, "none of the tools"},
      {"hermes", R"({"response_format": {"type": "xml"}})", Code::format, "response_format"},
      {"think", R"({"reasoning": {"max_tokens": -1}})", Code::format, "reasoning.max_tokens"},
      {"think", R"({"reasoning": {"max_tokens": 1.5}})", Code::format, "reasoning.max_tokens"},
      {"think", R"({"reasoning": {"max_tokens": 16777217}})", Code::format, "reasoning.max_tokens"},
      {"think", R"({"reasoning": {"tokens": 1}})", Code::format, "reasoning.tokens"},
      {"think", R"({"reasoning": 5})", Code::format, "reasoning"},
      {"content", R"({"reasoning": {"max_tokens": 5}})", Code::unsupported, "'content' has no reasoning"},
      {"think", R"({"tools": [{"name": "a"}]})", Code::unsupported, "the chat format 'think' has no calls"},
      {"kimi", R"({"tools": [{"name": "a b"}]})", Code::unsupported, "'a b'"},
      {"hermes", R"({"tools": [{"name": "a"}, {"name": "b", "parameters": {"properties": {"c": {"enum": []}}, "required": ["c"]}}]})", Code::format,
       "tools[1].parameters: properties.c: nothing can match"},
      {"lfm2", R"({"tools": [{"name": "b", "parameters": {"properties": {"c": {"enum": []}}, "required": ["c"]}}]})", Code::format, "properties.c: nothing can match"},
      {"glm", R"({"tools": [{"name": "b", "parameters": {"properties": {"c": {"type": "integer", "minimum": 5, "maximum": 3}}, "required": ["c"]}}]})", Code::format, "properties.c: nothing can match"},
      {"glm", R"({"tools": [{"name": "b", "parameters": {"properties": {"c": {"type": "string", "enum": []}}, "required": ["c"]}}]})", Code::format, "properties.c: nothing can match"},
      {"glm", R"({"tools": [{"name": "b", "parameters": {"properties": {"c": {"type": "string", "minLength": 5, "maxLength": 3}}, "required": ["c"]}}]})", Code::format, "properties.c: nothing can match"},
      {"glm", R"({"tools": [{"name": "b", "parameters": {"properties": {"c": false}, "required": ["c"]}}]})", Code::format, "properties.c: nothing can match"},
      {"glm", R"({"tools": [{"name": "b", "parameters": {"properties": {"c": 5}}}]})", Code::format, "properties.c"},
      {"hermes", R"({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "object", "properties": {"c": false}, "required": ["c"]}}}})", Code::format,
       "schema: properties.c: nothing can match"},
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

// An argument that nothing matches, and that need not be there, is never written.
TEST(MessageConstraint, ArgumentsThatNothingMatchesMayBeLeftOut) {
  const Json demand = {{"tools", Json::parse(R"([{"name": "b", "parameters": {"properties": {"c": {"type": "integer", "minimum": 5, "maximum": 3}, "d": {"type": "string", "enum": []}, "e": {"type": "null"}, "f": false}}}])")},
                       {"tool_choice", "required"}};
  for (const auto& [name, text] : {std::pair("lfm2", "<|tool_call_start|>[b(e=None)]<|tool_call_end|>"),
                                   std::pair("glm", "<tool_call>b\n<arg_key>e</arg_key>\n<arg_value>null</arg_value>\n</tool_call>")}) {
    const auto written = ChatFormat::read(std::string(chat_format_json(name)));
    const ModelChatFormatPtr format = format_with(*written, Markers::words);
    EXPECT_TRUE(lets_through(*format, compile(*format, demand, Open::nothing), text)) << text;
  }
}

// What a schema has is remarked once, however often it is compiled.
TEST(MessageConstraint, RemarksOnce) {
  const Json demand = {{"tools", Json::parse(R"([{"name": "b", "parameters": {"type": "object", "propertes": {}}}])")}};
  for (const char* name : {"hermes", "llama3", "mistral", "kimi", "harmony"}) {
    const auto written = ChatFormat::read(std::string(chat_format_json(name)));
    auto made = message_grammar(*format_with(*written, Markers::words), *MessageDemand::read(demand.dump()), Open::nothing, {}, false);
    ASSERT_TRUE(made.ok()) << made.status().message;
    EXPECT_EQ(made->remarks, std::vector<std::string>{"tools[0].parameters: propertes: the keyword is not known; it demands nothing"}) << name;
  }
}

// ---- reasoning of at most so many tokens

std::vector<int32_t> allowed_by(ConstraintState& state) {
  std::vector<uint32_t> words(state.n_mask_words());
  EXPECT_TRUE(state.mask(words).ok());
  std::vector<int32_t> out;
  for (size_t i = 0; i < words.size() * 32; ++i)
    if (words[i / 32] >> (i % 32) & 1) out.push_back(static_cast<int32_t>(i));
  return out;
}

std::vector<int32_t> ids_of(const ModelChatFormat& format, std::string_view text) {
  std::vector<int32_t> out;
  EXPECT_TRUE(format.tokenizer->encode(text, {.add_special = false, .parse_special = true}, out).ok());
  return out;
}

struct ReasoningFormat {
  ChatFormat written;
  std::string begin;     // all that stands before the text
  Marker end;
  std::string answer;    // behind `end`, a whole answer
};

std::vector<ReasoningFormat> formats_with_reasoning() {
  std::vector<ReasoningFormat> out;
  for (const std::string_view name : chat_format_names()) {
    auto format = *ChatFormat::read(std::string(chat_format_json(name)), std::string(name));
    const ChatFormat::Channels& channels = format.channels;
    if (channels.used()) {
      const std::string head = channels.channel.text;
      out.push_back({format, head + channels.reasoning[0] + channels.body.text, channels.end[0],
                     channels.begin.text + channels.role + head + channels.content[0] + channels.body.text + "Yes"});
    } else if (format.has_reasoning()) {
      out.push_back({format, format.reasoning_begin.text, format.reasoning_end, "Yes"});
    }
  }
  return out;
}

class Reasoner {
 public:
  Reasoner(const ReasoningFormat& one, Markers how, const Json& limit, Open open = Open::nothing)
      : format_(format_with(one.written, how)), constraint_(compile(*format_, {{"reasoning", {{"max_tokens", limit}}}}, open)), state_(constraint_) {}

  const ModelChatFormat& format() const { return *format_; }
  ConstraintState& state() { return state_; }
  bool writes(std::string_view text) {
    for (const int32_t id : ids_of(*format_, text))
      if (!state_.accept_token(id).ok() || state_.is_dead()) return false;
    return true;
  }

 private:
  ModelChatFormatPtr format_;
  std::shared_ptr<const Constraint> constraint_;
  ConstraintState state_;
};

TEST(MessageConstraint, ReasoningIsClosedBehindItsTokens) {
  const std::vector<ReasoningFormat> formats = formats_with_reasoning();
  EXPECT_GE(formats.size(), 8u);
  for (const ReasoningFormat& one : formats)
    for (const Markers how : {Markers::letters, Markers::words, Markers::controls})
      for (const size_t limit : {size_t{0}, size_t{1}, size_t{5}, size_t{1000}}) {
        SCOPED_TRACE(one.written.name + " " + std::to_string(static_cast<int>(how)) + " " + std::to_string(limit));
        Reasoner r(one, how, limit == 1000 ? Json() : Json(limit));
        ASSERT_TRUE(r.writes(one.begin));
        const std::vector<int32_t> end = ids_of(r.format(), one.end.text);
        for (size_t i = 0; i < std::min<size_t>(limit, 40); ++i) {
          const std::vector<int32_t> free = allowed_by(r.state());
          EXPECT_TRUE(std::ranges::binary_search(free, end[0]));
          EXPECT_GT(free.size(), 100u);  // the negative control: without a limit this holds to the end
          ASSERT_TRUE(r.writes("x"));
        }
        if (limit == 1000) continue;
        for (size_t i = 0; i < end.size(); ++i) {  // whatever else may come begins the marker as well
          const std::vector<int32_t> allowed = allowed_by(r.state());
          EXPECT_TRUE(std::ranges::binary_search(allowed, end[i]));
          for (const int32_t id : allowed) {
            std::string so_far;
            for (size_t k = 0; k < i; ++k) so_far += r.format().tokenizer->piece(end[k]);
            EXPECT_TRUE(one.end.text.starts_with(so_far + std::string(r.format().tokenizer->piece(id)))) << r.format().tokenizer->piece(id);
          }
          ASSERT_TRUE(r.state().accept_token(end[i]).ok());
        }
        EXPECT_TRUE(r.writes(one.answer));
        EXPECT_TRUE(r.state().is_complete());
      }
}

// What a text may do at the limit's edge, by its letters.
TEST(MessageConstraint, ReasoningEndsWholeCharactersAndBegunMarkers) {
  const auto written = *ChatFormat::read(std::string(chat_format_json("think")));
  const ReasoningFormat think{written, "<think>", written.reasoning_end, "Yes"};
  const struct {
    const char *text, *rest;
    bool may;
  } kRows[] = {
      {"abcd\xc3", "\xa9</think>Yes", true},         // the fifth token is the first byte of two
      {"abcd\xe2", "\x82\xac</think>Yes", true},
      {"abcd\xe2", "\x82\xac" "e</think>Yes", false},
      {"abcd\xe2", "</think>Yes", false},
      {"abcde", "</think>Yes", true},
      {"abcde", "f</think>Yes", false},
      {"abcde", "\n</think>Yes", false},
      {"abc</", "think>Yes", true},                   // a marker that was begun
      {"abc</", "</think>Yes", true},                 // or was none
      {"abc</", "t</think>Yes", false},
      {"abc</", "think</think>Yes", false},
      {"a</think>Yes, five tokens are not all that may come.", "", true},
  };
  for (const auto& row : kRows) {
    Reasoner r(think, Markers::letters, 5);
    const auto write = [&](std::string_view text) {
      for (const char byte : text)
        if (!r.state().accept_token(static_cast<uint8_t>(byte)).ok() || r.state().is_dead()) return false;
      return true;
    };
    ASSERT_TRUE(write("<think>") && write(row.text)) << row.text;
    EXPECT_EQ(write(row.rest) && r.state().is_complete(), row.may) << row.text << "|" << row.rest;
  }
}

// Copies, steps back, states made again and automata that were dropped count alike; bytes count as no token.
TEST(MessageConstraint, TheLimitOfReasoningIsOfTheState) {
  for (const ReasoningFormat& one : formats_with_reasoning())
    for (const Markers how : {Markers::letters, Markers::words}) {
      SCOPED_TRACE(one.written.name);
      Reasoner r(one, how, 5);
      ASSERT_TRUE(r.writes(one.begin));
      std::vector<std::vector<int32_t>> masks{allowed_by(r.state())};
      for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(r.writes("x"));
        masks.push_back(allowed_by(r.state()));
      }
      EXPECT_NE(masks[4], masks[5]);
      ConstraintState copy = r.state();
      EXPECT_EQ(allowed_by(copy), masks[5]);
      for (size_t back = 1; back <= 5; ++back) {
        ASSERT_TRUE(copy.roll_back(1).ok());
        EXPECT_EQ(allowed_by(copy), masks[5 - back]) << back;
      }
      EXPECT_EQ(allowed_by(r.state()), masks[5]);
      Reasoner again(one, how, 5);
      for (const auto& step : r.state().accepted()) ASSERT_TRUE(again.state().accept_token(step.token).ok());
      EXPECT_EQ(allowed_by(again.state()), masks[5]);
      ASSERT_TRUE(copy.accept_bytes("xxxxxxxxxx").ok());
      EXPECT_EQ(allowed_by(copy), masks[0]);
      ASSERT_TRUE(copy.accept_token('x').ok());
      EXPECT_EQ(allowed_by(copy), masks[1]);
    }
}

TEST(MessageConstraint, TheLimitSurvivesADroppedAutomaton) {
  const auto written = *ChatFormat::read(std::string(chat_format_json("think")));
  const ModelChatFormatPtr format = format_with(written, Markers::letters);
  Json properties;
  for (int i = 0; i < 10; ++i) properties[std::string(1, static_cast<char>('a' + i))] = {{"type", "string"}, {"maxLength", 5000 + i}};
  const Json demand = {{"reasoning", {{"max_tokens", 5}}},
                       {"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", {{"type", "object"}, {"properties", properties}}}}}}}};
  auto made = message_grammar(*format, *MessageDemand::read(demand.dump()), Open::reasoning, {}, false);
  constraint::ConstraintLimits limits;
  limits.automaton.bytes = 400000;
  const auto tight = *Constraint::make(std::move(made->grammar), trie_of(*format), limits);
  ConstraintState state(tight);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(state.accept_token('x').ok());
  const std::vector<int32_t> closed = allowed_by(state);
  EXPECT_EQ(closed.size(), 2u);  // the marker as a token of letters, and its first letter
  size_t n_dropped = 0;
  for (const auto& [name, schema] : properties.items()) {  // other texts fill the automaton
    ConstraintState other(tight);
    ASSERT_TRUE(other.accept_bytes("x</think>{\"" + name + "\":\"").ok());
    for (int i = 0; i < 500; ++i) {
      const size_t before = tight->memory();
      ASSERT_TRUE(other.accept_token('y').ok());
      n_dropped += tight->memory() < before;
    }
    EXPECT_FALSE(other.is_dead());
    EXPECT_EQ(allowed_by(state), closed);
  }
  EXPECT_GT(n_dropped, 0u);
}

TEST(MessageConstraint, TheLimitHoldsWhereThePromptOpensReasoning) {
  for (const ReasoningFormat& one : formats_with_reasoning())
    for (const Markers how : {Markers::letters, Markers::words}) {
      SCOPED_TRACE(one.written.name);
      for (const char* text : {"", "x"}) {
        const size_t limit = std::string_view(text).size();
        Reasoner r(one, how, limit, Open::reasoning);
        ASSERT_TRUE(r.writes(text));
        const std::vector<int32_t> end = ids_of(r.format(), one.end.text);
        EXPECT_TRUE(std::ranges::binary_search(allowed_by(r.state()), end[0]));
        EXPECT_LE(allowed_by(r.state()).size(), 2u);
        EXPECT_TRUE(r.writes(one.end.text + one.answer) && r.state().is_complete());
      }
      Reasoner closed(one, how, 0, Open::content);  // there is none to limit
      EXPECT_TRUE(closed.writes("Yes") && closed.state().is_complete());
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
