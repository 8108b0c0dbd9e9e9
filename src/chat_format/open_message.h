// What all readers of a message share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/chat_format/chat_format.h"
#include "src/chat_format/marked_text.h"
#include "src/chat_format/tool_types.h"

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

// How far a reader has come: it waits for more text, it has read all that is its own, or what is in front is not as the format says.
enum class Reading : uint8_t { wait, done, failed };

// What is in front.
enum class Next : uint8_t { wait, character, marker };

// What became of a character: held back, given or dropped, to be taken once more, not taken.
enum class Taken : uint8_t { held, given, again, no };

// The text that is left, what was held back of it, what was given, and the call that is open.
struct OpenMessage {
  using Kind = ChatDelta::Kind;

  // As ChatParser says.
  static constexpr size_t kMaxHeldBytes = size_t{1} << 20;
  static constexpr size_t kMaxNameBytes = 512;
  static constexpr size_t kMaxParameters = 1024;

  const std::shared_ptr<const ChatFormat> format;
  const std::shared_ptr<const ToolTypes> tools;
  MarkedText in = {};
  std::vector<ChatDelta> deltas = {};
  bool malformed = false;
  std::string held = {};           // text that is content if no call comes of it
  std::string name = {}, id = {};  // of the call, once they are read
  bool bare = false;               // the call lacks its first marker
  bool committed = false;          // call_begin is given, call_end is not
  uint32_t n_calls = 0;            // that ended

  Next peek(char& c);
  bool holds_most() const { return held.size() >= kMaxHeldBytes; }
  void hold_front(const Marker& marker);      // that is in front
  Reading hold_blanks();                      // done: something else is in front
  Reading hold_marker(const Marker& marker);  // that must come next; blanks before it are held, too

  void emit(Kind kind, std::string_view text);
  void add_arguments(std::string_view json) { emit(Kind::arguments, json); }
  bool may_be_call() const;
  void commit();
  void end_call(bool complete);
  void fail_call();  // what was committed ends; what is held stays
};

}  // namespace inlay
