// Bytes and flops of each op, from shapes alone, and the table that shows them.
#include <algorithm>

#include "src/base/format.h"
#include "src/plan/plan.h"

namespace inlay {
namespace {

struct Sizes {
  uint64_t m, d, q, kv, ff, vocab, logit_rows, past, sequences;
  uint64_t experts, expert_values;  // the router's logits; what a row has between moe_in and moe_out
};

Sizes sizes_of(const ModelSpec& s, const StepShape& shape) {
  const auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
  return {u(shape.n_tokens), u(s.d_model),          u(s.d_q()),      u(s.d_kv()),         u(s.d_ff),
          u(s.n_vocab),      u(shape.n_logit_rows), u(shape.n_past), u(shape.n_sequences),
          u(s.moe.n_experts), u(int64_t{s.moe.n_used} * s.moe.d_ff_expert + s.moe.d_ff_shared)};
}

// Every query attends to the past and to the step's own tokens up to itself, as far as its layer's window reaches. Where it sees later ones,
// too: to all of the step, or as many as are in a window to both sides.
uint64_t attended_positions(const Sizes& z, uint64_t window, bool causal) {
  const uint64_t n = z.sequences ? z.m / z.sequences : 0;  // queries of a sequence; so many of them see all keys:
  if (!causal) return z.sequences * n * (window == 0 ? z.past + n : std::min(z.past + n, 2 * window - 1));
  const uint64_t n_unlimited = window == 0 ? n : std::min(n, window - std::min(window, z.past));
  return z.sequences * (n_unlimited * z.past + n_unlimited * (n_unlimited + 1) / 2 + (n - n_unlimited) * window);
}

uint64_t window_of(const Plan& plan, const Op& op) {
  return static_cast<uint64_t>(plan.kv.groups[static_cast<size_t>(plan.kv.layers[op.layer].group)].window);
}

// Every row takes n_used of the experts; each that is taken is read once. How many differ depends on the rows: here as
// many as can.
void add_experts(const ModelSpec& s, const Weight& w, uint64_t m, OpCost& c) {
  const auto n_experts = static_cast<uint64_t>(w.n_experts), n_used = static_cast<uint64_t>(s.moe.n_used);
  c.weight_bytes += w.n_bytes() / n_experts * std::min(n_experts, m * n_used);
  if (w.n_rows > 1) c.flops += 2 * m * n_used * static_cast<uint64_t>(w.n_rows * w.n_cols) / n_experts;
}

}  // namespace

OpCost cost(const Plan& plan, const Op& op, const StepShape& shape) {
  const Sizes z = sizes_of(plan.spec, shape);
  const uint64_t kv_element = static_cast<uint64_t>(shape.kv_element_bytes);
  OpCost c;
  for (const WeightIndex i : op.weights) {
    if (i == kNoWeight) continue;
    const Weight& w = plan.weights[i];
    if (op.kind == OpKind::embed) {
      c.weight_bytes += z.m * row_bytes(w.dtype, static_cast<uint64_t>(w.n_cols));
      continue;
    }
    if (w.n_experts > 1) {
      add_experts(plan.spec, w, z.m, c);
      continue;
    }
    c.weight_bytes += w.n_bytes();
    const uint64_t rows = op.kind == OpKind::head ? z.logit_rows : z.m;
    if (w.n_rows > 1) c.flops += 2 * rows * static_cast<uint64_t>(w.n_rows * w.n_cols);
  }
  switch (op.kind) {
    case OpKind::embed:
      c.activation_bytes = 4 * z.m * z.d;
      break;
    case OpKind::attn_in:
      c.activation_bytes = 4 * z.m * (z.d + z.q);
      c.kv_bytes = kv_element * 2 * z.m * z.kv;
      break;
    case OpKind::attention: {
      const uint64_t window = window_of(plan, op);
      const uint64_t past = window == 0 ? z.past : std::min(z.past, window - 1);
      c.activation_bytes = 4 * z.m * 2 * z.q;
      c.kv_bytes = kv_element * 2 * z.kv * (z.sequences * past + z.m);
      c.flops = 4 * attended_positions(z, window, plan.spec.causal) * z.q;
      break;
    }
    case OpKind::attn_out:
      c.activation_bytes = 4 * z.m * (z.q + 2 * z.d);
      break;
    case OpKind::ffn_in:
      c.activation_bytes = 4 * z.m * (z.d + z.ff);
      break;
    case OpKind::ffn_out:
      c.activation_bytes = 4 * z.m * (z.ff + 2 * z.d);
      break;
    case OpKind::moe_route:
      c.activation_bytes = 4 * z.m * (z.d + z.experts);
      break;
    case OpKind::moe_in:
      c.activation_bytes = 4 * z.m * (z.d + z.expert_values);
      break;
    case OpKind::moe_out:
      c.activation_bytes = 4 * z.m * (z.expert_values + 2 * z.d);
      break;
    case OpKind::head:
      c.activation_bytes = 4 * z.logit_rows * (z.d + z.vocab);
      break;
    case OpKind::sample:
      c.activation_bytes = 4 * z.logit_rows * z.vocab;
      break;
    case OpKind::count:
      break;
  }
  return c;
}

std::string dump(const Plan& plan, const StepShape& shape) {
  const ModelSpec& s = plan.spec;
  std::string out;
  append_format(out, "%s: %s, %d layers, d_model %d, %d heads (%d kv) of %d, d_ff %d, vocabulary %d\n",
                s.name.empty() ? "model" : s.name.c_str(), s.arch.c_str(), s.n_layers, s.d_model, s.n_heads,
                s.n_kv_heads, s.d_head, s.d_ff, s.n_vocab);
  if (s.moe.n_experts > 0) {
    append_format(out, "%d of %d experts of %d for each token", s.moe.n_used, s.moe.n_experts, s.moe.d_ff_expert);
    if (s.moe.d_ff_shared > 0) append_format(out, ", and one of %d for all", s.moe.d_ff_shared);
    out += '\n';
  }
  append_format(out, "%zu ops; %lld tokens of %lld sequences after %lld cached, %lld logit rows\n\n", plan.ops.size(),
                static_cast<long long>(shape.n_tokens), static_cast<long long>(shape.n_sequences),
                static_cast<long long>(shape.n_past), static_cast<long long>(shape.n_logit_rows));
  append_format(out, "%4s %5s %-10s %14s %12s %14s %16s  %s\n", "op", "layer", "kind", "weight bytes", "KV bytes",
                "activations", "flops", "weights");
  OpCost total;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    const OpCost c = cost(plan, op, shape);
    append_format(out, "%4zu %5s %-10s %14llu %12llu %14llu %16llu ", i,
                  is_layer_op(op.kind) ? std::to_string(op.layer).c_str() : "-", op_name(op.kind),
                  static_cast<unsigned long long>(c.weight_bytes), static_cast<unsigned long long>(c.kv_bytes),
                  static_cast<unsigned long long>(c.activation_bytes), static_cast<unsigned long long>(c.flops));
    for (const WeightIndex w : op.weights) {
      if (w == kNoWeight || plan.weights[w].n_rows == 1) continue;
      append_format(out, " %s[%lldx%lld %s]", plan.weights[w].name.c_str(),
                    static_cast<long long>(plan.weights[w].n_rows), static_cast<long long>(plan.weights[w].n_cols),
                    traits(plan.weights[w].dtype).name);
    }
    out += '\n';
    total.weight_bytes += c.weight_bytes;
    total.kv_bytes += c.kv_bytes;
    total.activation_bytes += c.activation_bytes;
    total.flops += c.flops;
  }
  append_format(out, "%4s %5s %-10s %14llu %12llu %14llu %16llu\n", "", "", "total",
                static_cast<unsigned long long>(total.weight_bytes), static_cast<unsigned long long>(total.kv_bytes),
                static_cast<unsigned long long>(total.activation_bytes), static_cast<unsigned long long>(total.flops));
  return out;
}

}  // namespace inlay
