// Formats as data: what is built in, how they are found, what is refused; JSON a byte at a time; the types of tools' parameters.
#include "src/chat_format/chat_format.h"

#include <gtest/gtest.h>

#include <random>

#include "src/chat_format/json_scanner.h"
#include "src/chat_format/tool_types.h"
#include "src/formats/json.h"

namespace inlay {
namespace {

TEST(ChatFormat, BuiltInFormatsAreRead) {
  const auto names = chat_format_names();
  EXPECT_GE(names.size(), 10u);
  for (const std::string_view name : names) {
    const auto format = ChatFormat::read(std::string(chat_format_json(name)));
    ASSERT_TRUE(format.ok()) << name << ": " << format.status().message;
    EXPECT_EQ(format->name, name);
  }
  EXPECT_EQ(chat_format_json("none such"), "");
}

TEST(ChatFormat, IsFoundByTheTemplatesMarkers) {
  const struct {
    const char *source, *name;
    bool reasoning, calls;
  } kRows[] = {
      {"{{ x }}", "content", false, false},
      {"<think>{{ x }}</think>", "think", true, false},
      {"{{ content.split('</think>')[-1] }}", "content", false, false},
      {"[THINK] [/THINK]", "think-brackets", true, false},
      {"<tool_call>{{ x }}</tool_call>", "hermes", false, true},
      {"<think><tool_call>{{ x }}</tool_call>", "hermes", true, true},
      {"</think><tool_call>{{ x }}</tool_call>", "hermes", true, true},
      {"<tool_call><function=x><parameter=y>", "qwen3-coder", false, true},
      {"'<seed:tool_call>' '</seed:think>' <function=x><parameter=y>", "seed", true, true},
      {"'<minimax:tool_call>' <invoke name=\"x\"><parameter name=\"y\"> <think>", "minimax", true, true},
      {"<|START_ACTION|>[{\"tool_name\"}] <|START_THINKING|>", "command", true, true},
      {"<TOOLCALL>[]</TOOLCALL> <think>", "nemotron", true, true},
      {"<|tool_list_start|>", "lfm2", false, true},
      {"[func_name1(params_name1=params_value1)]", "pythonic", false, true},
      {"<|tool_call_begin|> <|tool_call_argument_begin|> <think>", "kimi", true, true},
      {"<tool_call><arg_key></arg_key><arg_value>", "glm", false, true},
      {"[TOOL_CALLS]", "mistral", false, true},
      {"[TOOL_CALLS][ARGS][THINK]", "mistral-args", true, true},
      {"<|start_header_id|> '\"parameters\": '", "llama3", false, true},
      {"<|start_header_id|>", "content", false, false},
      {"<|start|><|channel|><|message|>", "harmony", true, true},
      {"<｜tool▁call▁begin｜><｜tool▁sep｜>", "deepseek-v3.1", false, true},
      {"<｜tool▁call▁begin｜><｜tool▁sep｜>```json", "deepseek-v3", false, true},
      {"<|start_of_role|><|tool_call|>", "granite", false, true},
  };
  for (const auto& row : kRows) {
    const FoundChatFormat found = find_chat_format(row.source);
    EXPECT_EQ(found.format.name, row.name) << row.source;
    EXPECT_EQ(found.format.has_reasoning(), row.reasoning) << row.source;
    EXPECT_EQ(found.format.has_calls(), row.calls) << row.source;
    EXPECT_EQ(found.remark.empty(), row.calls) << row.source << found.remark;
  }
  EXPECT_NE(find_chat_format("").remark.find("all text is content"), std::string::npos);
}

TEST(ChatFormat, AHostsFormatCountsFirst) {
  const auto own = ChatFormat::read(R"({"name": "own", "template_has": "<tool_call>", "template_lacks": ["<x>"],
                                        "calls": {"written": "named", "begin": "<tool_call>", "arguments_begin": ":"}})");
  ASSERT_TRUE(own.ok()) << own.status().message;
  EXPECT_EQ(find_chat_format("<tool_call>", {&*own, 1}).format.name, "own");
  EXPECT_EQ(find_chat_format("<tool_call><x>", {&*own, 1}).format.name, "hermes");
  EXPECT_EQ(find_chat_format("", {&*own, 1}).format.name, "content");
}

TEST(ChatFormat, ErrorsNameKeyAndPlace) {
  const struct {
    const char *json, *message;
  } kRows[] = {
      {"", "f: line 1"},
      {"[]", "f: the document is an array, expected an object"},
      {"{}", "f: the document has no 'name'"},
      {R"({"name": ""})", "f: name has 0 bytes, expected 1 to 256"},
      {R"({"name": 5})", "f: name is 5, expected a string"},
      {R"({"name": "a", "nme": 1})", "f: nme is no member of a chat format"},
      {R"({"name": "a", "reasoning": "x"})", "f: reasoning is 'x', expected an object"},
      {R"({"name": "a", "reasoning": {"begin": "x"}})", "f: reasoning has no 'end'"},
      {R"({"name": "a", "reasoning": {"begin": "x", "end": "y", "z": 1}})", "f: reasoning.z is no member of a chat format"},
      {R"({"name": "a", "calls": {}})", "f: calls has no 'written'"},
      {R"({"name": "a", "calls": {"written": "yaml"}})", "f: calls.written is 'yaml', expected \"json\", \"named\", \"tagged\" or \"python\""},
      {R"({"name": "a", "calls": {"written": "json"}})", "f: calls has no 'name_key'"},
      {R"({"name": "a", "calls": {"written": "json", "name_key": "n"}})", "f: calls has no 'arguments_key'"},
      {R"({"name": "a", "calls": {"written": "json", "name_key": "n", "arguments_key": "a"}})", "f: calls has no 'begin'"},
      {R"({"name": "a", "calls": {"written": "json", "name_key": "n", "arguments_key": "a", "bare": 1}})",
       "f: calls.bare is 1, expected true or false"},
      {R"({"name": "a", "calls": {"written": "json", "begin": ["x", 2], "name_key": "n", "arguments_key": "a"}})",
       "f: calls.begin[1] is 2, expected a string"},
      {R"({"name": "a", "calls": {"written": "json", "begin": true}})", "f: calls.begin is a boolean, expected a string or an array of strings"},
      {R"({"name": "a", "calls": {"written": "named", "begin": "x"}})", "f: calls has no 'arguments_begin'"},
      {R"({"name": "a", "calls": {"written": "named", "begin": "x", "arguments_begin": "y", "name_key": "n"}})",
       "f: calls.name_key is no member of a chat format"},
      {R"({"name": "a", "calls": {"written": "named", "section_begin": "x"}})", "f: calls has no 'section_end'"},
      {R"({"name": "a", "calls": {"written": "tagged", "begin": "x"}})", "f: calls has no 'end'"},
      {R"({"name": "a", "calls": {"written": "tagged", "begin": "x", "end": "y", "parameter_begin": "p", "parameter_name_end": "q"}})",
       "f: calls has no 'value_end'"},
      {R"({"name": "a", "calls": {"written": "tagged", "bare": true, "begin": "x", "end": "y"}})", "f: calls has no 'begin[1]'"},
      {R"({"name": "a", "channels": {"begin": "x"}})", "f: channels has no 'channel'"},
      {R"({"name": "a", "reasoning": {"begin": "<t", "end": "x"}, "calls": {"written": "named", "begin": "<tool", "arguments_begin": "y"}})",
       "f: the marker '<t' is the begin of the marker '<tool'"},
      {R"({"name": "a", "content": {"begin": "x", "end": "y"},
           "channels": {"begin": "a", "channel": "b", "body": "c", "end": "d", "role": "r", "content": "e"}})",
       "f: a format with 'channels' has no"},
  };
  for (const auto& row : kRows) {
    const auto format = ChatFormat::read(row.json, "f");
    ASSERT_FALSE(format.ok()) << row.json;
    EXPECT_EQ(format.status().code, Code::format);
    EXPECT_TRUE(format.status().message.starts_with(row.message)) << row.json << ": " << format.status().message;
  }
  std::string many = R"({"name": "a", "template_has": ["x")";
  for (int i = 0; i < 40; ++i) many += ", \"x\"";
  EXPECT_FALSE(ChatFormat::read(many + "]}").ok());
  EXPECT_FALSE(ChatFormat::read(R"({"name": ")" + std::string(300, 'x') + "\"}").ok());
}

