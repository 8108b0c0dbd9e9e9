// The rules and terminals of sets of schemas by type of value.
#include <algorithm>

#include "src/constraint/schema_compiler.h"

namespace inlay::constraint {

namespace {

constexpr size_t kMaxPatterns = 6;  // of keys, in one set: their combinations are rules

void tighten(std::optional<Bound>& bound, const std::optional<Bound>& other, bool is_min) {
  if (!other) return;
  const auto order = bound ? (is_min ? other->value <=> bound->value : bound->value <=> other->value) : std::strong_ordering::greater;
  if (order > 0 || (order == 0 && other->exclusive)) bound = other;
}

}  // namespace

// The values of the smallest enumeration that all others hold for, too.
Result<Symbol> SchemaCompiler::constants(const Merged& merged) {
  const Schema* smallest = nullptr;
  for (const Schema* schema : merged.bases)
    if (schema->values && (smallest == nullptr || schema->values->size() < smallest->values->size())) smallest = schema;
  std::vector<std::string> plain;
  std::vector<RegexId> parts;
  for (const JsonValue& value : *smallest->values) {
    bool holds = true;
    for (const Schema* schema : merged.bases) {
      if (!holds) break;
      INLAY_ASSIGN(holds, schemas_.base_holds(value, *schema, 0, schema == smallest));
    }
    if (!holds) continue;
    if (value.is_string())
      plain.push_back("\"" + escaped(*value.as_string()) + "\"");
    else
      parts.push_back(language_.constant(value));
    if (store_.is_full()) return too_many();
  }
  parts.push_back(store_.literals(std::move(plain)));
  return terminal(store_.either(std::move(parts)));
}

Result<RegexId> SchemaCompiler::scalars(const Merged& merged) {
  std::vector<RegexId> parts;
  const auto excluded = [&](JsonType type, bool truth) {
    for (const Schema* schema : merged.bases)
      for (const JsonValue& value : schema->excluded)
        if (value.type() == type && (type == JsonType::null || *value.as_bool() == truth)) return true;
    return false;
  };
  if ((merged.types & kNull) && !excluded(JsonType::null, false)) parts.push_back(language_.null_word());
  if (merged.types & kBoolean)
    for (const bool truth : {true, false})
      if (!excluded(JsonType::boolean, truth)) parts.push_back(language_.truth_word(truth));
  if (merged.types & kNumber) {
    INLAY_ASSIGN(const RegexId numbers, number_language_of(merged));
    parts.push_back(numbers);
  }
  if (merged.types & kString) parts.push_back(string_language(merged));
  return store_.either(std::move(parts));
}

RegexId SchemaCompiler::string_language(const Merged& merged) {
  uint32_t min = 0, max = kUnbounded;
  std::vector<RegexId> languages;
  std::vector<std::string> excluded;
  for (const Schema* schema : merged.bases) {
    min = std::max(min, schema->min_length);
    max = std::min(max, schema->max_length);
    languages.insert(languages.end(), schema->languages.begin(), schema->languages.end());
    for (const JsonValue& value : schema->excluded)
      if (value.is_string()) excluded.push_back(escaped(*value.as_string()));
  }
  if (min > max) return kNothing;
  if (min > 0 || max != kUnbounded || languages.empty()) languages.push_back(store_.repeat(language_.character(), min, max));
  if (!excluded.empty()) languages.push_back(store_.complement(store_.literals(std::move(excluded))));
  const RegexId all = store_.both(std::move(languages));
  return store_.is_nothing(all) ? kNothing : language_.quoted(all);
}

Result<RegexId> SchemaCompiler::number_language_of(const Merged& merged) {
  NumberRange range;
  uint64_t factor = 1;
  std::vector<RegexId> excluded;
  for (const Schema* schema : merged.bases) {
    tighten(range.min, schema->min, true);
    tighten(range.max, schema->max, false);
    if (schema->fraction_digits) range.fraction_digits = std::min(range.fraction_digits.value_or(UINT32_MAX), *schema->fraction_digits);
    uint64_t a = factor, b = schema->multiple_of;
    while (b != 0) a = std::exchange(b, a % b);
    factor = factor / a * schema->multiple_of;
    if (factor > 999'999'999)
      return error(Code::unsupported, "%s: multipleOf is supported up to 999,999,999", text_of(schema->where).c_str());
  }
  range.multiple_of = static_cast<uint32_t>(factor);
  // A whole number is written without a point; fractions alone are those that have one.
  range.integers = (merged.types & kFraction) == 0 || range.fraction_digits == 0u;
  if (range.integers && !(merged.types & kInteger)) return kNothing;
  if (range.integers) range.fraction_digits.reset();
  RegexId out = number_language(store_, range);
  if (!(merged.types & kInteger)) {
    const RegexId digits = store_.repeat(store_.bytes(ByteSet::range('0', '9')), 0, kUnbounded);
    out = store_.both({out, store_.concat({store_.optional(store_.byte('-')), digits, store_.byte('.'), digits,
                                           store_.bytes(ByteSet::range('1', '9')), digits})});
  }
  for (const Schema* schema : merged.bases)  // of integers alone
    for (const uint32_t other : schema->not_multiple_of)
      out = store_.both({out, store_.complement(store_.concat(store_.optional(store_.byte('-')), store_.multiple(other, 0)))});
  for (const Schema* schema : merged.bases)
    for (const JsonValue& value : schema->excluded) {
      if (value.type() != JsonType::number) continue;
      const auto number = Decimal::parse(value.number_text());
      if (!number) continue;  // no number that is written here
      NumberRange other;
      other.integers = range.integers;
      other.min = other.max = Bound{*number, false};
      // A number with an exponent could be the same.
      NumberRange without_exponent;
      without_exponent.fraction_digits = 1000;
      if (!range.integers) out = store_.both({out, number_language(store_, without_exponent)});
      out = store_.both({out, store_.complement(number_language(store_, other))});
    }
  return store_.is_nothing(out) ? kNothing : out;
}

// Elements that differ, where each is one of a few values, the same ones at every place.
Status SchemaCompiler::make_unique(const Merged& merged, const JsonValue& unique, size_t n_prefix, ListRule& list) {
  std::vector<SchemaId> items;
  std::optional<std::vector<JsonValue>> values;
  for (const Schema* schema : merged.bases) {
    if (!schema->items) continue;
    items.push_back(*schema->items);
    INLAY_ASSIGN(auto few, schemas_.few_values(*schema->items));
    if (few && (!values || few->size() < values->size())) values = std::move(few);
  }
  std::vector<JsonValue> differing;
  const size_t n = n_prefix > 0 || !values ? 0 : values->size();
  for (size_t i = 0; i < n && differing.size() <= kMaxOnce; ++i) {
    const JsonValue& value = (*values)[i];
    bool is_one = std::none_of(differing.begin(), differing.end(), [&](const JsonValue& other) { return equal_values(value, other); });
    for (size_t k = 0; is_one && k < items.size(); ++k) {
      INLAY_ASSIGN(is_one, schemas_.holds(value, items[k]));
    }
    if (is_one) differing.push_back(value);
  }
  if (n_prefix > 0 || !values || differing.size() > kMaxOnce)
    return schemas_.unsupported("uniqueItems", unique, "is supported where all items are of one schema of at most 32 values");
  for (const JsonValue& value : differing) list.once.push_back(language_.constant(value));
  return {};
}

// Elements that count are of both schemas. Where there may be too many of them, those that do not count are not of the other one.
Status SchemaCompiler::make_contains(Demands& items, const Schema& schema, ListRule& list) {
  const SchemaId counted = schemas_.id_of(*schema.contains);
  Demands both = items;
  both.push_back({counted, Demand::whole});
  INLAY_ASSIGN(list.counted, symbol_of(std::move(both)));
  list.min_counted = schema.min_contains;
  list.max_counted = schema.max_contains;
  if (schema.max_contains != kUnbounded) items.push_back({schemas_.not_of(counted), Demand::whole});
  return {};
}

Status SchemaCompiler::make_array(uint32_t rule, const Merged& merged) {
  ListRule list = language_.array();
  size_t n_prefix = 0;
  std::optional<JsonValue> unique;
  std::vector<const Schema*> contains;
  for (const Schema* schema : merged.bases) {
    if (schema->unique) unique = schema->unique;
    if (schema->contains && (schema->min_contains > 0 || schema->max_contains != kUnbounded)) contains.push_back(schema);
    list.min = std::max(list.min, schema->min_items);
    list.max = std::min(list.max, schema->max_items);
    n_prefix = std::max(n_prefix, schema->prefix.size());
    for (const JsonValue& value : schema->excluded)
      if (value.is_array()) return error(Code::unsupported, "%s: arrays that are not allowed are not supported", value.where().c_str());
  }
  n_prefix = std::min<size_t>(n_prefix, list.max);
  if (unique && list.max > 1) INLAY_TRY(make_unique(merged, *unique, n_prefix, list));
  if (contains.size() > 1 || (!contains.empty() && (n_prefix > 0 || !list.once.empty()))) {
    INLAY_TRY(schemas_.unsupported("contains", *contains[0]->contains, "is not supported beside another one, prefixItems or uniqueItems"));
    contains.clear();
  }
  if (!list.once.empty()) return grammar_.make_list(rule, std::move(list)), Status{};
  for (size_t i = 0; i <= n_prefix; ++i) {
    Demands demands = item_demands(merged, i);
    if (!contains.empty()) INLAY_TRY(make_contains(demands, *contains[0], list));
    INLAY_ASSIGN(const Symbol symbol, symbol_of(std::move(demands)));
    if (i < n_prefix)
      list.prefix.push_back(symbol);
    else
      list.rest = symbol;
  }
  grammar_.make_list(rule, std::move(list));
  return {};
}

SchemaCompiler::Demands SchemaCompiler::item_demands(const Merged& merged, size_t index) {
  Demands demands;
  for (const Schema* schema : merged.bases) {
    if (index < schema->prefix.size())
      demands.push_back({schema->prefix[index], Demand::whole});
    else if (schema->items)
      demands.push_back({*schema->items, Demand::whole});
  }
  if (demands.empty()) demands.push_back({schemas_.anything(), Demand::whole});
  return demands;
}

void SchemaCompiler::index_properties(Merged& merged) {
  for (const Schema* schema : merged.bases) {
    merged.properties.emplace_back();
    for (const PropertySchema& property : schema->properties) merged.properties.back().emplace(property.name, property.schema);
  }
}

SchemaCompiler::Demands SchemaCompiler::member_demands(const Merged& merged, std::string_view name) {
  const std::string key = escaped(name);
  store_.add_steps(merged.bases.size());
  Demands demands;
  for (size_t i = 0; i < merged.bases.size(); ++i) {
    const Schema* schema = merged.bases[i];
    bool own = false;
    const auto add = [&](SchemaId id) {
      demands.push_back({id, Demand::whole});
      own = true;
    };
    if (const auto at = merged.properties[i].find(name); at != merged.properties[i].end()) add(at->second);
    for (const PatternSchema& pattern : schema->patterns)
      if (schemas_.matches(pattern.keys, key)) add(pattern.schema);
    if (!own && schema->additional) add(*schema->additional);
  }
  if (demands.empty()) demands.push_back({schemas_.anything(), Demand::whole});
  return demands;
}

// The characters of keys that propertyNames leaves, or kAnyText.
Result<RegexId> SchemaCompiler::names_language(const Merged& merged) {
  Demands demands;
  Where where;
  for (const Schema* schema : merged.bases)
    if (schema->names) {
      demands.push_back({*schema->names, Demand::whole});
      where = schema->where;
    }
  if (demands.empty()) return kAnyText;
  Schema strings;
  strings.types = kString;
  demands.push_back({schemas_.add(std::move(strings)), Demand::whole});
  if (language_.values() != Spelling::json)
    return error(Code::unsupported, "%s: propertyNames is not supported with the option for escapes", text_of(where).c_str());
  INLAY_ASSIGN(const Symbol symbol, symbol_of(std::move(demands)));
  if (symbol.kind != SymbolKind::terminal) return error(Code::unsupported, "%s: this propertyNames is not supported", text_of(where).c_str());
  if (symbol.id == kNothing) return kNothing;
  // The strings without their quotes: what follows the first one, with the last one in place of what follows a key's.
  return store_.step(symbol.id, '"');
}

Status SchemaCompiler::make_object(uint32_t rule, Merged merged) {
  ObjectRule object = language_.object();
  index_properties(merged);
  std::vector<std::string> names;
  std::map<std::string, bool, std::less<>> required;
  for (const Schema* schema : merged.bases) {
    object.min = std::max(object.min, schema->min_properties);
    object.max = std::min(object.max, schema->max_properties);
    for (const JsonValue& value : schema->excluded)
      if (value.is_object()) return error(Code::unsupported, "%s: objects that are not allowed are not supported", value.where().c_str());
  }
  for (const bool made : {false, true})
    for (const Schema* schema : merged.bases)
      for (const PropertySchema& property : schema->properties)
        if (schema->is_made == made && required.try_emplace(property.name, false).second) names.push_back(property.name);
  for (const Schema* schema : merged.bases)
    for (const std::string& name : schema->required) {
      if (required.try_emplace(name, true).second) names.push_back(name);
      required[name] = true;
    }
  INLAY_ASSIGN(const RegexId allowed, names_language(merged));
  for (const std::string& name : names) {
    store_.add_steps(name.size());
    if (store_.is_full()) return too_many();
    INLAY_ASSIGN(Symbol value, symbol_of(member_demands(merged, name)));
    const std::string characters = escaped(name);
    if (allowed != kAnyText && !schemas_.matches(allowed, characters + "\"")) value = terminal(kNothing);
    object.members.push_back({language_.key(store_.literal(characters)), value, required[name]});
  }
  INLAY_TRY(add_other_members(merged, names, allowed, object));
  INLAY_TRY(check_min_properties(merged, object));
  grammar_.make_object(rule, std::move(object));
  return {};
}

// Whether members with a name and one other are enough: other members may have the same key, and count as one. Where that is dropped, one member
// is left of what is demanded.
Status SchemaCompiler::check_min_properties(const Merged& merged, ObjectRule& object) {
  const auto possible = [](const Member& member) { return member.value != terminal(kNothing); };
  const auto n_named = static_cast<uint64_t>(std::count_if(object.members.begin(), object.members.end(), possible));
  if (std::none_of(object.others.begin(), object.others.end(), possible) || object.min > object.max || object.min <= n_named + 1) return {};
  const Schema* schema = *std::find_if(merged.bases.begin(), merged.bases.end(), [&](const Schema* one) { return one->min_properties == object.min; });
  object.min = 1;
  return schemas_.unsupported("minProperties", schema->min_properties_where ? schema->min_properties_where : schema->where, "is supported up to one more than the members that are named: other keys could be written twice");
}

// Keys that have no name of their own, by which of the patterns match them.
Status SchemaCompiler::add_other_members(const Merged& merged, const std::vector<std::string>& names, RegexId allowed, ObjectRule& object) {
  std::vector<RegexId> patterns;
  for (const Schema* schema : merged.bases)
    for (const PatternSchema& pattern : schema->patterns)
      if (std::find(patterns.begin(), patterns.end(), pattern.keys) == patterns.end()) patterns.push_back(pattern.keys);
  if (patterns.size() > kMaxPatterns)
    return error(Code::unsupported, "%s: more than %zu patternProperties together are not supported", text_of(merged.bases[0]->where).c_str(), kMaxPatterns);
  std::vector<std::string> spelled;
  for (const std::string& name : names) spelled.push_back(escaped(name));
  const RegexId others = store_.complement(store_.literals(std::move(spelled)));
  for (uint32_t which = 0; which < 1u << patterns.size(); ++which) {
    std::vector<RegexId> parts{others};
    for (size_t i = 0; i < patterns.size(); ++i) parts.push_back(which >> i & 1 ? patterns[i] : store_.complement(patterns[i]));
    if (which == 0) parts.push_back(language_.any_key_characters());
    RegexId keys = store_.both(std::move(parts));
    if (allowed != kAnyText) keys = store_.both({store_.concat(keys, store_.byte('"')), allowed});
    if (store_.is_nothing(keys)) continue;
    Demands demands;
    for (const Schema* schema : merged.bases) {
      bool own = false;
      for (const PatternSchema& pattern : schema->patterns) {
        const auto at = static_cast<size_t>(std::find(patterns.begin(), patterns.end(), pattern.keys) - patterns.begin());
        if ((which >> at & 1) == 0) continue;
        demands.push_back({pattern.schema, Demand::whole});
        own = true;
      }
      if (!own && schema->additional) demands.push_back({*schema->additional, Demand::whole});
    }
    if (demands.empty()) demands.push_back({schemas_.anything(), Demand::whole});
    INLAY_ASSIGN(const Symbol value, symbol_of(std::move(demands)));
    object.others.push_back({allowed == kAnyText ? language_.key(keys) : language_.key_with_quote(keys), value, false});
  }
  return {};
}

}  // namespace inlay::constraint
