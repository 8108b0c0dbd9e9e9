// Passes over one row of logits. They use independent lanes in a fixed order, so that the compiler may vectorise them
// and every build gives the same sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace inlay {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct RowMax {
  float max;     // -inf for an empty row or one without a finite logit
  bool has_bad;  // NaN or +inf somewhere
};

RowMax row_max(std::span<const float> logits);

// That no logit is NaN or +inf and one is finite: what row_max tells, in half the time.
bool can_be_drawn_from(std::span<const float> logits);

// Sum of exp((logit - max) * inverse_temperature); stores the terms if `weights` is not null.
double sum_exp(std::span<const float> logits, double max, double inverse_temperature, double* weights);

// Of the weights w = exp(exact - max): their sum, which is sum_exp's, and that of w (exact - logits), where a weight of 0 adds nothing.
struct WeightedSums {
  double weights, distances;
};
WeightedSums sum_distances(std::span<const float> exact, double max, std::span<const float> logits);

// The first index that holds `value`.
int32_t index_of(std::span<const float> logits, float value);

}  // namespace inlay
