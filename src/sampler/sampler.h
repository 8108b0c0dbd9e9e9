// Sampling parameters and the CPU sampler, which is the specification of every other one.
//
// The steps, in this order, on a row of logits l (n_vocab). What a step keeps is all that the next ones see, and it always
// keeps a token. p(t) = w(t) / (sum of w over the tokens kept so far).
//   mask          l[t] = -inf for each t that is not allowed
//   bias, DRY     l[t] += bias[t] - dry[t]; dry.h says what a repetition costs
//   penalties     for each token t that occurs c > 0 times in the last penalty_window tokens of the sequence:
//                 l[t] = l[t] > 0 ? l[t] / repetition : l[t] * repetition;   l[t] -= c * frequency + presence
//                 with spare_end_tokens those of DrawContext::spared are left alone
//   top-n-sigma   keeps l >= max l - n * s, s the standard deviation of the finite logits (Tang et al. 2024)
//   temperature   w[t] = exp((l[t] - max l) / T); temperature 0 takes the largest l and ends here, whatever else is set.
//                 T = temperature; with a dynatemp_range r, and h the entropy of exp(l) over the n tokens kept, in
//                 units of ln n: T = low + (high - low) * h^dynatemp_exponent, low = max(0, temperature - r),
//                 high = temperature + r. With temperature_last the steps behind this one take T = 1, and what they keep
//                 gets its w, and h, behind XTC; Mirostat's place is behind the temperature all the same
//   top-k         keeps the k largest l
//   typical-p     keeps the shortest run of tokens with the smallest |-ln p - entropy of p| whose p reach typical_p
//                 (Meister et al. 2022). -ln p is linear in l, so these are the logits nearest to their mean under p.
//                 The distance counts rounded to float; at equal distances the larger l ranks first
//   top-p         keeps the shortest run of largest w whose sum reaches top_p of the sum of what is kept so far
//   min-p         keeps w >= min_p times the largest w kept
//   XTC           with the chance xtc_probability: of the tokens with p >= xtc_threshold only the last in rank stays
//   draw          the kept tokens in ascending id, cumulated; the first whose sum exceeds u * total, u uniform in
//                 [0, 1)
// Mirostat 2 (Basu et al. 2021) stands in the place of top-k to XTC, which then change nothing: it keeps -log2 p <= mu,
// and the token that ranks first. Adaptive-p draws by other weights than w: exp(-10 d^2 / (1 + d)), d = |p(t) - aim| / 0.3.
// mu and the aim depend on what the sequence has drawn before: SamplerState.
// Equal logits rank by lower id. A logit of -inf bans its token; -inf is never kept, drawn or reported.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/sampler/candidates.h"

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
  float typical_p = 1.0f;          // in (0, 1]; 1: off
  float top_n_sigma = 0.0f;        // 0: off
  float dynatemp_range = 0.0f;     // 0: off
  float dynatemp_exponent = 1.0f;  // > 0
  float xtc_probability = 0.0f;    // in [0, 1]; 0: off
  float xtc_threshold = 0.1f;      // in (0, 1]
  float mirostat_tau = 0.0f;       // surprise aimed at, in bits; 0: off
  float mirostat_eta = 0.1f;       // > 0: how fast mu follows
  float adaptive_target = 0.0f;    // in [0, 1]: probability aimed at; 0: off
  float adaptive_decay = 0.9f;     // in [0, 0.99]: what the average keeps of itself with each token
  float dry_multiplier = 0.0f;     // >= 0; 0: off
  float dry_base = 1.75f;          // >= 1
  int32_t dry_allowed_length = 2;  // >= 1
  int32_t dry_window = -1;         // last tokens of the sequence that count; 0: none, -1: all
  std::vector<std::string> dry_breakers = {"\n", ":", "\"",
                                           "*"};  // at most kMaxDryBreakers; an empty one breaks nothing
  bool temperature_last = false;
  bool spare_end_tokens = false;
};

inline constexpr int32_t kMaxLogprobs = 20;
inline constexpr int32_t kMaxBias = 1024;
inline constexpr double kLowestTemperature = 0x1p-126;  // of a dynamic one
inline constexpr size_t kMaxDryBreakers = 64, kMaxDryBreakerBytes = 128;

// What a sequence's draws have come to. It begins as zeros, wherever a generation begins.
struct SamplerState {
  double mirostat_drift = 0;  // mu = 2 * mirostat_tau + drift
  double adaptive_lead =
      0;  // weighted average of the drawn tokens' p, less the target; aim = target - lead, within [0, 1]
  bool operator==(const SamplerState&) const = default;
};

