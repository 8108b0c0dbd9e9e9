// Every assistant message of other projects' conversations, rendered by other projects' templates, parses back to itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/chat_fixtures.h"
#include "tests/support/chat_pieces.h"

namespace inlay {
namespace {

using namespace chat_fixtures;

struct Counts {
  size_t messages = 0, calls = 0, reasoning = 0, not_found = 0;
};

void check_message(const Fixture& fixture, const std::string& test, const Json& context, size_t at, Counts& counts) {
  const auto turn = turn_of(fixture, context, at);
  if (!turn) {
    ++counts.not_found;
    return;
  }
  const Message want = written_part(fixture, context["messages"][at], turn->written);
  const Json listed = context.value("tools", Json());
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(listed.is_null() ? "" : listed.dump()));
  bool trims = false;
  for (const char* filter : {"|trim", "| trim", "strip(", "split('</think>')"}) trims = trims || contains(fixture.source, filter);
  std::mt19937 random(5);
  for (const bool with_tokens : {false, true}) {
    const auto format = test::shared(fixture.found.format, with_tokens);
    const auto tail = test::cut(turn->prompt, *format, kTurnTokens), pieces = test::cut(turn->written, *format);
    const auto where = [&] { return fixture.name + ", " + test + ": " + turn->written; };
    EXPECT_EQ(difference(parse_chat(format, tools, tail, pieces), want, trims), "") << where();
    const std::string whole = test::parse(format, tools, tail, pieces).text();
    EXPECT_EQ(test::parse(format, tools, tail, test::cut_further(pieces, [](size_t) { return 1; })).text(), whole) << where();
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(test::parse(format, tools, tail, test::cut_further(pieces, [&](size_t n) { return 1 + random() % n; })).text(), whole) << where();
  }
  ++counts.messages;
  counts.calls += want.calls.size();
  counts.reasoning += !want.reasoning.empty();
}

Counts check_fixture(const Fixture& fixture) {
  Counts counts;
  for (const auto& [test, context] : fixture.cases)
    for (size_t at = 0; at < context["messages"].size(); ++at) {
      const Json& message = context["messages"][at];
      if (message["role"] == "assistant" && !message.value("content", Json()).is_array()) check_message(fixture, test, context, at, counts);
    }
  std::printf("%-26s %-14s %3zu messages, %3zu calls, %2zu with reasoning, %zu not found\n", fixture.name.c_str(), fixture.found.format.name.c_str(),
              counts.messages, counts.calls, counts.reasoning, counts.not_found);
  return counts;
}

TEST(ChatFixtures, EveryAssistantMessageParsesBackToItself) {
  const std::string folder = INLAY_FIXTURES_DIR;
  const std::vector<Fixture> fixtures = folder.empty() ? std::vector<Fixture>() : fixtures_in(fs::path(folder) / "templates");
  if (fixtures.empty()) GTEST_SKIP() << "needs INLAY_FIXTURES: model vendors' templates are not in this repository";
  Counts all;
  for (const Fixture& fixture : fixtures) {
    const Counts counts = check_fixture(fixture);
    all.messages += counts.messages, all.calls += counts.calls, all.reasoning += counts.reasoning, all.not_found += counts.not_found;
  }
  std::printf("%zu messages, %zu calls, %zu with reasoning, %zu not found\n", all.messages, all.calls, all.reasoning, all.not_found);
  EXPECT_EQ(all.not_found, 0u);
  EXPECT_GT(all.messages, 700u);
  EXPECT_GT(all.calls, 190u);
  EXPECT_GT(all.reasoning, 40u);
}

// ---- this repository's conversations

const fs::path kOwn = fs::path(INLAY_TEST_DATA_DIR) / "templates";

const Json& conversations() {
  static const Json read_once = Json::parse(read(kOwn / "conversations.json"));
  return read_once;
}

// Formats that a host supplies, of templates that no model has.
TEST(ChatFixtures, AHostsFormats) {
  const struct {
    const char *name, *format;
  } kRows[] = {
      {"tagged-tools", R"({"name": "tagged-tools", "template_has": ["<invoke>", ":>"],
        "calls": {"written": "json", "begin": "<invoke>", "end": "</invoke>", "name_key": "name", "arguments_key": "arguments"}})"},
      {"tool-definitions", R"({"name": "tool-definitions", "template_has": "<#assistant#>",
        "calls": {"written": "json", "bare": true, "name_key": "name", "arguments_key": "parameters"}})"},
  };
  for (const auto& row : kRows) {
    auto format = ChatFormat::read(row.format);
    ASSERT_TRUE(format.ok()) << format.status().message;
    const Json cases = Json::parse(read(kOwn / row.name / "cases.json"));
    auto contexts = contexts_of(cases["cases"], conversations());
    std::erase_if(contexts, [](const auto& test) { return test.second.contains("builtin_tools"); });  // whose calls are programs
    const Fixture fixture(row.name, read(kOwn / row.name / "template.jinja"), std::move(contexts), {*std::move(format)});
    EXPECT_EQ(fixture.found.format.name, row.name);
    const Counts counts = check_fixture(fixture);
    EXPECT_GT(counts.messages, 20u);
    EXPECT_GT(counts.calls, 8u);
  }
}

