// The merging loop that byte-level BPE and SPM share: of all neighbours that may merge, the pair of the best priority,
// and of equal ones the leftmost, becomes one symbol, until none may.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/tokenizer/encoding_pulse.h"

namespace inlay {

struct Symbol {
  uint32_t begin;  // bytes of the word
  uint32_t end;
  int32_t id;  // -1 if these bytes are no token
};

inline constexpr uint32_t kNoMerge = UINT32_MAX;

struct Merge {
  uint32_t priority = kNoMerge;  // lower goes first
  int32_t id = -1;               // of the merged symbol
};

// Memory that a call of encode() uses again for each word.
struct MergeScratch {
  struct Candidate {
    uint64_t order;    // priority << 32 | index of the left symbol
    uint32_t n_bytes;  // of both symbols together: another value later tells that one of them has changed
    int32_t id;
  };
  std::vector<Symbol> symbols;
  std::vector<Merge> merges;  // merges[i]: of symbols i and i + 1
  std::vector<uint32_t> previous, next;
  std::vector<Candidate> heap;
  EncodingPulse pulse;
};

inline constexpr size_t kShortWord = 48;  // symbols; below, scanning all pairs beats a heap

// `rule(left, right)` gives the merge of two neighbours. The work grows with the square of the symbols' number.
template <class Rule>
void merge_short(const Rule& rule, MergeScratch& scratch) {
  std::vector<Symbol>& symbols = scratch.symbols;
  std::vector<Merge>& merges = scratch.merges;
  if (symbols.size() < 2) return;
  merges.resize(symbols.size() - 1);
  for (size_t i = 0; i < merges.size(); ++i) merges[i] = rule(symbols[i], symbols[i + 1]);
  while (!merges.empty()) {
    const auto best = std::min_element(merges.begin(), merges.end(),
                                       [](const Merge& a, const Merge& b) { return a.priority < b.priority; });
    if (best->priority == kNoMerge) return;
    const auto i = static_cast<size_t>(best - merges.begin());
    symbols[i].end = symbols[i + 1].end;
    symbols[i].id = best->id;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    merges.erase(best);
    if (i > 0) merges[i - 1] = rule(symbols[i - 1], symbols[i]);
    if (i < merges.size()) merges[i] = rule(symbols[i], symbols[i + 1]);
  }
}

// The same with a heap of candidates and a linked list of symbols: n log n. A symbol merged into its left neighbour is
// left empty (begin == end) and removed at the end.
template <class Rule>
class LongWordMerger {
 public:
  LongWordMerger(const Rule& rule, MergeScratch& scratch) : rule_(rule), s_(scratch) {}

  void run() {
    const auto n = static_cast<uint32_t>(s_.symbols.size());
    s_.previous.resize(n);
    s_.next.resize(n);
    s_.heap.clear();
    for (uint32_t i = 0; i < n; ++i) {
      s_.previous[i] = i - 1;  // kNone for the first
      s_.next[i] = i + 1 < n ? i + 1 : kNone;
      add_candidate(i);
      if (!s_.pulse.work(1)) return;
    }
    std::make_heap(s_.heap.begin(), s_.heap.end(), Later());
    while (!s_.heap.empty()) {
      std::pop_heap(s_.heap.begin(), s_.heap.end(), Later());
      const MergeScratch::Candidate candidate = s_.heap.back();
      s_.heap.pop_back();
      apply(candidate);
      if (!s_.pulse.work(1)) return;
    }
    std::erase_if(s_.symbols, [](const Symbol& symbol) { return symbol.begin == symbol.end; });
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Later {  // a type of its own for each rule, so that it is inlined
    bool operator()(const MergeScratch::Candidate& a, const MergeScratch::Candidate& b) const { return a.order > b.order; }
  };

  bool add_candidate(uint32_t left) {
    const uint32_t right = s_.next[left];
    if (right == kNone) return false;
    const Merge merge = rule_(s_.symbols[left], s_.symbols[right]);
    if (merge.priority == kNoMerge) return false;
    s_.heap.push_back(
        {static_cast<uint64_t>(merge.priority) << 32 | left, s_.symbols[right].end - s_.symbols[left].begin, merge.id});
    return true;
  }

  void push(uint32_t left) {
    if (add_candidate(left)) std::push_heap(s_.heap.begin(), s_.heap.end(), Later());
  }

  void apply(const MergeScratch::Candidate& candidate) {
    const auto left = static_cast<uint32_t>(candidate.order);
    Symbol& symbol = s_.symbols[left];
    const uint32_t right = s_.next[left];
    if (symbol.begin == symbol.end || right == kNone) return;
    if (s_.symbols[right].end - symbol.begin != candidate.n_bytes) return;
    symbol.end = s_.symbols[right].end;
    symbol.id = candidate.id;
    s_.symbols[right].end = s_.symbols[right].begin;
    s_.next[left] = s_.next[right];
    if (s_.next[left] != kNone) s_.previous[s_.next[left]] = left;
    if (s_.previous[left] != kNone) push(s_.previous[left]);
    push(left);
  }

  const Rule& rule_;
  MergeScratch& s_;
};

template <class Rule>
void merge_symbols(const Rule& rule, MergeScratch& scratch) {
  if (scratch.symbols.size() <= kShortWord)
    merge_short(rule, scratch);
  else
    LongWordMerger<Rule>(rule, scratch).run();
}

}  // namespace inlay
