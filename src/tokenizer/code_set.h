// Sets of code points, as sorted ranges that neither overlap nor touch.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/tokenizer/unicode_class.h"

namespace inlay {

inline constexpr uint32_t kLastCodePoint = 0x10FFFF;

class CodeSet {
 public:
  CodeSet() = default;
  CodeSet(std::initializer_list<CodeRange> ranges) {
    for (const CodeRange& range : ranges) add(range.first, range.last);
    normalize();
  }
  static CodeSet all() { return {{0, kLastCodePoint}}; }

  // Unsorted adding, to be followed by one normalize().
  void add(uint32_t first, uint32_t last) { ranges_.push_back({first, last}); }
  void add(const CodeSet& other) { ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end()); }
  void normalize();

  CodeSet complement() const;
  CodeSet intersection(const CodeSet& other) const;
  CodeSet ignoring_case() const;  // with all characters that differ from one of these in case only

  bool contains(uint32_t code_point) const;
  bool empty() const { return ranges_.empty(); }
  const std::vector<CodeRange>& ranges() const { return ranges_; }
  bool operator==(const CodeSet& other) const;

 private:
  std::vector<CodeRange> ranges_;
};

// What \p{NAME} names: general categories by their short names, some scripts, and the properties that \s, \w and the
// POSIX brackets stand for;
// "word" is Oniguruma's \w, "uts_word" that of UTS 18, which Rust's regular expressions follow. Letter case, spaces,
// hyphens and underscores of the name do not count. Nothing if it is not known here.
std::optional<CodeSet> property_set(std::string_view name);

}  // namespace inlay
