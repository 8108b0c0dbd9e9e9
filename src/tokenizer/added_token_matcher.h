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

  // Calls text(from, to) for what lies between tokens, never empty, and token(id), in order.
  template <class OnText, class OnToken>
  void split(std::string_view all, bool with_special, OnText text, OnToken token) const {
    size_t given = 0;
    for (size_t from = 0; from < all.size();) {
      const AddedMatch match = tokens_.find(all, from);
      if (match.id < 0) break;
      from = match.end;
      const AddedTokenRule& rule = rules_[static_cast<size_t>(match.id)];
      if ((rule.special && !with_special) || (rule.single_word && beside_word(all, match))) continue;
      const size_t begin = rule.strips_left ? std::max(given, spaces_before(all, match.begin)) : match.begin;
      const size_t end = rule.strips_right ? spaces_after(all, match.end) : match.end;
      if (given < begin) text(given, begin);
      token(rule.id);
      given = end;
      from = std::max(from, end);
    }
    if (given < all.size()) text(given, all.size());
  }

 private:
  static bool beside_word(std::string_view all, const AddedMatch& match);
  static size_t spaces_before(std::string_view all, size_t at);
  static size_t spaces_after(std::string_view all, size_t at);

  std::vector<AddedTokenRule> rules_;
  AddedTokens tokens_;  // their ids are indices into rules_
};

}  // namespace inlay
