// Layers by what they keep of a sequence in the KV cache: all of it, or a window that slides along.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/model/model_spec.h"

namespace inlay {

// How many positions one block of the KV cache holds.
inline constexpr int32_t kKvBlockTokens = 32;

constexpr int32_t kv_blocks_for(int32_t n_positions) { return (n_positions + kKvBlockTokens - 1) / kKvBlockTokens; }

// Layers of one window. Blocks are counted, given out and released for a group as a whole; a block has keys and values
// of all its layers.
struct KvGroup {
  int32_t window = 0;  // as LayerAttention has it; 0: the whole sequence
  int32_t n_layers = 0;
};

struct KvLayer {
  int32_t group = 0;
  int32_t index = 0;  // among the group's layers
};

struct KvGroups {
  std::vector<KvGroup> groups;  // the whole sequence first, then by window; never empty
  std::vector<KvLayer> layers;  // (n_layers)
};

KvGroups group_kv_layers(const ModelSpec& spec);

// The first position whose key a query at `position` sees.
constexpr int32_t first_key(int32_t window, int32_t position) {
  return window == 0 ? 0 : std::max(0, position - window + 1);
}

// Blocks of a window that a step of n_tokens can touch, wherever it begins: the n_tokens positions and `window` before
// them, one more than the first query sees, so that the last token run can be run again.
constexpr int32_t kv_blocks_of_window(int32_t window, int32_t n_tokens) {
  return static_cast<int32_t>((int64_t{window} + n_tokens + kKvBlockTokens - 2) / kKvBlockTokens) + 1;
}

}  // namespace inlay
