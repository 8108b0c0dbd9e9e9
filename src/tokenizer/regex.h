// Regular expressions compiled to automata: leftmost, of several branches the first, in time linear in the text
// whatever pattern and text are. Immutable after compiling; any thread may use one.
#pragma once

#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/status.h"
#include "src/tokenizer/code_set.h"
#include "src/tokenizer/utf8.h"

namespace inlay {

// Code points that no set of a pattern tells apart are one class.
class CodeClasses {
 public:
  // `members[set]` becomes the classes that the set contains, by class.
  CodeClasses(const std::vector<CodeSet>& sets, std::vector<std::vector<bool>>& members);
  CodeClasses() = default;

  uint32_t size() const { return n_classes_; }
  uint8_t of_ascii(unsigned char c) const { return ascii_[c]; }
  uint8_t of(uint32_t code_point) const { return cells_[pages_[code_point >> 8] << 8 | (code_point & 0xFF)]; }
  static constexpr uint32_t kMax = 250;  // more than any pattern in use needs; size() is above it where that fails

 private:
  void fill(uint32_t first, uint32_t last, uint8_t value);

  std::array<uint8_t, 128> ascii_{};
  std::vector<uint16_t> pages_;  // of 256 code points each, by the code point's upper bits
  std::vector<uint8_t> cells_;
  uint32_t n_classes_ = 0;
};

// A state that must look at more than the next character has one row for each outcome of its conditions.
struct RegexAutomaton {
  static constexpr uint32_t kMatched = 1;      // the pattern matches before the character
  static constexpr uint32_t kConditional = 2;  // of the state that follows
  static constexpr uint32_t kRowShift = 2;

  uint32_t start = 0;                             // with its flags, like the entries of `next`
  std::vector<uint32_t> next;                     // by row and class, the last class being the end of the text; 0: none
  std::vector<std::vector<uint32_t>> conditions;  // by row; empty for rows that have none
};

struct RegexCondition {
  int32_t automaton = -1;      // looks ahead, or
  std::vector<bool> previous;  // the previous character's class is one of these
  bool at_edge = false;        // true at the beginning of the text
  bool negated = false;
};

class Regex {
 public:
  static Result<Regex> compile(std::string_view pattern);

  // Calls piece(begin, end, matched) for each match in the well-formed text and for what lies between, in order; none
  // is empty. An empty match ends a piece and begins another.
  template <class Piece>
  void split(const char* begin, const char* end, Piece&& piece) const {
    Scratch scratch;
    const char *gap = begin, *last_end = nullptr;
    for (const char* at = begin; at < end;) {
      const char* stop = match({begin, end}, at, scratch);
      if (stop == nullptr || (stop == at && at == last_end)) {
        at += decode_utf8(at).n_bytes;
        continue;
      }
      if (gap < at) piece(gap, at, false);
      if (at < stop) piece(at, stop, true);
      gap = last_end = stop;
      at = stop == at ? at + decode_utf8(at).n_bytes : stop;
    }
    if (gap < end) piece(gap, end, false);
  }

 private:
  friend class RegexCompiler;
  struct Text {
    const char* begin;
    const char* end;
  };
  // A long scan leaves marks at every sixteenth byte; a later one that comes upon a mark in the same state knows how it
  // will end. So no text is scanned more often than there are states.
  struct Scratch {
    std::unordered_map<uint64_t, bool> ends_in_match;
    std::vector<uint64_t> trail;
  };
  static constexpr uint32_t kMaxRows = 1 << 20, kMaxAutomata = 16;  // as many as a mark can tell apart

  Regex() = default;
  const char* match(const Text& text, const char* at,
                    Scratch& scratch) const;  // the end of the match, null if there is none
  // Goes on from `state` at `at`, leaving marks.
  const char* scan_far(const Text& text, uint32_t automaton, uint32_t state, const char* at, const char* last,
                       bool existence, Scratch& scratch) const;
  uint32_t condition_bits(const Text& text, const RegexAutomaton& automaton, uint32_t row, const char* at,
                          Scratch& scratch) const;
  bool holds(const Text& text, const RegexCondition& condition, const char* at, Scratch& scratch) const;

  CodeClasses classes_;
  std::vector<RegexAutomaton> automata_;  // the pattern's own, then those of what looks ahead
  std::vector<RegexCondition> conditions_;
};

}  // namespace inlay
