#include "src/engine/fingerprint.h"

#include "src/base/hash.h"

namespace inlay {
namespace {

constexpr size_t kMostRows = 64;

void add_text(Hash64& hash, const std::string& text) {
  hash.add_value(text.size());
  hash.add(std::as_bytes(std::span(text)));
}

void add_spec(Hash64& hash, const Plan& plan) {
  const ModelSpec& s = plan.spec;
  add_text(hash, s.arch);
  for (const int32_t size : {s.n_layers, s.d_model, s.n_heads, s.n_kv_heads, s.d_head, s.d_ff, s.n_vocab}) hash.add_value(size);
  for (const float number : {s.norm_epsilon, s.attention_scale, s.attn_softcap, s.logit_softcap, s.embedding_scale, s.residual_scale, s.logit_scale})
    hash.add_value(number);
  for (const bool is_so : {s.input_norms, s.post_norms, s.attn_sinks}) hash.add_value(is_so);
  hash.add_value(s.activation);
  hash.add_value(s.qk_norm);
  for (const LayerAttention& layer : s.layers) {
    hash.add_value(layer.window);
    hash.add_value(layer.rope);
  }
  for (const RopeTable& rope : plan.ropes) {  // as the context's length has chosen it
    hash.add(std::as_bytes(std::span(rope.inv_freq)));
    hash.add_value(rope.magnitude);
  }
  const MoeSpec& moe = s.moe;
  for (const int32_t size : {moe.n_experts, moe.n_used, moe.d_ff_expert, moe.d_ff_shared}) hash.add_value(size);
  hash.add_value(moe.gating);
  for (const bool is_so : {moe.normalize_weights, moe.router_bias, moe.expert_bias, moe.shared_gate}) hash.add_value(is_so);
  hash.add_value(moe.weights_scale);
  hash.add(std::as_bytes(std::span(moe.layers)));
}

// The row in its middle, of a vector all of it.
Status add_row(Hash64& hash, const Weight& weight, const WeightReader& reader, ReadScratch& scratch) {
  Weight stored = weight;
  stored.dtype = stored.file_dtype;
  const uint64_t n_bytes = row_bytes(stored.dtype, static_cast<uint64_t>(stored.n_cols));
  std::vector<std::byte> row(static_cast<size_t>(n_bytes));
  INLAY_TRY(reader.read_range(stored, n_bytes * static_cast<uint64_t>(stored.n_rows / 2), row, scratch));
  hash.add(row);
  return {};
}

}  // namespace

Result<uint64_t> fingerprint_of(const Plan& plan, const WeightReader& reader) {
  Hash64 hash;
  add_spec(hash, plan);
  ReadScratch scratch;
  const size_t n = plan.weights.size();
  for (size_t i = 0; i < n; ++i) {
    const Weight& weight = plan.weights[i];
    add_text(hash, weight.name);
    hash.add_value(weight.dtype);
    hash.add_value(weight.n_rows);
    hash.add_value(weight.n_cols);
    const bool is_read = n <= kMostRows || (i * kMostRows) / n != ((i + 1) * kMostRows) / n;
    if (is_read) INLAY_TRY(add_row(hash, weight, reader, scratch));
  }
  return hash.value();
}

}  // namespace inlay
