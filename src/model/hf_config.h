// The config.json of a Hugging Face folder as the metadata that a GGUF file of the same model has.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/formats/json.h"
#include "src/formats/metadata_builder.h"
#include "src/model/hf_family.h"
#include "src/model/hf_quantization.h"

namespace inlay {

// Of the matrices of layers that GGUF calls `stems`.
struct HfBiasChoice {
  std::span<const char* const> stems;
  const char* key = nullptr;  // of config.json; null: the family says it
  bool value = false, given = false;
};

struct HfConfig {
  const HfFamily* family = nullptr;
  MetadataBuilder metadata;
  bool has_pictures = false;  // the family is the text's part of a larger model
  uint64_t n_vocab = 0;
  bool tied_embeddings = false;
  std::vector<std::string> warnings;  // of keys that may change results and are not read
  HfQuantization quantization;
  std::vector<HfBiasChoice> biases;
  // GGUF has these as tensors: name and values.
  std::vector<std::pair<std::string, std::vector<float>>> rope_factors;
};

// Keys of config.json that are read beside those of the families' tables.
std::span<const std::string_view> hf_config_keys();

// `config`: the whole of config.json. `name`: what the model is called.
Result<HfConfig> read_hf_config(const JsonValue& config, const std::string& name);

}  // namespace inlay
