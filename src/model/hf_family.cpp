#include "src/model/hf_family.h"

namespace inlay {
namespace {

constexpr HfTensorName kModelTensors[] = {
    {"token_embd", "embed_tokens"},
    {"output_norm", "norm"},
    {"output", "lm_head"},
};

constexpr HfTensorName kDecoderLayer[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_q_norm", "self_attn.q_norm"}, {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};

// Norms of what attention and feed-forward add, beside those of what they read.
constexpr HfTensorName kFourNormLayer[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"attn_output", "self_attn.o_proj"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};

constexpr HfTensorName kFusedLayer[] = {
    {"attn_norm", "input_layernorm"},         {"attn_qkv", "self_attn.qkv_proj"}, {"attn_output", "self_attn.o_proj"},
    {"ffn_norm", "post_attention_layernorm"}, {"ffn_up", "mlp.gate_up_proj"},     {"ffn_down", "mlp.down_proj"},
};

constexpr HfTensorName kExperts[] = {
    {"ffn_gate_inp", "mlp.gate"},
    {"ffn_gate_exps", "mlp.experts.gate_proj"},
    {"ffn_up_exps", "mlp.experts.up_proj"},
    {"ffn_down_exps", "mlp.experts.down_proj"},
    {"ffn_gate_inp_shexp", "mlp.shared_expert_gate"},
    {"ffn_gate_shexp", "mlp.shared_expert.gate_proj"},
    {"ffn_up_shexp", "mlp.shared_expert.up_proj"},
    {"ffn_down_shexp", "mlp.shared_expert.down_proj"},
};

constexpr HfTensorName kMixtralExperts[] = {
    {"ffn_gate_inp", "block_sparse_moe.gate"},
    {"ffn_gate_exps", "block_sparse_moe.experts.w1"},
    {"ffn_up_exps", "block_sparse_moe.experts.w3"},
    {"ffn_down_exps", "block_sparse_moe.experts.w2"},
};

constexpr HfTensorName kGptOssLayer[] = {
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_sinks", "self_attn.sinks"},
    {"attn_output", "self_attn.o_proj"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_gate_inp", "mlp.router"},
    {"ffn_gate_exps", "mlp.experts.gate_proj"},
    {"ffn_up_exps", "mlp.experts.up_proj"},
    {"ffn_down_exps", "mlp.experts.down_proj"},
};

constexpr HfKey kMixtralKeys[] = {
    {.hf = "rms_norm_eps", .gguf = "attention.layer_norm_rms_epsilon", .kind = HfNumber::positive, .fallback = 1e-5},
    {.hf = "num_local_experts", .gguf = "expert_count", .kind = HfNumber::size, .required = true},
    {.hf = "num_experts_per_tok", .gguf = "expert_used_count", .kind = HfNumber::size, .required = true},
};

constexpr HfKey kQwen3MoeKeys[] = {
    {.hf = "num_experts", .gguf = "expert_count", .kind = HfNumber::size, .required = true},
    {.hf = "num_experts_per_tok", .gguf = "expert_used_count", .kind = HfNumber::size, .required = true},
    {.hf = "moe_intermediate_size", .gguf = "expert_feed_forward_length", .kind = HfNumber::size, .required = true},
    {.hf = "norm_topk_prob", .gguf = "expert_weights_norm", .kind = HfNumber::flag},
};

constexpr HfKey kQwen2MoeKeys[] = {
    {.hf = "num_experts", .gguf = "expert_count", .kind = HfNumber::size, .required = true},
    {.hf = "num_experts_per_tok", .gguf = "expert_used_count", .kind = HfNumber::size, .required = true},
    {.hf = "moe_intermediate_size", .gguf = "expert_feed_forward_length", .kind = HfNumber::size, .required = true},
    {.hf = "shared_expert_intermediate_size",
     .gguf = "expert_shared_feed_forward_length",
     .kind = HfNumber::size,
     .required = true},
    {.hf = "norm_topk_prob", .gguf = "expert_weights_norm", .kind = HfNumber::flag},
};

constexpr HfKey kDecoderKeys[] = {
    {.hf = "num_hidden_layers", .gguf = "block_count", .kind = HfNumber::size, .required = true},
    {.hf = "max_position_embeddings", .gguf = "context_length", .kind = HfNumber::size, .required = true},
    {.hf = "hidden_size", .gguf = "embedding_length", .kind = HfNumber::size, .required = true},
    {.hf = "intermediate_size", .gguf = "feed_forward_length", .kind = HfNumber::size, .required = true},
    {.hf = "num_attention_heads", .gguf = "attention.head_count", .kind = HfNumber::size, .required = true},
    {.hf = "num_key_value_heads", .gguf = "attention.head_count_kv", .kind = HfNumber::size},
    {.hf = "rms_norm_eps", .gguf = "attention.layer_norm_rms_epsilon", .kind = HfNumber::positive, .fallback = 1e-6},
    {.hf = "vocab_size", .gguf = "vocab_size", .kind = HfNumber::size, .required = true},
};

constexpr HfKey kGemma2Keys[] = {
    {.hf = "query_pre_attn_scalar", .gguf = "attention.scale", .kind = HfNumber::inverse_root, .fallback = 256},
    {.hf = "attn_logit_softcapping", .gguf = "attn_logit_softcapping", .kind = HfNumber::cap, .fallback = 50},
    {.hf = "final_logit_softcapping", .gguf = "final_logit_softcapping", .kind = HfNumber::cap, .fallback = 30},
};

// Folders of Gemma 3 leave out what its 4B model has.
constexpr HfKey kGemma3Keys[] = {
    {.hf = "num_attention_heads", .gguf = "attention.head_count", .kind = HfNumber::size, .fallback = 8},
    {.hf = "num_key_value_heads", .gguf = "attention.head_count_kv", .kind = HfNumber::size, .fallback = 4},
    {.hf = "max_position_embeddings", .gguf = "context_length", .kind = HfNumber::size, .fallback = 131072},
    {.hf = "vocab_size", .gguf = "vocab_size", .kind = HfNumber::size, .fallback = 262208},
    {.hf = "query_pre_attn_scalar", .gguf = "attention.scale", .kind = HfNumber::inverse_root, .fallback = 256},
    {.hf = "attn_logit_softcapping", .gguf = "attn_logit_softcapping", .kind = HfNumber::cap},
    {.hf = "final_logit_softcapping", .gguf = "final_logit_softcapping", .kind = HfNumber::cap},
};

constexpr HfKey kGraniteKeys[] = {
    {.hf = "embedding_multiplier", .gguf = "embedding_scale", .kind = HfNumber::positive, .fallback = 1},
    {.hf = "residual_multiplier", .gguf = "residual_scale", .kind = HfNumber::positive, .fallback = 1},
    {.hf = "attention_multiplier", .gguf = "attention.scale", .kind = HfNumber::positive, .fallback = 1},
    {.hf = "logits_scaling", .gguf = "logit_scale", .kind = HfNumber::positive, .fallback = 1},
};

constexpr HfKey kLargerEpsilon[] = {
    {.hf = "rms_norm_eps", .gguf = "attention.layer_norm_rms_epsilon", .kind = HfNumber::positive, .fallback = 1e-5},
};

constexpr HfFamily kFamilies[] = {
    {.model_type = "gemma2",
     .arch = "gemma2",
     .tied_by_default = true,
     .default_head = 256,
     .activation = "gelu_pytorch_tanh",
     .added_to_norms = 1,
     .windows = {.possible = true, .fallback = 4096, .period = 2},
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kFourNormLayer,
     .keys = kDecoderKeys,
     .more_keys = kGemma2Keys},
    {.model_type = "gemma3_text",
     .arch = "gemma3",
     .tied_by_default = true,
     .default_head = 256,
     .default_base = 1e6,
     .local_base = 1e4,
     .activation = "gelu_pytorch_tanh",
     .added_to_norms = 1,
     .can_see_later = true,
     .windows = {.possible = true, .fallback = 4096, .period = 6},
     .inside = "gemma3",
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kFourNormLayer,
     .keys = kDecoderKeys,
     .more_keys = kGemma3Keys},
    {.model_type = "gpt_oss",
     .arch = "gpt-oss",
     .default_head = 64,
     .default_base = 150000,
     .windows = {.possible = true, .fallback = 128, .period = 2},
     .qkv_bias = {.key = "attention_bias", .value = true},
     .output_bias = {.key = "attention_bias", .value = true},
     .has_experts = true,
     .experts_transposed = true,
     .model_tensors = kModelTensors,
     .layer_tensors = kGptOssLayer,
     .keys = kDecoderKeys,
     .more_keys = kMixtralKeys},
    {.model_type = "granite",
     .arch = "granite",
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .mlp_bias = kMlpBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys,
     .more_keys = kGraniteKeys},
    {.model_type = "llama",
     .arch = "llama",
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .mlp_bias = kMlpBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
    {.model_type = "mistral",
     .arch = "llama",
     .windows = {.possible = true},
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
    {.model_type = "mixtral",
     .arch = "llama",
     .default_base = 1e6,
     .windows = {.possible = true},
     .has_experts = true,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .more_layer_tensors = kMixtralExperts,
     .keys = kDecoderKeys,
     .more_keys = kMixtralKeys},
    {.model_type = "olmo2",
     .arch = "olmo2",
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kFourNormLayer,
     .keys = kDecoderKeys,
     .more_keys = kLargerEpsilon},
    {.model_type = "olmo3",
     .arch = "olmo2",
     .windows = {.possible = true, .fallback = 4096, .period = 4},
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kFourNormLayer,
     .keys = kDecoderKeys,
     .more_keys = kLargerEpsilon},
    {.model_type = "phi3",
     .arch = "phi3",
     .windows = {.possible = true},
     .model_tensors = kModelTensors,
     .layer_tensors = kFusedLayer,
     .keys = kDecoderKeys,
     .more_keys = kLargerEpsilon},
    {.model_type = "qwen2",
     .arch = "qwen2",
     .windows = {.possible = true, .by_default = false, .first_layer = 28},
     .qkv_bias = {.value = true},
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
    {.model_type = "qwen2_moe",
     .arch = "qwen2moe",
     .windows = {.possible = true, .by_default = false, .first_layer = 28},
     .qkv_bias = {.key = "qkv_bias", .value = true},
     .has_experts = true,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .more_layer_tensors = kExperts,
     .keys = kDecoderKeys,
     .more_keys = kQwen2MoeKeys},
    {.model_type = "qwen3_moe",
     .arch = "qwen3moe",
     .windows = {.possible = true, .by_default = false},
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .has_experts = true,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .more_layer_tensors = kExperts,
     .keys = kDecoderKeys,
     .more_keys = kQwen3MoeKeys},
    {.model_type = "qwen3",
     .arch = "qwen3",
     .default_head = 128,
     .windows = {.possible = true, .by_default = false, .first_layer = 28},
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
    {.model_type = "smollm3",
     .arch = "smollm3",
     .tied_by_default = true,
     .default_base = 2e6,
     .layers_without_rope = true,
     .windows = {.possible = true, .by_default = false},
     .qkv_bias = kAttentionBias,
     .output_bias = kAttentionBias,
     .mlp_bias = kMlpBias,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
};

constexpr std::string_view kLayerPrefix = "blk.", kOutput = "output";

}  // namespace

std::span<const HfFamily> hf_families() { return kFamilies; }

const HfFamily* find_hf_family(std::string_view model_type) {
  for (const HfFamily& family : kFamilies) {
    if (model_type == family.model_type) return &family;
  }
  return nullptr;
}

const HfFamily* find_hf_family_inside(std::string_view model_type) {
  for (const HfFamily& family : kFamilies) {
    if (family.inside && model_type == family.inside) return &family;
  }
  return nullptr;
}

std::string known_hf_families() {
  std::string names;
  for (const HfFamily& family : kFamilies) {
    names += (names.empty() ? "" : ", ") + std::string(family.model_type);
    if (family.inside) names += std::string(", ") + family.inside;
  }
  return names;
}

std::string hf_tensor_name(const HfFamily& family, std::string_view prefix, std::string_view gguf) {
  std::string_view rest = gguf;
  std::string before(prefix);
  std::span<const HfTensorName> names = family.model_tensors, more;
  if (gguf.starts_with(kLayerPrefix)) {
    const size_t dot = gguf.find('.', kLayerPrefix.size());
    if (dot == gguf.npos) return std::string(gguf);
    before += "layers." + std::string(gguf.substr(kLayerPrefix.size(), dot + 1 - kLayerPrefix.size()));
    rest = gguf.substr(dot + 1);
    names = family.layer_tensors;
    more = family.more_layer_tensors;
  }
  const size_t suffix = rest.rfind('.');
  const std::string_view stem = rest.substr(0, suffix);
  for (const std::span<const HfTensorName> table : {names, more}) {
    for (const HfTensorName& name : table) {
      if (stem != name.gguf) continue;
      if (stem == kOutput) before.clear();
      return before + name.hf + std::string(suffix == rest.npos ? "" : rest.substr(suffix));
    }
  }
  return std::string(gguf);
}

}  // namespace inlay
