// A call that is an object with name and arguments, or several of them in an array.
#include <algorithm>

#include "src/chat_format/chat_parser.h"
#include "src/formats/json.h"

namespace inlay {
namespace {

std::string text_of_literal(const std::string& literal) {
  const auto document = JsonDocument::parse(literal, "literal");
  return document.ok() && document->root().is_string() ? std::string(*document->root().as_string()) : literal;
}

bool is_object_text(std::string_view text) {
  text = without_blanks(text);
  return !text.empty() && text[0] == '{' && is_json(text);
}

}  // namespace

std::string arguments_of_literal(const std::string& literal) {
  if (literal == "null") return "{}";
  if (literal[0] != '"') return literal;
  const std::string text = text_of_literal(literal);
  return is_object_text(text) ? std::string(without_blanks(text)) : literal;
}

void ChatParser::begin_calls_object() {
  state_ = State::call_json;
  place_ = Place::object;
  in_list_ = false;
}

bool ChatParser::step_json() {
  while (state_ == State::call_json) {
    char c = 0;
    const Next next = peek(c);
    if (next == Next::wait) return false;
    const bool in_string = (place_ == Place::in_value || place_ == Place::in_key) && scanner_.in_string();
    const bool is_mark = next == Next::marker;
    if ((is_mark && !in_string) || held_.size() >= kMaxHeldBytes) return fail(), true;
    if (is_mark || (in_string && static_cast<unsigned char>(c) < 0x20)) {
      for (const char letter : escaped(is_mark ? std::string_view(in_.mark()->text) : std::string_view(&c, 1))) put_json(letter);
      is_mark ? in_.skip_mark() : in_.skip(1);
      malformed_ = malformed_ || !is_mark;
    } else if (put_json(c)) {
      in_.skip(1);
    } else {
      fail();
    }
  }
  return true;
}

// False if no call goes on with `c`.
bool ChatParser::put_json(char c) {
  Taken taken = take_json(c);
  while (taken == Taken::again) taken = take_json(c);
  if (taken == Taken::held) held_ += c;
  return taken != Taken::no;
}

ChatParser::Taken ChatParser::take_json(char c) {
  if (place_ == Place::in_value) return take_value(c);
  if (place_ == Place::in_key) return take_key(c);
  if (is_json_blank(c)) return Taken::held;
  switch (place_) {
    case Place::object:
      if (c == '[' && !in_list_ && !bare_) return in_list_ = true, Taken::held;
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
      n_matched_ = 0;
      state_ = State::call_end;
      return Taken::given;
    default:
      return Taken::no;
  }
}

void ChatParser::begin_object() {
  place_ = Place::first_key;
  has_arguments_ = false;
  name_.clear();
  id_.clear();
  arguments_.clear();
}

ChatParser::Taken ChatParser::take_key(char c) {
  const JsonScanner::Step step = scanner_.feed(c);
  if (step == JsonScanner::Step::bad) return Taken::no;
  key_ += c;
  if (step == JsonScanner::Step::done) {
    key_ = text_of_literal(key_);
    place_ = Place::colon;
  }
  return Taken::held;
}

bool ChatParser::begin_value(char c) {
  const ChatFormat::Calls& calls = format_->calls;
  const auto is_arguments = [&] { return std::find(calls.arguments_keys.begin(), calls.arguments_keys.end(), key_) != calls.arguments_keys.end(); };
  place_ = Place::in_value;
  scanner_ = {};
  value_.clear();
  member_ = Member::other;
  if (key_ == calls.name_key && name_.empty()) {
    member_ = Member::name;
    return c == '"';
  }
  if (!calls.id_key.empty() && key_ == calls.id_key && id_.empty()) {
    if (c != '{' && c != '[' && c != 'n') member_ = Member::id;
  } else if (!has_arguments_ && is_arguments()) {
    has_arguments_ = true;
    member_ = name_.empty() || c == '"' || c == 'n' ? Member::held_arguments : Member::arguments;
    JsonScanner first;
    if (member_ == Member::arguments) return first.feed(c) != JsonScanner::Step::bad && commit_json({&c, 1});
  }
  return true;
}

ChatParser::Taken ChatParser::take_value(char c) {
  const JsonScanner::Step step = scanner_.feed(c);
  if (step == JsonScanner::Step::bad) return Taken::no;
  if (step == JsonScanner::Step::done_before) return end_value() ? Taken::again : Taken::no;
  const bool streamed = member_ == Member::arguments;
  if (streamed)
    emit(Kind::arguments, {&c, 1});
  else if (member_ != Member::other)
    value_ += c;
  if (step == JsonScanner::Step::done && !end_value()) return Taken::no;
  return streamed || held_.empty() ? Taken::given : Taken::held;
}

bool ChatParser::end_value() {
  place_ = Place::behind_value;
  if (member_ == Member::name) {
    name_ = text_of_literal(value_);
    return !name_.empty() && name_.size() <= kMaxNameBytes;
  }
  if (member_ == Member::id) {
    id_ = value_[0] == '"' ? text_of_literal(value_) : value_;
    if (id_.size() > kMaxNameBytes) return false;
    if (committed_ && !id_.empty()) emit(Kind::call_id, id_);
  } else if (member_ == Member::held_arguments) {
    arguments_ = arguments_of_literal(value_);
    if (!name_.empty()) return commit_json(arguments_);
  }
  return true;
}

// The object has a name. `arguments`: how they begin, or all of them if they were held back.
bool ChatParser::commit_json(std::string_view arguments) {
  if (bare_ && (arguments[0] != '{' || !may_be_bare())) return false;
  commit(name_);
  if (member_ != Member::arguments) emit(Kind::arguments, arguments);
  return true;
}

ChatParser::Taken ChatParser::end_object() {
  if (!committed_) {
    if (name_.empty() || (bare_ && arguments_.empty())) return Taken::no;
    member_ = Member::held_arguments;
    if (!commit_json(arguments_.empty() ? "{}" : arguments_)) return Taken::no;
  }
  held_.clear();
  if (in_list_) {
    end_call(true);
    place_ = Place::behind_object;
  } else {
    n_matched_ = 0;
    state_ = State::call_end;
  }
  return Taken::given;
}

}  // namespace inlay
