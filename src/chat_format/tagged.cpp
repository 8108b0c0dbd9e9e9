// Arguments between tags, which become one JSON object by the types of the tool's parameters.
#include "src/chat_format/chat_parser.h"

namespace inlay {

void ChatParser::begin_parameters() {
  if (bare_ && !may_be_bare()) return fail();
  commit(name_);
  emit(Kind::arguments, "{");
  parameters_.clear();
  state_ = State::parameters;
}

bool ChatParser::step_parameters() {
  if (!skip_blanks()) return state_ != State::parameters;
  const ChatFormat::Calls& calls = format_->calls;
  const Match begins = in_.front(calls.parameter_begin), ends = in_.front(calls.end[0]);
  if (begins == Match::yes) {
    in_.skip(calls.parameter_begin);
    hold(calls.parameter_begin.text);
    begin_word(Word::parameter);
  } else if (ends == Match::yes) {
    emit(Kind::arguments, "}");
    held_.clear();
    n_matched_ = 0;
    state_ = State::call_end;
  } else if (begins == Match::maybe || ends == Match::maybe) {
    return false;
  } else {
    fail();
  }
  return true;
}

bool ChatParser::step_value_begin() {
  const Marker& marker = format_->calls.value_begin;
  if (!marker.empty()) {
    if (!skip_blanks()) return state_ != State::value_begin;
    const Match match = in_.front(marker);
    if (match == Match::maybe) return false;
    if (match == Match::no) return fail(), true;
    in_.skip(marker);
  }
  held_.clear();
  types_ = tools_ ? tools_->types(name_, parameter_) : uint8_t{kAnyType};
  is_text_ = types_ == kStringType;
  at_value_start_ = true;
  value_.clear();
  emit(Kind::arguments, std::string(parameters_.empty() ? "\"" : ", \"") + escaped(parameter_) + "\": ");
  parameters_.push_back(parameter_);
  if (is_text_) emit(Kind::arguments, "\"");
  state_ = State::value;
  return true;
}

bool ChatParser::step_value() {
  const Marker* ends[] = {&format_->calls.value_end};
  const Marker* end = in_.until(ends, [this](std::string_view text) { add_value(text); });
  if (!end) return false;
  in_.skip(*end);
  if (format_->calls.value_lines && value_.ends_with('\n')) value_.pop_back();
  emit(Kind::arguments, is_text_ ? escaped(value_) + '"' : json_of_written(value_, types_));
  value_.clear();
  state_ = State::parameters;
  return true;
}

// Strings go on at once, but for a line feed that may be the last; other values wait for their end, and are strings if it does not come.
void ChatParser::add_value(std::string_view text) {
  const bool lines = format_->calls.value_lines;
  if (at_value_start_ && lines && text.starts_with('\n')) text.remove_prefix(1);
  at_value_start_ = false;
  value_ += text;
  if (!is_text_ && value_.size() > kMaxHeldBytes) {
    is_text_ = true;
    emit(Kind::arguments, "\"");
  }
  if (!is_text_) return;
  const size_t n = value_.size() - (lines && value_.ends_with('\n'));
  emit(Kind::arguments, escaped(std::string_view(value_).substr(0, n)));
  value_.erase(0, n);
}

}  // namespace inlay
