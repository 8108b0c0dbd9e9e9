// How a folder of Sentence Transformers makes one vector of a text, as GGUF's key.
#pragma once

#include <string>

#include "src/formats/metadata_builder.h"

namespace inlay {

// Reads 1_Pooling/config.json, if it is there, into ARCH.pooling_type: 1 mean, 2 first token, 3 last token, 0 anything
// else.
Status add_hf_pooling(const std::string& folder, const std::string& arch, MetadataBuilder& metadata);

}  // namespace inlay
