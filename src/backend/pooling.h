// One vector for a text: its final hidden states, normed as before the head, made one. On the host, whatever ran the
// layers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace inlay {

enum class Pooling : int32_t {
  mean,   // of all tokens
  last,   // of the last token
  first,  // of the first token
};

class Pooler {
 public:
  // norm: the output norm's weights, (d_model).
  Pooler(Pooling pooling, std::span<const float> norm, float epsilon);

  // The residual stream behind the last layer of the text's next tokens, (n_rows, d_model). A text has one at least.
  void add(const float* rows, int64_t n_rows);
  // (d_model); normalise: scaled to length 1, unless it is all zero.
  void finish(bool normalise, std::span<float> out) const;

 private:
  void add_row(const float* row);

  const Pooling pooling_;
  const std::span<const float> norm_;
  const float epsilon_;
  std::vector<float> normed_;  // (d_model)
  std::vector<double> sum_;    // (d_model)
  int64_t n_seen_ = 0;         // rows
  int64_t n_summed_ = 0;
};

}  // namespace inlay
