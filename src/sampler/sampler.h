// Sampling parameters and the CPU sampler, which is the specification of every other one.
//
// The steps, in this order, on a row of logits l (n_vocab):
//   bias          l[t] += bias[t]
//   penalties     for each token t that occurs c > 0 times in the last penalty_window tokens of the sequence:
//                 l[t] = l[t] > 0 ? l[t] / repetition : l[t] * repetition;   l[t] -= c * frequency + presence
//   temperature   w[t] = exp((l[t] - max l) / temperature); temperature 0 takes the largest l and ends here
//   top-k         keeps the k largest l
//   top-p         keeps the shortest run of largest w whose sum reaches top_p of the sum of what top-k kept
//   min-p         keeps w >= min_p (the largest w is 1)
//   draw          the kept tokens in ascending id, cumulated; the first whose sum exceeds u * total, u uniform in [0,
//   1)
// Equal logits rank by lower id. A logit of -inf bans its token; -inf is never kept, drawn or reported.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/base/status.h"

namespace inlay {

struct LogitBias {
  int32_t token;
  float bias;  // added to the logit; -inf bans the token
};

struct SamplerParams {
  float temperature = 0.0f;         // 0: greedy
  int32_t top_k = 0;                // 0: off
  float top_p = 1.0f;               // in (0, 1]; 1: off
  float min_p = 0.0f;               // in [0, 1]; 0: off
  float repetition_penalty = 1.0f;  // > 0; 1: off
  float frequency_penalty = 0.0f;   // per occurrence in the window
  float presence_penalty = 0.0f;    // once if it occurs in the window
  int32_t penalty_window = 64;      // last tokens of the sequence that count; 0: none, -1: all
  uint64_t seed = 0;
  int32_t n_logprobs = 0;       // top alternatives to report, at most kMaxLogprobs
  std::vector<LogitBias> bias;  // at most kMaxBias, unique tokens
};

inline constexpr int32_t kMaxLogprobs = 20;
inline constexpr int32_t kMaxBias = 1024;

// Whether a draw depends on the tokens before.
inline bool has_penalties(const SamplerParams& p) {
  return p.penalty_window != 0 &&
         (p.repetition_penalty != 1.0f || p.frequency_penalty != 0.0f || p.presence_penalty != 0.0f);
}

// FORMAT, naming the first logit that is NaN or +inf, or saying that none is finite: the model's numbers overflowed.
Status check_logits(std::span<const float> logits);

// INVALID_ARGUMENT naming the field that is out of its range.
Status validate(const SamplerParams& params, int32_t n_vocab);

struct TokenLogprob {
  int32_t token;
  float logprob;
};

struct SampleResult {
  int32_t token = -1;
  float logprob = 0;               // natural log; of the model's distribution, before every step above
  int32_t n_logprobs = 0;          // fewer than asked for if fewer logits are finite
  TokenLogprob top[kMaxLogprobs];  // descending, ties by lower id; of the model's distribution too
};

// Draws the token of one row. The random number is Philox4x32-10 keyed by the seed, its counter made of `stream` (the
// session's own number) and `position`, so that neither batch composition nor earlier calls change it.
// One Sampler serves any number of sequences, one call at a time: it keeps scratch memory and no state.
class Sampler {
 public:
  explicit Sampler(int32_t n_vocab);  // all scratch memory; a successful sample() allocates nothing

  // logits (n_vocab); history: all tokens of the sequence so far; params have passed validate(). Errors leave `out`
  // alone: FORMAT names the first logit that is NaN or +inf, or says that none is finite; INVALID_ARGUMENT says that
  // the bias bans every token, or which argument does not fit the vocabulary.
  Status sample(std::span<const float> logits, const SamplerParams& params, std::span<const int32_t> history,
                uint64_t stream, uint64_t position, SampleResult& out);

 private:
  struct Candidate {
    float logit;
    int32_t token;
  };
  struct Softmax {  // w(l) = exp((l - max) / temperature)
    double max;
    double inverse_temperature;
    double weight(float logit) const;
  };

  static bool ranks_before(const Candidate& a, const Candidate& b);
  Status apply_bias(std::span<const LogitBias> bias);
  Status apply_penalties(const SamplerParams& params, std::span<const int32_t> history);
  void select(std::span<const float> logits, size_t count);
  void cut_top_p(std::span<const float> logits, const SamplerParams& params, const Softmax& softmax);
  int32_t draw_filtered(std::span<const float> logits, const SamplerParams& params, const Softmax& softmax, double u);
  int32_t draw_unfiltered(std::span<const float> logits, const Softmax& softmax, double u);

  std::vector<float> logits_;          // (n_vocab) the row after bias and penalties
  std::vector<double> weights_;        // (n_vocab)
  std::vector<Candidate> candidates_;  // capacity n_vocab
  std::vector<int32_t> counts_;        // (n_vocab), all zero between calls
};

}  // namespace inlay
