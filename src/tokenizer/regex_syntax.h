// Regular expressions as pre-tokenizers write them (Oniguruma's and Perl's common ground): parsed into a tree.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/tokenizer/code_set.h"

namespace inlay {

inline constexpr uint32_t kUnbounded = UINT32_MAX;

enum class RegexKind : uint8_t {
  empty,
  set,          // one character of `set`
  sequence,     // of the children
  choice,       // of the children, the first that leads to a match
  repeat,       // of the one child
  look_ahead,   // the child matches here, or must not
  next_in,      // the next character is in `set`, or there is none and at_edge
  previous_in,  // the character before is in `set`, or there is none and at_edge
};

struct RegexNode {
  RegexKind kind = RegexKind::empty;
  std::vector<RegexNode> children;
  uint32_t set = 0;  // index into RegexTree::sets
  bool at_edge = false;
  bool greedy = true;
  bool negated = false;
  uint32_t min = 0;
  uint32_t max = kUnbounded;
};

struct RegexTree {
  RegexNode root;
  std::vector<CodeSet> sets;
};

// An error names the pattern and what in it is not known here; such are back references, atomic groups, and look-behind
// of more than one character.
Result<RegexTree> parse_regex(std::string_view pattern);

}  // namespace inlay
