#include "src/sampler/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/exp_nonpositive.h"
#include "src/sampler/row.h"

namespace inlay {
namespace {

double log_sum_of(std::span<const float> logits) {
  const double max = row_max(logits).max;
  return max + std::log(sum_exp(logits, max, 1.0, nullptr));
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
  const double log_sum = log_sum_of(logits);
  const auto at = static_cast<size_t>(token);
  const float own = logits[at];
  int32_t rank = 0;
  for (const float l : logits) rank += l > own ? 1 : 0;
  for (const float l : logits.first(at)) rank += l == own ? 1 : 0;
  const auto n_top = static_cast<int32_t>(top.size());
  const int32_t kept = top_logprobs(logits, log_sum, n_top, top.data());
  std::fill(top.begin() + kept, top.end(), TokenLogprob{-1, 0});
  return TokenScore{static_cast<float>(own - log_sum), rank};
}

double divergence(std::span<const float> logits, std::span<const float> exact) {
  const double of_logits = log_sum_of(logits), of_exact = log_sum_of(exact);
  double sum = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double log_p = exact[i] - of_exact;
    const double p = exp_nonpositive(std::min(log_p, 0.0));
    if (p > 0) sum += p * (log_p - (logits[i] - of_logits));
  }
  return std::max(sum, 0.0);
}

}  // namespace inlay