// Templates that write as those of models do.
constexpr const char* kSkeleton = R"(
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\n' }}
    {%- if message.reasoning_content and think %}{{ think[0] + message.reasoning_content + think[1] }}{% endif %}
    {{- message.content if message.content is string }}
    {%- if message.tool_calls %}{{ @BEGIN@ }}{% endif %}
    {%- for call in message.tool_calls or [] %}
        {%- set name = call.function.name %}
        {%- set arguments = call.function.arguments if call.function.arguments is mapping else {} %}
        @ONE@
    {%- endfor %}
    {%- if message.tool_calls %}{{ @END@ }}{% endif %}
    {{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})";

struct Style {
  const char *format, *think, *section_begin, *section_end, *call;
};

const Style kStyles[] = {
    {"hermes", "['<think>\n', '\n</think>\n\n']", "''", "''",
     R"({{- '\n<tool_call>\n{"name": "' ~ name ~ '", "arguments": ' ~ arguments|tojson ~ '}\n</tool_call>' }})"},
    {"qwen3-coder", "['<think>\n', '\n</think>\n\n']", "''", "''",
     R"({{- '\n<tool_call>\n<function=' ~ name ~ '>\n' }}{% for key, value in arguments|items %}{{ '<parameter=' ~ key ~ '>\n' ~ (value
        if value is string else value|tojson) ~ '\n</parameter>\n' }}{% endfor %}{{ '</function>\n</tool_call>' }})"},
    {"glm", "['<think>', '</think>\n']", "''", "''",
     R"({{- '\n<tool_call>' ~ name ~ '\n' }}{% for key, value in arguments|items %}{{ '<arg_key>' ~ key ~ '</arg_key>\n<arg_value>' ~ (value
        if value is string else value|tojson) ~ '</arg_value>\n' }}{% endfor %}{{ '</tool_call>' }})"},
    {"mistral", "none", "'[TOOL_CALLS]['", "']'", R"({{- '{"name": "' ~ name ~ '", "arguments": ' ~ arguments|tojson ~ ', "id": "' ~ call.id ~ '"}' }}
        {{- ', ' if not loop.last }})"},
    {"mistral-args", "['[THINK]', '[/THINK]']", "''", "''", "{{- '[TOOL_CALLS]' ~ name ~ '[CALL_ID]' ~ call.id ~ '[ARGS]' ~ arguments|tojson }}"},
    {"deepseek-v3", "['<think>', '</think>']", "'<｜tool▁calls▁begin｜>'", "'<｜tool▁calls▁end｜>'",
     R"({{- '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' ~ name ~ '\n```json\n' ~ arguments|tojson ~ '\n```<｜tool▁call▁end｜>' }})"},
    {"deepseek-v3.1", "['<think>', '</think>']", "'<｜tool▁calls▁begin｜>'", "'<｜tool▁calls▁end｜>'",
     "{{- '<｜tool▁call▁begin｜>' ~ name ~ '<｜tool▁sep｜>' ~ arguments|tojson ~ '<｜tool▁call▁end｜>' }}"},
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

TEST(ChatFixtures, EveryStyleOnAllConversations) {
  std::vector<std::pair<std::string, Json>> contexts;
  for (const auto& [name, context] : conversations().items()) contexts.emplace_back(name, context);
  for (const Style& style : kStyles) {
    std::string source = replaced(kSkeleton, "@BEGIN@", style.section_begin);
    source = replaced(replaced(source, "@END@", style.section_end), "@ONE@", style.call);
    const Fixture fixture("conversations", std::string("{% set think = ") + style.think + " %}" + source, contexts);
    EXPECT_EQ(fixture.found.format.name, style.format);
    const Counts counts = check_fixture(fixture);
    EXPECT_EQ(counts.not_found, 0u);
    EXPECT_GT(counts.messages, 20u);
    EXPECT_GT(counts.calls, 9u);
    EXPECT_EQ(counts.reasoning > 0, std::string_view(style.think) != "none");
  }
}

// The comparison itself notices what is wrong.
TEST(ChatFixtures, DifferenceSeesWhatIsWrong) {
  const Message want{"r", "c", Json::parse(R"([{"name": "f", "id": "", "arguments": {"a": 1}}])")};
  const ChatMessage good{"r", "c", {{"f", "", "{\"a\":1}", true}}, true, false};
  EXPECT_EQ(difference(good, want, false), "");
  const auto spoilt = [&](const auto& spoil) {
    ChatMessage message = good;
    spoil(message);
    return difference(message, want, false);
  };
  EXPECT_NE(spoilt([](ChatMessage& m) { m.reasoning = "x"; }), "");
  EXPECT_NE(spoilt([](ChatMessage& m) { m.content = "c\n"; }), "");
  EXPECT_NE(spoilt([](ChatMessage& m) { m.complete = false; }), "");
  EXPECT_NE(spoilt([](ChatMessage& m) { m.malformed = true; }), "");
  EXPECT_NE(spoilt([](ChatMessage& m) { m.calls.clear(); }), "");
  EXPECT_NE(spoilt([](ChatMessage& m) { m.calls[0].name = "g"; }), "");
  EXPECT_NE(spoilt([](ChatMessage& m) { m.calls[0].arguments = "{\"a\":\"1\"}"; }), "");
  EXPECT_NE(spoilt([](ChatMessage& m) { m.calls[0].complete = false; }), "");
}

}  // namespace
}  // namespace inlay
