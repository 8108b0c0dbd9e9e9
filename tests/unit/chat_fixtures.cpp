// Every assistant message of other projects' conversations, rendered by other projects' templates, parses back to itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "src/chat_format/chat_parser.h"
#include "src/template/template.h"
#include "tests/support/chat_pieces.h"
#include "tests/support/template_values.h"

namespace inlay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string_view strip(std::string_view text, std::string_view blanks = " \n") {
  const size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// What stands in a conversation for the parser to find again.
struct Message {
  std::string reasoning, content;
  Json calls = Json::array();  // {name, arguments, id}
};

// The whole context of each case that renders.
std::vector<std::pair<std::string, Json>> contexts_of(const Json& cases, const Json& conversations) {
  std::vector<std::pair<std::string, Json>> out;
  for (const Json& test : cases) {
    if (!test.contains("expected")) continue;
    Json context = test.contains("conversation") ? conversations.at(test["conversation"].get<std::string>()) : Json::object();
    context.update(test["context"]);
    if (context.contains("messages")) out.emplace_back(test["name"], context);
  }
  return out;
}

class Fixture {
 public:
  Fixture(std::string its_name, std::string its_source, std::vector<std::pair<std::string, Json>> contexts, const std::vector<ChatFormat>& own = {})
      : name(std::move(its_name)), source(std::move(its_source)), cases(std::move(contexts)), found(find_chat_format(source, own)),
        parsed_(tmpl::Template::parse(source)) {
    EXPECT_TRUE(parsed_.ok()) << name << ": " << parsed_.status().message;
    if (!parsed_.ok()) cases.clear();
  }

  std::optional<std::string> render(Json context, size_t n_messages, bool generation_prompt) const {
    Json& messages = context["messages"];
    messages.erase(messages.begin() + static_cast<ptrdiff_t>(n_messages), messages.end());
    context["add_generation_prompt"] = generation_prompt;
    auto text = parsed_->render(tmpl::value_of(context).map(), {});
    return text.ok() ? std::optional(*std::move(text)) : std::nullopt;
  }

  const std::string name, source;
  std::vector<std::pair<std::string, Json>> cases;
  const FoundChatFormat found;

