#include "src/sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/common/exp_nonpositive.h"
#include "kernels/common/philox.h"
#include "src/sampler/row.h"
#include "src/sampler/score.h"

namespace inlay {
namespace {

Status check_row(std::span<const float> logits, const RowMax& row) {
  if (row.has_bad) {
    const auto bad =
        std::find_if(logits.begin(), logits.end(), [](float l) { return std::isnan(l) || l == kInfinity; });
    return error(Code::format, "the model gave logit %g for token %td", static_cast<double>(*bad),
                 bad - logits.begin());
  }
  if (row.max == -kInfinity) return error(Code::format, "the model gave no finite logit among %zu", logits.size());
  return {};
}

}  // namespace

Status check_logits(std::span<const float> logits) {
  if (can_be_drawn_from(logits)) return {};
  return check_row(logits, row_max(logits));
}

namespace {

// Bias and penalties are the caller's; however large they are, only an explicit -inf bans a token.
float clamp_finite(double logit) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(logit, -kLargest, kLargest));
}

double adaptive_weight(double p, double aim) {
  const double distance = std::fabs(p - aim) / 0.3;
  return exp_nonpositive(-10.0 * distance * distance / (1.0 + distance));
}

}  // namespace

Sampler::Sampler(int32_t n_vocab) : logits_(n_vocab), weights_(n_vocab), counts_(n_vocab) {
  candidates_.reserve(n_vocab);
}

// p is 0 for nobody who was drawn but by rounding to float; the smallest one stands for it.
void advance(const SamplerParams& params, const SampleResult& drawn, SamplerState& state) {
  if (!has_state(params)) return;
  if (params.mirostat_tau > 0) {
    const double p = std::max(drawn.p_kept, std::numeric_limits<float>::denorm_min());
    state.mirostat_drift -= params.mirostat_eta * (-std::log2(p) - params.mirostat_tau);
  } else {
    const double decay = params.adaptive_decay;
    state.adaptive_lead =
        decay * state.adaptive_lead + (1.0 - decay) * (static_cast<double>(drawn.p_kept) - params.adaptive_target);
  }
}

void Sampler::apply_mask(std::span<const uint32_t> allowed) {
  for (size_t t = 0; t < logits_.size(); ++t) {
    if ((allowed[t / 32] >> (t % 32) & 1) == 0) logits_[t] = -kInfinity;
  }
}

Status Sampler::apply_bias(std::span<const LogitBias> bias) {
  for (const LogitBias& entry : bias) {
    if (entry.token < 0 || static_cast<size_t>(entry.token) >= logits_.size()) {
      return error(Code::invalid_argument, "bias names token %d, the vocabulary has %zu tokens", entry.token,
                   logits_.size());
    }
    float& logit = logits_[entry.token];
    logit = entry.bias == -kInfinity || logit == -kInfinity ? -kInfinity
                                                            : clamp_finite(static_cast<double>(logit) + entry.bias);
  }
  return {};
}

Status Sampler::apply_penalties(const SamplerParams& params, std::span<const int32_t> history, const DrawContext& context) {
  if (params.penalty_window >= 0 && history.size() > static_cast<size_t>(params.penalty_window)) {
    history = history.last(params.penalty_window);
  }
  for (const int32_t token : history) {
    if (token < 0 || static_cast<size_t>(token) >= logits_.size()) {
      return error(Code::invalid_argument, "the sequence holds token %d, the vocabulary has %zu tokens", token,
                   logits_.size());
    }
  }
  for (const int32_t token : history) ++counts_[token];
  for (const int32_t token : history) {
    const int32_t count = std::exchange(counts_[token], 0);
    if (count == 0 || logits_[token] == -kInfinity || context.spares(params, token)) continue;  // done already, or banned
    double logit = logits_[token];
    logit = logit > 0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
    logit -= static_cast<double>(count) * params.frequency_penalty + params.presence_penalty;
    logits_[token] = clamp_finite(logit);
  }
  return {};
}

