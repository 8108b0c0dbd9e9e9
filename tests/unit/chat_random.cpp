// Random messages, written as each format writes them, give themselves back: texts full of what looks like markers, arguments of all types.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "src/tokenizer/utf8.h"
#include "tests/support/chat_pieces.h"

namespace inlay {
namespace {

using Json = nlohmann::ordered_json;
using Random = std::mt19937;

constexpr const char* kTools = R"([{"name": "f", "parameters": {"properties": {"text": {"type": "string"}, "number": {"type": "number"},
  "truth": {"type": "boolean"}, "list": {"type": "array"}, "object": {"type": "object"}, "either": {"type": ["integer", "null"]}}}}])";

struct Call {
  std::string name, id;
  Json arguments;
};
struct Message {
  std::string reasoning, content;
  std::vector<Call> calls;
};

// What looks like a marker; `whole`: also markers themselves.
std::string random_text(const ChatFormat& format, bool whole, Random& random) {
  constexpr const char* kWords[] = {"a", "b c", " ", "\n", "\n\n", "<", ">", "</", "[", "{", "}", "\"", "\\", "|", "é", "日本",
                                    "😀", "```", "=", ": ", "\r\n"};
  const auto markers = format.markers();
  std::string out = "x";
  for (unsigned n = random() % 12; n > 0; --n) {
    if (random() % 3 == 0 && !markers.empty()) {
      const std::string& marker = markers[random() % markers.size()]->text;
      size_t size = whole && random() % 2 ? marker.size() : random() % marker.size();
      while (size < marker.size() && is_continuation(marker[size])) ++size;
      if (marker.size() > 2) out += marker.substr(0, size);
    } else {
      out += kWords[random() % std::size(kWords)];
    }
  }
  for (const Marker* marker : markers) {
    if (whole || marker->text.size() < 3) continue;
    while (out.find(marker->text) != out.npos) out.erase(out.find(marker->text), 1);
  }
  return out + "x";
}

Json random_value(const ChatFormat& format, bool whole, unsigned depth, Random& random) {
  switch (random() % (depth > 3 ? 5 : 7)) {
    case 0:
      return random_text(format, whole, random);
    case 1:
      return static_cast<int>(random() % 2000) - 1000;
    case 2:
      return static_cast<double>(random() % 1000) / 8;
    case 3:
      return random() % 2 == 0;
    case 4:
      return nullptr;
    case 5: {
      Json out = Json::array();
      for (unsigned n = random() % 4; n > 0; --n) out.push_back(random_value(format, whole, depth + 1, random));
      return out;
    }
    default: {
      Json out = Json::object();
      for (unsigned n = random() % 4; n > 0; --n) out[random_text(format, whole, random)] = random_value(format, whole, depth + 1, random);
      return out;
    }
  }
}

// Of a type that the tool's schema says, so that a value between tags can be told from a text.
Json random_arguments(const ChatFormat& format, bool whole, Random& random) {
  Json out = Json::object();
  if (random() % 2) out["text"] = random() % 2 ? random_text(format, whole, random) : std::to_string(random() % 100);
  if (random() % 2) out["number"] = static_cast<double>(random() % 1000) / 4;
  if (random() % 2) out["truth"] = random() % 2 == 0;
  if (random() % 2) out["list"] = Json::array({random_value(format, whole, 0, random), random_value(format, whole, 0, random)});
  if (random() % 2) out["object"] = Json::object({{"k", random_value(format, whole, 0, random)}});
  if (random() % 2) out["either"] = random() % 2 ? Json(nullptr) : Json(5);
  return out;
}

// The pieces of a message: markers by their own names, everything else as text.
class Writer {
 public:
  explicit Writer(const ChatFormat& format) : format_(format) {}
  Writer& text(std::string words) {
    parts_.push_back({std::move(words), false});
    return *this;
  }
  Writer& marker(const std::string& name) {
    bool is_token = false;
    for (const Marker* marker : format_.markers()) is_token = is_token || (marker->is_token && marker->text == name);
    parts_.push_back({name, is_token});
    return *this;
  }
  std::vector<ChatPiece> pieces() const {
    std::vector<ChatPiece> out;
    for (const auto& [words, is_token] : parts_) {
      if (!out.empty() && !is_token && !out.back().is_control)
        joined_.back() += words;
      else
        joined_.push_back(words), out.push_back({"", is_token});
    }
    for (size_t i = 0; i < out.size(); ++i) out[i].text = joined_[i];
    return out;
  }

 private:
  const ChatFormat& format_;
  std::vector<std::pair<std::string, bool>> parts_;
  mutable std::vector<std::string> joined_;
};

void write_thoughts(const Message& m, Writer& w, const char* begin, const char* end, const char* lines) {
  if (m.reasoning.empty()) return;
  w.marker(begin).text(lines + m.reasoning + lines).marker(end).text(std::string(lines) + lines);
}

