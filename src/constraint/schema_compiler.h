// From schemas to rules. The unit is a set of schemas that hold together: each set becomes one rule or one terminal, and sets
// that are reached again, as by recursion, are the same rule.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/constraint/schema.h"

namespace inlay::constraint {

class SchemaCompiler {
 public:
  SchemaCompiler(SchemaSet& schemas, JsonLanguage& language, Grammar& grammar, const SchemaLimits& limits)
      : schemas_(schemas), language_(language), grammar_(grammar), store_(grammar.regexes), limits_(limits) {}

  // Fills the grammar, whose start becomes the schema's rule.
  Status run(SchemaId root);
  // Then: an error where nothing matches the schema, with the place of the deepest one on the way that nothing matches.
  Status check_can_match(SchemaId root);

 private:
  // A demand: all of a schema, or its own keywords (base), or that one of its groups' branches hold, or that one of the
  // schemas that must not hold does not.
  struct Demand {
    enum Part : uint8_t { whole, base, group, none };
    SchemaId schema;
    Part part;
    uint32_t index = 0;
    auto operator<=>(const Demand&) const = default;
  };
  using Demands = std::vector<Demand>;
  // What the bases of a set demand together.
  struct Merged {
    std::vector<const Schema*> bases;
    TypeSet types = kAllTypes;
    std::vector<std::unordered_map<std::string_view, SchemaId>> properties;  // by base; of an object that is being made
  };
  struct Pending {
    uint32_t rule;
    Demands demands;
    bool is_array;
  };
  struct OpenGroup {  // exactly one of the branches: those that overlap are told apart once all is compiled
    uint32_t rule;
    Demands demands;
    size_t at;  // of the group in them
    std::vector<SchemaId> branches;
    std::vector<Symbol> pairs;  // of branches i < j, in the order (0,1), (0,2), ...; no symbol where they are surely apart
    Where where;
  };

  Status settle();
  Result<bool> can_match(const Demands& demands);
  Result<Demands> dead_part(const Demands& demands);
  Result<std::vector<Demands>> needed_values(Demands demands);

  Result<Symbol> symbol_of(Demands demands, uint32_t depth = 0);
  Result<Symbol> make_symbol(const Demands& demands, uint32_t depth);
  Status expand(Demands& demands);
  Status check_references(SchemaId id);
  Result<Merged> merge(const Demands& demands);
  bool takes_everything(const Demands& demands, const Merged& merged) const;

  Result<Symbol> choose(const Demands& demands, size_t group, uint32_t depth);
  Result<Symbol> alternatives(const std::vector<Demands>& branches, uint32_t depth);
  Result<Symbol> without(const Demands& demands, size_t none, uint32_t depth);
  Result<Symbol> exactly_one(const Demands& demands, size_t at, const SchemaGroup& group, uint32_t depth);
  Status tell_apart(OpenGroup open);
  Result<bool> surely_apart(SchemaId a, SchemaId b, uint32_t depth);
  Result<std::vector<const Schema*>> bases_of(SchemaId id);
  Status opposite(SchemaId id, std::vector<Schema>& out);

  Result<Symbol> constants(const Merged& merged);
  Result<RegexId> scalars(const Merged& merged);
  RegexId string_language(const Merged& merged);
  Result<RegexId> number_language_of(const Merged& merged);
  Status make_array(uint32_t rule, const Merged& merged);
  Status make_contains(Demands& items, const Schema& schema, ListRule& list);
  Status make_unique(const Merged& merged, const JsonValue& unique, size_t n_prefix, ListRule& list);
  Status make_object(uint32_t rule, Merged merged);
  Status add_other_members(const Merged& merged, const std::vector<std::string>& names, RegexId names_language, ObjectRule& object);
  Status check_min_properties(const Merged& merged, ObjectRule& object);
  static void index_properties(Merged& merged);
  Demands member_demands(const Merged& merged, std::string_view name);
  Demands item_demands(const Merged& merged, size_t index);
  Result<RegexId> names_language(const Merged& merged);
  Status add_branch(std::vector<Demands>& branches, const Demands& demands);
  Status too_many() const;

  SchemaSet& schemas_;
  JsonLanguage& language_;
  Grammar& grammar_;
  RegexStore& store_;
  const SchemaLimits& limits_;
  std::map<Demands, std::optional<Symbol>> known_;
  std::map<SchemaId, std::vector<SchemaId>> opposites_;
  std::vector<Pending> pending_;
  std::vector<OpenGroup> open_groups_;
};

}  // namespace inlay::constraint
