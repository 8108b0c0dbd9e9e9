// How a Hugging Face folder says that an embedding is made of the tokens' states: the pooling of sentence-transformers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/formats/json.h"
#include "src/formats/metadata_builder.h"
#include "src/model/known_keys.h"

namespace inlay {

struct HfPoolingMode {
  const char* name;  // in "pooling_mode", since sentence-transformers 5.4
  const char* flag;  // the key of its own that it had before
  uint32_t stored;   // in GGUF's <arch>.pooling_type; 0: it has none
};
std::span<const HfPoolingMode> hf_pooling_modes();  // in the order of the vectors of several flags

// The keys of a Dense module's config.json.
const KnownKeys& known_dense_keys();

// Of the metadata's keys for embeddings, beside <arch>.pooling_type.
inline constexpr std::string_view kHfEmbeddingPrefix = "inlay.embedding.";

// What sentence-transformers' files in the folder say, if there are any. `model`: the family's part of config.json.
// <arch>.pooling_type. Where that has no number for it, it is 0, and inlay.embedding.pooling has the names of the modes, whose vectors stand one behind
// the other; without that key 0 stands for a module that is not supported.
// inlay.embedding.steps: what happens to the pooled vector, in order: "dense", "normalize". Of the dense step i step.<i>.weight (width, values
// before), .bias (width), .width and .activation ("identity", "tanh").
// Likewise .width (the first values that are kept), .max_tokens, .keeps_end (texts lose their beginning where they are cut), .lower_case, .prompt.<name>,
// .default_prompt (a name).
Status add_hf_pooling(const std::string& folder, const std::string& arch, const JsonValue& model, MetadataBuilder& metadata);

}  // namespace inlay
