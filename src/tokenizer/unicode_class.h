// Classes of code points as the pre-tokenizers' patterns name them: \p{L}, \p{M}, \p{N}, \p{P}, \p{S}, and \s
// (White_Space).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace inlay {

enum class CharClass : uint8_t { other, letter, mark, number, punctuation, symbol, space };

// unicode_tables.cpp, which make_unicode_tables.py writes
extern const char* const kUnicodeVersion;
extern const uint32_t kCharClassRuns[];
extern const size_t kNumCharClassRuns;

inline CharClass char_class(uint32_t code_point) {
  const uint32_t* end = kCharClassRuns + kNumCharClassRuns;
  const uint32_t* after = std::upper_bound(kCharClassRuns, end, code_point << 8 | 0xFF);
  return static_cast<CharClass>(after[-1] & 0xFF);
}

}  // namespace inlay
