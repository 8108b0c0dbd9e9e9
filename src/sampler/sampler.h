// Sampling parameters and the CPU sampler, which is the specification of every other one.
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

// The steps run in this order: bias, penalties, temperature, top-k, top-p, min-p, draw.
struct SamplerParams {
  float temperature = 0.0f;         // 0: greedy, ties go to the lower id
  int32_t top_k = 0;                // 0: off
  float top_p = 1.0f;               // 1: off
  float min_p = 0.0f;               // 0: off
  float repetition_penalty = 1.0f;  // 1: off; divides positive logits, multiplies negative ones
  float frequency_penalty = 0.0f;   // times the token's count in the window
  float presence_penalty = 0.0f;
  int32_t penalty_window = 64;      // last tokens of the sequence that count; 0: none, -1: all
  uint64_t seed = 0;
  int32_t n_logprobs = 0;           // top alternatives to report, at most kMaxLogprobs
  std::vector<LogitBias> bias;      // at most kMaxBias, unique tokens
};

inline constexpr int32_t kMaxLogprobs = 20;
inline constexpr int32_t kMaxBias = 1024;

// Says which field is out of its range.
Status validate(const SamplerParams& params, int32_t n_vocab);

struct TokenLogprob {
  int32_t token;
  float logprob;
};

struct SampleResult {
  int32_t token = -1;
  float logprob = 0;           // natural log; of the model's distribution before every step above
  int32_t n_logprobs = 0;
  TokenLogprob top[kMaxLogprobs];  // descending
};

// Draws the token of one row. The random number is Philox4x32-10 keyed by the seed, its counter made of `stream` (the
// session's own number) and `position`, so that neither batch composition nor earlier calls change it.
class Sampler {
 public:
  explicit Sampler(int32_t n_vocab);  // all scratch memory; sample() allocates nothing

  // logits (n_vocab), history: all tokens of the sequence so far. A row without a finite logit is an error.
  Status sample(std::span<const float> logits, const SamplerParams& params, std::span<const int32_t> history,
                uint64_t stream, uint64_t position, SampleResult& out);

 private:
  struct Candidate {
    float logit;
    int32_t token;
  };
  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
  std::vector<int32_t> counts_;  // all zero between calls
};

}  // namespace inlay
