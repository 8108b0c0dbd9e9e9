// What a model writes, taken apart while it is written: reasoning, content and calls of tools.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/chat_format/chat_format.h"
#include "src/chat_format/json_scanner.h"
#include "src/chat_format/marked_text.h"
#include "src/chat_format/python_value.h"
#include "src/chat_format/tool_types.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

// A part of the message. Texts are whole UTF-8 characters; parts of one kind that follow each other are one text.
struct ChatDelta {
  enum class Kind : uint8_t {
    reasoning,
    content,
    call_begin,  // `text` is the tool's name
    call_id,     // where the format has one; anywhere between begin and end
    arguments,   // JSON, all parts of a call together
    call_end,
  };
  Kind kind;
  uint32_t call = 0;     // of the last four: 0 for the message's first call. Calls do not overlap.
  std::string text = {};
  bool complete = true;  // call_end: the arguments are one JSON value
};

// A token: the bytes that it stands for, or a control token by its name.
struct ChatPiece {
  std::string_view text;
  bool is_control = false;
};

// For one thread at a time. What was given is never taken back. Where text is not what the format says, it is content and malformed() is set. Nothing
// fails. Time is linear in the text; memory is that of the deltas that were not taken, and of what is held back: at most kMaxHeldBytes of it.
class ChatParser {
 public:
  static constexpr size_t kMaxHeldBytes = size_t{1} << 20;  // of a call's name, of an argument that is no string, and of what stands around both
  static constexpr size_t kMaxNameBytes = 512;              // of names, ids, headers
  static constexpr size_t kMaxParameters = 1024;            // of one call, in formats with tags and as Python

  explicit ChatParser(std::shared_ptr<const ChatFormat> format, std::shared_ptr<const ToolTypes> tools = nullptr);
  ChatParser(const ChatParser&) = delete;
  ChatParser& operator=(const ChatParser&) = delete;

  // Before all else: the end of the prompt. The message may have begun there, as templates do it that write <think>. Text of the tail is not given
  // again; a call that the tail begins is given whole.
  void begin_behind(std::span<const ChatPiece> tail);

  void append(std::string_view bytes);         // of a text token
  void append_control(std::string_view name);  // a control token: a marker of the format, or nothing
  void append(const ChatPiece& piece) { piece.is_control ? append_control(piece.text) : append(piece.text); }
  void finish();  // the message ended, or was cut

  // What is open: for constraints, behind the prompt's tail.
  enum class Open : uint8_t { nothing, reasoning, content, call };
  Open open() const;

  std::vector<ChatDelta> take() { return std::exchange(deltas_, {}); }
  bool complete() const { return complete_; }    // after finish(): nothing is open, neither reasoning nor a call
  bool malformed() const { return malformed_; }  // some text was not as the format says

 private:
  using Kind = ChatDelta::Kind;
  enum class State : uint8_t {
    content, reasoning, call_begin, call_json, call_python, call_word, arguments_begin, arguments, parameters, value_begin, value, call_end, between,
    header, channel_text, channel_arguments, channel_string,
  };
  enum class Next : uint8_t { wait, character, marker };
  // Of a call's object.
  enum class Place : uint8_t { object, first_key, key, in_key, colon, value, in_value, behind_value, behind_object };
  enum class Member : uint8_t { other, name, id, arguments, held_arguments };
  enum class Taken : uint8_t { held, given, again, no };  // a character: held back, given or dropped, to be taken once more, not taken
  enum class Python : uint8_t { call, key, value, behind_value, behind_call };
  enum class Word : uint8_t { name, id, parameter };

  const Marker* token(std::string_view name) const;
  bool begin_at_end(const Marker* last);
  void forget_tail();
  void run();
  bool step();
  void close();

  // chat_parser.cpp
  void emit(Kind kind, std::string_view text);
  void add_text(Kind kind, std::string_view text);
  bool step_content();
  bool at_start(bool& wait);
  bool step_content_mark();
  bool step_reasoning();
  void begin_content();
  void end_content(bool is_token);
  void begin_reasoning();
  Next peek(char& c);
  void hold(std::string_view text) { held_ += text; }

