// One JSON value, a byte at a time: is it JSON so far, and where does it end. As strict as src/formats/json.h, but that a key may be there twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inlay {

class JsonScanner {
 public:
  enum class Step : uint8_t {
    more,         // the value goes on
    done,         // the byte was the value's last
    done_before,  // the value, a number, ended before the byte, which is not part of it
    bad,          // no JSON goes on with this byte
  };
  static constexpr uint32_t kMaxDepth = 64;

  Step feed(char c);  // blanks before the value are part of it; nothing may follow done, done_before and bad
  bool may_end() const { return depth_ == 0 && number_ends(); }  // the text is over: a number is whole then
  bool in_string() const { return state_ == State::string; }  // and in no escape

 private:
  enum class State : uint8_t {
    value, first_element, first_key, key, colon, behind, string, escape, hex, low_escape, low_u,
    minus, zero, whole, point, fraction, exponent, exponent_sign, exponent_digits, word,
  };
  Step begin_value(char c);
  Step begin_number(char c);
  Step in_text(char c);
  Step in_escape(char c);
  Step in_hex(char c);
  Step in_number(char c);
  Step in_word(char c);
  Step behind(char c);
  Step open(bool object);
  Step close(bool object);
  Step ended(Step at_top);
  Step go(State state) { return state_ = state, Step::more; }
  bool number_ends() const;
  bool in_object() const { return depth_ > 0 && (objects_ >> (depth_ - 1) & 1); }

  State state_ = State::value;
  bool is_key_ = false;     // the string that is read
  uint8_t n_hex_ = 0;
  bool low_ = false;        // the escape must be the second half of a surrogate pair
  uint16_t unit_ = 0;       // of \uXXXX
  uint32_t depth_ = 0;
  uint64_t objects_ = 0;    // a bit a level: an object, or an array
  std::string_view word_;   // what is left of true, false or null
};

// Whether `text` is one JSON value, blanks around it aside.
bool is_json(std::string_view text);

constexpr bool is_json_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
std::string_view without_blanks(std::string_view text);  // around it
std::string escaped(std::string_view text);              // as it stands in a JSON string, without the quotes

}  // namespace inlay
