// The probabilities that a model gives to the tokens of texts that are there.
#pragma once

#include <functional>
#include <limits>
#include <span>

#include "src/base/status.h"
#include "src/sampler/score.h"

namespace inlay {

class Engine;

struct ScoreOptions {
  int32_t n_given = 1;  // >= 1: tokens at the beginning of each text that are context and have no scores
  int32_t n_top = 0;    // likeliest tokens of each place, at most kMaxLogprobs
  Engine* against = nullptr;  // also scores the texts, and both distributions are compared; of the same vocabulary
  std::function<bool(uint64_t n_done, uint64_t n_total)> progress;  // tokens, after each step; false stops with CANCELLED
};

// A token, given those before it in its text.
struct ScoredToken {
  static constexpr TokenScore kNone{std::numeric_limits<float>::quiet_NaN(), -1};
  TokenScore own = kNone;
  TokenScore against = kNone;
  float divergence = kNone.logprob;  // of this engine's distribution from that of `against`, as divergence() has it
  int32_t same_best = -1;            // 1: both engines' likeliest token is the same, 0: it is not
};

// scores: one for each token, text after text. top: (tokens, n_top), token -1 where there is none. Texts run as for embeddings.
// Unspecified after an error.
Status score(Engine& engine, std::span<const std::span<const int32_t>> texts, const ScoreOptions& options,
             std::span<ScoredToken> scores, std::span<TokenLogprob> top);

}  // namespace inlay
