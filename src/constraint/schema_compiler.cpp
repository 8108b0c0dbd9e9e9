#include "src/constraint/schema_compiler.h"

#include <algorithm>
#include <set>

namespace inlay::constraint {

namespace {

constexpr uint32_t kMaxGroupDepth = 64;  // of groups in groups

}  // namespace

Status SchemaCompiler::too_many() const {
  return error(Code::unsupported, "the schema is too large: its parts combine to more than %zu sets, %llu steps or %zu bytes", limits_.sets,
               static_cast<unsigned long long>(limits_.steps), limits_.bytes);
}

Status SchemaCompiler::run(SchemaId root) {
  INLAY_ASSIGN(const Symbol symbol, symbol_of({{root, Demand::whole}}));
  grammar_.start = grammar_.add_rule("the schema");
  grammar_.add_production(grammar_.start, {symbol});
  return settle();
}

// Makes the rules that others wait for.
Status SchemaCompiler::settle() {
  while (!pending_.empty() || !open_groups_.empty()) {
    if (store_.is_full() || known_.size() > limits_.sets) return too_many();
    store_.add_steps(1);
    if (pending_.empty()) {
      OpenGroup open = std::move(open_groups_.back());
      open_groups_.pop_back();
      INLAY_TRY(tell_apart(std::move(open)));
      continue;
    }
    const Pending next = std::move(pending_.back());
    pending_.pop_back();
    INLAY_ASSIGN(Merged merged, merge(next.demands));
    INLAY_TRY(next.is_array ? make_array(next.rule, merged) : make_object(next.rule, std::move(merged)));
  }
  if (store_.is_full()) return too_many();
  return {};
}

// Until only bases, groups and what must not hold are left, in the order in which members are written.
Status SchemaCompiler::expand(Demands& demands) {
  Demands left(demands.rbegin(), demands.rend()), out;
  std::set<Demand> seen;
  while (!left.empty()) {
    const Demand demand = left.back();
    left.pop_back();
    store_.add_steps(1);
    if (!seen.insert(demand).second) {
      if (demand.part == Demand::whole) INLAY_TRY(check_references(demand.schema));
      continue;
    }
    if (demand.part != Demand::whole) {
      out.push_back(demand);
      continue;
    }
    INLAY_ASSIGN(const Schema* schema, schemas_.get(demand.schema));
    Demands parts;
    for (size_t i = 0; i < schema->n_all_before; ++i) parts.push_back({schema->all[i], Demand::whole});
    for (uint32_t i = 0; i < schema->n_groups_before; ++i) parts.push_back({demand.schema, Demand::group, i});
    parts.push_back({demand.schema, Demand::base});
    for (size_t i = schema->n_all_before; i < schema->all.size(); ++i) parts.push_back({schema->all[i], Demand::whole});
    for (auto i = static_cast<uint32_t>(schema->n_groups_before); i < schema->groups.size(); ++i)
      parts.push_back({demand.schema, Demand::group, i});
    for (uint32_t i = 0; i < schema->none.size(); ++i) parts.push_back({demand.schema, Demand::none, i});
    INLAY_ASSIGN(const std::optional<SchemaId> unevaluated, schemas_.unevaluated_of(demand.schema));
    if (unevaluated) parts.push_back({*unevaluated, Demand::whole});
    left.insert(left.end(), parts.rbegin(), parts.rend());
  }
  demands = std::move(out);
  return {};
}

// A schema that must hold so that it holds says nothing.
Status SchemaCompiler::check_references(SchemaId id) {
  std::vector<SchemaId> left{id};
  std::set<SchemaId> seen;
  while (!left.empty()) {
    const SchemaId at = left.back();
    left.pop_back();
    store_.add_steps(1);
    INLAY_ASSIGN(const Schema* schema, schemas_.get(at));
    for (const SchemaId other : schema->all) {
      if (other == id) return error(Code::format, "%s: $ref or allOf leads back to the schema itself", text_of(schema->where).c_str());
      if (seen.insert(other).second) left.push_back(other);
    }
  }
  return {};
}

Result<SchemaCompiler::Merged> SchemaCompiler::merge(const Demands& demands) {
  Merged out;
  for (const Demand& demand : demands) {
    if (demand.part != Demand::base) continue;
    INLAY_ASSIGN(const Schema* schema, schemas_.get(demand.schema));
    out.bases.push_back(schema);
    out.types &= schema->types;
  }
  return out;
}

Result<Symbol> SchemaCompiler::symbol_of(Demands demands, uint32_t depth) {
  INLAY_TRY(expand(demands));
  if (store_.is_full() || known_.size() > limits_.sets || depth > kMaxGroupDepth) return too_many();
  const auto [at, is_new] = known_.try_emplace(demands);
  std::optional<Symbol>& known = at->second;
  if (known) return *known;
  if (!is_new) {  // being made: a rule that is filled once it is
    known = call(grammar_.add_rule());
    return *known;
  }
  INLAY_ASSIGN(const Symbol made, make_symbol(demands, depth));
  if (known)
    grammar_.add_production(known->id, {made});
  else
    known = made;
  return *known;
}

// Whether the keywords of all bases demand nothing.
bool SchemaCompiler::takes_everything(const Demands& demands, const Merged& merged) const {
  if (merged.types != kAllTypes || merged.bases.size() != demands.size()) return false;
  return std::all_of(merged.bases.begin(), merged.bases.end(), [](const Schema* schema) {
    return !schema->values && schema->excluded.empty() && !schema->min && !schema->max && !schema->fraction_digits &&
           schema->min_length == 0 && schema->max_length == kUnbounded && schema->languages.empty() && schema->prefix.empty() &&
           !schema->items && !schema->unique && !schema->contains && schema->min_items == 0 && schema->max_items == kUnbounded && schema->properties.empty() &&
           schema->patterns.empty() && !schema->additional && !schema->names && schema->required.empty() &&
           schema->min_properties == 0 && schema->max_properties == kUnbounded;
  });
}

Result<Symbol> SchemaCompiler::make_symbol(const Demands& demands, uint32_t depth) {
  INLAY_ASSIGN(const Merged merged, merge(demands));
  if (merged.types == 0) return terminal(kNothing);
  const auto has = [](Demand::Part part) { return [part](const Demand& demand) { return demand.part == part; }; };
  if (const auto at = std::find_if(demands.begin(), demands.end(), has(Demand::group)); at != demands.end())
    return choose(demands, static_cast<size_t>(at - demands.begin()), depth);
  if (const auto at = std::find_if(demands.begin(), demands.end(), has(Demand::none)); at != demands.end())
    return without(demands, static_cast<size_t>(at - demands.begin()), depth);
  if (takes_everything(demands, merged)) return language_.any_value();
  if (std::any_of(merged.bases.begin(), merged.bases.end(), [](const Schema* schema) { return schema->values.has_value(); }))
    return constants(merged);
  INLAY_ASSIGN(const RegexId plain, scalars(merged));
  if ((merged.types & (kArray | kObject)) == 0) return terminal(plain);
  std::vector<Symbol> parts;
  if (plain != kNothing) parts.push_back(terminal(plain));
  for (const bool is_array : {true, false}) {
    if ((merged.types & (is_array ? kArray : kObject)) == 0) continue;
    const uint32_t rule = grammar_.add_rule();
    pending_.push_back({rule, demands, is_array});
    parts.push_back(call(rule));
  }
  if (parts.size() == 1) return parts[0];
  const uint32_t rule = grammar_.add_rule();
  for (const Symbol& part : parts) grammar_.add_production(rule, {part});
  return call(rule);
}

// One of several sets: terminals become one.
Result<Symbol> SchemaCompiler::alternatives(const std::vector<Demands>& branches, uint32_t depth) {
  std::vector<Symbol> symbols;
  std::vector<RegexId> terminals;
  for (const Demands& branch : branches) {
    INLAY_ASSIGN(const Symbol symbol, symbol_of(branch, depth + 1));
    if (symbol.kind == SymbolKind::terminal)
      terminals.push_back(symbol.id);
    else if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end())
      symbols.push_back(symbol);
  }
  const RegexId together = store_.either(std::move(terminals));
  if (symbols.empty()) return terminal(together);
  if (together != kNothing) symbols.push_back(terminal(together));
  if (symbols.size() == 1) return symbols[0];
  const uint32_t rule = grammar_.add_rule();
  for (const Symbol& symbol : symbols) grammar_.add_production(rule, {symbol});
  return call(rule);
}

