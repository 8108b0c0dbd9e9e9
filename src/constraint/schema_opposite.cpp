// What must not hold, as alternatives of which one must: for "not", for conditions, and for "oneOf" where branches overlap.
#include "src/constraint/schema_compiler.h"

namespace inlay::constraint {

namespace {

Status not_supported(const Schema& schema, const char* keyword) {
  return error(Code::unsupported, "%s: %s is not supported where it must not hold (under not, if, or oneOf whose branches overlap)",
               text_of(schema.where).c_str(), keyword);
}

}  // namespace

Result<Symbol> SchemaCompiler::without(const Demands& demands, size_t at, uint32_t depth) {
  INLAY_ASSIGN(const Schema* schema, schemas_.get(demands[at].schema));
  const SchemaId forbidden = schema->none[demands[at].index];
  Demands rest = demands;
  rest.erase(rest.begin() + static_cast<ptrdiff_t>(at));
  if (opposites_.find(forbidden) == opposites_.end()) {
    std::vector<Schema> parts;
    if (Status status = opposite(forbidden, parts); !status.ok()) {
      if (!schemas_.is_lenient() || status.code != Code::unsupported) return status;
      schemas_.remarks().push_back(status.message + "; it was dropped");
      parts.assign(1, Schema{});
    }
    std::vector<SchemaId>& ids = opposites_[forbidden];
    for (Schema& part : parts) ids.push_back(schemas_.add(std::move(part)));
  }
  std::vector<Demands> branches;
  for (const SchemaId part : opposites_[forbidden]) {
    INLAY_TRY(add_branch(branches, rest));
    branches.back().push_back({part, Demand::whole});
  }
  return alternatives(branches, depth);
}

Status SchemaCompiler::opposite(SchemaId id, std::vector<Schema>& out) {
  INLAY_ASSIGN(const Schema* found, schemas_.get(id));
  const Schema& schema = *found;
  const auto add = [&](TypeSet types) -> Schema& {
    out.emplace_back();
    out.back().types = types;
    out.back().where = schema.where;
    return out.back();
  };
  if (schema.types != kAllTypes) add(static_cast<TypeSet>(kAllTypes & ~schema.types));
  if (schema.values) add(kAllTypes).excluded = *schema.values;
  for (const JsonValue& value : schema.excluded) add(kAllTypes).values = std::vector<JsonValue>{value};
  if (schema.min) add(kNumber).max = Bound{schema.min->value, !schema.min->exclusive};
  if (schema.max) add(kNumber).min = Bound{schema.max->value, !schema.max->exclusive};
  if (schema.fraction_digits.value_or(0) > 0) return not_supported(schema, "multipleOf");
  if (schema.fraction_digits) add(kFraction);
  if (schema.multiple_of > 1) add(kInteger).not_multiple_of = {schema.multiple_of};
  for (const uint32_t factor : schema.not_multiple_of) {
    Schema& part = add(kInteger);
    part.multiple_of = factor;
    part.fraction_digits = 0;
  }
  if (schema.min_length > 0) add(kString).max_length = schema.min_length - 1;
  if (schema.max_length != kUnbounded) add(kString).min_length = schema.max_length + 1;
  for (const RegexId language : schema.languages)
    add(kString).languages = {store_.both({language_.any_characters(), store_.complement(language)})};
  if (schema.min_items > 0) add(kArray).max_items = schema.min_items - 1;
  if (schema.max_items != kUnbounded) add(kArray).min_items = schema.max_items + 1;
  for (size_t i = 0; i < schema.prefix.size(); ++i) {
    Schema other;
    other.none.push_back(schema.prefix[i]);
    Schema& part = add(kArray);
    part.min_items = static_cast<uint32_t>(i + 1);
    part.prefix.assign(i, schemas_.anything());
    part.prefix.push_back(schemas_.add(std::move(other)));
  }
  if (schema.items) return not_supported(schema, "items");
  if (schema.unique) return not_supported(schema, "uniqueItems");
  if (schema.contains) return not_supported(schema, "contains");
  INLAY_ASSIGN(const std::optional<SchemaId> unevaluated, schemas_.unevaluated_of(id));
  if (unevaluated) return not_supported(schema, schema.unevaluated ? "unevaluatedProperties" : "unevaluatedItems");
  if (schema.min_properties > 0) add(kObject).max_properties = schema.min_properties - 1;
  if (schema.max_properties != kUnbounded) add(kObject).min_properties = schema.max_properties + 1;
  for (const std::string& name : schema.required) add(kObject).properties.push_back({name, schemas_.nothing()});
  for (const PropertySchema& property : schema.properties) {
    Schema other;
    other.none.push_back(property.schema);
    Schema& part = add(kObject);
    part.required.push_back(property.name);
    part.properties.push_back({property.name, schemas_.add(std::move(other))});
  }
  if (!schema.patterns.empty()) return not_supported(schema, "patternProperties");
  if (schema.additional) return not_supported(schema, "additionalProperties");
  if (schema.names) return not_supported(schema, "propertyNames");
  for (const SchemaId other : schema.all) add(kAllTypes).none.push_back(other);
  for (const SchemaId other : schema.none) add(kAllTypes).all.push_back(other);
  for (const SchemaGroup& group : schema.groups) {
    if (group.exactly_one) return not_supported(schema, "oneOf");
    add(kAllTypes).none = group.branches;
  }
  return {};
}

}  // namespace inlay::constraint
