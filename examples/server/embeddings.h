// /v1/embeddings: texts or token ids become vectors of length 1.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "examples/server/model.h"
#include "examples/server/refusal.h"

namespace inlay::server {

// Computes on this thread, until `has_left`. The answer's JSON is `answer`.
std::optional<Refusal> embed(std::string_view json, const Model& model, const std::atomic<bool>& has_left, std::string& answer);

}  // namespace inlay::server
