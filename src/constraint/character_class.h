// Reads a pattern's characters: single ones, escapes, and classes in brackets.
#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/constraint/code_points.h"

namespace inlay::constraint {

class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool sees(char c) const { return !at_end() && text_[at_] == c; }
  bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(char c) { return sees(c) && (++at_, true); }
  void skip() { at_ += !at_end(); }

  // What may stand at one place: a character, an escape, a class or a dot. Not at the end.
  Result<CodePoints> character();
  Status wrong(Code code, const char* what) const;

 private:
  struct Escape {
    CodePoints set;
    bool is_set = false;  // of several characters: no end of a range
    uint32_t value = 0;
  };
  uint32_t code_point();
  Result<CodePoints> class_in_brackets();
  Result<Escape> class_member();
  Result<Escape> escape(bool in_class);
  Result<CodePoints> property();
  bool hex(uint32_t n_digits, uint32_t& out);
  Result<uint32_t> unicode_escape();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace inlay::constraint
