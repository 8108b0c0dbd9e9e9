// The tokenizer models that GGUF calls "t5" (Unigram) and "bert" (WordPiece): their vocabularies, said in the words of
// a tokenizer.json, whose reader has the models and all that goes with them.
#pragma once

#include <memory>

#include "src/tokenizer/tokenizer.h"

namespace inlay {

Result<std::unique_ptr<Tokenizer>> read_gguf_unigram(const Metadata& metadata, int32_t n_rows);

// A token that begins a word has U+2581 before it, one that continues a word nothing; names in brackets stay.
// Text becomes lower case without accents.
Result<std::unique_ptr<Tokenizer>> read_gguf_word_piece(const Metadata& metadata, int32_t n_rows);

}  // namespace inlay
