// Byte-level BPE: a pre-tokenizer splits the text into words, and in each the merges of the vocabulary's list apply,
// earliest in the list first.
#pragma once

#include "src/tokenizer/bpe_model.h"
#include "src/tokenizer/fragment_tokenizer.h"
#include "src/tokenizer/pre_tokenizer.h"

namespace inlay {

class BpeTokenizer final : public FragmentTokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> create(const Metadata& metadata, int32_t n_rows,
                                                   std::string_view pre_tokenizer);

 private:
  BpeTokenizer(Vocabulary vocabulary, WordSplitter splitter, bool whole_word_first);
  void note_missing_bytes();
  Status read_merges(std::span<const std::string_view> merges);
  Status read_merge(std::string_view text, size_t rank, std::string& buffer);

  void encode_fragment(std::string_view text, bool after_added, MergeScratch& scratch,
                       std::vector<int32_t>& out) const override;
  void append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const override;

  const WordSplitter splitter_;
  BpeModel model_;
};

}  // namespace inlay
