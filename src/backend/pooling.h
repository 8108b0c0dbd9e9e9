// One vector for a text: its final hidden states, normed as before the head, made one. On the host, whatever ran the
// layers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace inlay {

enum class Pooling : int32_t {
  mean,           // of all tokens
  last,           // of the last token
  first,          // of the first token
  max,            // of all tokens, each value by itself
  mean_sqrt_len,  // the sum of all tokens divided by the root of their number
  weighted_mean,  // of all tokens; the n-th counts n times
};

class Pooler {
 public:
  // norm: the output norm's weights, (d_model). `poolings`: one at least; their vectors stand one behind the other. Both must outlive it.
  Pooler(std::span<const Pooling> poolings, std::span<const float> norm, float epsilon);

  // The residual stream behind the last layer of the text's next tokens, (n_rows, d_model). A text has one at least.
  void add(const float* rows, int64_t n_rows);
  // (poolings, d_model)
  std::vector<double> finish() const;

 private:
  void add_row(const float* row, bool may_be_last);

  const std::span<const Pooling> poolings_;
  const std::span<const float> norm_;
  const float epsilon_;
  std::vector<float> normed_;  // (d_model)
  std::vector<double> sums_;   // (poolings, d_model)
  int64_t n_seen_ = 0;         // rows
};

}  // namespace inlay
