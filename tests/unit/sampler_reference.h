// The sampler's steps written the obvious way, with full sorts and long double: the oracle of its tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/common/philox.h"
#include "src/sampler/sampler.h"

namespace inlay::reference {

inline std::vector<double> adjusted(std::span<const float> logits, const SamplerParams& p,
                                    std::span<const int32_t> history) {
  std::vector<double> l(logits.begin(), logits.end());
  for (const LogitBias& b : p.bias) l[b.token] += b.bias;
  std::map<int32_t, int> counts;
  const size_t window = p.penalty_window < 0 ? history.size() : std::min<size_t>(p.penalty_window, history.size());
  for (const int32_t t : history.last(window)) ++counts[t];
  for (const auto& [t, n] : counts) {
    l[t] = l[t] > 0 ? l[t] / p.repetition_penalty : l[t] * p.repetition_penalty;
    l[t] -= static_cast<double>(n) * p.frequency_penalty + p.presence_penalty;
  }
  for (double& value : l) value = static_cast<float>(value);
  return l;
}

// Probability of each token after all steps (temperature > 0).
inline std::vector<double> probabilities(std::span<const float> logits, const SamplerParams& p,
                                         std::span<const int32_t> history = {}) {
  const std::vector<double> l = adjusted(logits, p, history);
  std::vector<int32_t> order;
  for (size_t i = 0; i < l.size(); ++i) {
    if (std::isfinite(l[i])) order.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return l[a] > l[b]; });
  const long double max = l[order[0]];
  const auto weight = [&](int32_t t) { return std::exp((l[t] - max) / static_cast<long double>(p.temperature)); };
  if (p.top_k > 0 && order.size() > static_cast<size_t>(p.top_k)) order.resize(p.top_k);
  if (p.top_p < 1) {
    long double total = 0, sum = 0;
    for (const int32_t t : order) total += weight(t);
    size_t keep = 0;
    while (keep < order.size() && sum < p.top_p * total) sum += weight(order[keep++]);
    order.resize(keep);
  }
  while (weight(order.back()) < p.min_p) order.pop_back();
  std::vector<double> result(l.size(), 0.0);
  long double total = 0;
  for (const int32_t t : order) total += weight(t);
  for (const int32_t t : order) result[t] = static_cast<double>(weight(t) / total);
  return result;
}

inline int32_t draw(const std::vector<double>& probabilities, double u) {
  double sum = 0;
  int32_t last = -1;
  for (size_t t = 0; t < probabilities.size(); ++t) {
    if (probabilities[t] == 0) continue;
    last = static_cast<int32_t>(t);
    sum += probabilities[t];
    if (sum > u) return last;
  }
  return last;
}

inline double log_softmax(std::span<const float> logits, int32_t token) {
  const long double max = *std::max_element(logits.begin(), logits.end());
  long double sum = 0;
  for (const float l : logits) sum += std::exp(l - max);
  return static_cast<double>(logits[token] - max - std::log(sum));
}

}  // namespace inlay::reference