 private:
  Result<tmpl::Template> parsed_;
};

// The prompt, and what the model would have written for a message: up to the token that ends its turn.
struct Turn {
  std::string prompt, written;
};

std::optional<Turn> turn_of(const Fixture& fixture, const Json& context, size_t at) {
  const auto before = fixture.render(context, at, true), with = fixture.render(context, at + 1, false);
  if (!with) return std::nullopt;
  const Json content = context["messages"][at].value("content", Json());
  size_t n = 0;
  if (before)
    n = static_cast<size_t>(std::mismatch(before->begin(), before->end(), with->begin(), with->end()).first - before->begin());
  else if (content.is_string())  // no prompt without messages
    n = with->rfind(content.get<std::string>());
  else
    return std::nullopt;
  const size_t begun = with->rfind('<', n);  // markers may have the same begin
  if (begun < n && with->find('>', begun) >= n) n = begun;
  Turn out{with->substr(0, n), with->substr(n)};
  // What is before a message may be another text where it is the last.
  const bool has_result = contains(out.written, "<|start|>functions.");
  const char* assistant = has_result ? "<|start|>assistant" : "<|im_start|>assistant\n";
  for (const std::string_view end : {"[/INST]", "<|end_of_role|>", "<:assistant\n", assistant}) {
    const size_t at_end = out.written.rfind(end);
    if (at_end == std::string::npos) continue;
    out.prompt += out.written.substr(0, at_end + end.size());
    out.written.erase(0, at_end + end.size());
  }
  if (fixture.found.format.channels.used()) return out;
  for (const char* end : {"<|im_end|>\n", "<|eot_id|>", "<|eom_id|>", "</s>", "<｜end▁of▁sentence｜>", "<|end_of_text|>\n", "<end_of_turn>\n",
                          "<|end|>\n", ":>\n", "<#end#>"})
    out.written = out.written.substr(0, out.written.rfind(end));
  return out;
}

// What of a message is written at all: templates leave out reasoning of the past, content beside calls, and calls that they do not know.
Message written_part(const Fixture& fixture, const Json& message, const std::string& written) {
  Message out;
  const Json content = message.value("content", Json());
  if (content.is_string()) out.content = content;
  for (const char* null : {"None", "null"})
    if (content.is_null() && strip(written).find(null) != std::string::npos) out.content = null;
  for (const char* key : {"reasoning_content", "thinking"})
    if (message.contains(key)) out.reasoning = message[key];
  const size_t end = out.content.find("</think>");
  if (end != std::string::npos && fixture.found.format.reasoning_begin.text == "<think>") {
    out.reasoning = strip(std::string_view(out.content).substr(7, end - 7), "\n");
    out.content = std::string(strip(std::string_view(out.content).substr(end + 8), "\n"));
  }
  if (!contains(written, strip(out.reasoning))) out.reasoning.clear();
  if (!contains(written, strip(out.content))) out.content.clear();
  for (const Json& call : message.value("tool_calls", Json::array())) {
    Json function = call["function"];
    if (!contains(written, function["name"].get<std::string>())) continue;
    Json& arguments = function["arguments"];
    if (arguments.is_string()) arguments = contains(written, "location") ? Json::parse(arguments.get<std::string>()) : Json::object();
    function["id"] = contains(written, call["id"].get<std::string>()) ? call["id"] : Json("");
    out.calls.push_back(function);
    if (fixture.found.format.channels.used()) break;  // that template writes the first alone
  }
  if (fixture.found.format.channels.used() && !out.calls.empty() && out.reasoning.empty()) std::swap(out.reasoning, out.content);
  return out;
}

// Empty if the parser gave the message back.
std::string difference(const ChatMessage& got, const Message& want, bool trims) {
  if (!got.complete || got.malformed) return "not complete, or malformed";
  if (strip(got.reasoning) != strip(want.reasoning)) return "reasoning: " + got.reasoning;
  if (got.content != want.content && !(trims && strip(got.content) == strip(want.content)))
    return "content: '" + got.content + "', not '" + want.content + "'";
  if (got.calls.size() != want.calls.size()) return "calls: " + std::to_string(got.calls.size());
  for (size_t i = 0; i < got.calls.size(); ++i) {
    const ChatCall& call = got.calls[i];
    const Json arguments = Json::parse(call.arguments, nullptr, false);
    const Json& wanted = want.calls[i];
    if (!call.complete || call.name != wanted["name"].get<std::string>() || call.id != wanted["id"].get<std::string>() ||
        arguments != wanted["arguments"])
      return "call: " + call.name + " " + call.id + " " + call.arguments;
  }
  return "";
}

const std::vector<std::string_view> kTurnTokens = {"<|im_start|>", "<|start_header_id|>", "<|end_header_id|>", "[INST]", "[/INST]", "<｜User｜>",
                                                   "<｜Assistant｜>", "<|user|>", "<|assistant|>", "<start_of_turn>", "<|start_of_role|>",
                                                   "<|end_of_role|>"};

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
  const std::string fixtures = INLAY_FIXTURES_DIR;
  const fs::path folder = fs::path(fixtures) / "templates";
  if (fixtures.empty() || !fs::exists(folder / "index.json"))
    GTEST_SKIP() << "needs INLAY_FIXTURES: model vendors' templates are not in this repository";
  Counts all;
  const Json index = Json::parse(read(folder / "index.json"));
  for (const Json& entry : index["templates"]) {
    const std::string name = entry["name"];
    const Json cases = Json::parse(read(folder / name / "cases.json"));
    const Counts counts = check_fixture(Fixture(name, read(folder / name / "template.jinja"), contexts_of(cases["cases"], {})));
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
