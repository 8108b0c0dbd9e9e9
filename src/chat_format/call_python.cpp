// Calls as Python.
#include <algorithm>

#include "src/base/ascii.h"
#include "src/chat_format/call_readers.h"

namespace inlay {
namespace {

bool may_be_in_word(char c) { return is_ascii_alnum(c) || c == '_' || c == '.' || c == '-'; }

}  // namespace

void PythonCallReader::begin() {
  in_list_ = false;
  begin_name();
}

void PythonCallReader::begin_name() {
  place_ = Place::name;
  message_.name.clear();
  word_ended_ = false;
}

Reading PythonCallReader::read() {
  while (place_ != Place::end) {
    char c = 0;
    const Next next = message_.peek(c);
    if (next == Next::wait) return Reading::wait;
    const bool is_mark = next == Next::marker, in_string = place_ == Place::value && value_.in_string();
    if ((is_mark && !in_string) || message_.holds_most()) return Reading::failed;
    if (is_mark) {
      message_.add_arguments(escaped(message_.in.mark()->text));
      message_.in.skip_mark();
      continue;
    }
    Taken taken = take(c);
    while (taken == Taken::again) taken = take(c);
    if (taken == Taken::no) return Reading::failed;
    if (taken == Taken::held) message_.held += c;
    message_.in.skip(1);
  }
  return Reading::done;
}

Taken PythonCallReader::take(char c) {
  if (place_ == Place::value) {
    std::string json;
    const JsonScanner::Step step = value_.feed(c, json);
    if (step == JsonScanner::Step::bad) return Taken::no;
    message_.add_arguments(json);
    if (step != JsonScanner::Step::more) place_ = Place::behind_value;
    return step == JsonScanner::Step::done_before ? Taken::again : Taken::given;
  }
  std::string& word = place_ == Place::key ? key_ : message_.name;
  const bool in_word = place_ == Place::name || place_ == Place::key;
  if (is_json_blank(c)) {
    word_ended_ = in_word && !word.empty();
    return Taken::held;
  }
  if (in_word && may_be_in_word(c) && !word_ended_ && word.size() < OpenMessage::kMaxNameBytes) return word += c, Taken::held;
  switch (place_) {
    case Place::name:
      if (c == '[' && !in_list_ && message_.name.empty()) return in_list_ = true, Taken::held;
      return c == '(' && begin_call() ? Taken::given : Taken::no;
    case Place::key:
      if (c == ')' && key_.empty()) return end_call();
      return c == '=' && begin_value() ? Taken::given : Taken::no;
    case Place::behind_value:
      if (c == ')') return end_call();
      if (c != ',') return Taken::no;
      begin_key();
      return Taken::given;
    case Place::behind_call:
      if (c != ',' && c != ']') return Taken::no;
      begin_name();
      if (c == ']') place_ = Place::end;
      return Taken::given;
    default:
      return Taken::no;
  }
}

// The name is in front of a parenthesis.
bool PythonCallReader::begin_call() {
  const std::string& suffix = message_.format->calls.name_suffix;
  if (!suffix.empty() && message_.name.ends_with(suffix)) message_.name.resize(message_.name.size() - suffix.size());
  if (message_.name.empty() || !message_.may_be_call()) return false;
  message_.commit();
  message_.add_arguments("{");
  keys_.clear();
  begin_key();
  return true;
}

void PythonCallReader::begin_key() {
  message_.held.clear();
  key_.clear();
  word_ended_ = false;
  place_ = Place::key;
}

bool PythonCallReader::begin_value() {
  const bool again = std::find(keys_.begin(), keys_.end(), key_) != keys_.end();
  if (key_.empty() || again || keys_.size() >= OpenMessage::kMaxParameters) return false;
  message_.add_arguments(std::string(keys_.empty() ? "\"" : ", \"") + escaped(key_) + "\": ");
  keys_.push_back(key_);
  message_.held.clear();
  value_ = {};
  place_ = Place::value;
  return true;
}

Taken PythonCallReader::end_call() {
  message_.add_arguments("}");
  message_.held.clear();
  if (in_list_) {
    message_.end_call(true);
    place_ = Place::behind_call;
  } else {
    place_ = Place::end;
  }
  return Taken::given;
}

}  // namespace inlay
