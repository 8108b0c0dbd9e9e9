// Arguments between tags.
#include <algorithm>

#include "src/chat_format/call_readers.h"

namespace inlay {

bool TaggedReader::begin() {
  if (!message_.may_be_call()) return false;
  message_.commit();
  message_.add_arguments("{");
  names_.clear();
  place_ = Place::between;
  return true;
}

Reading TaggedReader::read() {
  for (;;) {
    const Reading reading = read_place();
    if (reading != Reading::done || place_ == Place::end) return reading;
  }
}

Reading TaggedReader::read_place() {
  switch (place_) {
    case Place::name: return read_name();
    case Place::value_begin: return begin_value();
    case Place::value: return read_value();
    default: return read_between();
  }
}

// A parameter, or the call's end.
Reading TaggedReader::read_between() {
  if (const Reading blanks = message_.hold_blanks(); blanks != Reading::done) return blanks;
  const ChatFormat::Calls& calls = message_.format->calls;
  const Match begins = message_.in.front(calls.parameter_begin), ends = message_.in.front(calls.end[0]);
  if (begins == Match::yes) {
    message_.hold_front(calls.parameter_begin);
    name_.begin(true);
    place_ = Place::name;
  } else if (ends == Match::yes) {
    message_.add_arguments("}");
    message_.held.clear();
    place_ = Place::end;
  } else {
    return begins == Match::maybe || ends == Match::maybe ? Reading::wait : Reading::failed;
  }
  return Reading::done;
}

Reading TaggedReader::read_name() {
  const Marker* ends[] = {&message_.format->calls.parameter_name_end};
  if (const Reading reading = name_.read(ends); reading != Reading::done) return reading;
  std::string name(without_blanks(name_.word()));
  const bool again = std::find(names_.begin(), names_.end(), name) != names_.end();
  if (name.empty() || again || names_.size() >= OpenMessage::kMaxParameters) return Reading::failed;
  message_.hold_front(name_.end());
  names_.push_back(std::move(name));
  place_ = Place::value_begin;
  return Reading::done;
}

Reading TaggedReader::begin_value() {
  const Marker& marker = message_.format->calls.value_begin;
  if (!marker.empty()) {
    if (const Reading reading = message_.hold_marker(marker); reading != Reading::done) return reading;
  }
  message_.held.clear();
  types_ = message_.tools ? message_.tools->types(message_.name, names_.back()) : uint8_t{kAnyType};
  is_text_ = types_ == kStringType;
  at_start_ = true;
  value_.clear();
  message_.add_arguments(std::string(names_.size() == 1 ? "\"" : ", \"") + escaped(names_.back()) + "\": ");
  if (is_text_) message_.add_arguments("\"");
  place_ = Place::value;
  return Reading::done;
}

Reading TaggedReader::read_value() {
  const ChatFormat::Calls& calls = message_.format->calls;
  const Marker* ends[] = {&calls.value_end};
  const Marker* end = message_.in.until(ends, [this](std::string_view text) { add_value(text); });
  if (!end) return Reading::wait;
  message_.in.skip(*end);
  if (calls.value_lines && value_.ends_with('\n')) value_.pop_back();
  message_.add_arguments(is_text_ ? escaped(value_) + '"' : json_of_written(value_, types_));
  value_.clear();
  place_ = Place::between;
  return Reading::done;
}

// Strings go on at once, but for a line feed that may be the last; other values wait for their end, and are strings if it does not come.
void TaggedReader::add_value(std::string_view text) {
  const bool lines = message_.format->calls.value_lines;
  if (at_start_ && lines && text.starts_with('\n')) text.remove_prefix(1);
  at_start_ = false;
  value_ += text;
  if (!is_text_ && value_.size() > OpenMessage::kMaxHeldBytes) {
    is_text_ = true;
    message_.add_arguments("\"");
  }
  if (!is_text_) return;
  const size_t n = value_.size() - (lines && value_.ends_with('\n'));
  message_.add_arguments(escaped(std::string_view(value_).substr(0, n)));
  value_.erase(0, n);
}

}  // namespace inlay