// The sets of a group have all that stands beside it: many times the schema's size, where both are large.
Status SchemaCompiler::add_branch(std::vector<Demands>& branches, const Demands& demands) {
  store_.add_steps(4 * demands.size());
  if (store_.is_full()) return too_many();
  branches.push_back(demands);
  return {};
}

Result<Symbol> SchemaCompiler::choose(const Demands& demands, size_t at, uint32_t depth) {
  INLAY_ASSIGN(const Schema* schema, schemas_.get(demands[at].schema));
  const SchemaGroup& group = schema->groups[demands[at].index];
  if (group.exactly_one && group.branches.size() > 1) return exactly_one(demands, at, group, depth);
  std::vector<Demands> branches;
  for (const SchemaId branch : group.branches) {
    INLAY_TRY(add_branch(branches, demands));
    branches.back()[at] = {branch, Demand::whole};
  }
  return alternatives(branches, depth);
}

// The bases that hold in any case.
Result<std::vector<const Schema*>> SchemaCompiler::bases_of(SchemaId id) {
  Demands demands{{id, Demand::whole}};
  INLAY_TRY(expand(demands));
  INLAY_ASSIGN(Merged merged, merge(demands));
  return std::move(merged.bases);
}

// By keywords alone: types, constants, and members that both demand and that are apart.
Result<bool> SchemaCompiler::surely_apart(SchemaId a, SchemaId b, uint32_t depth) {
  INLAY_ASSIGN(const auto x, bases_of(a));
  INLAY_ASSIGN(const auto y, bases_of(b));
  TypeSet x_types = kAllTypes, y_types = kAllTypes;
  for (const Schema* schema : x) x_types &= schema->types;
  for (const Schema* schema : y) y_types &= schema->types;
  for (const auto& [own, other] : {std::pair(&x, b), std::pair(&y, a)})
    for (const Schema* schema : *own) {
      if (!schema->values || schema->values->size() > 1000) continue;
      bool common = false;
      for (const JsonValue& value : *schema->values) {
        INLAY_ASSIGN(const bool one, schemas_.holds(value, other));
        common |= one;
      }
      if (!common) return true;
      (own == &x ? x_types : y_types) &= [&] {
        TypeSet types = 0;
        for (const JsonValue& value : *schema->values) types |= type_of(value);
        return types;
      }();
    }
  if ((x_types & y_types) == 0) return true;
  if ((x_types & y_types) != kObject || depth == 3) return false;
  const auto demands = [](const std::vector<const Schema*>& bases, std::string_view name) {
    return std::any_of(bases.begin(), bases.end(), [&](const Schema* schema) {
      return std::find(schema->required.begin(), schema->required.end(), name) != schema->required.end();
    });
  };
  for (const Schema* one : x)
    for (const PropertySchema& property : one->properties)
      for (const Schema* other : y)
        for (const PropertySchema& same : other->properties) {
          store_.add_steps(1);
          if (property.name != same.name || (!demands(x, same.name) && !demands(y, same.name))) continue;
          INLAY_ASSIGN(const bool apart, surely_apart(property.schema, same.schema, depth + 1));
          if (apart) return true;
        }
  return false;
}

