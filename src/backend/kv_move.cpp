#include "src/backend/kv_move.h"

#include <cmath>

namespace inlay {

HostKvMove::HostKvMove(const Plan& plan, const KvMemory& memory, std::byte* cache, const Backend::KvMove& move) {
  const ModelSpec& spec = plan.spec;
  const auto half = static_cast<size_t>(spec.n_rot()) / 2;
  turns_.resize(plan.ropes.size() * 2 * half);
  for (size_t r = 0; r < plan.ropes.size(); ++r) {
    float* const cos = turns_.data() + r * 2 * half;
    for (size_t i = 0; i < half; ++i) {
      const double angle = -static_cast<double>(move.turn) * static_cast<double>(plan.ropes[r].inv_freq[i]);
      cos[i] = static_cast<float>(std::cos(angle));
      cos[half + i] = static_cast<float>(std::sin(angle));
    }
  }
  for (size_t l = 0; l < plan.kv.layers.size(); ++l) {
    if (plan.kv.layers[l].group != move.kv_group) continue;
    const auto layer = static_cast<int32_t>(l);
    const int8_t rope = spec.layers[l].rope;
    const float* const cos = rope < 0 ? nullptr : turns_.data() + static_cast<size_t>(rope) * 2 * half;
    layers_.push_back({.k_pool = cache + memory.keys_at(layer),
                       .v_pool = cache + memory.values_at(layer),
                       .block_table = move.table.data(),
                       .block_stride = static_cast<int64_t>(memory.block_stride(layer)),
                       .first = move.first,
                       .distance = move.distance,
                       .end = move.end,
                       .n_kv_heads = spec.n_kv_heads,
                       .d_head = spec.d_head,
                       .block_tokens = kKvBlockTokens,
                       .n_rot = rope < 0 ? 0 : spec.n_rot(),
                       .cos = cos,
                       .sin = rope < 0 ? nullptr : cos + half});
  }
}

}  // namespace inlay
