#include "src/sampler/row.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/common/exp_nonpositive.h"

namespace inlay {

RowMax row_max(std::span<const float> logits) {
  constexpr size_t kLanes = 16;
  constexpr float kLargest = std::numeric_limits<float>::max();
  float max[kLanes];
  uint32_t bad[kLanes] = {};
  std::fill(max, max + kLanes, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = logits[i + lane];
      max[lane] = value > max[lane] ? value : max[lane];
      bad[lane] |= value <= kLargest ? 0u : 1u;  // NaN compares false
    }
  }
  for (; i < logits.size(); ++i) {
    max[0] = logits[i] > max[0] ? logits[i] : max[0];
    bad[0] |= logits[i] <= kLargest ? 0u : 1u;
  }
  return {*std::max_element(max, max + kLanes), *std::max_element(bad, bad + kLanes) != 0};
}

bool can_be_drawn_from(std::span<const float> logits) {
  constexpr uint32_t kInfinityBits = 0x7f800000, kSign = 0x80000000;
  uint32_t bad = 0, finite = 0;
  for (const float logit : logits) {
    const auto bits = std::bit_cast<uint32_t>(logit);
    const auto magnitude = static_cast<int32_t>(bits & ~kSign);  // above kInfinityBits: NaN
    bad |= static_cast<uint32_t>(magnitude > static_cast<int32_t>(kInfinityBits)) | static_cast<uint32_t>(bits == kInfinityBits);
    finite |= static_cast<uint32_t>(magnitude < static_cast<int32_t>(kInfinityBits));
  }
  return bad == 0 && finite != 0;
}

double sum_exp(std::span<const float> logits, double max, double inverse_temperature, double* weights) {
  constexpr size_t kLanes = 8;
  double sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    double terms[kLanes];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      terms[lane] = exp_nonpositive((logits[i + lane] - max) * inverse_temperature);
      sums[lane] += terms[lane];
    }
    if (weights != nullptr) std::copy(terms, terms + kLanes, weights + i);
  }
  for (; i < logits.size(); ++i) {
    const double term = exp_nonpositive((logits[i] - max) * inverse_temperature);
    sums[0] += term;
    if (weights != nullptr) weights[i] = term;
  }
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

WeightedSums sum_distances(std::span<const float> exact, double max, std::span<const float> logits) {
  constexpr size_t kLanes = 8;
  double weights[kLanes] = {}, distances[kLanes] = {};
  const auto add = [&](size_t i, size_t lane) {
    const double weight = exp_nonpositive(exact[i] - max), distance = weight * (double{exact[i]} - logits[i]);
    weights[lane] += weight;
    distances[lane] += weight > 0 ? distance : 0.0;
  };
  size_t i = 0;
  for (; i + kLanes <= exact.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (; i < exact.size(); ++i) add(i, 0);
  WeightedSums out{};
  for (size_t lane = 0; lane < kLanes; ++lane) out.weights += weights[lane], out.distances += distances[lane];
  return out;
}

int32_t index_of(std::span<const float> logits, float value) {
  return static_cast<int32_t>(std::find(logits.begin(), logits.end(), value) - logits.begin());
}

}  // namespace inlay
