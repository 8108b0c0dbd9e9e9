// What is evaluated for unevaluatedProperties and unevaluatedItems, and values that are few for uniqueItems.
#include <algorithm>
#include <set>

#include "src/constraint/schema.h"

namespace inlay::constraint {

namespace {

constexpr size_t kFewValues = 1000;
constexpr uint32_t kMaxDepth = 16;

template <class T>
bool has(const std::vector<T>& some, const T& one) {
  return std::find(some.begin(), some.end(), one) != some.end();
}

}  // namespace

Result<std::optional<std::vector<JsonValue>>> SchemaSet::few_values(SchemaId id, uint32_t depth) {
  using Values = std::optional<std::vector<JsonValue>>;
  store_.add_steps(1);
  INLAY_ASSIGN(const Schema* schema, get(id));
  if (schema->values) return schema->values->size() <= kFewValues ? schema->values : Values();
  if ((schema->types & ~(kNull | kBoolean)) == 0) {
    if (!words_) {
      INLAY_ASSIGN(words_, JsonDocument::parse("[null, false, true]", "words"));
    }
    std::vector<JsonValue> out;
    for (const JsonValue word : words_->root().elements())
      if (schema->types & type_of(word)) out.push_back(word);
    return Values(std::move(out));
  }
  if (depth == kMaxDepth || store_.is_full()) return Values();
  for (const SchemaId other : schema->all) {
    INLAY_ASSIGN(Values few, few_values(other, depth + 1));
    if (few) return few;
  }
  for (const SchemaGroup& group : schema->groups) {
    std::vector<JsonValue> out;
    bool is_few = true;
    for (size_t i = 0; i < group.branches.size() && is_few; ++i) {
      INLAY_ASSIGN(const Values few, few_values(group.branches[i], depth + 1));
      is_few = few && out.size() + few->size() <= kFewValues;
      if (is_few) out.insert(out.end(), few->begin(), few->end());
    }
    if (is_few) return Values(std::move(out));
  }
  return Values();
}

// Of the schemas that hold for the same value as the root: those that hold in any case, and those that some objects are of. What must not hold
// evaluates nothing. Made schemas name members only to say that they are not there.
Status SchemaSet::collect_evaluated(SchemaId root, Evaluated& always, Evaluated& sometimes) {
  struct Place {
    SchemaId id;
    bool in_any_case;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> left{{root, true}};
  std::set<Place> seen;
  while (!left.empty()) {
    const Place place = left.back();
    left.pop_back();
    store_.add_steps(1);
    if (!seen.insert(place).second) continue;
    INLAY_ASSIGN(const Schema* schema, get(place.id));
    Evaluated& out = place.in_any_case ? always : sometimes;
    out.all = out.all || schema->additional || (schema->unevaluated && place.id != root);
    for (const PropertySchema& property : schema->properties)
      if (!schema->is_made) out.names.push_back(property.name);
    for (const PatternSchema& pattern : schema->patterns) out.patterns.push_back(pattern.keys);
    out.n_items = std::max(out.n_items, schema->prefix.size());
    out.all_items = out.all_items || schema->items || (schema->unevaluated_items && place.id != root);
    out.contained_items = out.contained_items || schema->contains;
    for (const SchemaId other : schema->all) left.push_back({other, place.in_any_case});
    for (const SchemaGroup& group : schema->groups)
      for (const SchemaId other : group.branches) left.push_back({other, false});
    for (const SchemaId other : schema->asides) left.push_back({other, false});
  }
  return {};
}

// additionalProperties, beside all names and patterns that are evaluated in any case.
Status SchemaSet::add_unevaluated_members(const JsonValue& demand, const Evaluated& always, const Evaluated& sometimes, Schema& made) {
  if (always.all) return {};
  const auto is_sure = [&](const std::string& name) {
    return has(always.names, name) || std::any_of(always.patterns.begin(), always.patterns.end(), [&](RegexId keys) { return matches(keys, escaped(name)); });
  };
  const bool is_clear = !sometimes.all && std::all_of(sometimes.names.begin(), sometimes.names.end(), is_sure) &&
                        std::all_of(sometimes.patterns.begin(), sometimes.patterns.end(), [&](RegexId keys) { return has(always.patterns, keys); });
  if (!is_clear) return unsupported("unevaluatedProperties", demand, "is supported where it does not depend on anyOf, oneOf or if what is evaluated");
  made.additional = id_of(demand);
  std::vector<std::string> names = always.names;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (std::string& name : names) made.properties.push_back({std::move(name), anything()});
  for (const RegexId keys : always.patterns) made.patterns.push_back({keys, anything()});
  return {};
}

// items, behind all that are evaluated in any case.
Status SchemaSet::add_unevaluated_items(const JsonValue& demand, const Evaluated& always, const Evaluated& sometimes, Schema& made) {
  if (always.all_items) return {};
  if (sometimes.all_items || sometimes.n_items > always.n_items || always.contained_items || sometimes.contained_items)
    return unsupported("unevaluatedItems", demand, "is supported where it does not depend on anyOf, oneOf, if or contains what is evaluated");
  made.items = id_of(demand);
  made.prefix.assign(always.n_items, anything());
  return {};
}

Result<std::optional<SchemaId>> SchemaSet::unevaluated_of(SchemaId id) {
  using Made = std::optional<SchemaId>;
  INLAY_ASSIGN(const Schema* schema, get(id));
  const auto demands = [](const std::optional<JsonValue>& value) { return value && !(value->type() == JsonType::boolean && *value->as_bool()); };
  const bool of_members = demands(schema->unevaluated), of_items = demands(schema->unevaluated_items);
  if (!of_members && !of_items) return Made();
  if (const auto known = unevaluated_.find(id); known != unevaluated_.end()) return known->second;
  unevaluated_[id] = Made();
  Evaluated always, sometimes;
  INLAY_TRY(collect_evaluated(id, always, sometimes));
  Schema made;
  made.where = schema->where;
  if (of_members) INLAY_TRY(add_unevaluated_members(*schema->unevaluated, always, sometimes, made));
  if (of_items) INLAY_TRY(add_unevaluated_items(*schema->unevaluated_items, always, sometimes, made));
  if (!made.additional && !made.items) return Made();
  return unevaluated_[id] = add(std::move(made));
}

}  // namespace inlay::constraint
