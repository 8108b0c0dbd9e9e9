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

Status validate_filters(const SamplerParams& p) {
  if (!(p.typical_p > 0 && p.typical_p <= 1)) return out_of_range("typical_p", p.typical_p, "above 0 and at most 1");
  if (!(p.top_n_sigma >= 0 && std::isfinite(p.top_n_sigma))) {
    return out_of_range("top_n_sigma", p.top_n_sigma, "finite and at least 0");
  }
  if (!(p.dynatemp_range >= 0 && std::isfinite(p.dynatemp_range))) {
    return out_of_range("dynatemp_range", p.dynatemp_range, "finite and at least 0");
  }
  if (!(p.dynatemp_exponent > 0 && std::isfinite(p.dynatemp_exponent))) {
    return out_of_range("dynatemp_exponent", p.dynatemp_exponent, "finite and above 0");
  }
  if (!(p.xtc_probability >= 0 && p.xtc_probability <= 1)) {
    return out_of_range("xtc_probability", p.xtc_probability, "from 0 to 1");
  }
  if (!(p.xtc_threshold > 0 && p.xtc_threshold <= 1)) {
    return out_of_range("xtc_threshold", p.xtc_threshold, "above 0 and at most 1");
  }
  return {};
}

Status validate_choosers(const SamplerParams& p) {
  if (!(p.mirostat_tau >= 0 && std::isfinite(p.mirostat_tau))) {
    return out_of_range("mirostat_tau", p.mirostat_tau, "finite and at least 0");
  }
  if (!(p.mirostat_eta > 0 && std::isfinite(p.mirostat_eta))) {
    return out_of_range("mirostat_eta", p.mirostat_eta, "finite and above 0");
  }
  if (!(p.adaptive_target >= 0 && p.adaptive_target <= 1)) {
    return out_of_range("adaptive_target", p.adaptive_target, "from 0 to 1");
  }
  if (!(p.adaptive_decay >= 0 && p.adaptive_decay <= 0.99f)) {
    return out_of_range("adaptive_decay", p.adaptive_decay, "from 0 to 0.99");
  }
  if (p.mirostat_tau > 0 && p.adaptive_target > 0) {
    return out_of_range("mirostat_tau", p.mirostat_tau, "0 beside adaptive-p, which also chooses the token");
  }
  return {};
}

Status validate_dry(const SamplerParams& p) {
  if (!(p.dry_multiplier >= 0 && std::isfinite(p.dry_multiplier))) {
    return out_of_range("dry_multiplier", p.dry_multiplier, "finite and at least 0");
  }
  if (!(p.dry_base >= 1 && std::isfinite(p.dry_base)))
    return out_of_range("dry_base", p.dry_base, "finite and at least 1");
  if (p.dry_allowed_length < 1) return out_of_range("dry_allowed_length", p.dry_allowed_length, "at least 1");
  if (p.dry_window < -1) return out_of_range("dry_window", p.dry_window, "at least -1");
  if (p.dry_breakers.size() > kMaxDryBreakers) {
    return error(Code::invalid_argument, "dry_breakers has %zu texts, at most %zu are allowed", p.dry_breakers.size(),
                 kMaxDryBreakers);
  }
  for (size_t i = 0; i < p.dry_breakers.size(); ++i) {
    if (p.dry_breakers[i].size() <= kMaxDryBreakerBytes) continue;
    return error(Code::invalid_argument, "dry_breakers has %zu bytes in text %zu, at most %zu are allowed",
                 p.dry_breakers[i].size(), i, kMaxDryBreakerBytes);
  }
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
  INLAY_TRY(validate_filters(p));
  INLAY_TRY(validate_choosers(p));
  INLAY_TRY(validate_dry(p));
  return validate_bias(p.bias, n_vocab);
}

}  // namespace inlay
