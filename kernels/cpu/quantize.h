// The searches of the K-quants' quantizer, 16 groups of weights side by side: a vector's lanes are groups, so that no
// sum goes across lanes. All instruction sets give the same bits.
#pragma once

#include <cstdint>

namespace inlay::cpu {

inline constexpr int kGroupsAtOnce = 16;

// Groups of a block: value i of group g is at [i][g].
template <int kSize>
using GroupValues = float[kSize][kGroupsAtOnce];

// value = scale * code - min, codes from 0 to max_code
struct AffineFits {
  float scale[kGroupsAtOnce], min[kGroupsAtOnce];
};

struct Quantizers {
  // Groups of 32. Where numbers are too large to be squared, a fit without a search, whose scale FP16 does not hold
  // either.
  void (*fit_affine)(const GroupValues<32>& x, int max_code, AffineFits& out);
  // The nearest codes; 0 where a scale is 0.
  void (*encode_affine)(const GroupValues<32>& x, const AffineFits& fits, int max_code, uint8_t (&codes)[32][16]);
  // Groups of 16, value = scale * code, codes from -32 to 31; a scale may be negative.
  void (*fit_symmetric)(const GroupValues<16>& x, float (&scale)[kGroupsAtOnce]);
  // Codes + 32.
  void (*encode_symmetric)(const GroupValues<16>& x, const float (&scale)[kGroupsAtOnce], uint8_t (&codes)[16][16]);
};

}  // namespace inlay::cpu
