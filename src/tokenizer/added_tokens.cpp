#include "src/tokenizer/added_tokens.h"

#include <algorithm>

#include "src/tokenizer/utf8.h"

namespace inlay {

AddedTokens::AddedTokens(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.text.empty(); });
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.text < b.text; });
  for (const Entry& entry : entries_) ++first_byte_[static_cast<unsigned char>(entry.text[0]) + 1];
  for (size_t b = 1; b < first_byte_.size(); ++b) first_byte_[b] += first_byte_[b - 1];
}

// Sorted texts that share their first n bytes are neighbours: each further byte narrows the range.
const AddedTokens::Entry* AddedTokens::longest_at(std::string_view text) const {
  const auto byte = [](char c) { return static_cast<unsigned char>(c); };
  const Entry* low = entries_.data() + first_byte_[byte(text[0])];
  const Entry* high = entries_.data() + first_byte_[byte(text[0]) + 1];
  const Entry* best = nullptr;
  for (size_t n = 1; low < high; ++n) {
    if (low->text.size() == n) {
      if (n == text.size() || !is_continuation(text[n])) best = low;
      while (low < high && low->text.size() == n) ++low;
    }
    if (low == high || n == text.size()) break;
    low = std::partition_point(low, high, [&](const Entry& e) { return byte(e.text[n]) < byte(text[n]); });
    high = std::partition_point(low, high, [&](const Entry& e) { return e.text[n] == text[n]; });
  }
  return best;
}

AddedMatch AddedTokens::find(std::string_view text, size_t from) const {
  if (!entries_.empty()) {
    for (size_t at = from; at < text.size(); ++at) {
      const auto b = static_cast<unsigned char>(text[at]);
      if (first_byte_[b] == first_byte_[b + 1] || is_continuation(text[at])) continue;
      if (const Entry* entry = longest_at(text.substr(at))) return {at, at + entry->text.size(), entry->id};
    }
  }
  return {text.size(), text.size(), -1};
}

// Between the ranges, where what begins also has to end. Those there that are user-defined may go on in a range.
AddedMatch AddedTokenFinder::find_special(size_t from) const {
  auto range = range_behind(plain_, from);
  for (size_t at = from; at < text_.size();) {
    const size_t end = range == plain_.end() ? text_.size() : std::max(at, range->begin);
    const AddedMatch match = sets_.with_special.find(text_.substr(0, end), at);
    if (match.id >= 0) return match;
    if (range == plain_.end()) break;
    at = range->end;
    ++range;
  }
  return {text_.size(), text_.size(), -1};
}

AddedMatch AddedTokenFinder::find(size_t from) {
  if (is_first_ || special_.begin < from) special_ = find_special(from);
  if (is_first_ || user_defined_.begin < from) user_defined_ = sets_.user_defined.find(text_, from);
  is_first_ = false;
  const bool other = user_defined_.begin < special_.begin ||
                     (user_defined_.begin == special_.begin && user_defined_.end > special_.end);
  return other ? user_defined_ : special_;
}

Result<AddedTokenSets> collect_added_tokens(const Vocabulary& vocabulary) {
  std::vector<AddedTokens::Entry> user_defined, with_special;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenKind kind = vocabulary.kinds[id];
    const bool special = kind == TokenKind::control || kind == TokenKind::unknown || vocabulary.ends_generation[id];
    if (!special && kind != TokenKind::user_defined) continue;
    if (vocabulary.piece(id).size() > kMaxAddedTokenBytes)
      return error(Code::format, "%s[%d], a special or user-defined token, has %zu bytes, the limit is %zu",
                   kTokensKey.data(), id, vocabulary.piece(id).size(), kMaxAddedTokenBytes);
    with_special.push_back({vocabulary.piece(id), id});
    if (kind == TokenKind::user_defined) user_defined.push_back({vocabulary.piece(id), id});
  }
  return AddedTokenSets{AddedTokens(std::move(user_defined)), AddedTokens(std::move(with_special))};
}

}  // namespace inlay
