// Sets of code points, and the languages of their spellings.
#pragma once

#include <cstdint>
#include <vector>

#include "src/constraint/regex_store.h"

namespace inlay::constraint {

inline constexpr uint32_t kLastCodePoint = 0x10FFFF;

// Code points but surrogates: ranges that are sorted, apart and not empty.
class CodePoints {
 public:
  struct Range {
    uint32_t first, last;
  };

  CodePoints() = default;
  CodePoints(std::initializer_list<Range> ranges);
  static CodePoints all() { return {{0, kLastCodePoint}}; }

  void add(uint32_t first, uint32_t last) { ranges_.push_back({first, last}), normal_ = false; }
  void add(const CodePoints& other);
  CodePoints complement() const;
  CodePoints without(const CodePoints& other) const;
  bool has(uint32_t code_point) const;
  const std::vector<Range>& ranges() const;

 private:
  void make_normal() const;

  mutable std::vector<Range> ranges_;
  mutable bool normal_ = true;
};

// How characters are written in the text that a constraint governs.
enum class Spelling : uint8_t {
  plain,         // UTF-8
  json,          // in a JSON string: UTF-8 but for ", \ and control characters, which are escaped as shortly as possible
  json_escapes,  // in a JSON string: UTF-8 or any escape
};

RegexId utf8(RegexStore& store, const CodePoints& set);
RegexId spelled(RegexStore& store, const CodePoints& set, Spelling spelling);

}  // namespace inlay::constraint
