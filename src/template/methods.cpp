// Methods of lists and maps, and which methods exist at all.
#include <algorithm>

#include "src/template/binding.h"
#include "src/template/builtins.h"

namespace inlay::tmpl {

namespace {

Result<Value> get(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "get", {"key", "default"}, 1));
  if (!hashable(bound[0])) return type_error("unhashable type: '%s'", bound[0].type_name());
  INLAY_TRY(run.charge_search(self.map(), bound[0]));
  const Value* found = self.map().find(bound[0]);
  return found ? *found : bound[1];
}

Result<Value> view(Run& run, const Value& self, const Arguments& arguments, ListKind kind) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "the method", {}));
  std::vector<Value> out;
  for (const auto& [key, value] : self.map().entries()) {
    if (kind != ListKind::items) {
      out.push_back(kind == ListKind::keys ? key : value);
      continue;
    }
    INLAY_ASSIGN(Value pair, run.tuple({key, value}));
    out.push_back(std::move(pair));
  }
  return run.list(std::move(out), kind);
}
Result<Value> keys(Run& run, const Value& self, const Arguments& a) { return view(run, self, a, ListKind::keys); }
Result<Value> values(Run& run, const Value& self, const Arguments& a) { return view(run, self, a, ListKind::values); }
Result<Value> items_view(Run& run, const Value& self, const Arguments& a) { return view(run, self, a, ListKind::items); }

Result<Value> copy(Run&, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "copy", {}));
  return self;
}

Result<Value> index(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "index", {"value"}, 1));
  const auto& all = self.list().items;
  for (size_t i = 0; i < all.size(); ++i) {
    INLAY_ASSIGN(const bool same, run.same(all[i], bound[0]));
    if (same) return Value(static_cast<int64_t>(i));
  }
  return type_error("index: the value is not in the %s", self.type_name());
}

Result<Value> count(Run& run, const Value& self, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "count", {"value"}, 1));
  int64_t n = 0;
  for (const Value& item : self.list().items) {
    INLAY_ASSIGN(const bool same, run.same(item, bound[0]));
    n += same;
  }
  return Value(n);
}

constexpr Named<MethodEntry> kListMethods[] = {
    {"index", {Access::callable, index}}, {"count", {Access::callable, count}}, {"copy", {Access::callable, copy}},
    {"append", {Access::forbidden}},      {"clear", {Access::forbidden}},       {"extend", {Access::forbidden}},
    {"insert", {Access::forbidden}},      {"pop", {Access::forbidden}},         {"remove", {Access::forbidden}},
    {"reverse", {Access::forbidden}},     {"sort", {Access::forbidden}}};
constexpr Named<MethodEntry> kMapMethods[] = {
    {"get", {Access::callable, get}},       {"items", {Access::callable, items_view}}, {"keys", {Access::callable, keys}},
    {"values", {Access::callable, values}}, {"copy", {Access::callable, copy}},   {"clear", {Access::forbidden}},
    {"pop", {Access::forbidden}},           {"popitem", {Access::forbidden}},     {"setdefault", {Access::forbidden}},
    {"update", {Access::forbidden}},        {"fromkeys", {Access::unsupported}}};
constexpr Named<MethodEntry> kViewMethods[] = {{"isdisjoint", {Access::unsupported}},
                                               {"mapping", {Access::unsupported}}};
// Attributes of int and float.
constexpr Named<MethodEntry> kNumberMethods[] = {
    {"real", {Access::unsupported}},       {"imag", {Access::unsupported}},
    {"numerator", {Access::unsupported}},  {"denominator", {Access::unsupported}},
    {"conjugate", {Access::unsupported}},  {"bit_length", {Access::unsupported}},
    {"bit_count", {Access::unsupported}},  {"to_bytes", {Access::unsupported}},
    {"from_bytes", {Access::unsupported}}, {"as_integer_ratio", {Access::unsupported}},
    {"is_integer", {Access::unsupported}}, {"hex", {Access::unsupported}},
    {"fromhex", {Access::unsupported}}};

MethodEntry search(std::span<const Named<MethodEntry>> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& known) { return known.name == name; });
  return found == table.end() ? MethodEntry{} : found->function;
}

MethodEntry find_list_method(ListKind kind, std::string_view name) {
  if (kind > ListKind::range) return search(kViewMethods, name);
  const bool both = name == "index" || name == "count";  // what tuples and ranges have, too
  return kind == ListKind::list || both ? search(kListMethods, name) : MethodEntry{};
}

}  // namespace

MethodEntry find_method(const Value& self, std::string_view name) {
  switch (self.kind()) {
    case Kind::string:
      return find_text_method(name);
    case Kind::list:
      return find_list_method(self.list().kind, name);
    case Kind::map:
      return search(kMapMethods, name);
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return search(kNumberMethods, name);
    default:
      return {};
  }
}

}  // namespace inlay::tmpl