// Fills candidates_ with the `count` first ranks of the row, in no order. Whenever the buffer is full the lower ranks
// are dropped and the worst of the rest becomes the bar for what follows; a later equal logit has a higher id and is
// out.
void Sampler::select(std::span<const float> logits, size_t count) {
  candidates_.clear();
  const size_t full = std::max<size_t>(2 * count, 1024);
  const auto keep_best = [&] {
    if (candidates_.size() <= count) return;
    std::nth_element(candidates_.begin(), candidates_.begin() + (count - 1), candidates_.end(), ranks_before);
    candidates_.resize(count);
  };
  float bar = -kInfinity;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > bar)) continue;
    candidates_.push_back({logits[i], static_cast<int32_t>(i)});
    if (candidates_.size() == full) {
      keep_best();
      bar = candidates_[count - 1].logit;
    }
  }
  keep_best();
}

// Expects what top-k kept in candidates_, if top-k is on. The sorted run is looked for in growing parts of the row,
// because it is short nearly always and a full sort of a large vocabulary takes longer than many a layer.
void Sampler::cut_top_p(std::span<const float> logits, const SamplerParams& params, const Softmax& softmax) {
  const bool whole_row = params.top_k == 0;
  double total = 0;
  if (whole_row) {
    total = sum_exp(logits, softmax.max, softmax.inverse_temperature, nullptr);
  } else {
    std::sort(candidates_.begin(), candidates_.end(), ranks_before);
    for (const Candidate& c : candidates_) total += softmax.weight(c.logit);
  }
  const double wanted = params.top_p * total;
  for (size_t part = std::min<size_t>(256, logits.size());; part = std::min(part * 8, logits.size())) {
    if (whole_row) {
      select(logits, part);
      std::sort(candidates_.begin(), candidates_.end(), ranks_before);
    }
    double sum = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      sum += softmax.weight(candidates_[i].logit);
      if (sum >= wanted) {
        candidates_.resize(i + 1);
        return;
      }
    }
    if (!whole_row || part == logits.size()) return;  // rounding only: everything is wanted
  }
}

// The filters see one softmax, the draw the other.
int32_t Sampler::draw_filtered(std::span<const float> logits, const SamplerParams& params, const Softmax& filter, const Softmax& softmax,
                               double u) {
  if (params.top_k > 0 || params.top_p >= 1) {
    select(logits, params.top_k > 0 ? std::min<size_t>(params.top_k, logits.size()) : logits.size());
  }
  if (params.top_p < 1) cut_top_p(logits, params, filter);
  if (params.min_p > 0) {
    std::erase_if(candidates_, [&](const Candidate& c) { return filter.weight(c.logit) < params.min_p; });
  }
  sort_by_token(candidates_);
  double total = 0;
  for (const Candidate& c : candidates_) total += softmax.weight(c.logit);
  double sum = 0;
  for (const Candidate& c : candidates_) {
    sum += softmax.weight(c.logit);
    if (sum > u * total) return c.token;
  }
  return candidates_.back().token;
}

int32_t Sampler::draw_unfiltered(std::span<const float> logits, const Softmax& softmax, double u) {
  const double total = sum_exp(logits, softmax.max, softmax.inverse_temperature, weights_.data());
  double sum = 0;
  int32_t last = -1;  // sums in two orders may differ in the last bits, so the end is caught by the last possible token
  for (size_t i = 0; i < logits.size(); ++i) {
    if (weights_[i] == 0) continue;
    last = static_cast<int32_t>(i);
    sum += weights_[i];
    if (sum > u * total) break;
  }
  return last;
}

// The weights that the draw goes by are w, or adaptive-p's. They take the places of the logits' weights in weights_.
Sampler::Chosen Sampler::choose(const SamplerParams& params, const Softmax& softmax, const SamplerState& state,
                                double u) {
  const size_t n = candidates_.size();
  double total = 0, drawn_total = 0;
  for (size_t i = 0; i < n; ++i) total += weights_[i] = softmax.weight(candidates_[i].logit);
  const double aim = adaptive_aim(params, state);
  for (size_t i = 0; i < n; ++i) {
    if (params.adaptive_target > 0) weights_[i] = adaptive_weight(weights_[i] / total, aim);
    drawn_total += weights_[i];
  }
  double sum = 0;
  size_t at = 0;  // the last possible one, where rounding lets no sum exceed
  for (size_t i = 0; i < n && sum <= u * drawn_total; ++i) {
    if (weights_[i] == 0) continue;
    sum += weights_[i];
    at = i;
  }
  const Candidate& chosen = candidates_[at];
  return {chosen.token, softmax.weight(chosen.logit) / total};
}

