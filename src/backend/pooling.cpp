#include "src/backend/pooling.h"

#include <algorithm>
#include <cmath>

#include "kernels/ref/rms_norm.h"

namespace inlay {

Pooler::Pooler(Pooling pooling, std::span<const float> norm, float epsilon)
    : pooling_(pooling), norm_(norm), epsilon_(epsilon), normed_(norm.size()), sum_(norm.size()) {}

void Pooler::add(const float* rows, int64_t n_rows) {
  const auto d_model = static_cast<int64_t>(norm_.size());
  for (int64_t i = 0; i < n_rows; ++i, ++n_seen_) {
    const bool is_first = n_seen_ == 0, may_be_last = i + 1 == n_rows;
    if (pooling_ == Pooling::first && !is_first) continue;
    if (pooling_ == Pooling::last) {
      if (!may_be_last) continue;
      std::fill(sum_.begin(), sum_.end(), 0.0);
      n_summed_ = 0;
    }
    add_row(rows + i * d_model);
  }
}

void Pooler::add_row(const float* row) {
  const auto d_model = static_cast<int64_t>(norm_.size());
  ref::rms_norm({.x = row,
                 .weight = norm_.data(),
                 .out = normed_.data(),
                 .n = d_model,
                 .ld_x = d_model,
                 .ld_out = d_model,
                 .epsilon = epsilon_},
                0, 1);
  for (size_t k = 0; k < sum_.size(); ++k) sum_[k] += normed_[k];
  ++n_summed_;
}

void Pooler::finish(bool normalise, std::span<float> out) const {
  double scale = 1.0 / static_cast<double>(std::max<int64_t>(1, n_summed_));
  if (normalise) {
    double squares = 0;
    for (const double v : sum_) squares += v * v;
    if (squares > 0) scale = 1.0 / std::sqrt(squares);
  }
  for (size_t k = 0; k < sum_.size(); ++k) out[k] = static_cast<float>(sum_[k] * scale);
}

}  // namespace inlay
