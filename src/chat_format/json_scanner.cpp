#include "src/chat_format/json_scanner.h"

#include "src/base/ascii.h"
#include "src/base/format.h"

namespace inlay {

using Step = JsonScanner::Step;

Step JsonScanner::feed(char c) {
  switch (state_) {
    case State::value:
      return begin_value(c);
    case State::first_element:
      return c == ']' ? close(false) : begin_value(c);
    case State::first_key:
      if (c == '}') return close(true);
      [[fallthrough]];
    case State::key:
      if (is_json_blank(c)) return Step::more;
      is_key_ = true;
      return c == '"' ? go(State::string) : Step::bad;
    case State::colon:
      return is_json_blank(c) ? Step::more : c == ':' ? go(State::value) : Step::bad;
    case State::behind:
      return behind(c);
    case State::string:
      return in_text(c);
    case State::escape:
      return in_escape(c);
    case State::hex:
      return in_hex(c);
    case State::low_escape:
      return c == '\\' ? go(State::low_u) : Step::bad;
    case State::low_u:
      low_ = true, n_hex_ = 0, unit_ = 0;
      return c == 'u' ? go(State::hex) : Step::bad;
    case State::word:
      return in_word(c);
    default:
      return in_number(c);
  }
}

Step JsonScanner::begin_value(char c) {
  if (is_json_blank(c)) return Step::more;
  is_key_ = false;
  switch (c) {
    case '{':
      return open(true);
    case '[':
      return open(false);
    case '"':
      return go(State::string);
    case 't':
      word_ = "rue";
      return go(State::word);
    case 'f':
      word_ = "alse";
      return go(State::word);
    case 'n':
      word_ = "ull";
      return go(State::word);
    default:
      return begin_number(c);
  }
}

Step JsonScanner::begin_number(char c) {
  if (c == '-') return go(State::minus);
  if (c == '0') return go(State::zero);
  return is_ascii_digit(c) ? go(State::whole) : Step::bad;
}

Step JsonScanner::in_text(char c) {
  if (static_cast<unsigned char>(c) < 0x20) return Step::bad;
  if (c == '\\') return go(State::escape);
  if (c != '"') return Step::more;
  if (is_key_) return go(State::colon);
  return ended(Step::done);
}

Step JsonScanner::in_escape(char c) {
  if (c == 'u') {
    low_ = false, n_hex_ = 0, unit_ = 0;
    return go(State::hex);
  }
  return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos ? go(State::string) : Step::bad;
}

Step JsonScanner::in_hex(char c) {
  if (hex_value(c) < 0) return Step::bad;
  unit_ = static_cast<uint16_t>(unit_ << 4 | hex_value(c));
  if (++n_hex_ < 4) return Step::more;
  const bool is_high = (unit_ & 0xFC00) == 0xD800, is_low = (unit_ & 0xFC00) == 0xDC00;
  if (is_low != low_) return Step::bad;
  return go(is_high ? State::low_escape : State::string);
}

bool JsonScanner::number_ends() const {
  return state_ == State::zero || state_ == State::whole || state_ == State::fraction || state_ == State::exponent_digits;
}

Step JsonScanner::in_number(char c) {
  const bool digit = is_ascii_digit(c);
  switch (state_) {
    case State::minus:
      return c == '0' ? go(State::zero) : digit ? go(State::whole) : Step::bad;
    case State::point:
      return digit ? go(State::fraction) : Step::bad;
    case State::exponent:
      if (c == '+' || c == '-') return go(State::exponent_sign);
      [[fallthrough]];
    case State::exponent_sign:
      return digit ? go(State::exponent_digits) : Step::bad;
    default:
      break;
  }
  if (digit && state_ != State::zero) return Step::more;
  const bool exponent = c == 'e' || c == 'E';
  if (c == '.' && (state_ == State::zero || state_ == State::whole)) return go(State::point);
  if (exponent && state_ != State::exponent_digits) return go(State::exponent);
  if (digit) return Step::bad;
  return ended(Step::done_before) == Step::more ? behind(c) : Step::done_before;
}

Step JsonScanner::in_word(char c) {
  if (c != word_.front()) return Step::bad;
  word_.remove_prefix(1);
  return word_.empty() ? ended(Step::done) : Step::more;
}

Step JsonScanner::behind(char c) {
  if (is_json_blank(c)) return Step::more;
  if (c == ',') return go(in_object() ? State::key : State::value);
  if (c == '}' || c == ']') return close(c == '}');
  return Step::bad;
}

Step JsonScanner::open(bool object) {
  if (depth_ == kMaxDepth) return Step::bad;
  objects_ = (objects_ & ~(uint64_t{1} << depth_)) | uint64_t{object} << depth_;
  ++depth_;
  return go(object ? State::first_key : State::first_element);
}

Step JsonScanner::close(bool object) {
  if (depth_ == 0 || in_object() != object) return Step::bad;
  --depth_;
  return ended(Step::done);
}

Step JsonScanner::ended(Step at_top) {
  state_ = State::behind;
  return depth_ == 0 ? at_top : Step::more;
}

bool is_json(std::string_view text) {
  text = without_blanks(text);
  JsonScanner scanner;
  for (size_t i = 0; i < text.size(); ++i) {
    const Step step = scanner.feed(text[i]);
    if (step != Step::more) return step == Step::done && i + 1 == text.size();
  }
  return scanner.may_end();
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_json_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_json_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const size_t letter = std::string_view("\n\r\t").find(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (letter != std::string_view::npos)
      out += {'\\', "nrt"[letter]};
    else if (static_cast<unsigned char>(c) < 0x20)
      append_format(out, "\\u%04x", c);
    else
      out += c;
  }
  return out;
}

}  // namespace inlay
