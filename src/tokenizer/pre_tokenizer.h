// Splits text into the words that byte-level BPE merges within. A pre-tokenizer is a row of data: names as in
// tokenizer.ggml.pre, and patterns, each of which splits what the one before left.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/tokenizer/regex.h"

namespace inlay {

// Of the GPT-2 release, which tokenizer.json calls ByteLevel.
inline constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct PreTokenizer {
  std::array<std::string_view, 16> names;    // the first is the row's own, the others have the same patterns and flags
  std::array<std::string_view, 6> patterns;  // empty after the last
  bool whole_word_first = false;  // a word that is a token becomes it, whatever the merges say ("ignore_merges")
  bool adds_bos = false;          // where the metadata does not say
};

const PreTokenizer* find_pre_tokenizer(std::string_view name);  // null if there is none

std::vector<std::string_view> pre_tokenizer_names();           // all of them
// For messages, which are short: a few names that are the most like this one.
std::string similar_pre_tokenizers(std::string_view name);

// A pre-tokenizer's compiled patterns.
class WordSplitter {
 public:
  static Result<WordSplitter> compile(const PreTokenizer& rules);

  // Calls word(begin, end) for each word of the well-formed text, in order; the words together are the text.
  template <class Word>
  void split(const char* begin, const char* end, Word& word, size_t stage = 0) const {
    if (stage + 1 == stages_.size())
      stages_[stage].split(begin, end, [&](const char* from, const char* to, bool) { word(from, to); });
    else
      stages_[stage].split(begin, end,
                           [&](const char* from, const char* to, bool) { split(from, to, word, stage + 1); });
  }

 private:
  std::vector<Regex> stages_;  // at least one
};

}  // namespace inlay
