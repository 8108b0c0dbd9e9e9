// Cuts the added tokens of a tokenizer.json out of a text, as their flags say.
#pragma once

#include <string>
#include <vector>

#include "src/tokenizer/added_tokens.h"

namespace inlay {

struct AddedTokenRule {
  std::string text;
  int32_t id = -1;
  bool special = false;
  bool single_word = false;   // only where no word character stands beside it
  bool strips_left = false;   // takes the white space before it
  bool strips_right = false;  // and after it
};

class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  explicit AddedTokenMatcher(std::vector<AddedTokenRule> rules);
  AddedTokenMatcher(AddedTokenMatcher&&) = default;
  AddedTokenMatcher& operator=(AddedTokenMatcher&&) = default;

  // Calls text(from, to) for what lies between tokens, never empty, and token(id), in order, until one of them returns false.
  // Special tokens have no byte in the ranges `plain`.
  template <class OnText, class OnToken>
  void split(std::string_view all, bool with_special, std::span<const TextRange> plain, OnText text,
             OnToken token) const {
    size_t given = 0, end_of_spaces = 0;  // of the run that a token took last
    for (size_t from = 0; from < all.size();) {
      AddedMatch match = tokens_.find(all, from);
      if (match.id < 0) break;
      from = match.end;
      if (with_special && rules_[static_cast<size_t>(match.id)].special && reaches(match, plain)) {
        const size_t begin = match.begin;
        if (!cut_before(all, plain, match)) {
          from = begin + 1;
          continue;
        }
        from = match.end;
      }
      const AddedTokenRule& rule = rules_[static_cast<size_t>(match.id)];
      if ((rule.special && !with_special) || (rule.single_word && beside_word(all, match))) continue;
      const size_t begin = rule.strips_left ? spaces_before(all, match.begin, given) : match.begin;
      if (rule.strips_right && match.end >= end_of_spaces) end_of_spaces = spaces_after(all, match.end);
      const size_t end = rule.strips_right ? end_of_spaces : match.end;
      if (given < begin && !text(given, begin)) return;
      if (!token(rule.id)) return;
      given = end;  // the next one may begin with white space that this one has taken, which it then has as well
    }
    if (given < all.size()) text(given, all.size());
  }

  bool has_special() const;

 private:
  static bool reaches(const AddedMatch& match, std::span<const TextRange> plain);
  // The longest token at the same place that ends before the ranges. False if there is none.
  bool cut_before(std::string_view all, std::span<const TextRange> plain, AddedMatch& match) const;
  static bool beside_word(std::string_view all, const AddedMatch& match);
  static size_t spaces_before(std::string_view all, size_t at, size_t least);  // `at` itself where that is below `least`
  static size_t spaces_after(std::string_view all, size_t at);

  std::vector<AddedTokenRule> rules_;
  AddedTokens tokens_;  // their ids are indices into rules_
};

}  // namespace inlay
