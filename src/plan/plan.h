// The Plan: an immutable flat list of coarse ops, built once per model and executed by every backend. One op is one
// barrier, one row of a profile, one point to stop at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/model/model.h"
#include "src/plan/kv_groups.h"

namespace inlay {

// embed:     hidden = embedding_scale * token_embd[token]
// attn_in:   q, k, v = W{q,k,v} (rms_norm)(hidden) (+ bias) (qk-norm) (RoPE); k and v join the KV cache
// attention: heads = softmax((cap)(attention_scale * q K^T)) V, causal or both ways, of the keys in the layer's window
// attn_out:  hidden += residual_scale * (rms_norm)(Wo heads (+ bias))
// ffn_in:    ffn = activation(Wgate (rms_norm)(hidden) (+ bias)) * (Wup (rms_norm)(hidden) (+ bias))
// ffn_out:   hidden += residual_scale * (rms_norm)(Wdown ffn (+ bias))
// In layers of experts these three instead of ffn_in and ffn_out:
// moe_route: of Wrouter rms_norm(hidden) (+ bias) the n_used largest, and the experts' weights: a softmax
// moe_in:    ffn_in of each row's chosen experts (and of the shared one)
// moe_out:   hidden += sum over the chosen experts of weight * (Wdown ffn (+ bias)) (+ weight * shared expert's)
// head:      logits = (cap)(logit_scale * Whead rms_norm(hidden)), only for the rows that are asked for
// sample:    one token for each sequence that asks for it
enum class OpKind : uint8_t { embed, attn_in, attention, attn_out, ffn_in, ffn_out, moe_route, moe_in, moe_out, head, sample, count };

const char* op_name(OpKind kind);
constexpr bool is_layer_op(OpKind kind) { return kind >= OpKind::attn_in && kind <= OpKind::moe_out; }

using WeightIndex = uint16_t;  // into Model::weights()
inline constexpr WeightIndex kNoWeight = 0xFFFF;

struct Op {
  OpKind kind;
  uint16_t layer = 0;                  // 0 for ops outside of layers
  std::array<WeightIndex, 14> weights; // by the slots below; kNoWeight where the family has none
};
static_assert(sizeof(Op) == 32);

// Slots of Op::weights.
namespace slot {
inline constexpr size_t embed_table = 0;
inline constexpr size_t norm = 0;  // attn_in, ffn_in, moe_route, moe_in, head
inline constexpr size_t q = 1, k = 2, v = 3, q_bias = 4, k_bias = 5, v_bias = 6, q_norm = 7, k_norm = 8;
inline constexpr size_t sinks = 0;  // attention
inline constexpr size_t gate = 1, up = 2, gate_bias = 3, up_bias = 4;       // ffn_in, moe_in
inline constexpr size_t shared_gate = 5, shared_up = 6;                     // moe_in
inline constexpr size_t router = 1, router_bias = 2, shared_weight = 3;     // moe_route
inline constexpr size_t shared_projection = 3;                              // moe_out
inline constexpr size_t head = 1;
inline constexpr size_t projection = 0, bias = 1, post_norm = 2;  // attn_out, ffn_out; the first two: moe_out
}  // namespace slot

struct Plan {
  ModelSpec spec;
  std::vector<RopeTable> ropes;  // of spec.ropes
  std::vector<Weight> weights;
  std::vector<Op> ops;
  KvGroups kv;

  const Weight* weight(const Op& op, size_t slot) const {
    const WeightIndex i = op.weights[slot];
    return i == kNoWeight ? nullptr : &weights[i];
  }
  const Op& head_op() const { return *std::ranges::find(ops, OpKind::head, &Op::kind); }
  // The last op before the head, behind which the residual stream is whole.
  int32_t last_layer_op() const { return static_cast<int32_t>(&head_op() - ops.data()) - 1; }
};

// n_context: the longest sequence that will be run.
Result<Plan> build_plan(const Model& model, int32_t n_context);

// The order and layers of the ops, each op's weights and their shapes. A plan that passes can be executed.
Status validate(const Plan& plan);

// What one execution is about, for costs.
struct StepShape {
  int64_t n_tokens = 1;
  int64_t n_past = 0;    // tokens in the cache before the step, each sequence
  int64_t n_sequences = 1;
  int64_t n_logit_rows = 1;
  int64_t kv_element_bytes = 2;
};

struct OpCost {
  uint64_t weight_bytes = 0;      // as they are held before they are packed, each read once
  uint64_t kv_bytes = 0;          // read and written
  uint64_t activation_bytes = 0;  // float values read and written
  uint64_t flops = 0;             // multiply and add count as two
  uint64_t total_bytes() const { return weight_bytes + kv_bytes + activation_bytes; }
};

OpCost cost(const Plan& plan, const Op& op, const StepShape& shape);

// A table for people: one line per op with its weights, bytes and flops, and the totals.
std::string dump(const Plan& plan, const StepShape& shape);

}  // namespace inlay