  // calls.cpp
  void begin_call(const Marker* marker);
  bool step_call_begin();
  void after_begin();
  bool skip_blanks();
  void begin_word(Word word);
  bool step_word();
  void take_name_from_id();
  bool end_word(const Marker& marker);
  bool step_arguments_begin();
  bool step_arguments();
  void end_arguments(bool whole);
  bool step_call_end();
  bool step_between();
  bool may_be_bare() const;
  void commit(std::string_view name);
  void end_call(bool complete);
  void fail();

  // call_json.cpp
  void begin_calls_object();
  bool step_json();
  bool put_json(char c);
  Taken take_json(char c);
  void begin_object();
  Taken take_key(char c);
  bool begin_value(char c);
  Taken take_value(char c);
  bool end_value();
  bool commit_json(std::string_view arguments);
  Taken end_object();

  // call_python.cpp
  void begin_python();
  bool step_python();
  Taken take_python(char c);
  bool begin_python_call();
  void begin_python_key();
  bool begin_python_value();
  Taken end_python_call();

  // tagged.cpp
  void begin_parameters();
  bool step_parameters();
  bool step_value_begin();
  bool step_value();
  void add_value(std::string_view text);

  // channels.cpp
  void begin_header();
  bool step_header();
  bool add_to_header(char c);
  bool is_header_word(std::string_view word, bool whole) const;
  bool words_fit(std::string_view header) const;
  bool begin_body();
  bool step_channel_text();
  bool step_channel_arguments();
  bool step_channel_string();
  bool step_channel_end();
  bool end_channel(const Marker& marker);

  const std::shared_ptr<const ChatFormat> format_;
  const std::shared_ptr<const ToolTypes> tools_;
  std::vector<const Marker*> tokens_;  // markers that are tokens
  const Marker first_of_call_;         // of the format's begin, empty if there is none
  const Marker second_of_call_;        // where the first may be missing
  std::vector<const Marker*> of_content_, of_header_, of_body_;  // markers that are looked for there
  Utf8Assembler utf8_;
  std::string whole_;  // characters, for a moment
  MarkedText in_;
  std::vector<ChatDelta> deltas_;
  State state_ = State::content;
  bool complete_ = false, malformed_ = false, finished_ = false;

  // Text at a marker's edge.
  std::string pending_;       // blanks that belong to the text only if more of it follows
  bool at_start_ = true;      // no content yet, or none since reasoning or a call
  bool drop_lines_ = false;   // line feeds that come next are not of the text
  bool in_content_ = false;   // behind the marker of its begin

  // A call.
  std::string held_;          // text that is content if no call comes of it
  bool in_section_ = false, bare_ = false, committed_ = false, separated_ = false;
  size_t n_matched_ = 0;      // of the markers of its begin or end
  uint32_t n_calls_ = 0;
  std::string name_, id_;
  JsonScanner scanner_;

  // A call's object.
  Place place_ = Place::object;
  Member member_ = Member::other;
  bool in_list_ = false, has_arguments_ = false, in_literal_ = false;
  std::string key_, value_, arguments_;

  // A call as Python.
  Python python_place_ = Python::call;
  PythonValue python_;

  // A call with tags; the first three also of one as Python.
  bool word_ended_ = false;
  std::string parameter_;
  std::vector<std::string> parameters_;  // that were written
  Word word_ = Word::name;
  uint8_t types_ = kAnyType;
  bool is_text_ = false, at_value_start_ = false;

  // Channels.
  std::string header_;
  size_t channel_at_ = 0;  // in header_, behind the marker; npos before
  Kind channel_kind_ = Kind::content;
  bool is_tool_ = false;   // the recipient
};

// The arguments that a JSON value stands for: none for null; the text of a string if that is an object, as some templates write them.
std::string arguments_of_literal(const std::string& literal);

// A whole message.
struct ChatCall {
  std::string name, id, arguments;
  bool complete = false;
};
struct ChatMessage {
  std::string reasoning, content;
  std::vector<ChatCall> calls;
  bool complete = false, malformed = false;
};
void add_deltas(std::span<const ChatDelta> deltas, ChatMessage& message);
ChatMessage parse_chat(std::shared_ptr<const ChatFormat> format, std::shared_ptr<const ToolTypes> tools, std::span<const ChatPiece> tail,
                       std::span<const ChatPiece> pieces);

}  // namespace inlay
