// What a model is, independent of file formats and devices: its sizes and the choices of its family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/common/activation.h"

namespace inlay {

enum class RopeScalingKind : uint8_t { none, linear, yarn, longrope };

struct RopeSpec {
  int32_t n_rot = 0;      // rotated dimensions of each head, even
  double base = 10000.0;  // theta
  RopeScalingKind scaling = RopeScalingKind::none;
  double factor = 1.0;            // context extension
  int32_t original_context = 0;   // YaRN, LongRoPE: the context trained on before extension
  double attention_factor = 1.0;  // YaRN: extra magnitude; LongRoPE: the magnitude
  double beta_fast = 32.0;        // YaRN: rotations above which a dimension is not interpolated
  double beta_slow = 1.0;
  bool truncate = true;  // YaRN: the ramp begins and ends at whole dimensions
  std::vector<float> frequency_factors;  // (n_rot / 2), divides each frequency (Llama 3's scaling); empty if none
  // LongRoPE has two sets instead, (n_rot / 2) each: for contexts up to original_context, and for longer ones.
  std::vector<float> short_factors, long_factors;
};

enum class QkNorm : uint8_t { none, head, width };  // RMS norm of each head; one of all heads of Q, one of all of K

// How the queries of one layer see the keys.
struct LayerAttention {
  int32_t window = 0;  // a query at p sees the keys p - window + 1 to p, both ways also those to p + window - 1; 0: no bound
  int8_t rope = 0;     // index into ModelSpec::ropes; -1: none
};

enum class Gating : uint8_t { softmax_then_top, top_then_softmax };

// Mixture of experts: a router chooses n_used of n_experts feed-forward networks for every row.
struct MoeSpec {
  int32_t n_experts = 0, n_used = 0;          // n_experts 0: a dense model
  int32_t d_ff_expert = 0, d_ff_shared = 0;   // d_ff_shared 0: no expert that every row goes through
  Gating gating = Gating::softmax_then_top;
  bool normalize_weights = false;             // the chosen weights are divided by their sum
  float weights_scale = 1.0f;                 // and multiplied by this
  bool router_bias = false, expert_bias = false;
  bool shared_gate = false;                   // the shared expert's result times sigmoid of a learned projection
  // The softmax of the largest logits is that of all, divided by the sum of theirs.
  bool softmax_over_chosen() const { return normalize_weights || gating == Gating::top_then_softmax; }
  std::vector<uint8_t> layers;                // (n_layers) 1: of experts, 0: dense
};

struct ModelSpec {
  std::string arch;  // as general.architecture names it
  std::string name;
  int32_t n_layers = 0, d_model = 0, n_heads = 0, n_kv_heads = 0, d_head = 0, d_ff = 0, n_vocab = 0;
  int32_t n_context_train = 0;
  float norm_epsilon = 0;
  std::vector<RopeSpec> ropes;         // one or several, which rotate equally many dimensions
  std::vector<LayerAttention> layers;  // (n_layers)
  Activation activation = Activation::silu;
  bool input_norms = true;   // RMS norm of what attn_in and ffn_in read
  bool post_norms = false;   // RMS norm of what attn_out and ffn_out add to the residual stream
  bool causal = true;        // false: tokens see those behind them, too, up to the text's end; it writes nothing
  bool qkv_bias = false, output_bias = false;  // of the attention
  bool mlp_bias = false;                       // of gate, up and down
  QkNorm qk_norm = QkNorm::none;
  float attention_scale = 0;  // of scores; 0: 1 / sqrt(d_head), which loader and plan have in its place
  float attn_softcap = 0;     // scores, scaled, become cap * tanh(score / cap); 0: they stay
  float logit_softcap = 0;    // logits likewise
  float embedding_scale = 1;  // multiplies the embeddings
  float residual_scale = 1;   // multiplies what attn_out and ffn_out add, after the post norm
  float logit_scale = 1;      // multiplies the logits, before the cap
  bool attn_sinks = false;    // a learned number of each head joins the sum that softmax divides by, as if exp of a score
  bool tied_embeddings = false;  // lm_head is the token embedding
  MoeSpec moe;

  int64_t d_q() const { return int64_t{n_heads} * d_head; }
  int64_t d_kv() const { return int64_t{n_kv_heads} * d_head; }
  int32_t n_rot() const { return ropes.empty() ? 0 : ropes[0].n_rot; }
  // The widest of the values between the matrices of a feed-forward network that every row goes through.
  int32_t widest_ffn() const {
    bool dense = moe.n_experts == 0;
    for (const uint8_t experts : moe.layers) dense = dense || experts == 0;
    return dense && d_ff > moe.d_ff_shared ? d_ff : moe.d_ff_shared;
  }
  bool has_experts(int32_t layer) const { return moe.n_experts > 0 && moe.layers[static_cast<size_t>(layer)] != 0; }
};

// Angle per position of each rotated pair, scaling applied, and what cosine and sine are multiplied by.
// RoPE: Su et al. 2021. YaRN: Peng et al. 2023, as NTK-by-parts with a linear ramp between beta_fast and beta_slow.
struct RopeTable {
  std::vector<float> inv_freq;  // (n_rot / 2)
  float magnitude = 1.0f;
};

// n_context: the longest sequence that will be run. It chooses between the two sets of LongRoPE's factors.
RopeTable make_rope_table(const RopeSpec& rope, int32_t n_context);

}  // namespace inlay
