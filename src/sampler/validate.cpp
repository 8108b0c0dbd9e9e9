#include <algorithm>
#include <cmath>
#include <limits>

#include "src/sampler/sampler.h"

namespace inlay {
namespace {

Status out_of_range(const char* field, double value, const char* range) {
  return error(Code::invalid_argument, "%s is %g, must be %s", field, value, range);
}

Status validate_bias(std::span<const LogitBias> bias, int32_t n_vocab) {
  if (bias.size() > static_cast<size_t>(kMaxBias)) {
    return error(Code::invalid_argument, "bias has %zu entries, at most %d are allowed", bias.size(), kMaxBias);
  }
  std::vector<int32_t> tokens;
  for (size_t i = 0; i < bias.size(); ++i) {
    if (bias[i].token < 0 || bias[i].token >= n_vocab) {
      return error(Code::invalid_argument, "bias entry %zu names token %d, the vocabulary has %d tokens", i,
                   bias[i].token, n_vocab);
    }
    if (!std::isfinite(bias[i].bias) && bias[i].bias != -std::numeric_limits<float>::infinity()) {
      return error(Code::invalid_argument, "bias of token %d is %g, must be finite or -inf", bias[i].token,
                   bias[i].bias);
    }
    tokens.push_back(bias[i].token);
  }
  std::sort(tokens.begin(), tokens.end());
  const auto twice = std::adjacent_find(tokens.begin(), tokens.end());
  if (twice != tokens.end()) return error(Code::invalid_argument, "bias names token %d twice", *twice);
  return {};
}

}  // namespace

// The comparisons are written so that NaN fails them.
Status validate(const SamplerParams& p, int32_t n_vocab) {
  if (!(p.temperature >= 0 && std::isfinite(p.temperature))) {
    return out_of_range("temperature", p.temperature, "finite and at least 0");
  }
  if (p.top_k < 0) return out_of_range("top_k", p.top_k, "at least 0");
  if (!(p.top_p > 0 && p.top_p <= 1)) return out_of_range("top_p", p.top_p, "above 0 and at most 1");
  if (!(p.min_p >= 0 && p.min_p <= 1)) return out_of_range("min_p", p.min_p, "from 0 to 1");
  if (!(p.repetition_penalty > 0 && std::isfinite(p.repetition_penalty))) {
    return out_of_range("repetition_penalty", p.repetition_penalty, "finite and above 0");
  }
  if (!std::isfinite(p.frequency_penalty)) return out_of_range("frequency_penalty", p.frequency_penalty, "finite");
  if (!std::isfinite(p.presence_penalty)) return out_of_range("presence_penalty", p.presence_penalty, "finite");
  if (p.penalty_window < -1) return out_of_range("penalty_window", p.penalty_window, "at least -1");
  if (p.n_logprobs < 0 || p.n_logprobs > kMaxLogprobs) {
    return error(Code::invalid_argument, "n_logprobs is %d, must be from 0 to %d", p.n_logprobs, kMaxLogprobs);
  }
  return validate_bias(p.bias, n_vocab);
}

}  // namespace inlay
