// Texts as vectors: pooled final hidden states.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/backend/pooling.h"
#include "src/backend/step_batch.h"
#include "src/base/status.h"

namespace inlay {

class EmbeddingRules;
class Engine;

inline constexpr const char* kEmbeddingStopped = "the embedding was stopped";

struct EmbedOptions {
  std::optional<Pooling> pooling = {};  // none: the model's own, and what its file has behind that
  bool normalize = false;
  bool without_prompt = false;  // for those who make tokens of texts
  // Told after each step the tokens that were run, and all; false stops with CANCELLED, whose message is kEmbeddingStopped.
  std::function<bool(uint64_t n_done, uint64_t n_total)> progress = {};
};

// What the model's file asks for, in the order of their vectors. UNSUPPORTED if that is nothing, or something else than Pooling has.
Result<std::vector<Pooling>> pooling_of(const Engine& engine);

// What the vector is made of: `options.pooling`, or the model's own.
Result<std::vector<Pooling>> poolings_of(const Engine& engine, const EmbedOptions& options);

// Values of a text's vector: the model's width, or what its own pooling ends with.
size_t embedding_width(const Engine& engine, const EmbedOptions& options);

// A text's tokens for a vector. UNSUPPORTED of a model without a tokenizer.
Status encode_for_embedding(const Engine& engine, std::string_view text, const EmbedOptions& options, std::vector<int32_t>& out);

// One text's vector, while its rows come, in their order.
class TextVector {
 public:
  // `poolings` must outlive it.
  TextVector(const Engine& engine, const EmbedOptions& options, std::span<const Pooling> poolings);

  // Which of a step's rows it is made of: of n from position `first` on; `ends`: the text's last row is among them.
  static AskedRows rows_of(std::span<const Pooling> poolings, int32_t first, int32_t n, bool ends);
  void add(const float* rows, int64_t n_rows) { pooler_.add(rows, n_rows); }  // those, hidden
  // FORMAT where it is not finite.
  Status finish(std::span<float> out) const;

 private:
  Pooler pooler_;
  const EmbeddingRules* rules_;  // of the model's own pooling, else null
  bool normalize_;
};

// Text i to out[i * width, (i + 1) * width). Each runs in a session of its own, as many at once as there are free
// ones and as fit into a step; a longer text runs alone, chunk by chunk. `out` is unspecified after an error.
Status embed(Engine& engine, std::span<const std::span<const int32_t>> texts, const EmbedOptions& options,
             std::span<float> out);

}  // namespace inlay
