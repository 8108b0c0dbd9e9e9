// The tokenizer files of a Hugging Face folder as the keys tokenizer.* of a GGUF file.
#pragma once

#include <string>

#include "src/formats/metadata_builder.h"

namespace inlay {

// Adds the special tokens that config.json, generation_config.json and tokenizer_config.json name, the chat templates,
// and the tokens and merges of tokenizer.json, padded to `n_vocab`. UNSUPPORTED, naming the key, where GGUF has no
// equal of the tokenizer. Without tokenizer.json the vocabulary is "no_vocab".
Status add_hf_vocabulary(const std::string& folder, uint64_t n_vocab, MetadataBuilder& metadata);

}  // namespace inlay
