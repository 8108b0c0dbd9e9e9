#include "src/chat_format/python_value.h"

#include "src/base/ascii.h"
#include "src/base/format.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

constexpr size_t kMaxWord = 5;

std::string_view json_of_word(std::string_view word) {
  if (word == "True" || word == "true") return "true";
  if (word == "False" || word == "false") return "false";
  return word == "None" || word == "null" ? "null" : "";
}

bool is_surrogate(uint32_t code, uint32_t half) { return (code & ~uint32_t{0x3FF}) == half; }

}  // namespace

PythonValue::Step PythonValue::feed(char c, std::string& json) {
  switch (state_) {
    case State::value:
      return is_json_blank(c) ? Step::more : begin_value(c, json);
    case State::element:
      if (is_json_blank(c)) return Step::more;
      return c == ']' || c == ')' ? close(c, json) : begin_value(c, json);
    case State::key:
      if (is_json_blank(c)) return Step::more;
      if (c == '}') return close(c, json);
      if (c != '"' && c != '\'') return Step::bad;
      begin_value(c, json);
      is_key_ = true;
      return Step::more;
    case State::colon:
      if (is_json_blank(c)) return Step::more;
      if (c != ':') return Step::bad;
      json += ": ";
      comma_ = false;
      return go(State::value);
    case State::behind:
      return behind(c, json);
    case State::string:
      return in_text(c, json);
    case State::escape:
      return in_escape(c, json);
    case State::code:
      return in_code(c, json);
    case State::low_escape:
      return c == '\\' ? go(State::low_u) : Step::bad;
    case State::low_u:
      code_ = 0, n_digits_ = 4, low_ = true;
      return c == 'u' ? go(State::code) : Step::bad;
    case State::word:
      return in_word(c, json);
    case State::number:
      break;
  }
  const Step step = number_.feed(c);
  if (step == Step::more) json += c;
  if (step != Step::done_before) return step;
  return ended(Step::done_before) == Step::more ? behind(c, json) : Step::done_before;
}

void PythonValue::separate(std::string& json) {
  if (comma_) json += ", ";
  comma_ = false;
}

PythonValue::Step PythonValue::begin_value(char c, std::string& json) {
  separate(json);
  is_key_ = false;
  if (c == '"' || c == '\'') {
    quote_ = c;
    json += '"';
    return go(State::string);
  }
  if (c == '[' || c == '(' || c == '{') {
    if (depth_ == kMaxDepth) return Step::bad;
    kinds_[depth_++] = c == '[' ? Kind::list : c == '(' ? Kind::tuple : Kind::dict;
    json += c == '{' ? '{' : '[';
    return go(c == '{' ? State::key : State::element);
  }
  if (c == '-' || is_ascii_digit(c)) {
    number_ = {};
    json += c;
    state_ = State::number;
    return number_.feed(c);
  }
  word_ = c;
  return is_ascii_alnum(c) ? go(State::word) : Step::bad;
}

PythonValue::Step PythonValue::in_text(char c, std::string& json) {
  if (c == '\\') return go(State::escape);
  if (c != quote_) {
    json += escaped({&c, 1});
    return Step::more;
  }
  json += '"';
  return is_key_ ? go(State::colon) : ended(Step::done);
}

PythonValue::Step PythonValue::in_escape(char c, std::string& json) {
  low_ = false;
  code_ = 0;
  n_digits_ = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (n_digits_ > 0) return go(State::code);
  if (std::string_view("ntrbf\\\"").find(c) != std::string_view::npos)
    json += {'\\', c};
  else if (c == 'a' || c == 'v')
    json += c == 'a' ? "\\u0007" : "\\u000b";
  else if (c == '\'' || c == '/')
    json += c;
  else if (c != '\n')  // which continues the line
    json += "\\\\" + escaped({&c, 1});
  return go(State::string);
}

PythonValue::Step PythonValue::in_code(char c, std::string& json) {
  if (hex_value(c) < 0) return Step::bad;
  code_ = code_ << 4 | static_cast<uint32_t>(hex_value(c));
  if (--n_digits_ > 0) return Step::more;
  if (is_surrogate(code_, 0xDC00) != low_ || code_ > 0x10FFFF) return Step::bad;
  const bool is_high = is_surrogate(code_, 0xD800);
  if (code_ < 0x20 || code_ == '"' || code_ == '\\' || is_high || low_) {
    append_format(json, "\\u%04x", code_);
  } else {
    append_utf8(code_, json);
  }
  return go(is_high ? State::low_escape : State::string);
}

PythonValue::Step PythonValue::in_word(char c, std::string& json) {
  if (is_ascii_alnum(c) || c == '_') {
    word_ += c;
    return word_.size() <= kMaxWord ? Step::more : Step::bad;
  }
  const std::string_view word = json_of_word(word_);
  if (word.empty()) return Step::bad;
  json += word;
  return ended(Step::done_before) == Step::more ? behind(c, json) : Step::done_before;
}

PythonValue::Step PythonValue::behind(char c, std::string& json) {
  if (is_json_blank(c)) return Step::more;
  if (c != ',') return close(c, json);
  comma_ = true;
  return go(kinds_[depth_ - 1] == Kind::dict ? State::key : State::element);
}

PythonValue::Step PythonValue::close(char c, std::string& json) {
  constexpr char kEnds[] = {']', ')', '}'};
  if (depth_ == 0 || c != kEnds[static_cast<size_t>(kinds_[depth_ - 1])]) return Step::bad;
  json += c == '}' ? '}' : ']';
  comma_ = false;
  --depth_;
  return ended(Step::done);
}

PythonValue::Step PythonValue::ended(Step at_top) {
  state_ = State::behind;
  return depth_ == 0 ? at_top : Step::more;
}

}  // namespace inlay
