// What the two host backends share: intermediates of a step, logit slots, and the sample op.
#pragma once

#include <span>
#include <vector>

#include "src/backend/backend.h"
#include "src/base/alloc.h"
#include "src/sampler/sampler.h"

namespace inlay {

// Intermediates of one step, rows are tokens.
struct HostActivations {
  static Result<HostActivations> allocate(const ModelSpec& spec, const BackendConfig& config);
  static uint64_t bytes(const ModelSpec& spec, const BackendConfig& config);

  HostBuffer storage;
  float* hidden = nullptr;      // (max_step_tokens, d_model) residual stream
  float* normed = nullptr;      // (max_step_tokens, d_model)
  float* qkv = nullptr;         // (max_step_tokens, d_q + 2 d_kv)
  float* heads = nullptr;       // (max_step_tokens, d_q)
  float* gate = nullptr;        // (max_step_tokens, widest_ffn)
  float* up = nullptr;          // (max_step_tokens, widest_ffn)
  // Mixtures of experts; a pair is a token and one of its experts.
  float* router_logits = nullptr;   // (max_step_tokens, n_experts)
  float* expert_weights = nullptr;  // (max_step_tokens, n_used)
  float* shared_weights = nullptr;  // (max_step_tokens) of the shared expert
  float* expert_gate = nullptr;     // (pairs, d_ff_expert)
  float* expert_up = nullptr;       // (pairs, d_ff_expert)
  float* expert_out = nullptr;      // (pairs, d_model)
  float* shared_out = nullptr;      // (max_step_tokens, d_model)
  float* head_rows = nullptr;   // (n_logit_slots, d_model) hidden states whose logits are wanted
  float* logit_rows = nullptr;  // (n_logit_slots, n_vocab) logits of this step, in the order of logit_rows
};

// Logits by slot, and drawing from them.
class LogitSlots {
 public:
  static Result<LogitSlots> allocate(int32_t n_vocab, int32_t n_slots);
  static uint64_t bytes(int32_t n_vocab, int32_t n_slots);

  std::span<float> row(int32_t slot) { return {logits_.as<float>() + int64_t{slot} * n_vocab_, static_cast<size_t>(n_vocab_)}; }
  void duplicate(int32_t from, int32_t to);
  void take_pages() { logits_.take_pages(); }
  Status sample(std::span<const SampleRow> rows, std::span<Draw> draws);

 private:
  explicit LogitSlots(int32_t n_vocab) : n_vocab_(n_vocab), sampler_(n_vocab) {}
  int32_t n_vocab_;
  HostBuffer logits_;
  Sampler sampler_;
};

// Bytes of one KV block in one layer, keys and values together.
uint64_t kv_block_bytes(const ModelSpec& spec, KvDType dtype);

}  // namespace inlay
