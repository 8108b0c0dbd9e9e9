// What a model writes, taken apart while it is written: reasoning, content and calls of tools.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/chat_format/calls.h"
#include "src/chat_format/channels.h"
#include "src/chat_format/chat_format.h"
#include "src/chat_format/open_message.h"
#include "src/chat_format/tool_types.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

// A token: the bytes that it stands for, or a control token by its name.
struct ChatPiece {
  std::string_view text;
  bool is_control = false;
};

// For one thread at a time. What was given is never taken back. Where text is not what the format says, it is content and malformed() is set. Nothing
// fails. Time is linear in the text; memory is that of the deltas that were not taken, and of what is held back: at most kMaxHeldBytes of it.
class ChatParser {
 public:
  static constexpr size_t kMaxHeldBytes = OpenMessage::kMaxHeldBytes;    // of a call's name, of an argument that is no string, and of what stands around both
  static constexpr size_t kMaxNameBytes = OpenMessage::kMaxNameBytes;    // of names, ids, headers
  static constexpr size_t kMaxParameters = OpenMessage::kMaxParameters;  // of one call, in formats with tags and as Python

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

  std::vector<ChatDelta> take() { return std::exchange(message_.deltas, {}); }
  bool complete() const { return complete_; }            // after finish(): nothing is open, neither reasoning nor a call
  bool malformed() const { return message_.malformed; }  // some text was not as the format says

 private:
  using Kind = ChatDelta::Kind;
  enum class State : uint8_t { content, reasoning, call, channels };

  const Marker* token(std::string_view name) const;
  bool begin_at_end(const Marker* last);
  void forget_tail();
  void run();
  bool step();
  void close();

  void add_text(Kind kind, std::string_view text);
  bool step_content();
  bool at_start(bool& wait);
  bool step_content_mark();
  bool step_reasoning();
  bool step_call();
  void begin_content();
  void end_content(bool is_token);
  void begin_reasoning();
  void begin_call(const Marker* marker);

  OpenMessage message_;
  const ChatFormat& format_;
  CallReader calls_;
  ChannelReader channels_;  // reads all of a format that has them
  State state_;
  std::vector<const Marker*> tokens_;      // markers that are tokens
  std::vector<const Marker*> of_content_;  // markers that are looked for there
  Utf8Assembler utf8_;
  std::string whole_;  // characters, for a moment
  bool complete_ = false, finished_ = false;

  // Text at a marker's edge.
  std::string pending_;      // blanks that belong to the text only if more of it follows
  bool at_start_ = true;     // no content yet, or none since reasoning or a call
  bool drop_lines_ = false;  // line feeds that come next are not of the text
  bool in_content_ = false;  // behind the marker of its begin
};

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
