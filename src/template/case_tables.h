// Upper and lower case of code points (Unicode's simple and special case mappings), and its classes of numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay::tmpl {

// Code points first, first + stride, ... last map to themselves + delta.
struct CaseRun {
  uint32_t first, last, stride;
  int32_t delta;
};
// A code point whose mapping is several: UTF-8.
struct CaseExpansion {
  uint32_t code_point;
  const char* text;
};

struct CodeRange {
  uint32_t first, last;
};

// case_tables.cpp, which make_case_tables.py writes; each ascending
extern const CaseRun kUpperRuns[], kLowerRuns[];
extern const size_t kNumUpperRuns, kNumLowerRuns;
extern const CaseExpansion kUpperExpansions[];
extern const size_t kNumUpperExpansions;
extern const CodeRange kDigitRanges[];          // superscripts and the like: digits, but of no decimal system
extern const CodeRange kNumericLetterRanges[];  // letters with a number's value, of Chinese and Japanese
extern const size_t kNumDigitRanges, kNumNumericLetterRanges;

}  // namespace inlay::tmpl
