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
                                    std::span<const int32_t> history, std::span<const int32_t> spared = {}) {
  std::vector<double> l(logits.begin(), logits.end());
  for (const LogitBias& b : p.bias) l[b.token] += b.bias;
  std::map<int32_t, int> counts;
  const size_t window = p.penalty_window < 0 ? history.size() : std::min<size_t>(p.penalty_window, history.size());
  for (const int32_t t : history.last(window)) ++counts[t];
  for (const auto& [t, n] : counts) {
    if (p.spare_end_tokens && std::find(spared.begin(), spared.end(), t) != spared.end()) continue;
    l[t] = l[t] > 0 ? l[t] / p.repetition_penalty : l[t] * p.repetition_penalty;
    l[t] -= static_cast<double>(n) * p.frequency_penalty + p.presence_penalty;
  }
  for (double& value : l) value = static_cast<float>(value);
  return l;
}

using Order = std::vector<int32_t>;  // kept tokens, the first in rank first
using Real = long double;

// p of the kept tokens at a temperature, in their order.
inline std::vector<Real> softmax(const std::vector<double>& l, const Order& kept, Real temperature) {
  Real max = -INFINITY, total = 0;
  for (const int32_t t : kept) max = std::max<Real>(max, l[t]);
  std::vector<Real> p;
  for (const int32_t t : kept) p.push_back(std::exp((l[t] - max) / temperature));
  for (const Real w : p) total += w;
  for (Real& w : p) w /= total;
  return p;
}

inline Real entropy(const std::vector<Real>& p) {
  Real h = 0;
  for (const Real each : p) h -= each > 0 ? each * std::log(each) : 0;
  return h;
}

inline void cut_sigma(const std::vector<double>& l, Order& kept, Real n) {
  Real mean = 0, variance = 0;
  for (const int32_t t : kept) mean += l[t];
  mean /= static_cast<Real>(kept.size());
  for (const int32_t t : kept) variance += (l[t] - mean) * (l[t] - mean);
  const Real bar = l[kept[0]] - n * std::sqrt(variance / static_cast<Real>(kept.size()));
  while (l[kept.back()] < bar) kept.pop_back();
}

inline Real temperature_of(const std::vector<double>& l, const Order& kept, const SamplerParams& p) {
  if (p.dynatemp_range == 0) return p.temperature;
  const Real low = std::max<Real>(0, Real{p.temperature} - p.dynatemp_range),
             high = Real{p.temperature} + p.dynatemp_range;
  const Real part = kept.size() > 1 ? entropy(softmax(l, kept, 1)) / std::log(static_cast<Real>(kept.size())) : 0;
  return std::max<Real>(low + (high - low) * std::pow(std::clamp<Real>(part, 0, 1), Real{p.dynatemp_exponent}),
                        0x1p-126);
}

inline void cut_typical(const std::vector<double>& l, Order& kept, Real temperature, Real typical_p) {
  const std::vector<Real> p = softmax(l, kept, temperature);
  const Real h = entropy(p);
  std::vector<size_t> by_surprise(kept.size());
  std::iota(by_surprise.begin(), by_surprise.end(), size_t{0});
  const auto off = [&](size_t i) { return std::fabs(-std::log(p[i]) - h); };
  std::stable_sort(by_surprise.begin(), by_surprise.end(), [&](size_t i, size_t k) { return off(i) < off(k); });
  Real sum = 0;
  std::vector<bool> stays(kept.size());
  for (size_t n = 0; n < kept.size() && sum < typical_p; ++n) {
    sum += p[by_surprise[n]];
    stays[by_surprise[n]] = true;
  }
  Order out;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (stays[i]) out.push_back(kept[i]);
  }
  kept = out;
}

inline void cut_top_p(const std::vector<double>& l, Order& kept, Real temperature, Real top_p) {
  const std::vector<Real> p = softmax(l, kept, temperature);
  Real sum = 0;
  size_t n = 0;
  while (n < kept.size() && sum < top_p) sum += p[n++];
  kept.resize(n);
}

