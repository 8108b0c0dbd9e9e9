// What a model's file asks of embeddings beside the pooling: the tokens of a text, and what becomes of the pooled vector.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/formats/metadata.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

class EmbeddingRules {
 public:
  // Of the keys "inlay.embedding.*". FORMAT where they contradict one another or the model's width.
  static Result<EmbeddingRules> read(const Metadata& metadata, size_t d_model);

  // The tokens that stand for a text: the default prompt in front (unless `without_prompt`), lower case, BOS and EOS as the model asks, cut
  // to what it takes.
  Status encode(const Tokenizer& tokenizer, std::string_view text, bool without_prompt, std::vector<int32_t>& out) const;

  // Values of a vector after all steps.
  size_t width() const { return width_; }
  // The pooled vector, (d_model), through all steps into `out`, (width).
  void apply(std::span<const float> pooled, std::span<float> out) const;

 private:
  struct Step {
    std::vector<float> weight, bias;  // (n_out, n_in), (n_out) or empty; both empty: to length 1
    size_t n_in = 0, n_out = 0;
    bool is_tanh = false;
  };

  static Result<Step> read_dense(const Metadata& metadata, const std::string& key, size_t n_in);

  std::vector<Step> steps_;
  size_t width_ = 0;
  std::string prompt_;
  size_t max_tokens_ = 0;  // 0: no limit but the context's
  bool keeps_end_ = false, lower_case_ = false;
};

// Scaled to length 1, unless it is all zero.
void scale_to_one(std::span<float> values);

}  // namespace inlay