// What the reader of whole documents says.
bool reads(const std::string& text) {
  const auto document = JsonDocument::parse(text, "x");
  return document.ok() || document.status().message.find("twice") != std::string::npos;
}

TEST(JsonScanner, AgreesWithTheReader) {
  const char* seeds[] = {R"({"a": [1, -2.5e+3, 0, true, false, null], "b\n\u00e9\ud83d\ude00": {"c": ""}})", "[[], {}, [\"x\"]]", "-0.1E-2",
                         "\"\\ud800\\udc00\"",
                         "  {\"k\" : 1}  ", "\"\\ud800x\"", "01", "1.", "[1,]", "{\"a\":1,}", "tru", "nulll"};
  std::mt19937 random(3);
  const std::string letters = "{}[]\",:\\u0123456789eE+-.trufalsn dcDC8\n\t";
  size_t n_good = 0, n_bad = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text = seeds[random() % std::size(seeds)];
    for (unsigned n = random() % 3; n > 0 && !text.empty(); --n) {
      const size_t at = random() % text.size();
      const unsigned what = random() % 3;
      if (what == 0) text.erase(at, 1);
      if (what == 1) text.insert(at, 1, letters[random() % letters.size()]);
      if (what == 2) text[at] = letters[random() % letters.size()];
    }
    ASSERT_EQ(is_json(text), reads(text)) << text;
    ++(is_json(text) ? n_good : n_bad);
  }
  EXPECT_GT(n_good, 5000u);
  EXPECT_GT(n_bad, 5000u);
  EXPECT_TRUE(is_json(std::string(64, '[') + std::string(64, ']')));
  EXPECT_FALSE(is_json(std::string(65, '[') + std::string(65, ']')));
}

