// Filters that apply something to every item, and those of maps.
#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/python_text.h"
#include "src/template/sorting.h"

namespace inlay::tmpl {

namespace {

const Value* named(const Arguments& arguments, std::string_view name) {
  for (const auto& [known, value] : arguments.named)
    if (known == name) return &value;
  return nullptr;
}

// The arguments behind the first `n`, with those given by name.
Arguments behind(const Arguments& arguments, size_t n) {
  Arguments out = arguments;
  out.positional.erase(out.positional.begin(), out.positional.begin() + static_cast<std::ptrdiff_t>(n));
  return out;
}

Status map_attribute(Run& run, const std::vector<Value>& items, const Arguments& arguments, std::vector<Value>& out) {
  const Value* path = named(arguments, "attribute");
  const Value* otherwise = named(arguments, "default");
  for (const auto& [name, value] : arguments.named)
    if (name != "attribute" && name != "default") return type_error("map takes no argument '%s'", name.c_str());
  for (const Value& item : items) {
    INLAY_ASSIGN(Value mapped, path_of(run, item, *path, otherwise && !otherwise->is_none() ? otherwise : nullptr));
    out.push_back(std::move(mapped));
  }
  return {};
}

// Of what is false, as none, nothing is asked.
Result<Value> map(Run& run, const Value& value, const Arguments& arguments) {
  return run.generator_of([&](std::vector<Value>& out) -> Status {
    if (!value.truth()) return {};
    const bool by_attribute = arguments.positional.empty() && named(arguments, "attribute");
    if (!by_attribute && (arguments.positional.empty() || !arguments.positional[0].is_string()))
      return type_error("map requires the name of a filter");
    INLAY_ASSIGN(const auto items, run.iterate(value));
    if (by_attribute) return map_attribute(run, items, arguments, out);
    const Arguments rest = behind(arguments, 1);
    for (const Value& item : items) {
      INLAY_TRY(run.charge(1));
      INLAY_ASSIGN(Value mapped, apply_filter(run, arguments.positional[0].text(), item, rest));
      out.push_back(std::move(mapped));
    }
    return {};
  });
}

// select, reject and, with an attribute as the first argument, selectattr and rejectattr.
Result<Value> filtered(Run& run, const Value& value, const Arguments& arguments, bool wanted, bool by_attribute) {
  return run.generator_of([&](std::vector<Value>& out) -> Status {
    if (!value.truth()) return {};
    const size_t n_before = by_attribute ? 1 : 0;
    if (arguments.positional.size() < n_before) return type_error("the name of an attribute is missing");
    const bool tested = arguments.positional.size() > n_before;
    const Arguments rest = tested ? behind(arguments, n_before + 1) : Arguments{};
    INLAY_ASSIGN(auto items, run.iterate(value));
    for (Value& item : items) {
      INLAY_TRY(run.charge(1));
      Value subject = item;
      if (by_attribute) {
        INLAY_ASSIGN(subject, path_of(run, item, arguments.positional[0], nullptr));
      }
      bool holds = !tested && subject.truth();
      if (tested) {
        if (!arguments.positional[n_before].is_string()) return type_error("the name of a test must be a string");
        INLAY_ASSIGN(holds, apply_test(run, arguments.positional[n_before].text(), subject, rest));
      }
      if (holds == wanted) out.push_back(std::move(item));
    }
    return {};
  });
}
Result<Value> select(Run& run, const Value& v, const Arguments& a) { return filtered(run, v, a, true, false); }
Result<Value> reject(Run& run, const Value& v, const Arguments& a) { return filtered(run, v, a, false, false); }
Result<Value> select_attribute(Run& run, const Value& v, const Arguments& a) { return filtered(run, v, a, true, true); }
Result<Value> reject_attribute(Run& run, const Value& v, const Arguments& a) {
  return filtered(run, v, a, false, true);
}

Result<std::vector<Value>> pairs_of(Run& run, const Map& map) {
  std::vector<Value> out;
  for (const auto& [key, value] : map.entries()) {
    INLAY_ASSIGN(Value pair, run.tuple({key, value}));
    out.push_back(std::move(pair));
  }
  return out;
}

Result<Value> items(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "items", {}));
  return run.generator_of([&](std::vector<Value>& out) -> Status {
    if (value.is_undefined()) return {};
    if (!value.is(Kind::map)) return type_error("Can only get item pairs from a mapping.");
    INLAY_ASSIGN(out, pairs_of(run, value.map()));
    return {};
  });
}