inline void cut_min_p(const std::vector<double>& l, Order& kept, Real temperature, Real min_p) {
  const std::vector<Real> p = softmax(l, kept, temperature);
  while (p[kept.size() - 1] / p[0] < min_p) kept.pop_back();
}

inline void cut_top_choices(const std::vector<double>& l, Order& kept, Real temperature, Real threshold) {
  const std::vector<Real> p = softmax(l, kept, temperature);
  size_t n = 0;
  while (n < kept.size() && p[n] >= threshold) ++n;
  if (n > 1) kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(n - 1));
}

inline void cut_surprise(const std::vector<double>& l, Order& kept, Real temperature, Real mu) {
  const std::vector<Real> p = softmax(l, kept, temperature);
  while (kept.size() > 1 && -std::log2(p[kept.size() - 1]) > mu) kept.pop_back();
}

struct Distribution {
  std::vector<double> draw;  // probability of each token
  std::vector<double> p;     // the same before adaptive-p, for which a draw is counted
};

// After all steps (temperature > 0), if XTC's chance comes true or not.
inline Distribution distribution(std::span<const float> logits, const SamplerParams& params,
                                 std::span<const int32_t> history, const SamplerState& state, bool xtc, std::span<const int32_t> spared = {}) {
  const std::vector<double> l = adjusted(logits, params, history, spared);
  Order kept;
  for (size_t i = 0; i < l.size(); ++i) {
    if (std::isfinite(l[i])) kept.push_back(static_cast<int32_t>(i));
  }
  std::stable_sort(kept.begin(), kept.end(), [&](int32_t a, int32_t b) { return l[a] > l[b]; });
  if (params.top_n_sigma > 0) cut_sigma(l, kept, params.top_n_sigma);
  const bool last = params.temperature_last && params.mirostat_tau == 0;
  Real temperature = last ? 1 : temperature_of(l, kept, params);
  if (params.mirostat_tau > 0) {
    cut_surprise(l, kept, temperature, 2 * Real{params.mirostat_tau} + state.mirostat_drift);
  } else {
    if (params.top_k > 0 && kept.size() > static_cast<size_t>(params.top_k)) kept.resize(params.top_k);
    if (params.typical_p < 1) cut_typical(l, kept, temperature, params.typical_p);
    if (params.top_p < 1) cut_top_p(l, kept, temperature, params.top_p);
    if (params.min_p > 0) cut_min_p(l, kept, temperature, params.min_p);
    if (xtc) cut_top_choices(l, kept, temperature, params.xtc_threshold);
  }
  if (last) temperature = temperature_of(l, kept, params);
  const std::vector<Real> p = softmax(l, kept, temperature);
  std::vector<Real> chances = p;
  if (params.adaptive_target > 0) {
    const Real aim = std::clamp<Real>(params.adaptive_target - state.adaptive_lead, 0, 1);
    Real total = 0;
    for (Real& chance : chances) {
      const Real distance = std::fabs(chance - aim) / 0.3L;
      chance = std::exp(5 - 10 * distance * distance / (1 + distance));
      total += chance;
    }
    for (Real& chance : chances) chance /= total;
  }
  Distribution out = {std::vector<double>(l.size()), std::vector<double>(l.size())};
  for (size_t i = 0; i < kept.size(); ++i) {
    out.draw[kept[i]] = static_cast<double>(chances[i]);
    out.p[kept[i]] = static_cast<double>(p[i]);
  }
  return out;
}

// Probability of each token after all steps (temperature > 0).
inline std::vector<double> probabilities(std::span<const float> logits, const SamplerParams& p,
                                         std::span<const int32_t> history = {}, const SamplerState& state = {}) {
  std::vector<double> out = distribution(logits, p, history, state, false).draw;
  if (p.xtc_probability == 0) return out;
  const std::vector<double> other = distribution(logits, p, history, state, true).draw;
  for (size_t t = 0; t < out.size(); ++t) out[t] += p.xtc_probability * (other[t] - out[t]);
  return out;
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
