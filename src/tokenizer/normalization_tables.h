// What the normalization forms need of the Unicode data. normalization_tables.cpp, which make_unicode_tables.py writes,
// has the values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace inlay {

struct Decomposition {
  uint32_t code_point;
  uint16_t place;  // in the pool
  uint16_t length;
};
struct Composition {
  uint32_t first;
  uint32_t second;
  uint32_t composed;
};

extern const uint32_t kCombiningRuns[];
extern const size_t kCombiningRunsSize;
extern const Decomposition kCanonical[], kCompatibility[];
extern const size_t kCanonicalSize, kCompatibilitySize;
extern const uint32_t kCanonicalPool[], kCompatibilityPool[];
extern const Composition kCompositions[];
extern const size_t kCompositionsSize;

}  // namespace inlay