Result<Value> sort_map(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "dictsort", {"case_sensitive", "by", "reverse"}));
  INLAY_ASSIGN(const std::string_view by, bound.text(1, "key"));
  if (by != "key" && by != "value") return type_error("You can only sort by either \"key\" or \"value\"");
  const bool reverse = bound.truth(2, false);
  if (value.is_undefined()) return undefined_error(value);
  if (!value.is(Kind::map)) return type_error("dictsort needs a dict, not %s", value.type_name());
  INLAY_ASSIGN(auto pairs, pairs_of(run, value.map()));
  std::vector<Keyed> keyed;
  for (Value& pair : pairs) {
    INLAY_ASSIGN(Value key, sort_key(run, pair.list().items[by == "value"], Value(), bound.truth(0, false)));
    keyed.push_back({std::move(key), std::move(pair)});
  }
  INLAY_TRY(sort_by_key(run, keyed, reverse));
  pairs.clear();
  for (Keyed& entry : keyed) pairs.push_back(std::move(entry.value));
  return run.list(std::move(pairs));
}

Result<Value> group_by(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "groupby", {"attribute", "default", "case_sensitive"}, 1));
  INLAY_ASSIGN(const auto all, run.iterate(value));
  const bool case_sensitive = bound.truth(2, false);
  std::vector<Keyed> keyed;
  for (const Value& item : all) {
    INLAY_ASSIGN(const Value found, path_of(run, item, bound[0], bound[1].is_none() ? nullptr : &bound[1]));
    INLAY_ASSIGN(Value key, sort_key(run, found, Value(), case_sensitive));
    keyed.push_back({std::move(key), item});
  }
  INLAY_TRY(sort_by_key(run, keyed, false));
  std::vector<Value> groups;
  for (size_t begin = 0, end; begin < keyed.size(); begin = end) {
    std::vector<Value> members;
    for (end = begin; end < keyed.size(); ++end) {
      INLAY_ASSIGN(const bool same, run.same(keyed[begin].key, keyed[end].key));
      if (!same) break;
      members.push_back(keyed[end].value);
    }
    // The group is named as its first member spells it.
    INLAY_ASSIGN(Value name, path_of(run, members[0], bound[0], bound[1].is_none() ? nullptr : &bound[1]));
    INLAY_ASSIGN(Value list, run.list(std::move(members)));
    INLAY_TRY(run.charge(3));
    groups.push_back(Value(List{.items = {std::move(name), std::move(list)}, .kind = ListKind::tuple, .is_group = true}));
  }
  return run.list(std::move(groups));
}

// Unlike a subscript this does not look at the items of a map.
Result<Value> attribute(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "attr", {"name"}, 1));
  INLAY_ASSIGN(const std::string_view name, bound.text(0));
  INLAY_TRY(run.charge_bytes(name.size()));
  if (value.is(Kind::map) && find_method(value, name).access == Access::absent)
    return Value::undefined("'dict object' has no attribute '" + std::string(name) + "'");
  return attribute_of(run, value, name);
}

constexpr Named<Filter> kMappingFilters[] = {{"map", map},
                                      {"select", select},
                                      {"reject", reject},
                                      {"selectattr", select_attribute},
                                      {"rejectattr", reject_attribute},
                                      {"items", items},
                                      {"dictsort", sort_map},
                                      {"groupby", group_by},
                                      {"attr", attribute}};

}  // namespace

std::span<const Named<Filter>> mapping_filters() { return kMappingFilters; }

}  // namespace inlay::tmpl
