// What a model's file asks of embeddings beside the pooling: the tokens of a text, and what becomes of the pooled vector.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/backend/pooling.h"
#include "src/base/status.h"
#include "src/formats/metadata.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

// An array of f32 where it stands in the metadata.
class F32View {
 public:
  F32View() = default;
  explicit F32View(const MetaValue& array) : data_(array.data), n_(array.count) {}
  size_t size() const { return n_; }
  bool empty() const { return n_ == 0; }
  float operator[](size_t i) const {
    float value;
    std::memcpy(&value, data_ + i * sizeof value, sizeof value);  // it may stand anywhere
    return value;
  }

 private:
  const std::byte* data_ = nullptr;
  size_t n_ = 0;
};

class EmbeddingRules {
 public:
  // Of the keys "inlay.embedding.*". FORMAT where they contradict one another or the model's width. `metadata`, or a copy of it, must live as
  // long: its weights are used where they stand.
  static Result<EmbeddingRules> read(const Metadata& metadata, size_t d_model);

  // The tokens that stand for a text: the default prompt in front (unless `without_prompt`), lower case, BOS and EOS as the model asks, cut
  // to what it takes.
  Status encode(const Tokenizer& tokenizer, std::string_view text, bool without_prompt, std::vector<int32_t>& out) const;

  // Where <arch>.pooling_type cannot say it; otherwise empty.
  std::span<const Pooling> poolings() const { return poolings_; }
  // Values of a vector after all steps.
  size_t width() const { return width_; }
  // The pooled vector, (poolings, d_model), through all steps: (width).
  void apply(std::vector<double>& vector) const;

 private:
  struct Step {
    F32View weight, bias;  // (n_out, n_in), (n_out) or empty; both empty: to length 1
    size_t n_in = 0, n_out = 0;
    bool is_tanh = false;
  };

  static Result<std::vector<Pooling>> read_poolings(const Metadata& metadata);
  static Result<Step> read_dense(const Metadata& metadata, const std::string& key, size_t n_in);

  std::vector<Pooling> poolings_;
  std::vector<Step> steps_;
  size_t width_ = 0;
  std::string prompt_;
  size_t max_tokens_ = 0;  // 0: no limit but the context's
  bool keeps_end_ = false, lower_case_ = false;
};

// Scaled to length 1, unless it is all zero.
void scale_to_one(std::span<double> values);

}  // namespace inlay
