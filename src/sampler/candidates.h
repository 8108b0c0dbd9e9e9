// The tokens that the steps of a draw keep, and the steps that rows without them do not pay for; sampler.h says what
// each does. Lists are in ascending id, so that sums are the same in every build; none becomes empty.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/philox.h"

namespace inlay {

struct SamplerParams;

struct Candidate {
  float logit;
  int32_t token;
};

struct Softmax {  // w(l) = exp((l - max) / temperature)
  double max;
  double inverse_temperature;
  double exponent(float logit) const { return (logit - max) * inverse_temperature; }
  double weight(float logit) const;
};

bool ranks_before(const Candidate& a, const Candidate& b);
void sort_by_token(std::vector<Candidate>& list);

// The finite logits that top-n-sigma keeps; n 0: all.
void list_within_sigma(std::span<const float> logits, float max, double n, std::vector<Candidate>& list);
double dynamic_temperature(const std::vector<Candidate>& list, float max, const SamplerParams& params);
void keep_top_k(std::vector<Candidate>& list, size_t k);
void keep_typical(std::vector<Candidate>& list, const Softmax& softmax, double typical_p);
void keep_top_p(std::vector<Candidate>& list, const Softmax& softmax, double top_p);
void keep_min_p(std::vector<Candidate>& list, const Softmax& softmax, double min_p);
void exclude_top_choices(std::vector<Candidate>& list, const Softmax& softmax, double threshold);
void keep_surprise(std::vector<Candidate>& list, const Softmax& softmax, double mu);

}  // namespace inlay
