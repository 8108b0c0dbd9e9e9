// One literal of Python (text, number, True, False, None, list, tuple, dict), a byte at a time, as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/chat_format/json_scanner.h"

namespace inlay {

class PythonValue {
 public:
  using Step = JsonScanner::Step;
  static constexpr uint32_t kMaxDepth = JsonScanner::kMaxDepth;

  // Appends to `json`. Numbers are those of JSON, escapes of octal digits are letters, `(1)` is a tuple. done_before: a number or a word ended before `c`.
  Step feed(char c, std::string& json);
  bool in_string() const { return state_ == State::string; }  // and in no escape

 private:
  enum class State : uint8_t { value, element, key, colon, behind, string, escape, code, low_escape, low_u, number, word };
  enum class Kind : uint8_t { list, tuple, dict };

  Step begin_value(char c, std::string& json);
  Step in_text(char c, std::string& json);
  Step in_escape(char c, std::string& json);
  Step in_code(char c, std::string& json);
  Step in_word(char c, std::string& json);
  Step behind(char c, std::string& json);
  Step close(char c, std::string& json);
  Step ended(Step at_top);
  Step go(State state) { return state_ = state, Step::more; }
  void separate(std::string& json);

  State state_ = State::value;
  Kind kinds_[kMaxDepth] = {};
  uint32_t depth_ = 0;
  bool comma_ = false;   // before the next element
  char quote_ = 0;
  bool is_key_ = false;  // the string that is read
  JsonScanner number_;
  std::string word_;
  uint32_t code_ = 0;  // of an escape
  uint8_t n_digits_ = 0;
  bool low_ = false;   // the escape must be the second half of a surrogate pair
};

}  // namespace inlay
