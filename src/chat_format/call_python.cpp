// Calls as Python: [name(key="value", other=[1, True]), now()]
#include <algorithm>

#include "src/base/ascii.h"
#include "src/chat_format/chat_parser.h"

namespace inlay {
namespace {

bool may_be_in_word(char c) { return is_ascii_alnum(c) || c == '_' || c == '.' || c == '-'; }

}  // namespace

void ChatParser::begin_python() {
  state_ = State::call_python;
  python_place_ = Python::call;
  in_list_ = false;
  name_.clear();
  word_ended_ = false;
}

bool ChatParser::step_python() {
  while (state_ == State::call_python) {
    char c = 0;
    const Next next = peek(c);
    if (next == Next::wait) return false;
    const bool in_string = python_place_ == Python::value && python_.in_string();
    if ((next == Next::marker && !in_string) || held_.size() >= kMaxHeldBytes) return fail(), true;
    if (next == Next::marker) {
      emit(Kind::arguments, escaped(in_.mark()->text));
      in_.skip_mark();
      continue;
    }
    Taken taken = take_python(c);
    while (taken == Taken::again) taken = take_python(c);
    if (taken == Taken::no) return fail(), true;
    if (taken == Taken::held) held_ += c;
    in_.skip(1);
  }
  return true;
}

ChatParser::Taken ChatParser::take_python(char c) {
  if (python_place_ == Python::value) {
    std::string json;
    const JsonScanner::Step step = python_.feed(c, json);
    if (step == JsonScanner::Step::bad) return Taken::no;
    emit(Kind::arguments, json);
    if (step != JsonScanner::Step::more) python_place_ = Python::behind_value;
    return step == JsonScanner::Step::done_before ? Taken::again : Taken::given;
  }
  std::string& word = python_place_ == Python::key ? parameter_ : name_;
  const bool in_word = python_place_ == Python::call || python_place_ == Python::key;
  if (is_json_blank(c)) {
    word_ended_ = in_word && !word.empty();
    return Taken::held;
  }
  if (in_word && may_be_in_word(c) && !word_ended_ && word.size() < kMaxNameBytes) return word += c, Taken::held;
  switch (python_place_) {
    case Python::call:
      if (c == '[' && !in_list_ && name_.empty()) return in_list_ = true, Taken::held;
      return c == '(' && begin_python_call() ? Taken::given : Taken::no;
    case Python::key:
      if (c == ')' && parameter_.empty()) return end_python_call();
      return c == '=' && begin_python_value() ? Taken::given : Taken::no;
    case Python::behind_value:
      if (c == ')') return end_python_call();
      if (c != ',') return Taken::no;
      begin_python_key();
      return Taken::given;
    case Python::behind_call:
      if (c != ',' && c != ']') return Taken::no;
      name_.clear();
      word_ended_ = false;
      python_place_ = Python::call;
      if (c == ']') state_ = State::call_end, n_matched_ = 0;
      return Taken::given;
    default:
      return Taken::no;
  }
}

// The name is in front of a parenthesis.
bool ChatParser::begin_python_call() {
  const std::string& suffix = format_->calls.name_suffix;
  if (!suffix.empty() && name_.ends_with(suffix)) name_.resize(name_.size() - suffix.size());
  if (name_.empty() || (bare_ && !may_be_bare())) return false;
  commit(name_);
  emit(Kind::arguments, "{");
  parameters_.clear();
  begin_python_key();
  return true;
}

void ChatParser::begin_python_key() {
  held_.clear();
  parameter_.clear();
  word_ended_ = false;
  python_place_ = Python::key;
}

bool ChatParser::begin_python_value() {
  const bool again = std::find(parameters_.begin(), parameters_.end(), parameter_) != parameters_.end();
  if (parameter_.empty() || again || parameters_.size() >= kMaxParameters) return false;
  emit(Kind::arguments, std::string(parameters_.empty() ? "\"" : ", \"") + escaped(parameter_) + "\": ");
  parameters_.push_back(parameter_);
  held_.clear();
  python_ = {};
  python_place_ = Python::value;
  return true;
}

ChatParser::Taken ChatParser::end_python_call() {
  emit(Kind::arguments, "}");
  held_.clear();
  if (in_list_) {
    end_call(true);
    python_place_ = Python::behind_call;
  } else {
    n_matched_ = 0;
    state_ = State::call_end;
  }
  return Taken::given;
}

}  // namespace inlay
