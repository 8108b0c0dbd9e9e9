#include "src/engine/format_language.h"

#include <utility>

namespace inlay {

using constraint::kAnyText;
using constraint::kUnbounded;
using constraint::RegexId;
using constraint::Symbol;
using constraint::SymbolKind;
using constraint::terminal;

Symbols joined(std::initializer_list<Symbols> parts) {
  Symbols out;
  for (const Symbols& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

FormatLanguage::FormatLanguage(const ModelChatFormat& format, constraint::Grammar& grammar) : format_(format), grammar_(grammar), store_(grammar.regexes) {
  constraint::ByteSet blank;
  for (const char c : {' ', '\n', '\r', '\t'}) blank.add(static_cast<unsigned char>(c));
  characters_ = store_.repeat(utf8(store_, constraint::CodePoints::all()), 0, kUnbounded);
  lines_ = store_.repeat(store_.byte('\n'), 0, 2);
  line_ = store_.optional(store_.byte('\n'));
  blanks_ = store_.repeat(store_.bytes(blank), 0, kUnbounded);
}

Symbol FormatLanguage::mark(const Marker& marker) {
  if (!marker.is_token) return literal(marker.text);
  constraint::TokenSet set;
  for (const int32_t id : format_.vocabulary.marker_ids())
    if (format_.tokenizer->piece(id) == marker.text) set.ids.push_back(id);
  grammar_.token_sets.push_back(std::move(set));
  return {SymbolKind::tokens, static_cast<uint32_t>(grammar_.token_sets.size() - 1)};
}

RegexId FormatLanguage::without(RegexId text, const std::vector<std::string>& letters) {
  std::vector<RegexId> parts{text};
  for (const std::string& part : letters) parts.push_back(store_.complement(store_.concat({kAnyText, store_.literal(part), kAnyText})));
  return parts.size() == 1 ? text : store_.both(std::move(parts));
}

Symbols FormatLanguage::until(RegexId text, const Marker& marker) {
  if (marker.is_token) return {terminal(text), mark(marker)};
  const RegexId letters = store_.literal(marker.text);
  const RegexId earlier = store_.concat({kAnyText, letters, store_.bytes(constraint::ByteSet::all()), kAnyText});
  return {terminal(store_.both({store_.concat(text, letters), store_.complement(earlier)}))};
}

// Behind the last token may come the rest of a character, and the marker: where it is letters, what of it is not there yet.
Symbols FormatLanguage::until_limited(RegexId text, const Marker& marker, uint32_t max_tokens) {
  constraint::ByteSet inner;
  for (int byte = 0x80; byte < 0xc0; ++byte) inner.add(static_cast<unsigned char>(byte));
  const uint32_t n_letters = marker.is_token ? 0 : static_cast<uint32_t>(marker.text.size());
  const RegexId tail = store_.concat(store_.repeat(store_.bytes(inner), 0, 3), store_.repeat(store_.bytes(constraint::ByteSet::all()), 0, n_letters));
  const uint32_t rule = grammar_.add_rule("reasoning");
  grammar_.add_production(rule, until(text, marker));
  grammar_.limit = constraint::TokenLimit{rule, max_tokens, tail};
  return {constraint::call(rule)};
}

RegexId FormatLanguage::not_beginning(RegexId text, RegexId begin) {
  return store_.both({text, store_.complement(store_.concat({blanks_, begin, kAnyText}))});
}

Symbol FormatLanguage::any_of(const std::vector<Symbols>& alternatives) {
  if (alternatives.size() == 1 && alternatives[0].size() == 1) return alternatives[0][0];
  const uint32_t rule = grammar_.add_rule();
  for (const Symbols& one : alternatives) grammar_.add_production(rule, one);
  return constraint::call(rule);
}

Symbol FormatLanguage::repeated(const Symbols& part) {
  const uint32_t rule = grammar_.add_rule();
  grammar_.add_production(rule, {});
  Symbols again = part;
  again.push_back(constraint::call(rule));
  grammar_.add_production(rule, again);
  return constraint::call(rule);
}

}  // namespace inlay
