// Conversations of other projects' models as their templates write them: the prompt before each message of an assistant, what the model would have
// written, and what a parser is to find in it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/chat_format/chat_parser.h"
#include "src/template/template.h"
#include "tests/support/template_values.h"

namespace inlay::chat_fixtures {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

inline std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string_view strip(std::string_view text, std::string_view blanks = " \n") {
  const size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// What stands in a conversation for the parser to find again.
struct Message {
  std::string reasoning, content;
  Json calls = Json::array();  // {name, arguments, id}
};

// The whole context of each case that renders.
inline std::vector<std::pair<std::string, Json>> contexts_of(const Json& cases, const Json& conversations) {
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

inline std::optional<Turn> turn_of(const Fixture& fixture, const Json& context, size_t at) {
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
inline Message written_part(const Fixture& fixture, const Json& message, const std::string& written) {
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
inline std::string difference(const ChatMessage& got, const Message& want, bool trims) {
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

inline const std::vector<std::string_view> kTurnTokens = {"<|im_start|>", "<|start_header_id|>", "<|end_header_id|>", "[INST]", "[/INST]", "<｜User｜>",
                                                   "<｜Assistant｜>", "<|user|>", "<|assistant|>", "<start_of_turn>", "<|start_of_role|>",
                                                   "<|end_of_role|>"};

// The templates of other projects; empty where they are not on this machine.
inline std::vector<Fixture> fixtures_in(const fs::path& folder) {
  std::vector<Fixture> out;
  if (!fs::exists(folder / "index.json")) return out;
  const Json index = Json::parse(read(folder / "index.json"));
  for (const Json& entry : index["templates"]) {
    const std::string name = entry["name"];
    const Json cases = Json::parse(read(folder / name / "cases.json"));
    out.emplace_back(name, read(folder / name / "template.jinja"), contexts_of(cases["cases"], {}));
  }
  return out;
}

}  // namespace inlay::chat_fixtures