// What a draw depends on besides parameters and tokens.
struct DrawContext {
  SamplerState state = {};
  std::span<const LogitBias> bias_and_dry = {};  // of DryBias; empty: SamplerParams::bias
  std::span<const int32_t> spared = {};          // ascending: tokens that penalties leave alone if spare_end_tokens is set
  std::span<const uint32_t> allowed = {};        // (mask_words(n_vocab)) bit t % 32 of word t / 32: whether t may be drawn; empty: all may

  bool spares(const SamplerParams& p, int32_t token) const { return p.spare_end_tokens && std::binary_search(spared.begin(), spared.end(), token); }
};

inline size_t mask_words(int32_t n_vocab) { return (static_cast<size_t>(n_vocab) + 31) / 32; }

inline double mirostat_mu(const SamplerParams& p, const SamplerState& s) {
  return 2.0 * p.mirostat_tau + s.mirostat_drift;
}
inline double adaptive_aim(const SamplerParams& p, const SamplerState& s) {
  return std::clamp(p.adaptive_target - s.adaptive_lead, 0.0, 1.0);
}

inline bool has_dry(const SamplerParams& p) { return p.dry_multiplier > 0 && p.dry_window != 0; }
inline bool has_state(const SamplerParams& p) {
  return p.temperature > 0 && (p.mirostat_tau > 0 || p.adaptive_target > 0);
}

// Whether the filters see the logits without the temperature.
inline bool has_late_temperature(const SamplerParams& p) { return p.temperature_last && p.mirostat_tau == 0; }

// Whether a step runs that rows without it do not pay for.
inline bool has_general_steps(const SamplerParams& p) {
  return p.temperature > 0 && (p.typical_p < 1 || p.top_n_sigma > 0 || p.dynatemp_range > 0 || p.xtc_probability > 0 ||
                               p.mirostat_tau > 0 || p.adaptive_target > 0);
}

// Whether a draw depends on the tokens before by the penalties.
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
  int32_t token = -1;              // -1: of the tokens that are allowed none has a finite logit
  float logprob = 0;               // natural log; of the model's distribution, before every step above
  float p_kept = 0;                // p of the token as the draw saw it; 0 without mirostat and adaptive-p
  int32_t n_logprobs = 0;          // fewer than asked for if fewer logits are finite
  TokenLogprob top[kMaxLogprobs];  // descending, ties by lower id; of the model's distribution too
};

// After a draw of the sequence:
//   mirostat      mu -= mirostat_eta * (-log2 p - mirostat_tau), p that of the drawn token
//   adaptive-p    average = adaptive_decay * average + (1 - adaptive_decay) * p
void advance(const SamplerParams& params, const SampleResult& drawn, SamplerState& state);

// Draws the token of one row. The random numbers are those of one block of Philox4x32-10 keyed by the seed, its counter
// made of `stream` (the session's own number) and `position`, so that neither batch composition nor earlier calls
// change them. The first two words make the draw's number, the others XTC's.
// One Sampler serves any number of sequences, one call at a time: it keeps scratch memory and no state.
class Sampler {
 public:
  explicit Sampler(int32_t n_vocab);  // all scratch memory; a successful sample() allocates nothing

  // logits (n_vocab); history: all tokens of the sequence so far; params have passed validate(). Errors leave `out`
  // alone: FORMAT names the first logit that is NaN or +inf, or says that none is finite; INVALID_ARGUMENT says that
  // the bias bans every token, or which argument does not fit the vocabulary. With a mask that leaves no token, bias
  // included, it is OK and `out` has none.
  Status sample(std::span<const float> logits, const SamplerParams& params, std::span<const int32_t> history,
                uint64_t stream, uint64_t position, SampleResult& out, const DrawContext& context = {});

 private:
  struct Chosen {
    int32_t token;
    double p_kept;
  };

  void apply_mask(std::span<const uint32_t> allowed);
  Status apply_bias(std::span<const LogitBias> bias);
  Status apply_penalties(const SamplerParams& params, std::span<const int32_t> history, const DrawContext& context);
  void select(std::span<const float> logits, size_t count);
  void cut_top_p(std::span<const float> logits, const SamplerParams& params, const Softmax& softmax);
  int32_t draw_filtered(std::span<const float> logits, const SamplerParams& params, const Softmax& filter, const Softmax& softmax, double u);
  int32_t draw_unfiltered(std::span<const float> logits, const Softmax& softmax, double u);
  Chosen draw_general(std::span<const float> logits, const SamplerParams& params, float max, const SamplerState& state,
                      const PhiloxUniforms& random);
  Chosen choose(const SamplerParams& params, const Softmax& softmax, const SamplerState& state, double u);

  std::vector<float> logits_;          // (n_vocab) the row after mask, bias and penalties
  std::vector<double> weights_;        // (n_vocab)
  std::vector<Candidate> candidates_;  // capacity n_vocab
  std::vector<int32_t> counts_;        // (n_vocab), all zero between calls
};

}  // namespace inlay
