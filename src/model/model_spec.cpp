#include "src/model/model_spec.h"

#include <algorithm>
#include <cmath>

namespace inlay {
namespace {

// The (fractional) pair index at which a wave makes `rotations` turns within the original context.
double yarn_pair_index(const RopeSpec& rope, double rotations) {
  const double pi = 3.14159265358979323846;
  return rope.n_rot * std::log(rope.original_context / (rotations * 2.0 * pi)) / (2.0 * std::log(rope.base));
}

// Share of extrapolation (no interpolation) of pair i: 1 for fast waves, 0 for slow ones.
double yarn_extrapolation(const RopeSpec& rope, int32_t i) {
  const double first = yarn_pair_index(rope, rope.beta_fast), last = yarn_pair_index(rope, rope.beta_slow);
  const double low = std::max(0.0, rope.truncate ? std::floor(first) : first);
  const double high = std::min(rope.n_rot - 1.0, rope.truncate ? std::ceil(last) : last);
  return 1.0 - std::clamp((i - low) / std::max(0.001, high - low), 0.0, 1.0);
}

}  // namespace

RopeTable make_rope_table(const RopeSpec& rope, int32_t n_context) {
  RopeTable table;
  const double interpolation = 1.0 / rope.factor;
  const bool longrope = rope.scaling == RopeScalingKind::longrope;
  const std::vector<float>& factors = !longrope                            ? rope.frequency_factors
                                      : n_context > rope.original_context ? rope.long_factors
                                                                          : rope.short_factors;
  for (int32_t i = 0; i < rope.n_rot / 2; ++i) {
    double freq = std::pow(rope.base, -2.0 * i / rope.n_rot);
    if (!factors.empty()) freq /= double{factors[static_cast<size_t>(i)]};
    if (rope.scaling == RopeScalingKind::linear) freq *= interpolation;
    if (rope.scaling == RopeScalingKind::yarn) {
      const double keep = yarn_extrapolation(rope, i);
      freq = freq * keep + freq * interpolation * (1.0 - keep);
    }
    table.inv_freq.push_back(static_cast<float>(freq));
  }
  if (rope.scaling == RopeScalingKind::yarn) {
    table.magnitude = static_cast<float>(rope.attention_factor * (1.0 + 0.1 * std::log(rope.factor)));
  }
  if (longrope) table.magnitude = static_cast<float>(rope.attention_factor);
  return table;
}

}  // namespace inlay
