// Where a schema is that nothing matches.
#include <algorithm>
#include <set>

#include "src/constraint/schema_compiler.h"

namespace inlay::constraint {

namespace {

constexpr size_t kMaxWay = 200;  // of schemas, one in the other

}  // namespace

Status SchemaCompiler::check_can_match(SchemaId root) {
  Demands at{{root, Demand::whole}};
  const bool matches = grammar_.can_match(call(grammar_.start));
  if (store_.is_full()) return too_many();
  if (matches) return {};
  Where place;
  for (std::set<Demands> seen; seen.size() < kMaxWay && seen.insert(at).second;) {
    INLAY_ASSIGN(const Schema* schema, schemas_.get(at[0].schema));
    if (schema->where) place = schema->where;
    Result<Demands> part = dead_part(at);
    if (!part.ok() || part->empty()) break;
    at = *std::move(part);
  }
  return error(Code::format, "%s: nothing can match", text_of(place).c_str());
}

Result<bool> SchemaCompiler::can_match(const Demands& demands) {
  INLAY_ASSIGN(const Symbol symbol, symbol_of(demands));
  INLAY_TRY(settle());
  return grammar_.is_productive(symbol) || grammar_.can_match(symbol) || store_.is_full();  // most are known to be by now
}

// Of a set that nothing matches, a part that is needed and that nothing matches either; none: the set itself is the reason.
Result<SchemaCompiler::Demands> SchemaCompiler::dead_part(const Demands& demands) {
  INLAY_ASSIGN(std::vector<Demands> parts, needed_values(demands));
  if (demands.size() > 1) {
    for (const Demand& one : demands) parts.push_back({one});
  } else {
    INLAY_ASSIGN(const Schema* schema, schemas_.get(demands[0].schema));
    for (const SchemaId other : schema->all) parts.push_back({{other, Demand::whole}});
  }
  for (Demands& part : parts) {
    INLAY_ASSIGN(const bool matches, can_match(part));
    if (!matches) return std::move(part);
  }
  if (demands.size() > 1) return Demands();
  INLAY_ASSIGN(const Schema* schema, schemas_.get(demands[0].schema));
  for (const SchemaGroup& group : schema->groups) {
    bool matches = false;
    for (size_t i = 0; i < group.branches.size() && !matches; ++i) {
      INLAY_ASSIGN(const Schema* branch, schemas_.get(group.branches[i]));
      INLAY_ASSIGN(matches, can_match({{group.branches[i], Demand::whole}}));
      matches = matches || branch->is_made;
    }
    if (!matches && !group.branches.empty()) return Demands{{group.branches[0], Demand::whole}};
  }
  return Demands();
}

// What a value of the set has in any case: members that are required, and the first elements.
Result<std::vector<SchemaCompiler::Demands>> SchemaCompiler::needed_values(Demands demands) {
  std::vector<Demands> out;
  INLAY_TRY(expand(demands));
  INLAY_ASSIGN(Merged merged, merge(demands));
  if (std::ranges::any_of(merged.bases, [](const Schema* schema) { return schema->values.has_value(); })) return out;
  if (merged.types == kObject) {
    index_properties(merged);
    for (const Schema* schema : merged.bases)
      for (const std::string& name : schema->required) out.push_back(member_demands(merged, name));
  } else if (merged.types == kArray) {
    size_t n_prefix = 0;
    uint32_t min = 0;
    for (const Schema* schema : merged.bases) {
      n_prefix = std::max(n_prefix, schema->prefix.size());
      min = std::max(min, schema->min_items);
    }
    for (size_t i = 0; i < min && i <= n_prefix; ++i) out.push_back(item_demands(merged, i));
  }
  return out;
}

}  // namespace inlay::constraint
