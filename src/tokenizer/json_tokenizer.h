// Tokenizers of Hugging Face's files: tokenizer.json says how text becomes tokens and back, tokenizer_config.json which
// of them begin and end a text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/tokenizer/tokenizer.h"

namespace inlay {

struct TokenizerFiles {
  std::string tokenizer;                // the text of tokenizer.json
  std::string config;                   // of tokenizer_config.json; empty if there is none
  std::vector<int64_t> end_ids;         // further tokens that end generation: eos_token_id of generation_config.json
  std::string name = "tokenizer.json";  // for messages
  std::string end_ids_name = "eos_token_id";  // likewise
  int32_t n_rows = 0;                     // of the model's logits; those without a token are unused tokens without text
  std::vector<std::string> remarks = {};  // Tokenizer::remarks() begins with them
};

// Models BPE, Unigram, WordPiece and WordLevel. What a file asks for and is not known here is an error that names it.
Result<std::unique_ptr<Tokenizer>> read_tokenizer_json(TokenizerFiles files);

}  // namespace inlay
