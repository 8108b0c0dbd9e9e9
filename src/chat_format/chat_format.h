// How models write reasoning and calls of tools, as data: JSON, described in docs/design/chat-parsing.md. What is built in is written in it too.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/chat_format/marked_text.h"

namespace inlay {

struct ChatFormat {
  // How a call's name and arguments are written.
  enum class Written : uint8_t {
    none,    // the format has no calls
    json,    // an object with both, or an array of such objects
    named,   // a name, then the arguments as JSON
    tagged,  // a name, then each argument between tags
    python,  // a call as Python writes it, or a list of such
  };
  struct Calls {
    Written written = Written::none;
    Marker section_begin, section_end;  // around all calls
    std::vector<Marker> begin, end;     // of one call, in this order, blanks between them
    Marker separator;                   // that may stand between calls
    // json and python: `begin` may be missing where content has not begun; tagged: the first marker of `begin` may be missing.
    bool bare = false;
    std::string name_key;               // of json
    std::vector<std::string> arguments_keys;
    std::string id_key;
    bool writes_id = true;  // false: an id is read where a model writes one, and a constraint lets it write none
    Marker id_begin;         // of named; may be missing
    std::string name_prefix, name_suffix;  // of named: where there is a prefix, the word is the id, and the name lies between both; of python
    Marker arguments_begin;  // of named and tagged: what ends the name
    Marker parameter_begin, parameter_name_end, value_begin, value_end;  // of tagged
    bool value_lines = false;                                            // a line feed behind value_begin and before value_end is not of the value
  };
  // Messages of one turn, each with a header that says what it is.
  struct Channels {
    Marker begin, channel, constraint, body;
    std::vector<Marker> end;
    std::string role, recipient, tool_prefix;  // "assistant", "to=", "functions."
    std::vector<std::string> reasoning, content;  // names of channels
    bool used() const { return !body.empty(); }
  };

  std::string name;
  Marker reasoning_begin, reasoning_end;
  Marker content_begin, content_end;
  Calls calls;
  Channels channels;
  std::vector<std::string> template_has, template_lacks;  // by which find() knows its templates

  bool has_calls() const { return calls.written != Written::none || channels.used(); }
  bool has_reasoning() const { return !reasoning_begin.empty() || !channels.reasoning.empty(); }

  // `where` names the text in messages. Errors name the key and its place.
  static Result<ChatFormat> read(std::string json, std::string where = "chat format");

  // All markers, each text once.
  std::vector<const Marker*> markers() const;
  // Says which markers the vocabulary has as control or user-defined tokens.
  void set_tokens(const std::function<bool(std::string_view)>& is_token);
};

// What is built in: names, and the format of a name as JSON, empty where there is none.
std::vector<std::string_view> chat_format_names();
std::string_view chat_format_json(std::string_view name);

// The format that a chat template writes, by the markers in its source: the first of `own`, and then of the built-in ones, whose template_has are all
// in it and of whose template_lacks none. `remark` says what was not recognized, and is empty if all was.
struct FoundChatFormat {
  ChatFormat format;
  std::string remark;
};
FoundChatFormat find_chat_format(std::string_view template_source, std::span<const ChatFormat> own = {});

}  // namespace inlay
