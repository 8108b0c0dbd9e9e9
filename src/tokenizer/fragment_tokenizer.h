// What the tokenizers of GGUF files share: special tokens cut a text into fragments, and words that are tokens need no
// merging.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/tokenizer/added_tokens.h"
#include "src/tokenizer/bpe_model.h"
#include "src/tokenizer/merge.h"
#include "src/tokenizer/token_table.h"
#include "src/tokenizer/vocabulary_tokenizer.h"

namespace inlay {

class FragmentTokenizer : public VocabularyTokenizer {
 public:
  Status encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) const final;

 protected:
  FragmentTokenizer(Vocabulary vocabulary, bool whole_word_first);
  // To be called once after construction: tables that point into the vocabulary, which no longer moves.
  Status index_added_tokens();

  // Encodes text without added tokens; `after_added`: it follows one or begins the text.
  virtual void encode_fragment(std::string_view text, bool after_added, MergeScratch& scratch,
                               std::vector<int32_t>& out) const = 0;
  // Appends the ids that merging the word's characters ends with.
  virtual void append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const = 0;

  void encode_word(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const;

  const TokenTable table_;

 private:
  const WholeWords whole_words_;
  AddedTokenSets added_;
};

}  // namespace inlay
