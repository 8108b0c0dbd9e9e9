// What Hugging Face folders call the sizes and tensors of a family, as data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace inlay {

struct HfTensorName {
  const char* gguf;  // without ".weight" or ".bias"; of a layer: what stands behind "blk.<layer>."
  const char* hf;    // of a layer: what stands behind "layers.<layer>."
};

enum class HfNumber : uint8_t {
  size,          // an integer of at least 1
  positive,      // a finite number above 0
  inverse_root,  // likewise, of which GGUF has 1 / sqrt
  cap,           // likewise; null is 0: none
  flag,          // true or false; fallback 0: false
};

struct HfKey {
  const char* hf;    // in config.json
  const char* gguf;  // behind "<arch>."
  HfNumber kind;
  double fallback = 0;    // where config.json has none or null; 0: none
  bool required = false;  // without a fallback and not required: GGUF's default is this family's too
};

// Which layers see a window of the past, where config.json has no layer_types.
struct HfWindows {
  bool possible = false;     // otherwise sliding_window means nothing
  bool by_default = true;    // where config.json has no use_sliding_window
  int32_t fallback = 0;      // sliding_window likewise; 0: none
  int32_t period = 1;        // sliding_window_pattern likewise: the last of every so many layers sees all; 1: none does
  int32_t first_layer = -1;  // max_window_layers likewise, from where on layers have one; -1: there is no such key
};

// Which matrices have biases in transformers, which leaves out other tensors of such names and takes missing ones as zeros.
struct HfBias {
  const char* key = nullptr;  // of config.json, which says it; null: no key does
  bool value = false;         // where config.json has none
};
constexpr HfBias kAttentionBias = {.key = "attention_bias"}, kMlpBias = {.key = "mlp_bias"};

struct HfFamily {
  const char* model_type;            // in config.json
  const char* arch;                  // general.architecture of such models in GGUF files
  bool tied_by_default = false;      // tie_word_embeddings where config.json does not say
  int32_t default_head = 0;          // head_dim likewise; 0: width / heads
  double default_base = 10000;       // rope_theta likewise
  double local_base = 0;             // rope_local_base_freq likewise; 0: layers with a window have no RoPE of their own
  const char* activation = "silu";   // hidden_act, or hidden_activation, likewise; no other is supported
  float added_to_norms = 0;          // FileConventions
  bool layers_without_rope = false;  // as no_rope_layers or no_rope_layer_interval says
  bool can_see_later = false;        // use_bidirectional_attention is read by transformers' class, not by a folder's own code alone
  HfWindows windows = {};
  // Of models of text and pictures: config.json is of this model_type and has the family's in text_config. Their other
  // parts' tensors are left alone.
  const char* inside = nullptr;
  HfBias qkv_bias = {}, output_bias = {}, mlp_bias = {};  // output: of the attention; mlp: not of experts
  bool has_experts = false;
  bool experts_transposed = false;  // hf_experts.h
  std::span<const HfTensorName> model_tensors, layer_tensors, more_layer_tensors = {};
  std::span<const HfKey> keys, more_keys = {};  // a key of both is read as the latter says
};

std::span<const HfFamily> hf_families();
const HfFamily* find_hf_family(std::string_view model_type);  // null if unknown
const HfFamily* find_hf_family_inside(std::string_view model_type);
std::string known_hf_families();  // their model_types, in messages

// The tensor that GGUF calls `gguf`, as files of the family call it. `prefix` stands before all but the output matrix,
// "model." in most. A name that the family does not know stays.
std::string hf_tensor_name(const HfFamily& family, std::string_view prefix, std::string_view gguf);

}  // namespace inlay
