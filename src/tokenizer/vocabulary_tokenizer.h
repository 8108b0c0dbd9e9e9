// What the tokenizer models share: special tokens, whole words that are tokens, and decoding.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/tokenizer/added_tokens.h"
#include "src/tokenizer/merge.h"
#include "src/tokenizer/token_table.h"
#include "src/tokenizer/tokenizer.h"
#include "src/tokenizer/vocabulary.h"

namespace inlay {

class VocabularyTokenizer : public Tokenizer {
 public:
  void encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) const final;
  Status decode(std::span<const int32_t> ids, const DecodeOptions& options, std::string& out) const final;

  int32_t n_tokens() const final { return vocabulary_.size(); }
  std::string_view piece(int32_t id) const final { return vocabulary_.piece(id); }
  TokenKind kind(int32_t id) const final { return vocabulary_.kinds[id]; }
  float score(int32_t id) const final { return vocabulary_.scores.empty() ? 0.0f : vocabulary_.scores[id]; }
  bool is_end_of_generation(int32_t id) const final { return vocabulary_.ends_generation[id] != 0; }
  int32_t bos() const final { return vocabulary_.bos; }
  int32_t eos() const final { return vocabulary_.eos; }
  bool adds_bos() const final { return vocabulary_.add_bos; }
  bool adds_eos() const final { return vocabulary_.add_eos; }
  bool strips_leading_space() const final { return vocabulary_.add_space_prefix; }

 protected:
  VocabularyTokenizer(Vocabulary vocabulary, bool whole_word_first);
  // To be called once after construction: tables that point into the vocabulary, which no longer moves.
  Status index_added_tokens();

  // Encodes text without added tokens; `after_added`: it follows one or begins the text.
  virtual void encode_fragment(std::string_view text, bool after_added, MergeScratch& scratch,
                               std::vector<int32_t>& out) const = 0;
  // Appends the ids that merging the word's characters ends with.
  virtual void append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const = 0;

  void encode_word(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const;

  const Vocabulary vocabulary_;
  const TokenTable table_;

 private:
  const bool whole_word_first_;
  // 1 for a token whose own bytes have been seen to merge into it. Every thread that finds out writes the same value,
  // and nothing else is read on the strength of it: relaxed order is enough.
  std::unique_ptr<std::atomic<uint8_t>[]> merges_to_itself_;
  AddedTokenSets added_;
};

}  // namespace inlay