std::string python_text(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  std::string out, separator;
  if (value.is_string()) {
    for (const char c : value.get<std::string>()) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c == '\n' ? "\\n" : c == '\r' ? "\\x0d" : std::string(1, c);
    }
    return "'" + out + "'";
  }
  if (!value.is_structured()) return value.dump();
  for (const auto& [key, item] : value.items()) {
    out += separator + (value.is_object() ? python_text(key) + ": " : "") + python_text(item);
    separator = ", ";
  }
  return value.is_object() ? "{" + out + "}" : "[" + out + "]";
}

std::string written(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

struct Style {
  const char* format;
  bool reasoning, content_beside_calls, ids;
  void (*write)(const Message&, Writer&);
};

const Style kStyles[] = {
    {"hermes", true, true, true, [](const Message& m, Writer& w) {
       write_thoughts(m, w, "<think>", "</think>", "\n");
       w.text(m.content);
       for (const Call& call : m.calls)
         w.text("\n")
             .marker("<tool_call>")
             .text("\n" + Json({{"name", call.name}, {"arguments", call.arguments}, {"id", call.id}}).dump(1) + "\n")
             .marker("</tool_call>");
     }},
    {"qwen3-coder", true, true, false, [](const Message& m, Writer& w) {
       write_thoughts(m, w, "<think>", "</think>", "\n");
       w.text(m.content);
       for (const Call& call : m.calls) {
         w.text("\n").marker("<tool_call>").text("\n").marker("<function=").text(call.name).marker(">");
         for (const auto& [key, value] : call.arguments.items())
           w.text("\n").marker("<parameter=").text(key).marker(">").text("\n" + written(value) + "\n").marker("</parameter>");
         w.text("\n").marker("</function>").text("\n").marker("</tool_call>");
       }
     }},
    {"glm", true, true, false, [](const Message& m, Writer& w) {
       w.marker("<think>").text(m.reasoning).marker("</think>").text((m.content.empty() ? "" : "\n") + m.content);
       for (const Call& call : m.calls) {
         w.text("\n").marker("<tool_call>").text(call.name + "\n");
         for (const auto& [key, value] : call.arguments.items())
           w.marker("<arg_key>").text(key).marker("</arg_key>").marker("<arg_value>").text(written(value)).marker("</arg_value>").text("\n");
         w.marker("</tool_call>");
       }
     }},
    {"llama3", false, false, false, [](const Message& m, Writer& w) {
       w.text(m.content);
       for (size_t i = 0; i < m.calls.size(); ++i)
         w.text(i ? "; " : "").text(Json({{"name", m.calls[i].name}, {"parameters", m.calls[i].arguments}}).dump());
     }},
    {"mistral", false, true, true, [](const Message& m, Writer& w) {
       w.text(m.content);
       Json list = Json::array();
       for (const Call& call : m.calls) list.push_back({{"arguments", call.arguments}, {"name", call.name}, {"id", call.id}});
       if (!list.empty()) w.marker("[TOOL_CALLS]").text(list.dump());
     }},
    {"mistral-args", true, true, true, [](const Message& m, Writer& w) {
       write_thoughts(m, w, "[THINK]", "[/THINK]", "");
       w.text(m.content);
       for (const Call& call : m.calls)
         w.marker("[TOOL_CALLS]").text(call.name).marker("[CALL_ID]").text(call.id).marker("[ARGS]").text(call.arguments.dump());
     }},
    {"lfm2", true, true, false, [](const Message& m, Writer& w) {
       write_thoughts(m, w, "<think>", "</think>", "\n");
       w.text(m.content);
       std::string calls;
       for (const Call& call : m.calls) {
         std::string arguments;
         for (const auto& [key, value] : call.arguments.items()) arguments += (arguments.empty() ? "" : ", ") + key + "=" + python_text(value);
         calls += (calls.empty() ? "" : ", ") + call.name + "(" + arguments + ")";
       }
       if (!m.calls.empty()) w.marker("<|tool_call_start|>").text("[" + calls + "]").marker("<|tool_call_end|>");
     }},
    {"deepseek-v3.1", true, true, false, [](const Message& m, Writer& w) {
       write_thoughts(m, w, "<think>", "</think>", "");
       w.text(m.content);
       if (!m.calls.empty()) w.marker("<｜tool▁calls▁begin｜>");
       for (const Call& call : m.calls)
         w.marker("<｜tool▁call▁begin｜>").text(call.name).marker("<｜tool▁sep｜>").text(call.arguments.dump()).marker("<｜tool▁call▁end｜>");
       if (!m.calls.empty()) w.marker("<｜tool▁calls▁end｜>");
     }},
    {"deepseek-v3", true, true, false, [](const Message& m, Writer& w) {
       write_thoughts(m, w, "<think>", "</think>", "");
       w.text(m.content);
       if (!m.calls.empty()) w.marker("<｜tool▁calls▁begin｜>");
       for (const Call& call : m.calls)
         w.marker("<｜tool▁call▁begin｜>")
             .text("function")
             .marker("<｜tool▁sep｜>")
             .text(call.name + "\n```json\n" + call.arguments.dump() + "\n```")
             .marker("<｜tool▁call▁end｜>");
       if (!m.calls.empty()) w.marker("<｜tool▁calls▁end｜>");
     }},
    {"harmony", true, true, false, [](const Message& m, Writer& w) {
       bool first = true;
       const auto header = [&]() -> Writer& {
         if (!first) w.marker("<|start|>").text("assistant");
         first = false;
         return w.marker("<|channel|>");
       };
       if (!m.reasoning.empty()) header().text("analysis").marker("<|message|>").text(m.reasoning).marker("<|end|>");
       if (!m.content.empty()) header().text("final").marker("<|message|>").text(m.content).marker("<|end|>");
       for (const Call& call : m.calls) {
         header().text("commentary to=functions." + call.name + " ").marker("<|constrain|>").text("json").marker("<|message|>");
         w.text(call.arguments.dump()).marker("<|call|>");
       }
     }},
};

std::string difference(const Message& want, const ChatMessage& got, bool ids) {
  if (!got.complete || got.malformed) return "not complete, or malformed";
  if (got.reasoning != want.reasoning) return "reasoning " + got.reasoning;
  if (got.content != want.content) return "content " + got.content;
  if (got.calls.size() != want.calls.size()) return std::to_string(got.calls.size()) + " calls";
  for (size_t i = 0; i < want.calls.size(); ++i) {
    const ChatCall& call = got.calls[i];
    if (!call.complete || call.name != want.calls[i].name || (ids && call.id != want.calls[i].id)) return "call " + call.name + " " + call.id;
    if (Json::parse(call.arguments, nullptr, false) != want.calls[i].arguments) return "arguments " + call.arguments;
  }
  return "";
}

TEST(ChatRandom, MessagesGiveThemselvesBack) {
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(kTools));
  Random random(17);
  size_t n_calls = 0;
  for (const Style& style : kStyles) {
    for (const bool with_tokens : {false, true}) {
      const auto format = test::built_in(style.format, with_tokens);
      for (int i = 0; i < 300; ++i) {
        Message message;
        if (style.reasoning && random() % 2) message.reasoning = random_text(*format, false, random);
        for (unsigned n = random() % 4; n > 0; --n)
          message.calls.push_back({"f", "id" + std::to_string(random() % 9), random_arguments(*format, false, random)});
        if (random() % 2 && (style.content_beside_calls || message.calls.empty())) message.content = random_text(*format, false, random);
        Writer writer(*format);
        style.write(message, writer);
        const auto pieces = writer.pieces();
        std::string text;
        for (const ChatPiece& piece : pieces) text += piece.text;
        ASSERT_EQ(difference(message, parse_chat(format, tools, {}, pieces), style.ids), "") << style.format << ": " << text;
        const auto cut = test::cut_further(pieces, [&](size_t n) { return 1 + random() % n; });
        ASSERT_EQ(difference(message, parse_chat(format, tools, {}, cut), style.ids), "") << style.format << ": " << text;
        n_calls += message.calls.size();
      }
    }
  }
  EXPECT_GT(n_calls, 5000u);
}

