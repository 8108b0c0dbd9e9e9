#include "src/plan/step_units.h"

#include <algorithm>

namespace inlay {
namespace {

// The weights of a token are what it waits for; keys and values depend on the sequence, and are left out.
int32_t head_pieces(const Plan& plan) {
  uint64_t layers = 0, head = 0;
  for (const Op& op : plan.ops) {
    if (is_layer_op(op.kind)) layers += cost(plan, op, {}).weight_bytes;
    if (op.kind == OpKind::head) head += cost(plan, op, {}).weight_bytes;
  }
  const uint64_t layer = std::max<uint64_t>(1, layers / static_cast<uint64_t>(std::max(1, plan.spec.n_layers)));
  return static_cast<int32_t>(std::clamp<uint64_t>((head + layer - 1) / layer, 1, 64));
}

}  // namespace

std::vector<StepUnit> step_units(const Plan& plan) {
  std::vector<StepUnit> units;
  const auto n_ops = static_cast<int32_t>(plan.ops.size());
  for (int32_t i = 0; i < n_ops; ++i) {
    const Op& op = plan.ops[static_cast<size_t>(i)];
    if (op.kind == OpKind::head) {
      const int32_t n = head_pieces(plan);
      for (int32_t piece = 0; piece < n; ++piece) units.push_back({i, i + 1, {piece, n}});
      continue;
    }
    if (op.kind == OpKind::embed || op.kind == OpKind::attn_in) {
      const bool follows_embedding = i > 0 && plan.ops[static_cast<size_t>(i) - 1].kind == OpKind::embed;
      if (!follows_embedding) units.push_back({i, i, {}});
    }
    units.back().end_op = i + 1;
  }
  return units;
}

}  // namespace inlay
