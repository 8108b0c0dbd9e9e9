// Which experts a row goes to, on the host.
#pragma once

#include <cmath>
#include <cstdint>

namespace inlay {

struct ExpertChoiceArgs {
  const float* logits;  // (n_experts)
  int32_t* experts;     // (n_used) out: the largest, best first, of equal ones the lower first
  float* weights;       // (n_used) out: their softmax times scale
  int32_t n_experts, n_used;
  float scale;
  bool softmax_over_chosen;  // false: over all experts
};

// A NaN counts as the largest, so that n_used different experts are chosen whatever the logits are.
inline void choose_experts(const ExpertChoiceArgs& a) {
  const auto is_better = [&](int32_t i, int32_t j) {
    return std::isnan(a.logits[i]) ? !std::isnan(a.logits[j]) : a.logits[i] > a.logits[j];
  };
  for (int32_t slot = 0; slot < a.n_used; ++slot) {
    int32_t best = -1;
    for (int32_t e = 0; e < a.n_experts; ++e) {
      bool is_taken = false;
      for (int32_t i = 0; i < slot; ++i) is_taken = is_taken || a.experts[i] == e;
      if (!is_taken && (best < 0 || is_better(e, best))) best = e;
    }
    a.experts[slot] = best;
  }
  const float largest = a.logits[a.experts[0]];
  float sum = 0.0f;
  if (!a.softmax_over_chosen) {
    for (int32_t e = 0; e < a.n_experts; ++e) sum += std::exp(a.logits[e] - largest);
  }
  for (int32_t slot = 0; slot < a.n_used; ++slot) {
    a.weights[slot] = std::exp(a.logits[a.experts[slot]] - largest);
    if (a.softmax_over_chosen) sum += a.weights[slot];
  }
  for (int32_t slot = 0; slot < a.n_used; ++slot) a.weights[slot] = a.weights[slot] / sum * a.scale;
}

}  // namespace inlay
