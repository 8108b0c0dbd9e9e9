#include "src/backend/pooling.h"

#include <algorithm>
#include <cmath>

#include "kernels/ref/rms_norm.h"

namespace inlay {
namespace {

bool takes(Pooling pooling, bool is_first, bool may_be_last) {
  return pooling == Pooling::first ? is_first : pooling != Pooling::last || may_be_last;
}

}  // namespace

Pooler::Pooler(std::span<const Pooling> poolings, std::span<const float> norm, float epsilon)
    : poolings_(poolings), norm_(norm), epsilon_(epsilon), normed_(norm.size()), sums_(poolings.size() * norm.size()) {}

void Pooler::add(const float* rows, int64_t n_rows) {
  for (int64_t i = 0; i < n_rows; ++i, ++n_seen_) {
    const bool may_be_last = i + 1 == n_rows;
    const auto is_taken = [&](Pooling pooling) { return takes(pooling, n_seen_ == 0, may_be_last); };
    if (std::ranges::any_of(poolings_, is_taken)) add_row(rows + i * static_cast<int64_t>(norm_.size()), may_be_last);
  }
}

void Pooler::add_row(const float* row, bool may_be_last) {
  const auto d_model = static_cast<int64_t>(norm_.size());
  ref::rms_norm({.x = row,
                 .weight = norm_.data(),
                 .out = normed_.data(),
                 .n = d_model,
                 .ld_x = d_model,
                 .ld_out = d_model,
                 .epsilon = epsilon_},
                0, 1);
  double* sum = sums_.data();
  for (const Pooling pooling : poolings_) {
    if (takes(pooling, n_seen_ == 0, may_be_last)) {
      for (size_t k = 0; k < normed_.size(); ++k) {
        const double value = normed_[k];
        if (pooling == Pooling::first || pooling == Pooling::last || n_seen_ == 0)
          sum[k] = value;
        else if (pooling == Pooling::max)
          sum[k] = value > sum[k] || std::isnan(value) ? value : sum[k];
        else
          sum[k] += pooling == Pooling::weighted_mean ? value * static_cast<double>(n_seen_ + 1) : value;
      }
    }
    sum += d_model;
  }
}

std::vector<double> Pooler::finish() const {
  const auto n = static_cast<double>(std::max<int64_t>(1, n_seen_));
  std::vector<double> out = sums_;
  for (size_t i = 0; i < out.size(); ++i) {
    const Pooling pooling = poolings_[i / norm_.size()];
    if (pooling == Pooling::mean) out[i] *= 1 / n;
    if (pooling == Pooling::mean_sqrt_len) out[i] *= 1 / std::sqrt(n);
    if (pooling == Pooling::weighted_mean) out[i] *= 2 / (n * (n + 1));
  }
  return out;
}

}  // namespace inlay
