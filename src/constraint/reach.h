// How many plain characters of a JSON string an expression takes whatever they are, so that all tokens of so many of them
// may follow; and how many it can take at most, so that no longer ones may.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "src/constraint/regex_store.h"

namespace inlay::constraint {

// Sets of characters, each within the next one: a-z; letters; word characters and the minus; printable ASCII; all. All
// without the quote and the backslash.
inline constexpr uint32_t kCharacterSets = 5;
// The longest text that is asked for, in characters.
inline constexpr uint32_t kLongestReach = 16;

// The smallest set that all characters of the text are in. Of well-formed UTF-8.
uint32_t character_set_of(std::string_view text);

class Reach {
 public:
  // The number of characters of the set that the expression takes in any case, at most kLongestReach.
  uint32_t of(RegexStore& regexes, RegexId id, uint32_t set);
  // The number of characters of all sets behind which nothing more of them can follow; kLongestReach and 1 more: there is none, or it is not known,
  // as where the expression may end before and another one go on.
  uint32_t most(RegexStore& regexes, RegexId id);
  void reset();
  size_t memory() const { return known_.size() * sizeof(Known) + after_.size() * sizeof(After) + next_.size() * 4; }

 private:
  struct Known {  // by set: the most that is known to be taken, and the least that is known not to be
    std::array<uint8_t, kCharacterSets> taken{}, not_taken{};
    uint8_t may = 0, may_not = 0;  // the most that may be taken for all that is known, and the least that cannot be
  };
  struct After {  // in next_: what follows after one character that is in this set and in no smaller one
    uint32_t begin = UINT32_MAX, size = 0;
  };

  bool takes(RegexStore& regexes, RegexId id, uint32_t set, uint32_t n);
  bool may_take(RegexStore& regexes, RegexId id, uint32_t n);
  After after(RegexStore& regexes, RegexId id, uint32_t set);

  std::vector<Known> known_;                               // by expression
  std::vector<std::array<After, kCharacterSets>> after_;   // by expression
  std::vector<RegexId> next_;
};

}  // namespace inlay::constraint
