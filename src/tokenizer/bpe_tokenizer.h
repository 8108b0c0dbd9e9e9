// Byte-level BPE: a pre-tokenizer splits the text into words, and in each the merges of the vocabulary's list apply,
// earliest in the list first.
#pragma once

#include <array>

#include "src/tokenizer/pre_tokenizer.h"
#include "src/tokenizer/vocabulary_tokenizer.h"

namespace inlay {

class BpeTokenizer final : public VocabularyTokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> create(const Metadata& metadata);

 private:
  // From a pair of ids to what they merge into: open addressing.
  class MergeTable {
   public:
    void reserve(size_t n);
    void insert(int32_t left, int32_t right, Merge merge);  // the first of several for one pair stays
    Merge find(int32_t left, int32_t right) const;

   private:
    struct Slot {
      int32_t left = -1;
      int32_t right = -1;
      Merge merge;
    };
    size_t slot_of(int32_t left, int32_t right) const;

    std::vector<Slot> slots_;
    size_t mask_ = 0;
  };

  BpeTokenizer(Vocabulary vocabulary, WordSplitter splitter, bool whole_word_first);
  Status check_bytes();
  Status read_merges(std::span<const std::string_view> merges);
  Status read_merge(std::string_view text, size_t rank, std::string& buffer);

  void encode_fragment(std::string_view text, bool after_added, MergeScratch& scratch,
                       std::vector<int32_t>& out) const override;
  void append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const override;

  const WordSplitter splitter_;
  std::array<int32_t, 256> byte_ids_{};  // -1 for bytes without a token
  MergeTable merges_;
};

}  // namespace inlay
