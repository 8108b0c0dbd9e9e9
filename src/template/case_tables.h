// Upper and lower case of code points (Unicode's simple and special case mappings).
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

// case_tables.cpp, which make_case_tables.py writes; each ascending
extern const CaseRun kUpperRuns[], kLowerRuns[];
extern const size_t kNumUpperRuns, kNumLowerRuns;
extern const CaseExpansion kUpperExpansions[];
extern const size_t kNumUpperExpansions;

}  // namespace inlay::tmpl
