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

enum class HfNumber : uint8_t { size, positive };  // an integer of at least 1; a finite number above 0

struct HfKey {
  const char* hf;    // in config.json
  const char* gguf;  // behind "<arch>."
  HfNumber kind;
  double fallback = 0;    // where config.json has none or null; 0: none
  bool required = false;  // without a fallback and not required: GGUF's default is this family's too
};

struct HfFamily {
  const char* model_type;           // in config.json
  const char* arch;                 // general.architecture of such models in GGUF files
  bool tied_by_default = false;     // tie_word_embeddings where config.json does not say
  bool windows_by_default = false;  // use_sliding_window likewise
  int32_t default_head = 0;         // head_dim likewise; 0: width / heads
  std::span<const HfTensorName> model_tensors, layer_tensors;
  std::span<const HfKey> keys;
};

const HfFamily* find_hf_family(std::string_view model_type);  // null if unknown
std::string known_hf_families();                              // their model_types, in messages

// The tensor that GGUF calls `gguf`, as files of the family call it. `prefix` stands before all but the output matrix,
// "model." in most. A name that the family does not know stays.
std::string hf_tensor_name(const HfFamily& family, std::string_view prefix, std::string_view gguf);

}  // namespace inlay
