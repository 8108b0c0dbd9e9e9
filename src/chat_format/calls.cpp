#include "src/chat_format/calls.h"

#include <algorithm>

#include "src/chat_format/json_scanner.h"

namespace inlay {
namespace {

const Marker* begin_of(const ChatFormat::Calls& calls, size_t i) { return i < calls.begin.size() ? &calls.begin[i] : nullptr; }

}  // namespace

CallReader::CallReader(OpenMessage& message)
    : message_(message), format_(message.format->calls), first_(begin_of(format_, 0)), second_(format_.bare ? begin_of(format_, 1) : nullptr), word_(message),
      object_(message), python_(message), tagged_(message), arguments_(message) {
  for (const Marker* marker : {&format_.section_begin, first_, second_})
    if (marker && !marker->empty()) begins_.push_back(marker);
}

void CallReader::begin(const Marker* marker) {
  in_section_ = marker == &format_.section_begin;
  begin_call(marker);
}

Reading CallReader::read() {
  for (;;) {
    const Reading reading = read_place();
    if (reading != Reading::done || place_ == Place::over) return reading;
  }
}

Reading CallReader::read_place() {
  switch (place_) {
    case Place::begin: return read_begin();
    case Place::name: return read_name();
    case Place::id: return read_id();
    case Place::object: return then_end(object_.read());
    case Place::python: return then_end(python_.read());
    case Place::parameters: return then_end(tagged_.read());
    case Place::arguments: return then_end(arguments_.read());
    case Place::end: return read_end();
    case Place::between: return read_between();
    case Place::over: break;
  }
  return Reading::done;
}

bool CallReader::finish() {
  bool complete = false;
  if (place_ == Place::between) {
    complete = true;
    if (without_blanks(message_.held).empty()) message_.held.clear();
  } else if (place_ == Place::arguments && arguments_.may_end()) {
    complete = format_.end.empty();
    message_.end_call(true);
  } else if (place_ == Place::end) {
    complete = message_.bare && n_matched_ > 0;
    if (message_.committed) message_.end_call(true);
    message_.held.clear();
  }
  return complete;
}

void CallReader::begin_call(const Marker* marker) {
  message_.bare = marker == nullptr || marker == second_;
  message_.name.clear();
  message_.id.clear();
  if (!marker) return begin_inside();
  message_.hold_front(*marker);
  n_matched_ = message_.bare ? 2 : 1;
  place_ = marker == &format_.section_begin ? Place::between : Place::begin;
}

Reading CallReader::read_begin() {
  for (; n_matched_ < format_.begin.size(); ++n_matched_)
    if (const Reading reading = message_.hold_marker(format_.begin[n_matched_]); reading != Reading::done) return reading;
  begin_inside();
  return Reading::done;
}

void CallReader::begin_inside() {
  using Written = ChatFormat::Written;
  if (format_.written == Written::json) {
    object_.begin();
    place_ = Place::object;
  } else if (format_.written == Written::python) {
    python_.begin();
    place_ = Place::python;
  } else {
    word_.begin(false);
    place_ = Place::name;
  }
}

Reading CallReader::read_name() {
  const bool ends_in_tags = format_.arguments_begin.empty();
  const Marker* ends[] = {ends_in_tags ? &format_.parameter_begin : &format_.arguments_begin, ends_in_tags ? &format_.end[0] : &format_.id_begin};
  if (const Reading reading = word_.read(ends); reading != Reading::done) return reading;
  std::string& name = message_.name;
  name = word_.word();
  if (!format_.name_prefix.empty()) {  // functions.NAME:0
    message_.id = name;
    if (name.starts_with(format_.name_prefix)) name.erase(0, format_.name_prefix.size());
    if (!format_.name_suffix.empty()) name.resize(std::min(name.size(), name.rfind(format_.name_suffix)));
  }
  if (name.empty()) return Reading::failed;
  if (ends_in_tags) return begin_arguments();  // the marker is of what comes next
  message_.hold_front(word_.end());
  if (&word_.end() != &format_.id_begin) return begin_arguments();
  word_.begin(false);
  place_ = Place::id;
  return Reading::done;
}

Reading CallReader::read_id() {
  const Marker* ends[] = {&format_.arguments_begin};
  if (const Reading reading = word_.read(ends); reading != Reading::done) return reading;
  message_.id = word_.word();
  message_.hold_front(word_.end());
  return begin_arguments();
}

Reading CallReader::begin_arguments() {
  if (format_.written == ChatFormat::Written::tagged) {
    place_ = Place::parameters;
    return tagged_.begin() ? Reading::done : Reading::failed;
  }
  arguments_.begin();
  place_ = Place::arguments;
  return Reading::done;
}

Reading CallReader::then_end(Reading inside) {
  if (inside == Reading::done) {
    n_matched_ = 0;
    place_ = Place::end;
  }
  return inside;
}

// The markers behind the arguments.
Reading CallReader::read_end() {
  for (; n_matched_ < format_.end.size(); ++n_matched_) {
    if (const Reading blanks = message_.hold_blanks(); blanks != Reading::done) return blanks;
    const Marker& marker = format_.end[n_matched_];
    const Match match = message_.in.front(marker);
    if (match == Match::maybe) return Reading::wait;
    if (match == Match::no && message_.bare && n_matched_ > 0) break;  // as the first of the call's begin, the others may be missing
    if (match == Match::no) {
      if (message_.committed) message_.end_call(true);
      return Reading::failed;
    }
    message_.hold_front(marker);
  }
  if (message_.committed) message_.end_call(true);
  message_.held.clear();
  separated_ = false;
  place_ = in_section_ || !format_.separator.empty() ? Place::between : Place::over;
  return Reading::done;
}

// Around the calls of a section, or where a separator may follow a call.
Reading CallReader::read_between() {
  if (const Reading blanks = message_.hold_blanks(); blanks != Reading::done) return blanks;
  bool maybe = false;
  const auto is_front = [&](const Marker* marker) {
    const Match match = !marker || marker->empty() ? Match::no : message_.in.front(*marker);
    maybe = maybe || match == Match::maybe;
    return match == Match::yes;
  };
  if (is_front(first_)) {
    begin_call(first_);
  } else if (in_section_ && is_front(&format_.section_end)) {
    message_.in.skip(format_.section_end);
    message_.held.clear();
    place_ = Place::over;
  } else if (!separated_ && is_front(&format_.separator)) {
    message_.hold_front(format_.separator);
    separated_ = true;
  } else if (maybe) {
    return Reading::wait;
  } else if (char c = 0; separated_ && format_.bare && message_.peek(c) == Next::character && (c == '{' || c == '[')) {
    begin_call(nullptr);
  } else if (in_section_) {
    return Reading::failed;
  } else {
    place_ = Place::over;
  }
  return Reading::done;
}

}  // namespace inlay
