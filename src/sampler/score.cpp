#include "src/sampler/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/exp_nonpositive.h"
#include "src/sampler/row.h"

namespace inlay {
namespace {

double log_sum_of(std::span<const float> logits, double max) { return max + std::log(sum_exp(logits, max, 1.0, nullptr)); }

TokenScore score_of(std::span<const float> logits, int32_t token, double log_sum) {
  const auto at = static_cast<size_t>(token);
  const float own = logits[at];
  int32_t rank = 0;
  for (const float l : logits) rank += l > own ? 1 : 0;
  for (const float l : logits.first(at)) rank += l == own ? 1 : 0;
  return {static_cast<float>(own - log_sum), rank};
}

void fill_top(std::span<const float> logits, double log_sum, std::span<TokenLogprob> top) {
  const int32_t kept = top_logprobs(logits, log_sum, static_cast<int32_t>(top.size()), top.data());
  std::fill(top.begin() + kept, top.end(), TokenLogprob{-1, 0});
}

// A row with its maximum and the logarithm of its sum of exponentials.
struct Summed {
  std::span<const float> row;
  double max, log_sum;
};

Summed sum_of(std::span<const float> logits) {
  const double max = row_max(logits).max;
  return {logits, max, log_sum_of(logits, max)};
}

// ln P - ln Q of a token is exact - logits, less the difference of the rows' log sums: so one pass over the weights of P gives all of it.
double divergence_from(const Summed& logits, std::span<const float> exact, double exact_max, Summed* of_exact) {
  const WeightedSums sums = sum_distances(exact, exact_max, logits.row);
  const double log_sum = exact_max + std::log(sums.weights);
  if (of_exact != nullptr) *of_exact = {exact, exact_max, log_sum};
  return std::max(sums.distances / sums.weights - (log_sum - logits.log_sum), 0.0);
}

}  // namespace

// One pass: most logits fail the comparison with the smallest kept.
int32_t top_logprobs(std::span<const float> logits, double log_sum, int32_t n, TokenLogprob* top) {
  int32_t kept = 0;
  float threshold = -kInfinity;
  for (size_t i = 0; i < logits.size() && n > 0; ++i) {
    if (!(logits[i] > threshold)) continue;
    int32_t at = kept < n ? kept++ : n - 1;
    for (; at > 0 && top[at - 1].logprob < logits[i]; --at) top[at] = top[at - 1];
    top[at] = {static_cast<int32_t>(i), logits[i]};
    if (kept == n) threshold = top[n - 1].logprob;
  }
  for (int32_t i = 0; i < kept; ++i) top[i].logprob = static_cast<float>(top[i].logprob - log_sum);
  return kept;
}

Result<TokenScore> score_row(std::span<const float> logits, int32_t token, std::span<TokenLogprob> top) {
  INLAY_TRY(check_logits(logits));
  const Summed summed = sum_of(logits);
  fill_top(logits, summed.log_sum, top);
  return score_of(logits, token, summed.log_sum);
}

double divergence(std::span<const float> logits, std::span<const float> exact) {
  return divergence_from(sum_of(logits), exact, row_max(exact).max, nullptr);
}

Result<RowComparison> compare_rows(std::span<const float> logits, std::span<const float> exact, int32_t token, std::span<TokenLogprob> top) {
  INLAY_TRY(check_logits(logits));
  INLAY_TRY(check_logits(exact));
  const Summed own = sum_of(logits);
  Summed other{};
  RowComparison out;
  out.divergence = divergence_from(own, exact, row_max(exact).max, &other);
  out.own = score_of(logits, token, own.log_sum);
  out.exact = score_of(exact, token, other.log_sum);
  fill_top(logits, own.log_sum, top);
  out.same_best = index_of(logits, static_cast<float>(own.max)) == index_of(exact, static_cast<float>(other.max));
  return out;
}

}  // namespace inlay