TEST(JsonScanner, SaysWhereAValueEnds) {
  const auto end_of = [](std::string_view text) {
    JsonScanner scanner;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto step = scanner.feed(text[i]);
      if (step == JsonScanner::Step::done) return static_cast<int>(i + 1);
      if (step == JsonScanner::Step::done_before) return static_cast<int>(i);
      if (step == JsonScanner::Step::bad) return -1;
    }
    return scanner.may_end() ? static_cast<int>(text.size()) : -2;
  };
  EXPECT_EQ(end_of("{}x"), 2);
  EXPECT_EQ(end_of("  [1]]"), 5);
  EXPECT_EQ(end_of("12,"), 2);
  EXPECT_EQ(end_of("12"), 2);
  EXPECT_EQ(end_of("0.5}"), 3);
  EXPECT_EQ(end_of("truex"), 4);
  EXPECT_EQ(end_of("\"a\"b"), 3);
  EXPECT_EQ(end_of("1.x"), -1);
  EXPECT_EQ(end_of("1."), -2);
  EXPECT_EQ(end_of("{\"a\""), -2);
}

TEST(ToolTypes, AreThoseOfTheSchema) {
  const auto tools = ToolTypes::read(R"([{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {
    "text": {"type": "string"}, "number": {"type": "integer"}, "either": {"type": ["string", "null"]}, "choice": {"enum": ["a", 1]},
    "fixed": {"const": true}, "branches": {"anyOf": [{"type": "number"}, {"type": "array"}]},
    "all": {"allOf": [{"type": ["string", "null"]}, {"type": "null"}]},
    "referred": {"$ref": "#/$defs/place"}, "lost": {"$ref": "#/$defs/none"}, "loop": {"$ref": "#/$defs/loop"},
    "nullable": {"type": "boolean", "nullable": true}, "any": true, "odd": {"type": 5}
  }, "$defs": {"place": {"type": "object"}, "loop": {"$ref": "#/$defs/loop"}}}}}, {"name": "g"}])");
  ASSERT_TRUE(tools.ok()) << tools.status().message;
  const struct {
    const char* parameter;
    int types;
  } kRows[] = {{"text", kStringType}, {"number", kNumberType}, {"either", kStringType | kNullType}, {"choice", kStringType | kNumberType},
               {"fixed", kBooleanType}, {"branches", kNumberType | kArrayType}, {"all", kNullType}, {"referred", kObjectType}, {"lost", kAnyType},
               {"loop", kAnyType}, {"nullable", kBooleanType | kNullType}, {"any", kAnyType}, {"odd", kAnyType}, {"unknown", kAnyType}};
  for (const auto& row : kRows) EXPECT_EQ(tools->types("f", row.parameter), row.types) << row.parameter;
  EXPECT_TRUE(tools->has("g"));
  EXPECT_FALSE(tools->has("h"));
  EXPECT_EQ(tools->types("h", "text"), kAnyType);
  EXPECT_TRUE(ToolTypes::read("")->empty());
  EXPECT_TRUE(ToolTypes::read("null")->empty());
  EXPECT_EQ(ToolTypes::read("{}").status().message, "tools: the document is an object, expected an array");
  EXPECT_EQ(ToolTypes::read(R"([{"name": "a"}, {"x": 1}])").status().message, "tools: [1] has no 'name'");
}

TEST(ToolTypes, WhatIsWrittenBecomesJson) {
  const struct {
    const char* written;
    int types;
    const char* json;
  } kRows[] = {
      {"5", kStringType, "\"5\""},           {"5", kNumberType, "5"},          {" 5\n", kNumberType, "5"},     {"five", kNumberType, "\"five\""},
      {"05", kNumberType, "\"05\""},         {"5", kAnyType, "5"},             {"x", kAnyType, "\"x\""},       {"\"x\"", kAnyType, "\"\\\"x\\\"\""},
      {"\"x\"", kNumberType, "\"x\""},       {"{\"a\": 1}", kAnyType, "{\"a\": 1}"}, {"{\"a\": 1", kObjectType, "\"{\\\"a\\\": 1\""},
      {"True", kBooleanType, "true"},        {"FALSE", kBooleanType, "false"}, {"True", kAnyType, "\"True\""},
      {"None", kNumberType | kNullType, "null"},
      {"None", kNumberType, "\"None\""},     {"null", kStringType | kNullType, "null"}, {"5", kStringType | kNullType, "\"5\""},
      {"", kNumberType, "\"\""},             {"[1, 2]", kArrayType, "[1, 2]"}, {"a\nb", kObjectType, "\"a\\nb\""},
  };
  for (const auto& row : kRows) EXPECT_EQ(json_of_written(row.written, static_cast<uint8_t>(row.types)), row.json) << row.written;
}

}  // namespace
}  // namespace inlay
