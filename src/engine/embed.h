// Texts as vectors: pooled final hidden states.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "src/backend/pooling.h"
#include "src/base/status.h"

namespace inlay {

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

// Values of a text's vector: the model's width, or what its own pooling ends with.
size_t embedding_width(const Engine& engine, const EmbedOptions& options);

// Text i to out[i * width, (i + 1) * width). Each runs in a session of its own, as many at once as there are free
// ones and as fit into a step; a longer text runs alone, chunk by chunk. `out` is unspecified after an error.
Status embed(Engine& engine, std::span<const std::span<const int32_t>> texts, const EmbedOptions& options,
             std::span<float> out);

}  // namespace inlay
