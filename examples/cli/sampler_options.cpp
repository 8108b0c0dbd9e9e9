#include "examples/cli/sampler_options.h"

namespace inlay::cli {

void SamplerOptions::add_to(Options& options) {
  options.real("--typical", typical_p_, 0.001, 1,
               "keep the tokens of the most typical surprise that reach this probability (1: off)");
  options.real("--top-n-sigma", top_n_sigma_, 0, 1000,
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
  options.texts("--dry-sequence-breaker", "TEXT", dry_breakers_,
                "no repetition reaches across this text; may be given several times");
}

std::vector<inlay_text> SamplerOptions::fill(inlay_sampler_params& params) const {
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
