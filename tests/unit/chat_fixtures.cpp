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

class Fixture {
 public:
  explicit Fixture(const fs::path& folder)
      : name(folder.filename().string()), source(read(folder / "template.jinja")), cases(Json::parse(read(folder / "cases.json"))["cases"]),
        found(find_chat_format(source)), parsed_(tmpl::Template::parse(source)) {}

  std::optional<std::string> render(Json context, size_t n_messages, bool generation_prompt) const {
    Json& messages = context["messages"];
    messages.erase(messages.begin() + static_cast<ptrdiff_t>(n_messages), messages.end());
    context["add_generation_prompt"] = generation_prompt;
    auto text = parsed_->render(tmpl::value_of(context).map(), {});
    return text.ok() ? std::optional(*std::move(text)) : std::nullopt;
  }

  const std::string name, source;
  const Json cases;
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
  size_t n = 0;
  if (before)
    n = static_cast<size_t>(std::mismatch(before->begin(), before->end(), with->begin(), with->end()).first - before->begin());
  else  // no prompt without messages
    n = with->rfind(context["messages"][at]["content"].get<std::string>());
  const size_t begun = with->rfind('<', n);  // markers may have the same begin
  if (begun < n && with->find('>', begun) >= n) n = begun;
  Turn out{with->substr(0, n), with->substr(n)};
  // What is before a message may be another text where it is the last.
  const bool has_result = contains(out.written, "<|start|>functions.");
  for (const std::string_view end : {"[/INST]", "<|end_of_role|>", "<|im_start|>assistant\n", has_result ? "<|start|>assistant" : "[/INST]"}) {
    const size_t at_end = out.written.rfind(end);
    if (at_end == std::string::npos) continue;
    out.prompt += out.written.substr(0, at_end + end.size());
    out.written.erase(0, at_end + end.size());
  }
  if (fixture.found.format.channels.used()) return out;
  for (const char* end : {"<|im_end|>\n", "<|eot_id|>", "<|eom_id|>", "</s>", "<｜end▁of▁sentence｜>", "<|end_of_text|>\n", "<end_of_turn>\n", "<|end|>\n"})
    out.written = out.written.substr(0, out.written.rfind(end));
  return out;
}

// What of a message is written at all: templates leave out reasoning of the past, content beside calls, and calls that they do not know.
Message written_part(const Fixture& fixture, const Json& message, const std::string& written) {
  Message out;
  if (message["content"].is_string()) out.content = message["content"];
  for (const char* null : {"None", "null"})
    if (message["content"].is_null() && strip(written).find(null) != std::string::npos) out.content = null;
  for (const char* key : {"reasoning_content", "thinking"})
    if (message.contains(key)) out.reasoning = message[key];
  const size_t end = out.content.find("</think>");
  if (end != std::string::npos && !fixture.found.format.reasoning_begin.empty()) {
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
  if (got.content != want.content && !(trims && strip(got.content) == strip(want.content))) return "content: '" + got.content + "', not '" + want.content + "'";
  if (got.calls.size() != want.calls.size()) return "calls: " + std::to_string(got.calls.size());
  for (size_t i = 0; i < got.calls.size(); ++i) {
    const ChatCall& call = got.calls[i];
    const Json arguments = Json::parse(call.arguments, nullptr, false);
    if (!call.complete || call.name != want.calls[i]["name"] || call.id != want.calls[i]["id"] || arguments != want.calls[i]["arguments"])
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

void check_message(const Fixture& fixture, const Json& test, size_t at, Counts& counts) {
  const Json& context = test["context"];
  const auto turn = turn_of(fixture, context, at);
  if (!turn) {
    ++counts.not_found;
    return;
  }
  const Message want = written_part(fixture, context["messages"][at], turn->written);
  const Json listed = context.value("tools", Json());
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(listed.is_null() ? "" : listed.dump()));
  const bool trims = contains(fixture.source, "|trim") || contains(fixture.source, "| trim") || contains(fixture.source, "strip(") || contains(fixture.source, "split('</think>')");
  std::mt19937 random(5);
  for (const bool with_tokens : {false, true}) {
    const auto format = test::shared(fixture.found.format, with_tokens);
    const auto tail = test::cut(turn->prompt, *format, kTurnTokens), pieces = test::cut(turn->written, *format);
    const auto where = [&] { return fixture.name + ", " + test["name"].get<std::string>() + ": " + turn->written; };
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

TEST(ChatFixtures, EveryAssistantMessageParsesBackToItself) {
  const std::string fixtures = INLAY_FIXTURES_DIR;
  const fs::path folder = fs::path(fixtures) / "templates";
  if (fixtures.empty() || !fs::exists(folder / "index.json"))
    GTEST_SKIP() << "needs INLAY_FIXTURES: model vendors' templates are not in this repository";
  Counts all;
  const Json index = Json::parse(read(folder / "index.json"));
  for (const Json& entry : index["templates"]) {
    const Fixture fixture(folder / entry["name"].get<std::string>());
    Counts counts;
    for (const Json& test : fixture.cases) {
      if (!test.contains("expected") || !test["context"].contains("messages")) continue;
      for (size_t at = 0; at < test["context"]["messages"].size(); ++at)
        if (test["context"]["messages"][at]["role"] == "assistant") check_message(fixture, test, at, counts);
    }
    std::printf("%-26s %-14s %3zu messages, %3zu calls, %2zu with reasoning, %zu not found\n", fixture.name.c_str(),
                fixture.found.format.name.c_str(), counts.messages, counts.calls, counts.reasoning, counts.not_found);
    all.messages += counts.messages, all.calls += counts.calls, all.reasoning += counts.reasoning, all.not_found += counts.not_found;
  }
  std::printf("%zu messages, %zu calls, %zu with reasoning, %zu not found\n", all.messages, all.calls, all.reasoning, all.not_found);
  EXPECT_EQ(all.not_found, 0u);
  EXPECT_GT(all.messages, 700u);
  EXPECT_GT(all.calls, 190u);
  EXPECT_GT(all.reasoning, 40u);
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
