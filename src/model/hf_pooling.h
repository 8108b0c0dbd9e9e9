// How a Hugging Face folder says that an embedding is made of the tokens' states: the pooling of sentence-transformers.
#pragma once

#include <span>
#include <string>

#include "src/formats/metadata_builder.h"

namespace inlay {

struct HfPoolingMode {
  const char* name;  // in "pooling_mode", since sentence-transformers 5.4
  const char* flag;  // the key of its own that it had before
  uint32_t stored;   // in GGUF's <arch>.pooling_type; 0: not supported
};
std::span<const HfPoolingMode> hf_pooling_modes();

// <arch>.pooling_type, if the folder has a pooling file. 0 stands for a mode, or several, that is not supported.
Status add_hf_pooling(const std::string& folder, const std::string& arch, MetadataBuilder& metadata);

}  // namespace inlay
