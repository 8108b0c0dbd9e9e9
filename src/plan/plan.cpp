#include "src/plan/plan.h"

#include <iterator>

namespace inlay {
namespace {

constexpr const char* kOpNames[] = {"embed", "attn_in", "attention", "attn_out", "ffn_in", "ffn_out", "moe_route", "moe_in", "moe_out", "head", "sample"};
static_assert(std::size(kOpNames) == static_cast<size_t>(OpKind::count));

constexpr OpKind kDenseLayer[] = {OpKind::attn_in, OpKind::attention, OpKind::attn_out, OpKind::ffn_in, OpKind::ffn_out};
constexpr OpKind kExpertLayer[] = {OpKind::attn_in, OpKind::attention, OpKind::attn_out, OpKind::moe_route, OpKind::moe_in, OpKind::moe_out};

std::span<const OpKind> ops_of_layer(const ModelSpec& s, int32_t layer) {
  return s.has_experts(layer) ? std::span<const OpKind>(kExpertLayer) : std::span<const OpKind>(kDenseLayer);
}

struct SlotShape {
  size_t slot;
  const char* what;
  int64_t n_rows, n_cols;
  bool needed;
};

// Matrices of experts are stacked, and so are their biases.
std::vector<SlotShape> expected_of_experts(const ModelSpec& s, OpKind kind) {
  const MoeSpec& moe = s.moe;
  const int64_t d = s.d_model, n = moe.n_experts, ff = moe.d_ff_expert, shared = moe.d_ff_shared;
  switch (kind) {
    case OpKind::moe_route:
      return {{slot::norm, "norm", 1, d, s.input_norms},
              {slot::router, "router", n, d, true},
              {slot::router_bias, "router_bias", 1, n, moe.router_bias},
              {slot::shared_weight, "shared_weight", 1, d, moe.shared_gate}};
    case OpKind::moe_in:
      return {{slot::norm, "norm", 1, d, s.input_norms},
              {slot::gate, "gate", n * ff, d, true},
              {slot::up, "up", n * ff, d, true},
              {slot::gate_bias, "gate_bias", 1, n * ff, moe.expert_bias},
              {slot::up_bias, "up_bias", 1, n * ff, moe.expert_bias},
              {slot::shared_gate, "shared_gate", shared, d, shared > 0},
              {slot::shared_up, "shared_up", shared, d, shared > 0}};
    default:
      return {{slot::projection, "projection", n * d, ff, true},
              {slot::bias, "bias", 1, n * d, moe.expert_bias},
              {slot::shared_projection, "shared_projection", d, shared, shared > 0}};
  }
}

// What an op must be given. Slots that are not listed must be empty.
std::vector<SlotShape> expected_weights(const ModelSpec& s, OpKind kind) {
  const int64_t d = s.d_model, q = s.d_q(), kv = s.d_kv(), ff = s.d_ff;
  switch (kind) {
    case OpKind::embed: return {{slot::embed_table, "embedding", s.n_vocab, d, true}};
    case OpKind::attn_in:
      return {{slot::norm, "norm", 1, d, s.input_norms},
              {slot::q, "q", q, d, true},
              {slot::k, "k", kv, d, true},
              {slot::v, "v", kv, d, true},
              {slot::q_bias, "q_bias", 1, q, s.qkv_bias},
              {slot::k_bias, "k_bias", 1, kv, s.qkv_bias},
              {slot::v_bias, "v_bias", 1, kv, s.qkv_bias},
              {slot::q_norm, "q_norm", 1, s.qk_norm == QkNorm::width ? q : s.d_head, s.qk_norm != QkNorm::none},
              {slot::k_norm, "k_norm", 1, s.qk_norm == QkNorm::width ? kv : s.d_head, s.qk_norm != QkNorm::none}};
    case OpKind::attention: return {{slot::sinks, "sinks", 1, s.n_heads, s.attn_sinks}};
    case OpKind::attn_out:
      return {{slot::projection, "projection", d, q, true},
              {slot::bias, "bias", 1, d, s.output_bias},
              {slot::post_norm, "post_norm", 1, d, s.post_norms}};
    case OpKind::ffn_in:
      return {{slot::norm, "norm", 1, d, s.input_norms},
              {slot::gate, "gate", ff, d, true},
              {slot::up, "up", ff, d, true},
              {slot::gate_bias, "gate_bias", 1, ff, s.mlp_bias},
              {slot::up_bias, "up_bias", 1, ff, s.mlp_bias}};
    case OpKind::ffn_out:
      return {{slot::projection, "projection", d, ff, true},
              {slot::bias, "bias", 1, d, s.mlp_bias},
              {slot::post_norm, "post_norm", 1, d, s.post_norms}};
    case OpKind::moe_route:
    case OpKind::moe_in:
    case OpKind::moe_out: return expected_of_experts(s, kind);
    case OpKind::head: return {{slot::norm, "norm", 1, d, true}, {slot::head, "head", s.n_vocab, d, true}};
    default: return {};
  }
}

Status check_weights(const Plan& plan, size_t index) {
  const Op& op = plan.ops[index];
  std::array<bool, std::tuple_size_v<decltype(Op::weights)>> allowed{};
  for (const SlotShape& expected : expected_weights(plan.spec, op.kind)) {
    allowed[expected.slot] = expected.needed;
    const WeightIndex i = op.weights[expected.slot];
    if (i == kNoWeight) {
      if (!expected.needed) continue;
      return error(Code::internal, "op %zu (%s) lacks its weight %s", index, op_name(op.kind), expected.what);
    }
    if (i >= plan.weights.size()) {
      return error(Code::internal, "op %zu (%s) names weight %u of %zu", index, op_name(op.kind), i, plan.weights.size());
    }
    const Weight& w = plan.weights[i];
    if (w.n_rows != expected.n_rows || w.n_cols != expected.n_cols) {
      return error(Code::internal, "op %zu (%s): %s is %lld x %lld, expected %lld x %lld", index, op_name(op.kind), w.name.c_str(),
                   static_cast<long long>(w.n_rows), static_cast<long long>(w.n_cols), static_cast<long long>(expected.n_rows),
                   static_cast<long long>(expected.n_cols));
    }
  }
  for (size_t s = 0; s < op.weights.size(); ++s) {
    if (op.weights[s] != kNoWeight && !allowed[s]) {
      return error(Code::internal, "op %zu (%s) has a weight in slot %zu, which it does not use", index, op_name(op.kind), s);
    }
  }
  return {};
}

// Tables of RoPE, and which layer uses which.
Status check_attention(const Plan& plan) {
  const ModelSpec& s = plan.spec;
  if (plan.ropes.size() != s.ropes.size() || s.ropes.empty()) {
    return error(Code::internal, "the plan has %zu RoPE tables for %zu kinds of RoPE", plan.ropes.size(), s.ropes.size());
  }
  for (const RopeTable& table : plan.ropes) {
    if (table.inv_freq.size() * 2 == static_cast<size_t>(s.n_rot())) continue;
    return error(Code::internal, "the plan has %zu RoPE frequencies for %d rotated dimensions", table.inv_freq.size(), s.n_rot());
  }
  if (s.layers.size() != static_cast<size_t>(s.n_layers)) {
    return error(Code::internal, "the plan describes the attention of %zu layers of %d", s.layers.size(), s.n_layers);
  }
  for (size_t i = 0; i < s.layers.size(); ++i) {
    const LayerAttention& layer = s.layers[i];
    if (layer.window >= 0 && layer.rope >= -1 && layer.rope < static_cast<int>(s.ropes.size())) continue;
    return error(Code::internal, "layer %zu has a window of %d and the RoPE table %d of %zu", i, layer.window, layer.rope, s.ropes.size());
  }
  return {};
}

// What comes in which order.
std::vector<Op> expected_ops(const ModelSpec& s) {
  std::vector<Op> ops = {{.kind = OpKind::embed, .weights = {}}};
  for (int32_t layer = 0; layer < s.n_layers; ++layer) {
    for (const OpKind kind : ops_of_layer(s, layer)) ops.push_back({.kind = kind, .layer = static_cast<uint16_t>(layer), .weights = {}});
  }
  ops.push_back({.kind = OpKind::head, .weights = {}});
  ops.push_back({.kind = OpKind::sample, .weights = {}});
  return ops;
}

Status check_experts(const ModelSpec& s) {
  const MoeSpec& moe = s.moe;
  if (moe.n_experts == 0) return {};
  if (moe.layers.size() == static_cast<size_t>(s.n_layers) && moe.n_used >= 1 && moe.n_used <= moe.n_experts) return {};
  return error(Code::internal, "the plan has %d of %d experts in %zu layers of %d", moe.n_used, moe.n_experts, moe.layers.size(), s.n_layers);
}

}  // namespace

const char* op_name(OpKind kind) { return kind < OpKind::count ? kOpNames[static_cast<size_t>(kind)] : "?"; }

Status validate(const Plan& plan) {
  INLAY_TRY(check_experts(plan.spec));
  const std::vector<Op> expected = expected_ops(plan.spec);
  if (plan.ops.size() != expected.size()) {
    return error(Code::internal, "the plan has %zu ops, a decoder of %d layers has %zu", plan.ops.size(), plan.spec.n_layers,
                 expected.size());
  }
  INLAY_TRY(check_attention(plan));
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpKind kind = expected[i].kind;
    const uint16_t layer = expected[i].layer;
    if (plan.ops[i].kind != kind || plan.ops[i].layer != layer) {
      return error(Code::internal, "op %zu is %s of layer %u, expected %s of layer %u", i, op_name(plan.ops[i].kind),
                   plan.ops[i].layer, op_name(kind), layer);
    }
    INLAY_TRY(check_weights(plan, i));
  }
  return {};
}

}  // namespace inlay
