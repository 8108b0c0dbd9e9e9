#include "src/constraint/json_language.h"

#include "src/base/format.h"
#include "src/constraint/decimal.h"

namespace inlay::constraint {

std::string escaped(std::string_view text) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  std::string out;
  for (const char c : text) {
    if (const size_t i = kEscaped.find(c); i != kEscaped.npos)
      out += {'\\', kLetters[i]};
    else if (static_cast<unsigned char>(c) < 0x20)
      append_format(out, "\\u%04x", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

JsonLanguage::JsonLanguage(Grammar& grammar, const JsonStyle& style) : grammar_(grammar), store_(grammar.regexes), style_(style) {
  space_ = kEmptyText;
  if (style.whitespace == Whitespace::flexible) {
    ByteSet blanks;
    blanks.add(' ');
    blanks.add('\t');
    space_ = store_.either({kEmptyText, store_.byte(' '), store_.concat(store_.byte('\n'), store_.repeat(store_.bytes(blanks), 0, 19))});
  }
  const RegexId key_character = spelled(store_, CodePoints::all(), Spelling::json);
  character_ = spelled(store_, CodePoints::all(), values());
  any_key_characters_ = store_.repeat(key_character, 0, kUnbounded);
  any_characters_ = store_.repeat(character_, 0, kUnbounded);
  store_.add_universe(any_key_characters_);
  store_.add_universe(any_characters_);
  grammar.string_characters = {key_character, character_};
  any_string_ = quoted(any_characters_);
  any_number_ = number_language(store_, {});
}

RegexId JsonLanguage::truth_word(bool value) {
  if (style_.python) return store_.literal(value ? "True" : "False");
  return store_.literal(value ? "true" : "false");
}

// The letters that are excluded may end with the quote.
RegexId JsonLanguage::quoted(RegexId characters) { return store_.concat(store_.byte('"'), allowed(store_.concat(characters, store_.byte('"')))); }

RegexId JsonLanguage::allowed(RegexId text) {
  if (style_.excluded.empty()) return text;
  std::vector<RegexId> parts{text};
  for (const std::string& letters : style_.excluded) parts.push_back(store_.complement(store_.concat({kAnyText, store_.literal(letters), kAnyText})));
  return store_.both(std::move(parts));
}

RegexId JsonLanguage::key(RegexId characters) { return key_with_quote(store_.concat(characters, store_.byte('"'))); }

RegexId JsonLanguage::key_with_quote(RegexId characters_and_quote) {
  return store_.concat({store_.byte('"'), allowed(characters_and_quote), space_, store_.byte(':'), space_});
}

ListRule JsonLanguage::array() const {
  ListRule out;
  out.open = store_.concat(store_.byte('['), space_);
  out.separator = store_.concat({space_, store_.byte(','), space_});
  out.close = store_.concat(space_, store_.byte(']'));
  return out;
}

ObjectRule JsonLanguage::object() const {
  ObjectRule out;
  out.open = store_.concat(store_.byte('{'), space_);
  out.separator = store_.concat({space_, store_.byte(','), space_});
  out.close = store_.concat(space_, store_.byte('}'));
  return out;
}

Symbol JsonLanguage::any_value() {
  if (any_value_ != UINT32_MAX) return call(any_value_);
  any_value_ = grammar_.add_rule("any value");
  any_array_ = grammar_.add_rule("any array");
  any_object_ = grammar_.add_rule("any object");
  const RegexId plain = store_.either({any_string_, any_number_, truth_word(true), truth_word(false), null_word()});
  grammar_.add_production(any_value_, {terminal(plain)});
  grammar_.add_production(any_value_, {call(any_array_)});
  grammar_.add_production(any_value_, {call(any_object_)});
  ListRule list = array();
  list.rest = call(any_value_);
  grammar_.make_list(any_array_, std::move(list));
  ObjectRule members = object();
  members.others.push_back({key(any_key_characters_), call(any_value_)});
  grammar_.make_object(any_object_, std::move(members));
  return call(any_value_);
}

Symbol JsonLanguage::any_array() { return (void)any_value(), call(any_array_); }
Symbol JsonLanguage::any_object() { return (void)any_value(), call(any_object_); }

// Deep as the document, whose depth its reader bounds.
RegexId JsonLanguage::constant(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::null:
      return null_word();
    case JsonType::boolean:
      return truth_word(*value.as_bool());
    case JsonType::number:
      return store_.literal(value.number_text());
    case JsonType::string:
      return store_.literal("\"" + escaped(*value.as_string()) + "\"");
    default:
      break;
  }
  const bool is_array = value.is_array();
  const RegexId comma = store_.concat({space_, store_.byte(','), space_});
  std::vector<RegexId> parts{store_.byte(is_array ? '[' : '{'), space_};
  bool first = true;
  const auto add_comma = [&] {
    if (!first) parts.push_back(comma);
    first = false;
  };
  for (const JsonValue element : value.elements()) {
    add_comma();
    parts.push_back(constant(element));
  }
  for (const JsonMember member : value.members()) {
    add_comma();
    parts.push_back(key(store_.literal(escaped(member.key))));
    parts.push_back(constant(member.value));
  }
  if (!first) parts.push_back(space_);
  parts.push_back(store_.byte(is_array ? ']' : '}'));
  RegexId out = kEmptyText;
  for (size_t i = parts.size(); i-- > 0;) out = store_.concat(parts[i], out);
  return out;
}

}  // namespace inlay::constraint
