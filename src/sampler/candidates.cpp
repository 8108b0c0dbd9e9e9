#include "src/sampler/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/common/exp_nonpositive.h"
#include "src/sampler/sampler.h"

namespace inlay {
namespace {

// Keeps the shortest run, in the order of `before`, whose weights reach `wanted`; all if rounding lets none. Sorted in
// growing parts, because the run is short nearly always.
template <class Before>
void keep_run(std::vector<Candidate>& list, const Softmax& softmax, double wanted, Before before) {
  double sum = 0;
  size_t done = 0;
  for (size_t part = 256; done < list.size(); part *= 8) {
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(done);
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(std::min(part, list.size()));
    if (end != list.end()) std::nth_element(first, end, list.end(), before);
    std::sort(first, end, before);
    for (auto at = first; at != end; ++at) {
      sum += softmax.weight(at->logit);
      if (sum < wanted) continue;
      list.erase(at + 1, list.end());
      sort_by_token(list);
      return;
    }
    done = static_cast<size_t>(end - list.begin());
  }
  sort_by_token(list);
}

double total_weight(const std::vector<Candidate>& list, const Softmax& softmax) {
  double total = 0;
  for (const Candidate& c : list) total += softmax.weight(c.logit);
  return total;
}

float largest(const std::vector<Candidate>& list) {
  return std::ranges::max_element(list, {}, &Candidate::logit)->logit;
}

}  // namespace

double Softmax::weight(float logit) const { return exp_nonpositive(exponent(logit)); }

bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

void sort_by_token(std::vector<Candidate>& list) { std::ranges::sort(list, {}, &Candidate::token); }

void list_within_sigma(std::span<const float> logits, float max, double n, std::vector<Candidate>& list) {
  list.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > -std::numeric_limits<float>::infinity()) list.push_back({logits[i], static_cast<int32_t>(i)});
  }
  if (n == 0) return;
  double sum = 0, squares = 0;
  for (const Candidate& c : list) sum += c.logit;
  const double mean = sum / static_cast<double>(list.size());
  for (const Candidate& c : list) squares += (c.logit - mean) * (c.logit - mean);
  const double bar = max - n * std::sqrt(squares / static_cast<double>(list.size()));
  std::erase_if(list, [&](const Candidate& c) { return c.logit < bar; });
}

// The entropy is ln(sum of w) less the mean exponent. The result is above 0, because a division by it follows.
double dynamic_temperature(const std::vector<Candidate>& list, float max, const SamplerParams& params) {
  const double low = std::max(0.0, static_cast<double>(params.temperature) - params.dynatemp_range);
  const double high = static_cast<double>(params.temperature) + params.dynatemp_range;
  const Softmax plain = {max, 1.0};
  double total = 0, exponents = 0;
  for (const Candidate& c : list) {
    const double weight = plain.weight(c.logit);
    total += weight;
    exponents += weight * plain.exponent(c.logit);
  }
  const double most = std::log(static_cast<double>(list.size()));
  const double part = most > 0 ? std::clamp((std::log(total) - exponents / total) / most, 0.0, 1.0) : 0.0;
  return std::max(low + (high - low) * std::pow(part, params.dynatemp_exponent), kLowestTemperature);
}

void keep_top_k(std::vector<Candidate>& list, size_t k) {
  if (list.size() <= k) return;
  std::ranges::nth_element(list, list.begin() + static_cast<std::ptrdiff_t>(k - 1), ranks_before);
  list.resize(k);
  sort_by_token(list);
}

void keep_typical(std::vector<Candidate>& list, const Softmax& softmax, double typical_p) {
  double total = 0, mean = 0;
  for (const Candidate& c : list) {
    const double weight = softmax.weight(c.logit);
    total += weight;
    mean += weight * (c.logit - softmax.max);
  }
  mean = softmax.max + mean / total;
  const auto distance = [&](const Candidate& c) { return static_cast<float>(std::fabs(c.logit - mean)); };
  keep_run(list, softmax, typical_p * total, [&](const Candidate& a, const Candidate& b) {
    return distance(a) != distance(b) ? distance(a) < distance(b) : ranks_before(a, b);
  });
}

void keep_top_p(std::vector<Candidate>& list, const Softmax& softmax, double top_p) {
  keep_run(list, softmax, top_p * total_weight(list, softmax), ranks_before);
}

void keep_min_p(std::vector<Candidate>& list, const Softmax& softmax, double min_p) {
  const double bar = min_p * softmax.weight(largest(list));
  std::erase_if(list, [&](const Candidate& c) { return softmax.weight(c.logit) < bar; });
}

void exclude_top_choices(std::vector<Candidate>& list, const Softmax& softmax, double threshold) {
  const double bar = threshold * total_weight(list, softmax);
  const Candidate* last = nullptr;  // in rank, of those that reach the bar
  for (const Candidate& c : list) {
    if (softmax.weight(c.logit) >= bar && (last == nullptr || ranks_before(*last, c))) last = &c;
  }
  if (last == nullptr) return;
  const int32_t stays = last->token;
  std::erase_if(list, [&](const Candidate& c) { return softmax.weight(c.logit) >= bar && c.token != stays; });
}

void keep_surprise(std::vector<Candidate>& list, const Softmax& softmax, double mu) {
  const double bar = std::log(total_weight(list, softmax)) - mu * std::numbers::ln2;
  const int32_t first = std::ranges::min_element(list, ranks_before)->token;
  std::erase_if(list, [&](const Candidate& c) { return softmax.exponent(c.logit) < bar && c.token != first; });
}

}  // namespace inlay
