// Model families as data: what distinguishes one from another, in one row each (src/model/arch/<family>.cpp). What a
// file's metadata say comes before what stands here for it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/model/model_spec.h"

namespace inlay {

enum class Presence : uint8_t { never, optional, required };

// Which layers see only a window of the past, where the metadata give its length.
struct WindowRule {
  int32_t period = 1;          // the last of every `period` layers sees all; 1: every layer has the window
  int32_t fallback = 0;        // the window where the metadata have none
  double rope_base = 0;        // of layers with a window where the metadata have none; 0: that of the others
  bool unscaled_rope = false;  // layers with a window do not take the RoPE scaling
  bool can_be_halved = false;  // where attention is both ways, half of the window lies before a token and half behind it; else there is none
};

struct ArchSpec {
  const char* name;  // general.architecture
  // GGUF files of this family store the rows of Q and K so that RoPE turns neighbours (2i, 2i+1); the loader brings
  // them into the order (i, i + n_rot/2) that all kernels use.
  bool interleaved_rope = false;
  Presence qkv_bias = Presence::never;
  Presence output_bias = Presence::never;  // of the attention
  Presence mlp_bias = Presence::never;
  QkNorm qk_norm = QkNorm::none;
  Activation activation = Activation::silu;
  bool input_norms = true, post_norms = false;
  bool fused_gate_up = false;     // ffn_up holds the rows of gate, then those of up
  bool scaled_embedding = false;  // by sqrt(d_model)
  bool multipliers = false;       // embedding_scale, residual_scale and logit_scale (a divisor) may be in the metadata
  float attn_softcap = 0, logit_softcap = 0;  // where the metadata have none
  int32_t wide_scale_layers = 0;              // a model of so many layers scales scores by 1 / sqrt(d_model / n_heads)
  int32_t no_rope_period = 0;                 // the last of every so many layers has no RoPE; 0: all have it
  bool attn_sinks = false;
  bool yarn_truncates = true;                 // RopeSpec::truncate where the metadata do not say
  WindowRule window;
  // Mixtures of experts.
  Presence experts = Presence::never;
  bool normalized_experts = true;         // the chosen weights are divided by their sum, where the file does not say
  bool shared_expert = false;             // with a gate
  bool biased_experts = false;            // the router too; softmax is over the chosen ones
  bool ffn_norm_after_attention = false;  // GGUF's name of ffn_norm is post_attention_norm
};

extern const ArchSpec kGemma2;
extern const ArchSpec kGemma3;
extern const ArchSpec kGptOss;
extern const ArchSpec kGranite;
extern const ArchSpec kLlama;
extern const ArchSpec kOlmo2;
extern const ArchSpec kPhi3;
extern const ArchSpec kQwen2;
extern const ArchSpec kQwen3;
extern const ArchSpec kQwen2Moe;
extern const ArchSpec kQwen3Moe;
extern const ArchSpec kSmollm3;

std::span<const ArchSpec* const> all_archs();
const ArchSpec* find_arch(std::string_view name);  // null if unknown

}  // namespace inlay
