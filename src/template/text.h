// Python's string operations on UTF-8. Positions and widths count code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "src/tokenizer/utf8.h"

namespace inlay::tmpl {

enum class Side : uint8_t { both, left, right };

bool is_space(uint32_t code_point);
bool is_letter(uint32_t code_point);
bool is_number(uint32_t code_point);
bool is_word(uint32_t code_point);       // letters, marks, numbers and the underscore
bool is_printable(uint32_t code_point);  // whether repr() shows it as it is
bool is_upper(uint32_t code_point);
bool is_lower(uint32_t code_point);

// The characters of a text, one after the other.
class CodePoints {
 public:
  class Iterator {
   public:
    using value_type = std::string_view;
    using reference = std::string_view;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    explicit Iterator(const char* at) : at_(at) {}
    std::string_view operator*() const { return {at_, decode_utf8(at_).n_bytes}; }
    Iterator& operator++() {
      at_ += decode_utf8(at_).n_bytes;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const char* at_;
  };
  explicit CodePoints(std::string_view text) : text_(text) {}
  Iterator begin() const { return Iterator(text_.data()); }
  Iterator end() const { return Iterator(text_.data() + text_.size()); }

 private:
  std::string_view text_;
};
inline CodePoints code_points(std::string_view text) { return CodePoints(text); }
size_t count_code_points(std::string_view text);
std::string_view first_code_points(std::string_view text, size_t n);  // all, where there are fewer

std::string_view strip(std::string_view text, Side side);                          // white space
std::string_view strip(std::string_view text, Side side, std::string_view chars);  // any of `chars`

std::string upper(std::string_view text);
std::string lower(std::string_view text);
std::string capitalize(std::string_view text);
std::string title(std::string_view text);  // str.title: every run of letters is a word
std::string swap_case(std::string_view text);

// Where `part` begins, or npos. They take linear time, which find() of the standard library does not.
size_t find_first(std::string_view text, std::string_view part);
size_t find_last(std::string_view text, std::string_view part);

// At most `limit` cuts, from the left or (Side::right) from the right.
std::vector<std::string_view> split(std::string_view text, std::string_view separator, size_t limit, Side side);
std::vector<std::string_view> split_spaces(std::string_view text, size_t limit, Side side);
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends, size_t limit = SIZE_MAX);  // the first `limit`
std::string replace(std::string_view text, std::string_view from, std::string_view to, size_t limit);
// An empty `part` occurs before every code point and at the end.
size_t count(std::string_view text, std::string_view part);
std::string escape_html(std::string_view text);

}  // namespace inlay::tmpl