// JSON may hold whole markers in its strings; where markers are tokens all text may hold their letters.
TEST(ChatRandom, LettersOfMarkersAreText) {
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(kTools));
  Random random(23);
  for (const Style& style : kStyles) {
    for (const bool with_tokens : {false, true}) {
      const auto format = test::built_in(style.format, with_tokens);
      bool all_tokens = with_tokens;
      for (const Marker* marker : format->markers()) all_tokens = all_tokens && marker->is_token;
      if (format->calls.written == ChatFormat::Written::tagged && !all_tokens) continue;  // a value cannot hold its own end
      for (int i = 0; i < 300; ++i) {
        Message message;
        for (unsigned n = random() % 3; n > 0; --n) message.calls.push_back({"f", "i", random_arguments(*format, true, random)});
        if (style.content_beside_calls || message.calls.empty()) message.content = random_text(*format, all_tokens, random);
        if (style.reasoning && all_tokens) message.reasoning = random_text(*format, true, random);
        Writer writer(*format);
        style.write(message, writer);
        const auto pieces = test::cut_further(writer.pieces(), [&](size_t n) { return 1 + random() % n; });
        std::string text;
        for (const ChatPiece& piece : pieces) text += piece.text;
        ASSERT_EQ(difference(message, parse_chat(format, tools, {}, pieces), style.ids), "") << style.format << ": " << text;
      }
    }
  }
}

TEST(ChatRandom, DifferenceSeesWhatIsWrong) {
  const Message want{"r", "c", {{"f", "1", Json::object({{"a", 1}})}}};
  const ChatMessage good{"r", "c", {{"f", "1", "{\"a\": 1}", true}}, true, false};
  EXPECT_EQ(difference(want, good, true), "");
  ChatMessage other = good;
  other.content += "\n";
  EXPECT_NE(difference(want, other, true), "");
  other = good;
  other.calls[0].id = "2";
  EXPECT_NE(difference(want, other, true), "");
  EXPECT_EQ(difference(want, other, false), "");
  other = good;
  other.calls[0].arguments = "{\"a\": 2}";
  EXPECT_NE(difference(want, other, true), "");
}

}  // namespace
}  // namespace inlay
