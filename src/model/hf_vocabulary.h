// The tokenizer files of a Hugging Face folder as the keys tokenizer.* of a GGUF file.
#pragma once

#include <string>
#include <vector>

#include "src/formats/metadata_builder.h"

namespace inlay {

// The chat templates of chat_template.jinja and additional_chat_templates/NAME.jinja; where the former is not there, also those
// of the first of tokenizer_config.json, chat_template.json and processor_config.json that has one.
Status add_hf_templates(const std::string& folder, MetadataBuilder& metadata);

// Adds the special tokens that config.json, generation_config.json and tokenizer_config.json name, and the tokens and
// merges of tokenizer.json, padded to the `n_vocab` rows of the model. Gives back what GGUF's own keys cannot say of the
// tokenizer, for a warning. The files themselves are added, too, for us to read instead: tokenizer.huggingface.json, of
// GGUF's specification, and tokenizer.inlay.config. BPE over characters is "llama" with scores, Unigram
// "t5", WordPiece "bert".
// A tokenizer whose kind or splitter has no name in GGUF is "none" to other programs.
Result<std::vector<std::string>> add_hf_vocabulary(const std::string& folder, uint64_t n_vocab, MetadataBuilder& metadata);

// The text of tokenizer_config.json, "" if there is none. Where it has no added_tokens_decoder, which older files lack, the tokens that
// special_tokens_map.json names are in it, as transformers has them then.
Result<std::string> read_hf_tokenizer_config(const std::string& folder);

// Ids under a key of generation_config.json, else of config.json, else of its text_config: a number or several, as they are written. They need not be
// those of tokens: -1 is a way to say none.
struct HfConfiguredIds {
  std::vector<int64_t> ids;
  std::string where;  // for messages
};
// Tokens that end generation.
Result<HfConfiguredIds> read_hf_end_ids(const std::string& folder);

}  // namespace inlay
