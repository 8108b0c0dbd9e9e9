// What is computed of a session's tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "src/engine/kv_pools.h"

namespace inlay {

struct Sequence {
  std::vector<int32_t> tokens;   // capacity n_context
  KvHoldings kv;                 // covers n_computed and what the step at hand adds
  int32_t n_computed = 0;        // tokens that were run; what the next one sees of their keys and values is cached
  int32_t slot = -1;             // of its logits
  int32_t ahead_slot = -1;       // where the engine runs ahead: of the step begun ahead
  uint64_t salt = 0;             // of the blocks that it finds and leaves for others
  bool has_logits = false;       // the slot holds the logits after the last of the tokens, from which nothing was drawn yet
  bool logits_readable = false;  // the slot holds the logits after tokens[n_computed - 1]

  Prefix prefix(size_t n) const { return {std::span(tokens).first(n), salt}; }  // its first n tokens
  int32_t n_tokens() const { return static_cast<int32_t>(tokens.size()); }
};

}  // namespace inlay
