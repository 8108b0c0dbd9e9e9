// Small Hugging Face folders of random weights, on disk.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/safetensors_image.h"

namespace inlay::test {

struct HfTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::string dtype = "F32";
  std::string data = {};  // made from the name if empty
};

inline nlohmann::json small_config(const std::string& model_type) {
  return {{"model_type", model_type},      {"hidden_size", 32},           {"intermediate_size", 48},
          {"num_hidden_layers", 2},        {"num_attention_heads", 2},    {"num_key_value_heads", 1},
          {"max_position_embeddings", 64}, {"rms_norm_eps", 1e-5},        {"vocab_size", 20},
          {"rope_theta", 10000.0},         {"tie_word_embeddings", true}, {"head_dim", 16}};
}

// What tells the tensors of one family from those of another.
struct TensorChoice {
  bool input_norms = true, post_norms = false;
  bool qkv_biases = false, fused = false;
  int64_t n_q_norm = 0, n_k_norm = 0;  // 0: none
};

inline TensorChoice choice_of(const std::string& model_type) {
  if (model_type == "qwen2") return {.qkv_biases = true};
  if (model_type == "qwen3") return {.n_q_norm = 16, .n_k_norm = 16};
  if (model_type == "gemma2") return {.post_norms = true};
  if (model_type == "gemma3_text") return {.post_norms = true, .n_q_norm = 16, .n_k_norm = 16};
  if (model_type == "olmo2" || model_type == "olmo3") {
    return {.input_norms = false, .post_norms = true, .n_q_norm = 32, .n_k_norm = 16};
  }
  if (model_type == "phi3") return {.fused = true};
  return {};
}

// Those of small_config.
inline std::vector<HfTensor> small_tensors(const std::string& model_type) {
  const TensorChoice choice = choice_of(model_type);
  std::vector<HfTensor> out = {{"model.embed_tokens.weight", {20, 32}}, {"model.norm.weight", {32}}};
  for (const int layer : {0, 1}) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const auto add = [&](bool wanted, const char* name, std::vector<int64_t> shape) {
      if (wanted) out.push_back({prefix + name, std::move(shape)});
    };
    add(choice.input_norms, "input_layernorm.weight", {32});
    add(choice.fused, "self_attn.qkv_proj.weight", {64, 32});
    add(!choice.fused, "self_attn.q_proj.weight", {32, 32});
    add(!choice.fused, "self_attn.k_proj.weight", {16, 32});
    add(!choice.fused, "self_attn.v_proj.weight", {16, 32});
    add(choice.qkv_biases, "self_attn.q_proj.bias", {32});
    add(choice.qkv_biases, "self_attn.k_proj.bias", {16});
    add(choice.qkv_biases, "self_attn.v_proj.bias", {16});
    add(choice.n_q_norm > 0, "self_attn.q_norm.weight", {choice.n_q_norm});
    add(choice.n_k_norm > 0, "self_attn.k_norm.weight", {choice.n_k_norm});
    add(true, "self_attn.o_proj.weight", {32, 32});
    add(choice.input_norms || choice.post_norms, "post_attention_layernorm.weight", {32});
    add(choice.input_norms && choice.post_norms, "pre_feedforward_layernorm.weight", {32});
    add(choice.fused, "mlp.gate_up_proj.weight", {96, 32});
    add(!choice.fused, "mlp.gate_proj.weight", {48, 32});
    add(!choice.fused, "mlp.up_proj.weight", {48, 32});
    add(true, "mlp.down_proj.weight", {32, 48});
    add(choice.post_norms, "post_feedforward_layernorm.weight", {32});
  }
  return out;
}

inline std::string random_floats(const std::string& seed, const std::vector<int64_t>& shape) {
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>()(seed)));
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    const float value = static_cast<float>(random() % 4096) / 8192.0f - 0.25f;
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return out;
}

inline std::string safetensors_of(const std::vector<HfTensor>& tensors) {
  testing::SafetensorsImage image;
  for (const HfTensor& t : tensors) {
    image.tensor(t.name, t.dtype, t.shape, t.data.empty() ? random_floats(t.name, t.shape) : t.data);
  }
  return image.build();
}

}  // namespace inlay::test
