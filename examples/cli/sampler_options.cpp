#include "examples/cli/sampler_options.h"

#include <charconv>
#include <cmath>

namespace inlay::cli {

// 15+2.5, 15-1 or 15-inf: a token's id, and what is added to its logit.
bool SamplerOptions::take_bias(const std::string& text) {
  const size_t sign = text.find_first_of("+-", 1);
  int64_t id = 0;
  if (sign == std::string::npos || !parse_integer(text.substr(0, sign), 0, INT32_MAX, id)) return false;
  float size = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + sign + 1, end, size);
  if (read.ec != std::errc() || read.ptr != end || !(size >= 0) || (text[sign] == '+' && std::isinf(size))) return false;
  biases_.push_back({static_cast<int32_t>(id), text[sign] == '-' ? -size : size});
  return true;
}

void SamplerOptions::add_to(Options& options) {
  options.real("--repeat-penalty", repetition_penalty_, 0.01, 100, "make tokens less likely that are among the last ones (1: off)");
  options.real("--frequency-penalty", frequency_penalty_, -100, 100, "subtract this from a logit once for each time that the token is there (0: off)");
  options.real("--presence-penalty", presence_penalty_, -100, 100, "subtract this if the token is there (0: off)");
  options.integer("--repeat-last-n", penalty_window_, -1, INT32_MAX, "the last N tokens are what penalties look at (64); -1: all; 0: no penalties");
  options.add("-l --logit-bias", "ID+X", "a token's id and what is added to its logit, as 15+2, 15-1.5 or 15-inf",
              "add X to the logit of a token, as 15+2; 15-inf: never; may be given several times",
              [this](const std::string& text) { return take_bias(text); });
  options.real("--typical --typical-p", typical_p_, 0.001, 1,
               "keep the tokens of the most typical surprise that reach this probability (1: off)");
  options.real("--top-n-sigma --top-nsigma", top_n_sigma_, 0, 1000,
               "keep logits within N standard deviations of the largest (0: off)");
  options.real("--dynatemp-range", dynatemp_range_, 0, 100,
               "let the entropy move the temperature by this much up or down (0: off)");
  options.real("--dynatemp-exp", dynatemp_exponent_, 0.01, 100, "power of the entropy that moves it (1)");
  options.real("--xtc-probability", xtc_probability_, 0, 1,
               "chance to exclude all top choices but the least likely (0: off)");
  options.real("--xtc-threshold", xtc_threshold_, 0.0001, 1, "probability of a top choice (0.1)");
  options.real("--mirostat-ent", mirostat_tau_, 0, 100,
               "Mirostat 2 in the place of other filters: surprise to aim at, in bits (0: off)");
  options.real("--mirostat-lr", mirostat_eta_, 0.0001, 100, "how fast Mirostat follows (0.1)");
  options.real("--adaptive-target", adaptive_target_, 0, 1, "adaptive-p: probability of tokens to aim at (0: off)");
  options.real("--adaptive-decay", adaptive_decay_, 0.0001, 0.99,
               "what adaptive-p's average keeps with each token (0.9)");
  options.real("--dry-multiplier", dry_multiplier_, 0, 1000,
               "DRY: how much a token loses that goes on with a repetition (0: off)");
  options.real("--dry-base", dry_base_, 1, 1000, "by what that grows with each token of the repetition (1.75)");
  options.integer("--dry-allowed-length", dry_allowed_length_, 1, INT32_MAX,
                  "repetitions below this many tokens cost nothing (2)");
  options.integer("--dry-penalty-last-n", dry_window_, -1, INT32_MAX,
                  "look for repetitions in the last N tokens (-1: all)");
  options.choice("--sampler-order", {"temperature-last", "temperature-first"}, sampler_order_,
                 "the temperature behind the filters, as llama.cpp has it, or before them");
  options.flag("--penalize-end-tokens", penalize_end_tokens_, "penalties also make the tokens less likely that end an answer");
  options.texts("--dry-sequence-breaker", "TEXT", dry_breakers_,
                "no repetition reaches across this text; may be given several times");
}

std::vector<inlay_text> SamplerOptions::fill(inlay_sampler_params& params) const {
  if (penalty_window_ != 0) {
    params.repetition_penalty = static_cast<float>(repetition_penalty_);
    params.frequency_penalty = static_cast<float>(frequency_penalty_);
    params.presence_penalty = static_cast<float>(presence_penalty_);
    params.penalty_window = penalty_window_;
  }
  params.bias = biases_.data();
  params.n_bias = biases_.size();
  params.typical_p = static_cast<float>(typical_p_);
  params.top_n_sigma = static_cast<float>(top_n_sigma_);
  params.dynatemp_range = static_cast<float>(dynatemp_range_);
  params.dynatemp_exponent = static_cast<float>(dynatemp_exponent_);
  params.xtc_probability = static_cast<float>(xtc_probability_);
  params.xtc_threshold = static_cast<float>(xtc_threshold_);
  params.mirostat_tau = static_cast<float>(mirostat_tau_);
  params.mirostat_eta = static_cast<float>(mirostat_eta_);
  params.adaptive_target = static_cast<float>(adaptive_target_);
  params.adaptive_decay = static_cast<float>(adaptive_decay_);
  params.dry_multiplier = dry_window_ == 0 ? 0.0f : static_cast<float>(dry_multiplier_);
  params.dry_base = static_cast<float>(dry_base_);
  params.dry_allowed_length = dry_allowed_length_;
  params.dry_window = dry_window_;
  if (sampler_order_ == 0) params.flags |= INLAY_SAMPLER_TEMPERATURE_LAST;
  if (!penalize_end_tokens_) params.flags |= INLAY_SAMPLER_SPARE_END_TOKENS;
  std::vector<inlay_text> breakers;
  for (const std::string& text : dry_breakers_) {
    if (text == "none") {
      params.flags |= INLAY_SAMPLER_NO_DRY_BREAKERS;
    } else {
      breakers.push_back({text.data(), text.size()});
    }
  }
  params.dry_breakers = breakers.data();
  params.n_dry_breakers = breakers.size();
  return breakers;
}

}  // namespace inlay::cli
