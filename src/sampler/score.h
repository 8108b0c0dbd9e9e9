// What a row of logits says of a token that is known: its probability and rank, the likeliest ones beside it, and how far
// two rows are apart.
#pragma once

#include <cstdint>
#include <span>

#include "src/base/status.h"
#include "src/sampler/sampler.h"

namespace inlay {

struct TokenScore {
  float logprob = 0;  // natural log
  int32_t rank = 0;   // tokens that a greedy draw would rather take; 0: it takes this one
};

// The scores of `token`, and the likeliest tokens to `top` as top_logprobs gives them; the rest of `top` is {-1, 0}. FORMAT as check_logits().
Result<TokenScore> score_row(std::span<const float> logits, int32_t token, std::span<TokenLogprob> top);

// Kullback-Leibler divergence of the distribution of `logits` from that of `exact`, both of the same tokens, in nats:
//   sum over t of P(t) (ln P(t) - ln Q(t)),   P of `exact`, Q of `logits`
// Infinite where Q gives 0 to a token to which P gives more. Rows are as check_logits() wants them.
double divergence(std::span<const float> logits, std::span<const float> exact);

// Both rows of a token, read as few times as will do: score_row() of each, their divergence(), and whether their likeliest token is the same.
struct RowComparison {
  TokenScore own, exact;
  double divergence = 0;
  bool same_best = false;
};
Result<RowComparison> compare_rows(std::span<const float> logits, std::span<const float> exact, int32_t token, std::span<TokenLogprob> top);

// The n largest logits with their log-probabilities, descending, ties by lower id; how many there are: fewer where fewer are
// finite. log_sum: of the exponentials of the row.
int32_t top_logprobs(std::span<const float> logits, double log_sum, int32_t n, TokenLogprob* top);

}  // namespace inlay
