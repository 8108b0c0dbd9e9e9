// Messages of one turn, each with a header: <|start|>assistant to=functions.NAME<|channel|>commentary<|message|>...<|call|>
#pragma once

#include "src/chat_format/call_readers.h"
#include "src/chat_format/open_message.h"

namespace inlay {

// All messages of the turn, to the end of the text.
class ChannelReader {
 public:
  explicit ChannelReader(OpenMessage& message);

  void read();
  bool finish();  // the text is over. False if it is cut; a call may be open then

  bool in_text() const { return place_ == Place::text; }
  bool reasons() const { return kind_ == Kind::reasoning; }  // the text
  bool between_messages() const { return place_ == Place::header && channel_at_ == std::string::npos; }  // or in words before a channel

 private:
  using Kind = ChatDelta::Kind;
  enum class Place : uint8_t { header, text, recipient, arguments, string, call_end };

  Reading read_place();
  void begin_header();
  Reading read_header();
  bool add_to_header(char c);
  bool is_header_word(std::string_view word, bool whole) const;
  bool words_fit(std::string_view header) const;
  Reading begin_body();
  Reading read_text();
  Reading begin_arguments();
  Reading read_arguments();
  Reading read_string();
  Reading read_call_end();
  Reading end_message(const Marker& marker);

  OpenMessage& message_;
  const ChatFormat::Channels& format_;
  std::vector<const Marker*> of_header_, of_body_;  // markers that are looked for there
  Place place_ = Place::header;
  std::string header_;
  size_t channel_at_ = 0;    // in header_, behind the marker; npos before
  Kind kind_ = Kind::content;
  bool is_tool_ = false;     // the recipient
  ArgumentsReader arguments_;
};

}  // namespace inlay
