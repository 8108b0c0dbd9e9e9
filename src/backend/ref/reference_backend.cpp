#include "src/backend/ref/reference_backend.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/expert_choice.h"
#include "kernels/ref/attention.h"
#include "kernels/ref/clamped_swiglu.h"
#include "kernels/ref/dequantize.h"
#include "kernels/ref/experts.h"
#include "kernels/ref/gelu_mul.h"
#include "kernels/ref/kv_cache.h"
#include "kernels/ref/linear.h"
#include "kernels/ref/rms_norm.h"
#include "kernels/ref/rope.h"
#include "kernels/ref/silu_mul.h"
#include "kernels/ref/soft_cap.h"
#include "src/backend/host_backend.h"
#include "src/backend/host_buffers.h"
#include "src/backend/kv_form.h"
#include "src/backend/kv_memory.h"
#include "src/backend/kv_move.h"

namespace inlay {
namespace {

auto activation_of(const ModelSpec& spec) {
  switch (spec.activation) {
    case Activation::gelu_tanh: return ref::gelu_mul;
    case Activation::clamped_swiglu: return ref::clamped_swiglu;
    case Activation::silu: break;
  }
  return ref::silu_mul;
}

KvMemory kv_memory_of(const Plan& plan, const BackendConfig& config) {
  return {plan, config, kv_block_bytes(plan.spec, KvDType::f32) / 2, KvOrder::blocks};
}

// A weight as the file stores it; vectors as float.
struct HeldWeight {
  HostBuffer bytes;
  std::vector<float> vector;
};

class ReferenceBackend final : public HostBackend {
 public:
  ReferenceBackend(Plan plan, const BackendConfig& config, HostActivations activations, LogitSlots logits,
                   HostBuffer kv)
      : plan_(std::move(plan)),
        config_(config),
        memory_(kv_memory_of(plan_, config_)),
        a_(std::move(activations)),
        logits_(std::move(logits)),
        kv_(std::move(kv)) {
    take_lists(plan_, config_);
  }

  Status load_weights(WeightReader& reader, const LoadProgress& progress);

  std::string description() const override { return "reference interpreter (scalar fp32)"; }
  const Plan& plan() const override { return plan_; }
  const BackendConfig& config() const override { return config_; }
  MemoryNeeds memory() const override { return reference_memory_needs(plan_, config_); }

  Result<double> measure_read_bandwidth() override { return measure_host_read_bandwidth(1); }

  Status duplicate_logits(int32_t from, int32_t to) override {
    logits_.duplicate(from, to);
    return {};
  }
  Status move_kv(const KvMove& move) override {
    const HostKvMove moves(plan_, memory_, kv_.data(), move);
    for (const KvMoveArgs& layer : moves.layers()) ref::kv_move(layer, 0, layer.n_kv_heads);
    return {};
  }
  const KvMemory& kv_memory() const override { return memory_; }
  KvForm kv_form() const override { return kv_form_of_heads(plan_.spec, sizeof(float)); }

 private:
  std::byte* kv_cache() override { return kv_.data(); }
  std::span<float> logit_row(int32_t slot) override { return logits_.row(slot); }
  const float* hidden_row(int32_t row) const override { return a_.hidden + int64_t{row} * plan_.spec.d_model; }
  Status row_logits(int32_t first_row, std::span<float> out) override;
  Status run_op(const Op& op, const StepBatch& batch, std::span<Draw> draws) override;
  // Nobody waits for the interpreter: all of the head at once.
  Status run_head_piece(const Op& op, const StepBatch& batch, const WorkPiece& piece) override {
    if (piece.is_last()) head(op, batch);
    return {};
  }
  Result<Tap> observe(const Op& op, const StepBatch& batch) override;

  void embed(const Op& op, const StepBatch& batch);
  void attn_in(const Op& op, const StepBatch& batch);
  void attention(const Op& op, const StepBatch& batch);
  void ffn_in(const Op& op, const StepBatch& batch);
  void moe_route(const Op& op, int64_t m);
  void moe_in(const Op& op, int64_t m);
  void expert_linear(const Op& op, size_t weight_slot, size_t bias_slot, const float* x, float* out, int64_t m);
  void moe_out(const Op& op, int64_t m);
  void project(const Op& op, const float* x, int64_t m);
  void head(const Op& op, const StepBatch& batch);
  void head_of_row(const Op& op, int64_t row, float* logits);

