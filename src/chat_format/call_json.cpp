// Calls as objects.
#include <algorithm>

#include "src/chat_format/call_readers.h"

namespace inlay {

void JsonCallReader::begin() {
  place_ = Place::object;
  in_list_ = false;
}

Reading JsonCallReader::read() {
  while (place_ != Place::end) {
    char c = 0;
    const Next next = message_.peek(c);
    if (next == Next::wait) return Reading::wait;
    const bool in_string = (place_ == Place::in_value || place_ == Place::in_key) && scanner_.in_string();
    const bool is_mark = next == Next::marker;
    if ((is_mark && !in_string) || message_.holds_most()) return Reading::failed;
    MarkedText& in = message_.in;
    if (is_mark || (in_string && static_cast<unsigned char>(c) < 0x20)) {
      for (const char letter : escaped(is_mark ? std::string_view(in.mark()->text) : std::string_view(&c, 1))) put(letter);
      is_mark ? in.skip_mark() : in.skip(1);
      message_.malformed = message_.malformed || !is_mark;
    } else if (put(c)) {
      in.skip(1);
    } else {
      return Reading::failed;
    }
  }
  return Reading::done;
}

// False if no call goes on with `c`.
bool JsonCallReader::put(char c) {
  Taken taken = take(c);
  while (taken == Taken::again) taken = take(c);
  if (taken == Taken::held) message_.held += c;
  return taken != Taken::no;
}

Taken JsonCallReader::take(char c) {
  if (place_ == Place::in_value) return take_value(c);
  if (place_ == Place::in_key) return take_key(c);
  if (is_json_blank(c)) return Taken::held;
  switch (place_) {
    case Place::object:
      if (c == '[' && !in_list_ && !message_.bare) return in_list_ = true, Taken::held;
      if (c != '{') return Taken::no;
      begin_object();
      return Taken::held;
    case Place::first_key:
      if (c == '}') return end_object();
      [[fallthrough]];
    case Place::key:
      if (c != '"') return Taken::no;
      place_ = Place::in_key;
      scanner_ = {};
      key_.clear();
      return Taken::again;
    case Place::colon:
      if (c == ':') return place_ = Place::value, Taken::held;
      return Taken::no;
    case Place::value:
      return begin_value(c) ? Taken::again : Taken::no;
    case Place::behind_value:
      if (c == ',') return place_ = Place::key, Taken::held;
      return c == '}' ? end_object() : Taken::no;
    case Place::behind_object:
      if (c == ',') return place_ = Place::object, Taken::given;
      if (c != ']') return Taken::no;
      place_ = Place::end;
      return Taken::given;
    default:
      return Taken::no;
  }
}

void JsonCallReader::begin_object() {
  place_ = Place::first_key;
  has_arguments_ = false;
  message_.name.clear();
  message_.id.clear();
  arguments_.clear();
}

Taken JsonCallReader::take_key(char c) {
  const JsonScanner::Step step = scanner_.feed(c);
  if (step == JsonScanner::Step::bad) return Taken::no;
  key_ += c;
  if (step == JsonScanner::Step::done) {
    key_ = text_of_literal(key_);
    place_ = Place::colon;
  }
  return Taken::held;
}

bool JsonCallReader::begin_value(char c) {
  const ChatFormat::Calls& calls = message_.format->calls;
  const auto is_arguments = [&] { return std::find(calls.arguments_keys.begin(), calls.arguments_keys.end(), key_) != calls.arguments_keys.end(); };
  place_ = Place::in_value;
  scanner_ = {};
  value_.clear();
  member_ = Member::other;
  if (key_ == calls.name_key && message_.name.empty()) {
    member_ = Member::name;
    return c == '"';
  }
  if (!calls.id_key.empty() && key_ == calls.id_key && message_.id.empty()) {
    if (c != '{' && c != '[' && c != 'n') member_ = Member::id;
  } else if (!has_arguments_ && is_arguments()) {
    has_arguments_ = true;
    member_ = message_.name.empty() || c == '"' || c == 'n' ? Member::held_arguments : Member::arguments;
    JsonScanner first;
    if (member_ == Member::arguments) return first.feed(c) != JsonScanner::Step::bad && commit({&c, 1});
  }
  return true;
}

Taken JsonCallReader::take_value(char c) {
  const JsonScanner::Step step = scanner_.feed(c);
  if (step == JsonScanner::Step::bad) return Taken::no;
  if (step == JsonScanner::Step::done_before) return end_value() ? Taken::again : Taken::no;
  const bool streamed = member_ == Member::arguments;
  if (streamed)
    message_.add_arguments({&c, 1});
  else if (member_ != Member::other)
    value_ += c;
  if (step == JsonScanner::Step::done && !end_value()) return Taken::no;
  return streamed || message_.held.empty() ? Taken::given : Taken::held;
}

bool JsonCallReader::end_value() {
  place_ = Place::behind_value;
  if (member_ == Member::name) {
    message_.name = text_of_literal(value_);
    return !message_.name.empty() && message_.name.size() <= OpenMessage::kMaxNameBytes;
  }
  if (member_ == Member::id) {
    message_.id = value_[0] == '"' ? text_of_literal(value_) : value_;
    if (message_.id.size() > OpenMessage::kMaxNameBytes) return false;
    if (message_.committed && !message_.id.empty()) message_.emit(ChatDelta::Kind::call_id, message_.id);
  } else if (member_ == Member::held_arguments) {
    arguments_ = arguments_of_literal(value_);
    if (!message_.name.empty()) return commit(arguments_);
  }
  return true;
}

// The object has a name. `arguments`: how they begin, or all of them if they were held back.
bool JsonCallReader::commit(std::string_view arguments) {
  if ((message_.bare && arguments[0] != '{') || !message_.may_be_call()) return false;
  message_.commit();
  if (member_ != Member::arguments) message_.add_arguments(arguments);
  return true;
}

Taken JsonCallReader::end_object() {
  if (!message_.committed) {
    if (message_.name.empty() || (message_.bare && arguments_.empty())) return Taken::no;
    member_ = Member::held_arguments;
    if (!commit(arguments_.empty() ? "{}" : arguments_)) return Taken::no;
  }
  message_.held.clear();
  if (in_list_) {
    message_.end_call(true);
    place_ = Place::behind_object;
  } else {
    place_ = Place::end;
  }
  return Taken::given;
}

}  // namespace inlay
