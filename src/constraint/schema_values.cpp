// Whether a value of a schema's text is one of a schema: for enum and const beside other keywords.
#include <algorithm>

#include "src/constraint/schema.h"

namespace inlay::constraint {

namespace {

constexpr uint32_t kMaxValueDepth = 100;

uint64_t n_characters(std::string_view text) {
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_multiple(const Decimal& number, uint32_t factor) {
  uint64_t rest = 0;
  for (const char c : number.whole) rest = (rest * 10 + static_cast<uint64_t>(c - '0')) % factor;
  return rest == 0;
}

bool has_twice(const JsonValue& array, RegexStore& steps) {
  std::vector<JsonValue> before;
  for (const JsonValue element : array.elements()) {
    steps.add_steps(before.size());
    if (steps.is_full()) return false;
    if (std::any_of(before.begin(), before.end(), [&](const JsonValue& other) { return equal_values(element, other); })) return true;
    before.push_back(element);
  }
  return false;
}

std::vector<JsonMember> sorted_members(const JsonValue& object) {
  std::vector<JsonMember> out;
  for (const JsonMember member : object.members()) out.push_back(member);
  std::sort(out.begin(), out.end(), [](const JsonMember& a, const JsonMember& b) { return a.key < b.key; });
  return out;
}

}  // namespace

TypeSet type_of(const JsonValue& value) {
  switch (value.type()) {
    case JsonType::null:
      return kNull;
    case JsonType::boolean:
      return kBoolean;
    case JsonType::number: {
      const auto number = Decimal::parse(value.number_text());
      return number && number->is_integer() ? kInteger : kFraction;
    }
    case JsonType::string:
      return kString;
    case JsonType::array:
      return kArray;
    default:
      return kObject;
  }
}

// Deep as the document, whose depth its reader bounds.
bool equal_values(const JsonValue& a, const JsonValue& b) {
  if (a.type() != b.type() || a.size() != b.size()) return false;
  switch (a.type()) {
    case JsonType::boolean:
      return *a.as_bool() == *b.as_bool();
    case JsonType::number: {
      const auto x = Decimal::parse(a.number_text()), y = Decimal::parse(b.number_text());
      return x && y ? *x == *y : a.number_text() == b.number_text();
    }
    case JsonType::string:
      return *a.as_string() == *b.as_string();
    case JsonType::array: {
      const JsonElements others = b.elements();
      auto other = others.begin();
      for (const JsonValue element : a.elements()) {
        if (!equal_values(element, *other)) return false;
        ++other;
      }
      return true;
    }
    case JsonType::object: {
      const std::vector<JsonMember> own = sorted_members(a), other = sorted_members(b);
      return std::equal(own.begin(), own.end(), other.begin(), [](const JsonMember& x, const JsonMember& y) { return x.key == y.key && equal_values(x.value, y.value); });
    }
    default:
      return true;
  }
}

bool SchemaSet::matches(RegexId language, std::string_view text) {
  for (size_t i = 0; i < text.size() && language != kNothing; ++i) language = store_.step(language, static_cast<uint8_t>(text[i]));
  return store_.nullable(language);
}

Result<bool> SchemaSet::holds(const JsonValue& value, SchemaId id, uint32_t depth) {
  store_.add_steps(1);
  INLAY_ASSIGN(const Schema* found, get(id));
  const Schema& schema = *found;
  INLAY_TRY(check_room(value));
  if (depth > kMaxValueDepth)
    return error(Code::unsupported, "%s: enum or const beside schemas that are nested too deeply", text_of(schema.where).c_str());
  INLAY_ASSIGN(const bool base, base_holds(value, schema, depth));
  if (!base) return false;
  for (const SchemaId other : schema.all) {
    INLAY_ASSIGN(const bool one, holds(value, other, depth + 1));
    if (!one) return false;
  }
  for (const SchemaId other : schema.none) {
    INLAY_ASSIGN(const bool one, holds(value, other, depth + 1));
    if (one) return false;
  }
  INLAY_ASSIGN(const std::optional<SchemaId> unevaluated, unevaluated_of(id));
  if (unevaluated) {
    INLAY_ASSIGN(const bool one, holds(value, *unevaluated, depth + 1));
    if (!one) return false;
  }
  for (const SchemaGroup& group : schema.groups) {
    size_t n = 0;
    for (const SchemaId branch : group.branches) {
      INLAY_ASSIGN(const bool one, holds(value, branch, depth + 1));
      n += one;
    }
    if (n == 0 || (group.exactly_one && n > 1)) return false;
  }
  return true;
}

Result<bool> SchemaSet::base_holds(const JsonValue& value, const Schema& schema, uint32_t depth, bool is_of_values) {
  if ((schema.types & type_of(value)) == 0) return false;
  const auto same = [&](const JsonValue& other) { return equal_values(value, other); };
  store_.add_steps((schema.values && !is_of_values ? schema.values->size() : 0) + schema.excluded.size());
  if (store_.is_full()) return error(Code::unsupported, "%s: enum or const beside others of too many values", text_of(schema.where).c_str());
  if (schema.values && !is_of_values && std::none_of(schema.values->begin(), schema.values->end(), same)) return false;
  if (std::any_of(schema.excluded.begin(), schema.excluded.end(), same)) return false;
  if (value.type() == JsonType::number) {
    const auto number = Decimal::parse(value.number_text());
    if (!number) return error(Code::unsupported, "%s: numbers of more than 1,000 digits are not supported", value.where().c_str());
    const auto below = [](const Decimal& a, const Bound& b) { return a < b.value || (b.exclusive && a == b.value); };
    const auto above = [](const Decimal& a, const Bound& b) { return a > b.value || (b.exclusive && a == b.value); };
    if ((schema.min && below(*number, *schema.min)) || (schema.max && above(*number, *schema.max))) return false;
    if (schema.fraction_digits && number->fraction.size() > *schema.fraction_digits) return false;
    if (number->is_integer())
      for (const uint32_t factor : schema.not_multiple_of)
        if (is_multiple(*number, factor)) return false;
    return is_multiple(*number, schema.multiple_of);
  }
  if (value.is_string()) {
    const std::string_view text = *value.as_string();
    const uint64_t n = n_characters(text);
    if (n < schema.min_length || n > schema.max_length) return false;
    const std::string characters = escaped(text);
    return std::all_of(schema.languages.begin(), schema.languages.end(), [&](RegexId language) { return matches(language, characters); });
  }
  if (value.is_array()) {
    if (value.size() < schema.min_items || value.size() > schema.max_items) return false;
    if (schema.unique && has_twice(value, store_)) return false;
    uint32_t n_contained = 0;
    for (const JsonValue element : value.elements()) {
      if (!schema.contains) break;
      INLAY_ASSIGN(const bool one, holds(element, id_of(*schema.contains), depth + 1));
      n_contained += one;
    }
    if (schema.contains && (n_contained < schema.min_contains || n_contained > schema.max_contains)) return false;
    size_t i = 0;
    for (const JsonValue element : value.elements()) {
      const auto id = i < schema.prefix.size() ? std::optional(schema.prefix[i]) : schema.items;
      ++i;
      if (!id) continue;
      INLAY_ASSIGN(const bool one, holds(element, *id, depth + 1));
      if (!one) return false;
    }
    return true;
  }
  if (!value.is_object()) return true;
  if (value.size() < schema.min_properties || value.size() > schema.max_properties) return false;
  for (const std::string& name : schema.required)
    if (!value.find(name)) return false;
  for (const JsonMember member : value.members()) {
    store_.add_steps(schema.properties.size());
    if (store_.is_full()) return error(Code::unsupported, "%s: enum or const of too many members beside properties", text_of(schema.where).c_str());
    const std::string key = escaped(member.key);
    std::vector<SchemaId> rules;
    for (const PropertySchema& property : schema.properties)
      if (property.name == member.key) rules.push_back(property.schema);
    for (const PatternSchema& pattern : schema.patterns)
      if (matches(pattern.keys, key)) rules.push_back(pattern.schema);
    if (rules.empty() && schema.additional) rules.push_back(*schema.additional);
    for (const SchemaId id : rules) {
      INLAY_ASSIGN(const bool one, holds(member.value, id, depth + 1));
      if (!one) return false;
    }
  }
  if (schema.names && value.size() > 0)
    return error(Code::unsupported, "%s: enum or const of objects beside propertyNames is not supported", text_of(schema.where).c_str());
  return true;
}

}  // namespace inlay::constraint
