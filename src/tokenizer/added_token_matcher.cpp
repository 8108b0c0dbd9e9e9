#include "src/tokenizer/added_token_matcher.h"

#include "src/base/made_once.h"
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

bool AddedTokenMatcher::has_special() const {
  return std::any_of(rules_.begin(), rules_.end(), [](const AddedTokenRule& rule) { return rule.special; });
}

bool AddedTokenMatcher::reaches(const AddedMatch& match, std::span<const TextRange> plain) {
  const auto range = range_behind(plain, match.begin);
  return range != plain.end() && range->begin < match.end;
}

bool AddedTokenMatcher::cut_before(std::string_view all, std::span<const TextRange> plain, AddedMatch& match) const {
  const size_t end = range_behind(plain, match.begin)->begin;
  if (end <= match.begin) return false;
  const AddedMatch shorter = tokens_.find(all.substr(0, end), match.begin);
  if (shorter.id < 0 || shorter.begin != match.begin) return false;
  match = shorter;
  return true;
}

bool AddedTokenMatcher::beside_word(std::string_view all, const AddedMatch& match) {
  static constinit MadeOnce<CodeSet> made;
  const CodeSet& word = made.get([] { return *property_set("uts_word"); });
  const auto is_word = [&](size_t at) { return word.contains(decode_utf8(all.data() + at).value); };
  return (match.begin > 0 && is_word(character_before(all, match.begin))) ||
         (match.end < all.size() && is_word(match.end));
}

size_t AddedTokenMatcher::spaces_before(std::string_view all, size_t at, size_t least) {
  while (at > least && is_space_at(all, character_before(all, at))) at = character_before(all, at);
  return at;
}

size_t AddedTokenMatcher::spaces_after(std::string_view all, size_t at) {
  while (at < all.size() && is_space_at(all, at)) at += decode_utf8(all.data() + at).n_bytes;
  return at;
}

}  // namespace inlay