  const float* normed_hidden(const Op& op, int64_t m);
  void norm(const Op& op, size_t weight_slot, const float* x, float* out, int64_t m, int64_t n, int64_t ld);
  struct Target {
    float* out;
    int64_t ld;
  };
  void linear(const Op& op, size_t weight_slot, size_t bias_slot, const float* x, int64_t m, Target target);
  void qk_norm(const Op& op, size_t weight_slot, float* x, int64_t m, int64_t n_heads);
  void rope(const Op& op, const StepBatch& batch, float* x, int64_t n_heads);

  const float* vector(const Op& op, size_t weight_slot) const {
    const WeightIndex i = op.weights[weight_slot];
    return i == kNoWeight ? nullptr : weights_[i].vector.data();
  }
  int64_t d_qkv() const { return plan_.spec.d_q() + 2 * plan_.spec.d_kv(); }
  std::byte* k_pool(int32_t layer) { return kv_.data() + memory_.keys_at(layer); }
  std::byte* v_pool(int32_t layer) { return kv_.data() + memory_.values_at(layer); }

  const Plan plan_;
  const BackendConfig config_;
  const KvMemory memory_;
  HostActivations a_;
  LogitSlots logits_;
  HostBuffer kv_;  // as memory_ has it
  std::vector<HeldWeight> weights_;
  std::vector<int32_t> experts_;  // (tokens, n_used) of the layer at hand
};

Status ReferenceBackend::load_weights(WeightReader& reader, const LoadProgress& progress) {
  uint64_t total = 0, done = 0;
  for (const Weight& w : plan_.weights) total += w.n_bytes();
  for (const Weight& w : plan_.weights) {
    HeldWeight held;
    if (w.n_rows == 1) {
      INLAY_ASSIGN(held.vector, reader.read_vector(w));
    } else {
      INLAY_ASSIGN(const std::byte* bytes, reader.read(w));
      INLAY_ASSIGN(held.bytes, HostBuffer::allocate(w.n_bytes(), w.name.c_str()));
      std::memcpy(held.bytes.data(), bytes, static_cast<size_t>(w.n_bytes()));
    }
    INLAY_TRY(reader.finish(w));
    weights_.push_back(std::move(held));
    done += w.n_bytes();
    if (progress && !progress(done, total)) return error(Code::cancelled, "loading was cancelled");
  }
  return {};
}

Status ReferenceBackend::run_op(const Op& op, const StepBatch& batch, std::span<Draw> draws) {
  const auto m = static_cast<int64_t>(batch.tokens.size());
  switch (op.kind) {
    case OpKind::embed: embed(op, batch); return {};
    case OpKind::attn_in: attn_in(op, batch); return {};
    case OpKind::attention: attention(op, batch); return {};
    case OpKind::attn_out: project(op, a_.heads, m); return {};
    case OpKind::ffn_in: ffn_in(op, batch); return {};
    case OpKind::ffn_out: project(op, a_.gate, m); return {};
    case OpKind::moe_route: moe_route(op, m); return {};
    case OpKind::moe_in: moe_in(op, m); return {};
    case OpKind::moe_out: moe_out(op, m); return {};
    case OpKind::head: head(op, batch); return {};
    case OpKind::sample: return logits_.sample(batch.sample_rows, draws);
    case OpKind::count: break;
  }
  return error(Code::internal, "op kind %d", static_cast<int>(op.kind));
}

void ReferenceBackend::norm(const Op& op, size_t weight_slot, const float* x, float* out, int64_t m, int64_t n, int64_t ld) {
  ref::rms_norm({.x = x, .weight = vector(op, weight_slot), .out = out, .n = n, .ld_x = ld, .ld_out = ld, .epsilon = plan_.spec.norm_epsilon},
                0, m);
}

// What a layer's half reads.
const float* ReferenceBackend::normed_hidden(const Op& op, int64_t m) {
  const int64_t d = plan_.spec.d_model;
  if (!plan_.spec.input_norms) return a_.hidden;
  norm(op, slot::norm, a_.hidden, a_.normed, m, d, d);
  return a_.normed;
}

void ReferenceBackend::linear(const Op& op, size_t weight_slot, size_t bias_slot, const float* x, int64_t m, Target target) {
  const WeightIndex i = op.weights[weight_slot];
  const Weight& w = plan_.weights[i];
  ref::linear({.dtype = w.dtype,
               .weights = weights_[i].bytes.data(),
               .x = x,
               .out = target.out,
               .bias = bias_slot < op.weights.size() ? vector(op, bias_slot) : nullptr,
               .n_rows = w.n_rows,
               .n_cols = w.n_cols,
               .m = m,
               .ld_x = w.n_cols,
               .ld_out = target.ld,
               .add_to_out = false},
              0, w.n_rows);
}

void ReferenceBackend::embed(const Op& op, const StepBatch& batch) {
  const WeightIndex i = op.weights[slot::embed_table];
  const Weight& table = plan_.weights[i];
  const uint64_t bytes = row_bytes(table.dtype, static_cast<uint64_t>(table.n_cols));
  for (size_t t = 0; t < batch.tokens.size(); ++t) {
    ref::dequantize_row(table.dtype, weights_[i].bytes.data() + static_cast<uint64_t>(batch.tokens[t]) * bytes, table.n_cols,
                        a_.hidden + static_cast<int64_t>(t) * table.n_cols);
  }
  ref::soft_cap(a_.hidden, static_cast<int64_t>(batch.tokens.size()) * table.n_cols, plan_.spec.embedding_scale, 0);
}

void ReferenceBackend::qk_norm(const Op& op, size_t weight_slot, float* x, int64_t m, int64_t n_heads) {
  if (!vector(op, weight_slot)) return;
  const int64_t d_head = plan_.spec.d_head;
  if (plan_.spec.qk_norm == QkNorm::width) return norm(op, weight_slot, x, x, m, n_heads * d_head, d_qkv());
  for (int64_t j = 0; j < m; ++j) norm(op, weight_slot, x + j * d_qkv(), x + j * d_qkv(), n_heads, d_head, d_head);
}

void ReferenceBackend::rope(const Op& op, const StepBatch& batch, float* x, int64_t n_heads) {
  const int8_t index = plan_.spec.layers[op.layer].rope;
  if (index < 0) return;
  const RopeTable& table = plan_.ropes[static_cast<size_t>(index)];
  ref::rope({.x = x,
             .positions = batch.positions.data(),
             .inv_freq = table.inv_freq.data(),
             .n_heads = n_heads,
             .d_head = plan_.spec.d_head,
             .n_rot = plan_.spec.n_rot(),
             .ld_x = d_qkv(),
             .magnitude = table.magnitude},
            0, static_cast<int64_t>(batch.tokens.size()));
}

void ReferenceBackend::attn_in(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  const auto m = static_cast<int64_t>(batch.tokens.size());
  const float* x = normed_hidden(op, m);
  float* q = a_.qkv;
  float* k = q + s.d_q();
  float* v = k + s.d_kv();
  linear(op, slot::q, slot::q_bias, x, m, {q, d_qkv()});
  linear(op, slot::k, slot::k_bias, x, m, {k, d_qkv()});
  linear(op, slot::v, slot::v_bias, x, m, {v, d_qkv()});
  qk_norm(op, slot::q_norm, q, m, s.n_heads);
  qk_norm(op, slot::k_norm, k, m, s.n_kv_heads);
  rope(op, batch, q, s.n_heads);
  rope(op, batch, k, s.n_kv_heads);
  for (const SequenceSlice& slice : batch.sequences) {
    const int64_t offset = slice.first_token * d_qkv();
    ref::kv_append({.k = k + offset,
                    .v = v + offset,
                    .k_pool = k_pool(op.layer),
                    .v_pool = v_pool(op.layer),
                    .positions = batch.positions.data() + slice.first_token,
                    .block_table = batch.block_table(slice, plan_.kv.layers[op.layer].group),
                    .block_stride = static_cast<int64_t>(memory_.block_stride(op.layer)),
                    .m = slice.n_tokens,
                    .n_kv_heads = s.n_kv_heads,
                    .d_head = s.d_head,
                    .block_tokens = kKvBlockTokens,
                    .ld = d_qkv()},
                   0, slice.n_tokens);
  }
}

void ReferenceBackend::attention(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  for (const SequenceSlice& slice : batch.sequences) {
    ref::attention({.q = a_.qkv + slice.first_token * d_qkv(),
                    .out = a_.heads + slice.first_token * s.d_q(),
                    .k_pool = k_pool(op.layer),
                    .v_pool = v_pool(op.layer),
                    .block_table = batch.block_table(slice, plan_.kv.layers[op.layer].group),
                    .block_stride = static_cast<int64_t>(memory_.block_stride(op.layer)),
                    .m = slice.n_tokens,
                    .first_position = slice.first_position,
                    .n_heads = s.n_heads,
                    .n_kv_heads = s.n_kv_heads,
                    .d_head = s.d_head,
                    .block_tokens = kKvBlockTokens,
                    .ld_q = d_qkv(),
                    .ld_out = s.d_q(),
                    .scale = s.attention_scale,
                    .softcap = s.attn_softcap,
                    .window = s.layers[op.layer].window,
                    .sinks = vector(op, slot::sinks),
                    .both_ways = !s.causal},
                   0, slice.n_tokens);
  }
}

void ReferenceBackend::ffn_in(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  const auto m = static_cast<int64_t>(batch.tokens.size());
  const float* x = normed_hidden(op, m);
  linear(op, slot::gate, slot::gate_bias, x, m, {a_.gate, s.d_ff});
  linear(op, slot::up, slot::up_bias, x, m, {a_.up, s.d_ff});
  activation_of(s)(a_.gate, a_.up, s.d_ff, s.d_ff, 0, m);
}

// attn_out and ffn_out: a projection, perhaps normalised, joins the residual stream.
void ReferenceBackend::project(const Op& op, const float* x, int64_t m) {
  const ModelSpec& s = plan_.spec;
  const int64_t d = s.d_model;
  linear(op, slot::projection, slot::bias, x, m, {a_.normed, d});
  if (s.post_norms) norm(op, slot::post_norm, a_.normed, a_.normed, m, d, d);
  for (int64_t i = 0; i < m * d; ++i) a_.hidden[i] += s.residual_scale * a_.normed[i];
}

void ReferenceBackend::moe_route(const Op& op, int64_t m) {
  const MoeSpec& moe = plan_.spec.moe;
  const int64_t d = plan_.spec.d_model;
  norm(op, slot::norm, a_.hidden, a_.normed, m, d, d);
  linear(op, slot::router, slot::router_bias, a_.normed, m, {a_.router_logits, moe.n_experts});
  experts_.resize(static_cast<size_t>(m * moe.n_used));
  for (int64_t row = 0; row < m; ++row) {
    choose_experts({.logits = a_.router_logits + row * moe.n_experts,
                    .experts = experts_.data() + row * moe.n_used,
                    .weights = a_.expert_weights + row * moe.n_used,
                    .n_experts = moe.n_experts,
                    .n_used = moe.n_used,
                    .scale = moe.weights_scale,
                    .softmax_over_chosen = moe.softmax_over_chosen()});
    double dot = 0;
    for (int64_t i = 0; moe.shared_gate && i < d; ++i) {
      dot += static_cast<double>(vector(op, slot::shared_weight)[i]) * a_.normed[row * d + i];
    }
    a_.shared_weights[row] = moe.shared_gate ? static_cast<float>(1.0 / (1.0 + std::exp(-dot))) : 1.0f;
  }
}

// x: a row for each token, or for each pair where it is what moe_in left behind.
void ReferenceBackend::expert_linear(const Op& op, size_t weight_slot, size_t bias_slot, const float* x, float* out, int64_t m) {
  const WeightIndex i = op.weights[weight_slot];
  const Weight& w = plan_.weights[i];
  ref::expert_linear({.dtype = w.dtype,
                      .weights = weights_[i].bytes.data(),
                      .bias = vector(op, bias_slot),
                      .experts = experts_.data(),
                      .x = x,
                      .out = out,
                      .n_rows = w.rows_of_expert(),
                      .n_cols = w.n_cols,
                      .m = m,
                      .n_used = plan_.spec.moe.n_used,
                      .x_of_expert = x == a_.expert_gate});
}

void ReferenceBackend::moe_in(const Op& op, int64_t m) {
  const MoeSpec& moe = plan_.spec.moe;
  expert_linear(op, slot::gate, slot::gate_bias, a_.normed, a_.expert_gate, m);
  expert_linear(op, slot::up, slot::up_bias, a_.normed, a_.expert_up, m);
  activation_of(plan_.spec)(a_.expert_gate, a_.expert_up, moe.d_ff_expert, moe.d_ff_expert, 0, m * moe.n_used);
  if (moe.d_ff_shared == 0) return;
  linear(op, slot::shared_gate, op.weights.size(), a_.normed, m, {a_.gate, moe.d_ff_shared});
  linear(op, slot::shared_up, op.weights.size(), a_.normed, m, {a_.up, moe.d_ff_shared});
  activation_of(plan_.spec)(a_.gate, a_.up, moe.d_ff_shared, moe.d_ff_shared, 0, m);
}

void ReferenceBackend::moe_out(const Op& op, int64_t m) {
  const MoeSpec& moe = plan_.spec.moe;
  const int64_t d = plan_.spec.d_model;
  expert_linear(op, slot::projection, slot::bias, a_.expert_gate, a_.expert_out, m);
  if (moe.d_ff_shared > 0) linear(op, slot::shared_projection, op.weights.size(), a_.gate, m, {a_.shared_out, d});
  ref::add_experts({.values = a_.expert_out,
                    .weights = a_.expert_weights,
                    .shared = moe.d_ff_shared > 0 ? a_.shared_out : nullptr,
                    .shared_weights = a_.shared_weights,
                    .out = a_.hidden,
                    .n = d,
                    .m = m,
                    .n_used = moe.n_used});
}

void ReferenceBackend::head(const Op& op, const StepBatch& batch) {
  for (const LogitRow& row : batch.logit_rows) head_of_row(op, row.token, logits_.row(row.slot).data());
}

void ReferenceBackend::head_of_row(const Op& op, int64_t row, float* logits) {
  const ModelSpec& s = plan_.spec;
  norm(op, slot::norm, a_.hidden + row * s.d_model, a_.head_rows, 1, s.d_model, s.d_model);
  linear(op, slot::head, op.weights.size(), a_.head_rows, 1, {logits, s.n_vocab});
  ref::soft_cap(logits, s.n_vocab, s.logit_scale, s.logit_softcap);
}

Status ReferenceBackend::row_logits(int32_t first_row, std::span<float> out) {
  const auto n_vocab = static_cast<size_t>(plan_.spec.n_vocab);
  for (size_t i = 0; i < out.size() / n_vocab; ++i)
    head_of_row(plan_.head_op(), first_row + static_cast<int64_t>(i), out.data() + i * n_vocab);
  return {};
}

Result<Tap> ReferenceBackend::observe(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  const auto m = static_cast<int64_t>(batch.tokens.size());
  switch (op.kind) {
    case OpKind::attn_in: return Tap{0, nullptr, "qkv", a_.qkv, m, d_qkv()};
    case OpKind::attention: return Tap{0, nullptr, "heads", a_.heads, m, s.d_q()};
    case OpKind::ffn_in: return Tap{0, nullptr, "ffn", a_.gate, m, s.d_ff};
    case OpKind::moe_route: return Tap{0, nullptr, "router", a_.router_logits, m, s.moe.n_experts};
    case OpKind::moe_in: return Tap{0, nullptr, "experts", a_.expert_gate, m, int64_t{s.moe.n_used} * s.moe.d_ff_expert};
    case OpKind::head:
      if (batch.logit_rows.empty()) return Tap{};
      return Tap{0, nullptr, "logits", logits_.row(batch.logit_rows[0].slot).data(), 1, s.n_vocab};
    case OpKind::sample: return Tap{};
    default: return Tap{0, nullptr, "hidden", a_.hidden, m, s.d_model};
  }
}

}  // namespace

MemoryNeeds reference_memory_needs(const Plan& plan, const BackendConfig& config) {
  MemoryNeeds needs;
  for (const Weight& w : plan.weights) needs.weights += w.n_rows == 1 ? static_cast<uint64_t>(w.n_cols) * 4 : w.n_bytes();
  needs.kv = kv_memory_of(plan, config).bytes();
  needs.workspace = HostActivations::bytes(plan.spec, config) + LogitSlots::bytes(plan.spec.n_vocab, config.n_logit_slots);
  return needs;
}

Result<std::unique_ptr<Backend>> make_reference_backend(Plan plan, WeightReader& reader, const BackendConfig& config,
                                                        const LoadProgress& progress) {
  INLAY_ASSIGN(HostActivations activations, HostActivations::allocate(plan.spec, config));
  INLAY_ASSIGN(LogitSlots logits, LogitSlots::allocate(plan.spec.n_vocab, config.n_logit_slots));
  INLAY_ASSIGN(HostBuffer kv, HostBuffer::allocate(reference_memory_needs(plan, config).kv, "KV cache"));
  auto backend = std::make_unique<ReferenceBackend>(std::move(plan), config, std::move(activations), std::move(logits), std::move(kv));
  INLAY_TRY(backend->load_weights(reader, progress));
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace inlay