Result<Symbol> SchemaCompiler::exactly_one(const Demands& demands, size_t at, const SchemaGroup& group, uint32_t depth) {
  OpenGroup open{0, demands, at, group.branches, {}, group.where};
  bool all_apart = true;
  std::vector<Demands> branches;
  for (size_t i = 0; i < group.branches.size(); ++i) {
    INLAY_TRY(add_branch(branches, demands));
    branches.back()[at] = {group.branches[i], Demand::whole};
    for (size_t j = i + 1; j < group.branches.size(); ++j) {
      store_.add_steps(8);
      if (store_.is_full()) return too_many();
      INLAY_ASSIGN(const bool apart, surely_apart(group.branches[i], group.branches[j], 0));
      Symbol both = terminal(kNothing);
      if (!apart) {
        Demands pair = branches[i];
        pair.push_back({group.branches[j], Demand::whole});
        INLAY_ASSIGN(both, symbol_of(std::move(pair), depth + 1));
        all_apart &= both.kind == SymbolKind::terminal && store_.is_nothing(both.id);
      }
      open.pairs.push_back(both);
    }
  }
  if (all_apart) return alternatives(branches, depth);
  open.rule = grammar_.add_rule(text_of(group.where));
  open_groups_.push_back(std::move(open));
  return call(open_groups_.back().rule);
}

// All rules are made: branches overlap where something matches both.
Status SchemaCompiler::tell_apart(OpenGroup open) {
  // Rules that wait for this may turn out to match something.
  grammar_.rules[open.rule].productive = true;
  for (const OpenGroup& other : open_groups_) grammar_.rules[other.rule].productive = true;
  grammar_.find_productive(true);
  std::vector<Demands> branches;
  for (const SchemaId branch : open.branches) {
    INLAY_TRY(add_branch(branches, open.demands));
    branches.back()[open.at] = {branch, Demand::whole};
  }
  size_t pair = 0;
  for (size_t i = 0; i < open.branches.size(); ++i)
    for (size_t j = i + 1; j < open.branches.size(); ++j, ++pair) {
      if (!grammar_.is_productive(open.pairs[pair])) continue;
      Schema not_i, not_j;
      not_i.where = not_j.where = open.where;
      not_i.none.push_back(open.branches[i]);
      not_j.none.push_back(open.branches[j]);
      branches[i].push_back({schemas_.add(std::move(not_j)), Demand::whole});
      branches[j].push_back({schemas_.add(std::move(not_i)), Demand::whole});
    }
  INLAY_ASSIGN(const Symbol symbol, alternatives(branches, 0));
  grammar_.add_production(open.rule, {symbol});
  return {};
}

}  // namespace inlay::constraint
