#include "src/template/run.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "src/template/text.h"

namespace inlay::tmpl {

Status Run::charge(uint64_t steps) {
  spent_ += std::min(steps, limits.steps + 1);
  if (spent_ <= limits.steps) return {};
  return error(Code::unsupported, "the template takes more than %llu steps; it seems to run away",
               static_cast<unsigned long long>(limits.steps));
}

Status Run::charge_product(uint64_t n, uint64_t each) {
  if (each != 0 && n > UINT64_MAX / each) return charge(UINT64_MAX);
  return charge_bytes(n * each);
}

// Text is found in a tree, all else among the other such keys, one by one.
Status Run::charge_search(const Map& map, const Value& key) {
  if (key.is_string()) return charge_bytes(key.text().size());
  if (map.n_other_keys() == 0) return {};
  return charge(map.size() + map.n_other_keys() * std::min(key.weight(), limits.steps + 1));
}

Status Run::charge_sort(const Map& map) {
  for (const auto& [key, value] : map.entries()) {
    const uint64_t each = std::min(key.weight(), limits.steps + 1) * std::max(key.depth(), 1u);
    INLAY_TRY(charge(each * static_cast<uint64_t>(std::bit_width(map.size()))));
  }
  return {};
}

Result<Value> Run::text(std::string bytes, bool markup) {
  Text out{std::move(bytes), markup};
  if (foreign) add_span(out.foreign, {0, out.bytes.size()});
  return text(std::move(out));
}

Result<Value> Run::text(Text text) {
  INLAY_TRY(charge_bytes(text.bytes.size() + text.foreign.size() * sizeof(Span)));
  return Value(std::move(text));
}

Result<Value> Run::part(const Value& of, std::string_view bytes, bool markup) {
  const std::string& all = of.text();
  const std::less_equal<const char*> not_behind;
  const bool inside =
      not_behind(all.data(), bytes.data()) && not_behind(bytes.data() + bytes.size(), all.data() + all.size());
  if (!inside) return text(std::string(bytes), markup);
  Text out{std::string(bytes), markup};
  const auto begin = static_cast<size_t>(bytes.data() - all.data());
  add_spans(out.foreign, 0, of.foreign(), {begin, begin + bytes.size()});
  return text(std::move(out));
}

Status Run::check_nesting(uint32_t value_depth) const {
  if (value_depth <= limits.value_depth) return {};
  return error(Code::unsupported, "lists and maps are nested deeper than %u levels", limits.value_depth);
}

Result<Value> Run::list(std::vector<Value> items, ListKind kind) {
  INLAY_TRY(charge(items.size() + 1));
  List list;
  list.items = std::move(items);
  list.kind = kind;
  Value out(std::move(list));
  INLAY_TRY(check_nesting(out.depth()));
  return out;
}

Result<Value> Run::map(Map map) {
  INLAY_TRY(charge(map.size() + 1));
  INLAY_TRY(check_nesting(map.depth()));
  return Value(std::move(map));
}

Status Run::set(Map& map, Value key, Value value) {
  if (!hashable(key)) return type_error("unhashable type: '%s'", key.type_name());
  INLAY_TRY(charge(1));
  INLAY_TRY(charge_search(map, key));
  map.set(std::move(key), std::move(value));
  return check_nesting(map.depth());
}

Result<Value> Run::texts(const Value& of, const std::vector<std::string_view>& parts, ListKind kind) {
  INLAY_TRY(charge(parts.size()));
  std::vector<Value> items;
  items.reserve(parts.size());
  for (const std::string_view bytes : parts) {
    INLAY_ASSIGN(Value item, part(of, bytes, of.is_markup()));
    items.push_back(std::move(item));
  }
  return list(std::move(items), kind);
}

Result<Value> Run::generator(std::vector<Value> items) {
  INLAY_TRY(charge(items.size() + 1));
  return Value(make<Generator>(std::move(items)));
}

Result<std::vector<Value>> Run::iterate(const Value& value) {
  std::vector<Value> out;
  switch (value.kind()) {
    case Kind::undefined:
      return out;
    case Kind::list:
      INLAY_TRY(charge(value.list().items.size()));
      return value.list().items;
    case Kind::map:
      INLAY_TRY(charge(value.map().size()));
      for (const auto& [key, item] : value.map().entries()) out.push_back(key);
      return out;
    case Kind::string:
      INLAY_TRY(charge(value.text().size()));
      for (const std::string_view c : code_points(value.text())) {
        Text one{std::string(c)};
        const auto begin = static_cast<size_t>(c.data() - value.text().data());
        add_spans(one.foreign, 0, value.foreign(), {begin, begin + c.size()});
        out.push_back(Value(std::move(one)));
      }
      return out;
    case Kind::object:
      if (auto* generator = dynamic_cast<Generator*>(&value.object())) return generator->take();
      break;
    default:
      break;
  }
  return type_error("'%s' object is not iterable", value.type_name());
}

Result<int64_t> Run::length(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return int64_t{0};
    case Kind::list:
      return static_cast<int64_t>(value.list().items.size());
    case Kind::map:
      return static_cast<int64_t>(value.map().size());
    case Kind::string:
      INLAY_TRY(charge_bytes(value.text().size()));
      return static_cast<int64_t>(count_code_points(value.text()));
    case Kind::object:
      if (const auto n = value.object().length()) return *n;
      [[fallthrough]];
    default:
      return type_error("object of type '%s' has no len()", value.type_name());
  }
}

Result<bool> Run::same(const Value& a, const Value& b) {
  INLAY_TRY(charge(std::min(a.weight(), b.weight())));
  return equal(a, b);
}

Result<Order> Run::order(const Value& a, const Value& b, const char* sign) {
  const uint64_t each = std::min({a.weight(), b.weight(), limits.steps + 1});
  INLAY_TRY(charge(each * std::max(std::min(a.depth(), b.depth()), 1u)));
  return compare(a, b, sign);
}

Result<bool> Run::contains(const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) return type_error("'in <string>' requires string as left operand, not %s", item.type_name());
    INLAY_TRY(charge_bytes(container.text().size()));
    return find_first(container.text(), item.text()) != std::string::npos;
  }
  if (container.is(Kind::map)) {
    if (!hashable(item)) return type_error("unhashable type: '%s'", item.type_name());
    INLAY_TRY(charge_search(container.map(), item));
    return container.map().find(item) != nullptr;
  }
  if (auto* generator = container.is(Kind::object) ? dynamic_cast<Generator*>(&container.object()) : nullptr) {
    while (true) {
      INLAY_ASSIGN(const std::optional<Value> candidate, generator->take_first());
      if (!candidate) return false;
      INLAY_ASSIGN(const bool found, same(*candidate, item));
      if (found) return true;
    }
  }
  if (container.is(Kind::list) && container.list().kind == ListKind::keys && !hashable(item))
    return type_error("unhashable type: '%s'", item.type_name());
  if (!container.is(Kind::list) && !container.is_undefined() && !container.is(Kind::object))
    return type_error("argument of type '%s' is not iterable", container.type_name());
  INLAY_ASSIGN(const auto items, iterate(container));
  for (const Value& candidate : items) {
    INLAY_ASSIGN(const bool found, same(candidate, item));
    if (found) return true;
  }
  return false;
}

Status Descent::check() const {
  if (run_.depth <= run_.limits.depth) return {};
  return error(Code::unsupported, "the template's calls and blocks are more than %u levels deep", run_.limits.depth);
}

}  // namespace inlay::tmpl
