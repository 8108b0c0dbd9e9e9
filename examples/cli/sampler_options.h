// The options of `run` that say how tokens are drawn, beyond temperature, top-k, top-p and min-p, by the names that
// llama.cpp has for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/cli/options.h"
#include "include/capi/inlay.h"

namespace inlay::cli {

class SamplerOptions {
 public:
  void add_to(Options& options);
  // Gives the texts that the parameters point to, which point into this object.
  std::vector<inlay_text> fill(inlay_sampler_params& params) const;

 private:
  bool take_bias(const std::string& text);

  double repetition_penalty_ = 1, frequency_penalty_ = 0, presence_penalty_ = 0;
  int32_t penalty_window_ = 64;
  std::vector<inlay_logit_bias> biases_;
  double typical_p_ = 1, top_n_sigma_ = 0, dynatemp_range_ = 0, dynatemp_exponent_ = 1, xtc_probability_ = 0,
         xtc_threshold_ = 0.1;
  double mirostat_tau_ = 0, mirostat_eta_ = 0.1, adaptive_target_ = 0, adaptive_decay_ = 0.9;
  double dry_multiplier_ = 0, dry_base_ = 1.75;
  int32_t dry_allowed_length_ = 2, dry_window_ = -1;
  int32_t sampler_order_ = 0;  // temperature-last
  bool penalize_end_tokens_ = false;
  std::vector<std::string> dry_breakers_;
};

}  // namespace inlay::cli
