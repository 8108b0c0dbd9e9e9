#include "src/tokenizer/added_token_matcher.h"

#include "src/tokenizer/code_set.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

size_t character_before(std::string_view all, size_t at) {
  --at;
  while (is_continuation(all[at])) --at;
  return at;
}

bool is_space_at(std::string_view all, size_t at) {
  return char_class(decode_utf8(all.data() + at).value) == CharClass::space;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedTokenRule> rules) : rules_(std::move(rules)) {
  std::vector<AddedTokens::Entry> entries;
  for (size_t i = 0; i < rules_.size(); ++i) entries.push_back({rules_[i].text, static_cast<int32_t>(i)});
  tokens_ = AddedTokens(std::move(entries));
}

bool AddedTokenMatcher::beside_word(std::string_view all, const AddedMatch& match) {
  static const CodeSet word = *property_set("uts_word");
  const auto is_word = [&](size_t at) { return word.contains(decode_utf8(all.data() + at).value); };
  return (match.begin > 0 && is_word(character_before(all, match.begin))) ||
         (match.end < all.size() && is_word(match.end));
}

size_t AddedTokenMatcher::spaces_before(std::string_view all, size_t at) {
  while (at > 0 && is_space_at(all, character_before(all, at))) at = character_before(all, at);
  return at;
}

size_t AddedTokenMatcher::spaces_after(std::string_view all, size_t at) {
  while (at < all.size() && is_space_at(all, at)) at += decode_utf8(all.data() + at).n_bytes;
  return at;
}

}  // namespace inlay
