// Texts as vectors: pooled final hidden states.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "src/backend/pooling.h"
#include "src/base/status.h"

namespace inlay {

class Engine;

inline constexpr const char* kEmbeddingStopped = "the embedding was stopped";

struct EmbedOptions {
  std::optional<Pooling> pooling = {};  // none: the model's own
  bool normalize = false;
  // Told after each step the tokens that were run, and all; false stops with CANCELLED, whose message is kEmbeddingStopped.
  std::function<bool(uint64_t n_done, uint64_t n_total)> progress = {};
};

// What the model's file asks for. UNSUPPORTED if that is nothing, or something else than Pooling has.
Result<Pooling> pooling_of(const Engine& engine);

// Text i to out[i * d_model, (i + 1) * d_model). Each runs in a session of its own, as many at once as there are free
// ones and as fit into a step; a longer text runs alone, chunk by chunk. `out` is unspecified after an error.
Status embed(Engine& engine, std::span<const std::span<const int32_t>> texts, const EmbedOptions& options,
             std::span<float> out);

}  // namespace inlay