Sampler::Chosen Sampler::draw_general(std::span<const float> logits, const SamplerParams& params, float max,
                                      const SamplerState& state, const PhiloxUniforms& random) {
  list_within_sigma(logits, max, params.top_n_sigma, candidates_);
  const auto softmax_of_kept = [&] {
    const double temperature =
        params.dynatemp_range > 0 ? dynamic_temperature(candidates_, max, params) : params.temperature;
    return Softmax{max, 1.0 / temperature};
  };
  const bool late = has_late_temperature(params);
  Softmax softmax = late ? Softmax{max, 1.0} : softmax_of_kept();
  if (params.mirostat_tau > 0) {
    keep_surprise(candidates_, softmax, mirostat_mu(params, state));
  } else {
    if (params.top_k > 0) keep_top_k(candidates_, static_cast<size_t>(params.top_k));
    if (params.typical_p < 1) keep_typical(candidates_, softmax, params.typical_p);
    if (params.top_p < 1) keep_top_p(candidates_, softmax, params.top_p);
    if (params.min_p > 0) keep_min_p(candidates_, softmax, params.min_p);
    if (random.second < params.xtc_probability) exclude_top_choices(candidates_, softmax, params.xtc_threshold);
  }
  if (late) {
    max = std::ranges::max(candidates_, {}, &Candidate::logit).logit;  // XTC may have taken the row's
    softmax = softmax_of_kept();
  }
  return choose(params, softmax, state, random.first);
}

Status Sampler::sample(std::span<const float> logits, const SamplerParams& params, std::span<const int32_t> history,
                       uint64_t stream, uint64_t position, SampleResult& out, const DrawContext& context) {
  if (logits.size() != logits_.size()) {
    return error(Code::invalid_argument, "the row has %zu logits, the vocabulary %zu tokens", logits.size(),
                 logits_.size());
  }
  const RowMax model_row = row_max(logits);
  INLAY_TRY(check_row(logits, model_row));

  std::span<const float> row = logits;
  float max = model_row.max;
  const bool penalised = !history.empty() && has_penalties(params);
  const std::span<const LogitBias> bias = context.bias_and_dry.empty() ? params.bias : context.bias_and_dry;
  const bool is_masked = !context.allowed.empty();
  if (is_masked && context.allowed.size() != mask_words(static_cast<int32_t>(logits_.size())))
    return error(Code::invalid_argument, "the mask has %zu words, the vocabulary %zu tokens", context.allowed.size(), logits_.size());
  if (penalised || is_masked || !bias.empty()) {
    std::copy(logits.begin(), logits.end(), logits_.begin());
    if (is_masked) apply_mask(context.allowed);
    INLAY_TRY(apply_bias(bias));
    if (penalised) INLAY_TRY(apply_penalties(params, history, context));
    row = logits_;
    max = row_max(row).max;
    if (max == -kInfinity && is_masked) {
      out = {};
      return {};
    }
    if (max == -kInfinity) return error(Code::invalid_argument, "bias bans every token that the model allows");
  }

  int32_t token = 0;
  double p_kept = 0;
  const PhiloxUniforms random = philox_uniforms(params.seed, stream, position);
  if (params.temperature == 0) {
    token = index_of(row, max);
  } else if (has_general_steps(params)) {
    const Chosen chosen = draw_general(row, params, max, context.state, random);
    token = chosen.token;
    if (has_state(params)) p_kept = chosen.p_kept;
  } else {
    const Softmax softmax = {max, 1.0 / params.temperature};
    const double u = random.first;
    const bool filtered = params.top_k > 0 || params.top_p < 1 || params.min_p > 0;
    token = filtered ? draw_filtered(row, params, has_late_temperature(params) ? Softmax{max, 1.0} : softmax, softmax, u) : draw_unfiltered(row, softmax, u);
  }
  const double log_sum = model_row.max + std::log(sum_exp(logits, model_row.max, 1.0, nullptr));
  out.token = token;
  out.p_kept = static_cast<float>(p_kept);
  out.logprob = static_cast<float>(logits[token] - log_sum);
  out.n_logprobs = top_logprobs(logits, log_sum, std::clamp(params.n_logprobs, 0, kMaxLogprobs), out.top);
  return {};
}

}  // namespace inlay
