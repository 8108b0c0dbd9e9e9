// Tokens that are cut out of a text before anything else looks at it: special tokens written in it, and user-defined
// ones.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "src/tokenizer/vocabulary.h"

namespace inlay {

struct AddedMatch {
  size_t begin;  // the text's size if there is no match
  size_t end;
  int32_t id;  // -1 if there is no match
};

// Finds them leftmost first, the longest of those that begin at one place. Points at their texts.
class AddedTokens {
 public:
  struct Entry {
    std::string_view text;
    int32_t id;
  };
  AddedTokens() = default;
  explicit AddedTokens(std::vector<Entry> entries);  // those without text are left out

  // The first match in `text`, which is well-formed UTF-8, at or after `from`. A match never cuts a character.
  AddedMatch find(std::string_view text, size_t from) const;

 private:
  const Entry* longest_at(std::string_view text) const;  // null if none begins there

  std::vector<Entry> entries_;              // sorted by text
  std::array<uint32_t, 257> first_byte_{};  // entries that begin with byte b: [first_byte_[b], first_byte_[b + 1])
};

// The first of `ranges` that ends behind `at`; their end if there is none.
inline std::span<const TextRange>::iterator range_behind(std::span<const TextRange> ranges, size_t at) {
  return std::partition_point(ranges.begin(), ranges.end(), [&](const TextRange& r) { return r.end <= at; });
}

// Longer ones would make find() slow on a text that repeats their beginning.
inline constexpr size_t kMaxAddedTokenBytes = 1024;

struct AddedTokenSets {
  AddedTokens user_defined;
  AddedTokens with_special;  // these, and control, unknown and end-of-generation tokens
};

// Finds the tokens of a text of which special ones may have no byte in some ranges. For calls with growing `from`.
class AddedTokenFinder {
 public:
  AddedTokenFinder(const AddedTokenSets& sets, std::string_view text, std::span<const TextRange> plain)
      : sets_(sets), text_(text), plain_(plain) {}
  AddedMatch find(size_t from);

 private:
  AddedMatch find_special(size_t from) const;

  const AddedTokenSets& sets_;
  const std::string_view text_;
  const std::span<const TextRange> plain_;
  AddedMatch special_{0, 0, -1}, user_defined_{0, 0, -1};  // what is next of each; sought again where it begins too early
  bool is_first_ = true;
};

Result<AddedTokenSets> collect_added_tokens(const Vocabulary& vocabulary);

}  // namespace inlay
