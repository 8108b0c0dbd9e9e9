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

constexpr HfFamily kFamilies[] = {
    {.model_type = "llama",
     .arch = "llama",
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
    {.model_type = "mistral",
     .arch = "llama",
     .windows_by_default = true,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
    {.model_type = "qwen2",
     .arch = "qwen2",
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
    {.model_type = "qwen3",
     .arch = "qwen3",
     .default_head = 128,
     .model_tensors = kModelTensors,
     .layer_tensors = kDecoderLayer,
     .keys = kDecoderKeys},
};

constexpr std::string_view kLayerPrefix = "blk.", kOutput = "output";

}  // namespace

const HfFamily* find_hf_family(std::string_view model_type) {
  for (const HfFamily& family : kFamilies) {
    if (model_type == family.model_type) return &family;
  }
  return nullptr;
}

std::string known_hf_families() {
  std::string names;
  for (const HfFamily& family : kFamilies) names += (names.empty() ? "" : ", ") + std::string(family.model_type);
  return names;
}

std::string hf_tensor_name(const HfFamily& family, std::string_view prefix, std::string_view gguf) {
  std::string_view rest = gguf;
  std::string before(prefix);
  std::span<const HfTensorName> names = family.model_tensors;
  if (gguf.starts_with(kLayerPrefix)) {
    const size_t dot = gguf.find('.', kLayerPrefix.size());
    if (dot == gguf.npos) return std::string(gguf);
    before += "layers." + std::string(gguf.substr(kLayerPrefix.size(), dot + 1 - kLayerPrefix.size()));
    rest = gguf.substr(dot + 1);
    names = family.layer_tensors;
  }
  const size_t suffix = rest.rfind('.');
  const std::string_view stem = rest.substr(0, suffix);
  for (const HfTensorName& name : names) {
    if (stem != name.gguf) continue;
    if (stem == kOutput) before.clear();
    return before + name.hf + std::string(suffix == rest.npos ? "" : rest.substr(suffix));
  }
  return std::string(gguf);
}

}  // namespace inlay
