// Splits text into the words that byte-level BPE merges within. A pre-tokenizer is a row of data: names as in
// tokenizer.ggml.pre, and stages, each of which splits what the stage before left.
#pragma once

#include <array>
#include <string_view>

namespace inlay {

struct TextSpan {
  const char* begin;
  const char* end;
};

// The first match of a pattern in the well-formed text [begin, end); (end, end) if there is none. A whole pass over a
// text with repeated calls takes time linear in its length.
using FindMatch = TextSpan (*)(const char* begin, const char* end);

struct PreTokenizer {
  std::array<std::string_view, 16> names;  // the first is the row's own, the others have the same pattern and flags
  std::array<FindMatch, 6> stages;         // null after the last
  bool whole_word_first;  // a word that is a token becomes it, whatever the merges say ("ignore_merges")
  bool adds_bos;          // where the metadata does not say
};

const PreTokenizer* find_pre_tokenizer(std::string_view name);  // null if there is none

// Calls word(begin, end) for each word, in order; the words together are the text.
template <class Word>
void split_words(const PreTokenizer& rules, const char* begin, const char* end, Word& word, size_t stage = 0) {
  if (stage == rules.stages.size() || rules.stages[stage] == nullptr) {
    if (begin < end) word(begin, end);
    return;
  }
  while (begin < end) {
    const TextSpan match = rules.stages[stage](begin, end);
    if (begin < match.begin) split_words(rules, begin, match.begin, word, stage + 1);
    if (match.begin < match.end) split_words(rules, match.begin, match.end, word, stage + 1);
    begin = match.end;
  }
}

}  // namespace inlay
