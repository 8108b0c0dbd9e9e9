// Byte-pair encoding of one word: its bytes or characters are symbols, and neighbours merge as the vocabulary's list
// says, earliest in the list first.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "src/base/status.h"
#include "src/tokenizer/merge.h"
#include "src/tokenizer/token_table.h"

namespace inlay {

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

  std::vector<Slot> slots_ = std::vector<Slot>(1);
  size_t mask_ = 0;
};

// Words that are tokens, and whether they may be taken as such without merging.
class WholeWords {
 public:
  // `first`: a word that is a token becomes it, whatever the merges say.
  WholeWords(const TokenTable& table, size_t n_tokens, bool first)
      : table_(table), first_(first), merges_to_itself_(std::make_unique<std::atomic<uint8_t>[]>(n_tokens)) {}

  // Appends the word's ids; merge(part) appends those that merging a part of it ends with. Words longer than 16 MiB are
  // cut.
  template <class MergePart>
  void encode(std::string_view word, std::vector<int32_t>& out, MergePart merge) const {
    for (; word.size() > kMaxWordBytes; word.remove_prefix(cut_of(word))) merge(word.substr(0, cut_of(word)));
    const int32_t whole = table_.find(word);
    if (whole >= 0 && (first_ || merges_to_itself_[whole].load(std::memory_order_relaxed) != 0)) {
      out.push_back(whole);
      return;
    }
    const size_t n = out.size();
    merge(word);
    if (whole >= 0 && out.size() == n + 1 && out[n] == whole)
      merges_to_itself_[whole].store(1, std::memory_order_relaxed);
  }

 private:
  // Keeps a word's byte offsets far inside 32 bits and its merging within a gigabyte.
  static constexpr size_t kMaxWordBytes = 16 << 20;
  static size_t cut_of(std::string_view word);

  const TokenTable& table_;
  const bool first_;
  // 1 for a token whose own bytes have been seen to merge into it. Every thread that finds out writes the same value,
  // and nothing else is read on the strength of it: relaxed order is enough.
  std::unique_ptr<std::atomic<uint8_t>[]> merges_to_itself_;
};

struct BpeRules {
  bool bytes = true;         // the symbols are bytes, otherwise characters, which need the rest
  bool byte_tokens = false;  // a character that is no token becomes tokens <0xAB> of its bytes where all are there
  bool fuses_unknown = false;
  std::string prefix = {};  // of a character that does not begin its word
  std::string suffix = {};  // of the character that ends its word
  bool closes_gaps = false;  // what stands beside a character that is left out is neighbours, and merges
};

class BpeModel {
 public:
  // `table` finds the texts of tokens (bytes, if the symbols are bytes) and outlives the model. `unknown`, if not -1,
  // stands for what is no token; otherwise that is left out.
  BpeModel(const TokenTable& table, BpeRules rules, int32_t unknown);

  void reserve(size_t n_merges) { merges_.reserve(n_merges); }
  // Two tokens that merge. False names what is not a token: 0 left, 1 right, 2 both together, in `missing`.
  bool add_merge(std::string_view left, std::string_view right, uint32_t rank, int& missing);
  int32_t byte_id(int byte) const { return byte_ids_[byte]; }  // -1 if there is none

  void append_merged(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const;

 private:
  void add_characters(std::string_view word, MergeScratch& scratch) const;
  bool add_byte_tokens(uint32_t begin, std::string_view character, MergeScratch& scratch) const;

  const TokenTable& table_;
  const BpeRules rules_;
  const int32_t unknown_;
  std::array<int32_t, 256> byte_ids_{};
  MergeTable merges_;
};

}  // namespace inlay
