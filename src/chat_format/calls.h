// Calls of tools between markers.
#pragma once

#include "src/chat_format/call_readers.h"
#include "src/chat_format/open_message.h"

namespace inlay {

// A call from its first marker to its last, all of a section, or all that have separators between them.
class CallReader {
 public:
  explicit CallReader(OpenMessage& message);

  const std::vector<const Marker*>& begins() const { return begins_; }  // the markers with which it may begin
  void begin(const Marker* marker);  // one of begins(), which is in front; null for a call without
  Reading read();                    // done or failed: what is still held is no call
  bool finish();                     // the text is over. False if it is cut; a call may be open then

 private:
  enum class Place : uint8_t { begin, name, id, object, python, parameters, arguments, end, between, over };

  Reading read_place();
  void begin_call(const Marker* marker);
  Reading read_begin();
  void begin_inside();
  Reading read_name();
  Reading read_id();
  Reading begin_arguments();
  Reading then_end(Reading inside);
  Reading read_end();
  Reading read_between();

  OpenMessage& message_;
  const ChatFormat::Calls& format_;
  const Marker* const first_;           // of a call; null where there is none
  const Marker* const second_;          // where the first may be missing, and else null
  std::vector<const Marker*> begins_;
  Place place_ = Place::over;
  size_t n_matched_ = 0;                // of the markers of its begin or end
  bool in_section_ = false;
  bool separated_ = false;              // a separator came behind the last call
  WordReader word_;
  JsonCallReader object_;
  PythonCallReader python_;
  TaggedReader tagged_;
  ArgumentsReader arguments_;
};

}  // namespace inlay
