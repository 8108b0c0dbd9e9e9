#include "src/template/value.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>

#include "src/base/format.h"
#include "src/template/object.h"

namespace inlay::tmpl {

namespace {

// Sums of weights stop here: a value of which each half is the same other value, many times over, has no 64-bit weight.
constexpr uint64_t kMaxWeight = uint64_t{1} << 62;

}  // namespace

Value::Value(List list) {
  list.depth = 1, list.weight = 1, list.foreign = false;
  const bool is_tuple = list.kind == ListKind::tuple;
  list.hashable = is_tuple || list.kind == ListKind::range || list.kind == ListKind::values;
  for (const Value& item : list.items) {
    list.depth = std::max(list.depth, item.depth() + 1);
    list.weight = std::min(kMaxWeight, list.weight + item.weight());
    list.foreign = list.foreign || item.is_foreign();
    list.hashable = list.hashable && (!is_tuple || hashable(item));
  }
  data_ = std::make_shared<const List>(std::move(list));
}

Value::Value(Map map) : data_(std::make_shared<const Map>(std::move(map))) {}

bool Value::truth() const {
  switch (kind()) {
    case Kind::none:
    case Kind::undefined:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return integer() != 0;
    case Kind::real:
      return real() != 0;
    case Kind::string:
      return !text().empty();
    case Kind::list:
      return !list().items.empty();
    case Kind::map:
      return map().size() != 0;
    case Kind::object:
      break;
  }
  return true;
}

void add_span(Spans& to, Span span) {
  if (span.begin >= span.end) return;
  if (!to.empty() && to.back().end >= span.begin)
    to.back().end = std::max(to.back().end, span.end);
  else
    to.push_back(span);
}

void add_spans(Spans& to, size_t at, const Spans& from, Span part) {
  auto span = std::upper_bound(from.begin(), from.end(), part.begin, [](size_t begin, const Span& s) { return begin < s.end; });
  for (; span != from.end() && span->begin < part.end; ++span) {
    const size_t begin = std::max(span->begin, part.begin), end = std::min(span->end, part.end);
    if (begin < end) add_span(to, {at + begin - part.begin, at + end - part.begin});
  }
}

// Objects keep texts of any origin.
bool Value::is_foreign() const {
  if (is_string()) return !foreign().empty();
  if (is(Kind::list)) return list().foreign;
  return is(Kind::map) ? map().foreign() : is(Kind::object);
}

uint32_t Value::depth() const {
  if (is(Kind::list)) return list().depth;
  return is(Kind::map) ? map().depth() : 0;
}

const char* Value::type_name() const {
  static constexpr const char* kLists[] = {"list", "tuple", "range", "dict_keys", "dict_values", "dict_items"};
  static constexpr const char* kNames[] = {"NoneType", "Undefined", "bool", "int", "float", "str", "", "dict"};
  if (is(Kind::list)) return kLists[static_cast<size_t>(list().kind)];
  if (is(Kind::object)) return object().type_name();
  return is_markup() ? "Markup" : kNames[static_cast<size_t>(kind())];
}

const void* Value::identity() const {
  if (is(Kind::list)) return &list();
  if (is(Kind::map)) return &map();
  if (is_undefined()) return &undefined_message();
  return is(Kind::object) ? &object() : nullptr;
}

uint64_t Value::weight() const {
  if (is_string()) return 1 + text().size() / kBytesPerStep;
  if (is(Kind::list)) return list().weight;
  return is(Kind::map) ? map().weight() : 1;
}

// Equality of two maps looks for each key that is no string among all the other's.
uint64_t Map::weight() const {
  if (n_other_keys_ == 0) return weight_;
  const uint64_t search = entries_.size() + other_weight_;
  return n_other_keys_ > (kMaxWeight - weight_) / search ? kMaxWeight : weight_ + n_other_keys_ * search;
}

size_t Map::position(const Value& key) const {
  if (key.is_string()) {
    const auto found = strings_.find(key.text());
    return found == strings_.end() ? entries_.size() : found->second;
  }
  if (n_other_keys_ == 0) return entries_.size();
  const auto same = [&](const Entry& entry) { return !entry.first.is_string() && equal(entry.first, key); };
  return static_cast<size_t>(std::find_if(entries_.begin(), entries_.end(), same) - entries_.begin());
}

void Map::set(Value key, Value value) {
  depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  weight_ = std::min(kMaxWeight, weight_ + key.weight() + value.weight());
  foreign_ = foreign_ || key.is_foreign() || value.is_foreign();
  const size_t at = position(key);
  if (at < entries_.size()) {
    entries_[at].second = std::move(value);
    return;
  }
  if (key.is_string())
    strings_.emplace(key.text(), at);
  else
    ++n_other_keys_, other_weight_ = std::min(kMaxWeight, other_weight_ + key.weight());
  entries_.emplace_back(std::move(key), std::move(value));
}

const Value* Map::find(const Value& key) const {
  const size_t at = position(key);
  return at < entries_.size() ? &entries_[at].second : nullptr;
}

const Value* Map::find(std::string_view key) const {
  const auto found = strings_.find(key);
  return found == strings_.end() ? nullptr : &entries_[found->second].second;
}

bool hashable(const Value& value) {
  if (value.is(Kind::list)) return value.list().hashable;
  return !value.is(Kind::map);
}

namespace {

bool equal_maps(const Map& a, const Map& b) {
  if (a.size() != b.size() || a.n_other_keys() != b.n_other_keys()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Map::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other && equal(entry.second, *other);
  });
}

bool equal_lists(const List& a, const List& b) {
  if (a.kind == ListKind::values || b.kind == ListKind::values) return &a == &b;
  return a.kind == b.kind && a.items.size() == b.items.size() &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), equal);
}

Order order_of(auto a, auto b) {
  if (a < b) return Order::less;
  if (a > b) return Order::greater;
  return a == b ? Order::same : Order::unordered;
}

Order compare_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return order_of(a.integer(), b.integer());
  // long double holds every int64 exactly where it has 64 bits of mantissa.
  const auto widen = [](const Value& v) {
    return v.is(Kind::real) ? static_cast<long double>(v.real()) : static_cast<long double>(v.integer());
  };
  return order_of(widen(a), widen(b));
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == Order::same;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::string:
      return a.text() == b.text();
    case Kind::list:
      return equal_lists(a.list(), b.list());
    case Kind::map:
      return equal_maps(a.map(), b.map());
    case Kind::object:
      return a.identity() == b.identity();
    default:
      return true;
  }
}

Result<Order> compare(const Value& a, const Value& b, const char* sign) {
  if (a.is_undefined()) return undefined_error(a);
  if (b.is_undefined()) return undefined_error(b);
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.is_string() && b.is_string()) {
    const int order = a.text().compare(b.text());  // the order of UTF-8 bytes is that of code points
    return order < 0 ? Order::less : order > 0 ? Order::greater : Order::same;
  }
  if (a.is(Kind::list) && b.is(Kind::list) && a.list().kind == b.list().kind && a.list().kind <= ListKind::tuple) {
    const auto &x = a.list().items, &y = b.list().items;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (!equal(x[i], y[i])) return compare(x[i], y[i], sign);
    return order_of(x.size(), y.size());
  }
  return type_error("'%s' not supported between instances of '%s' and '%s'", sign, a.type_name(), b.type_name());
}

Status type_error(const char* format, ...) {
  Status out = error(Code::invalid_argument, "%s", "");
  va_list args;
  va_start(args, format);
  append_format_list(out.message, format, args);
  va_end(args);
  return out;
}

Status undefined_error(const Value& value) {
  return error(Code::invalid_argument, "%s", value.undefined_message().c_str());
}

}  // namespace inlay::tmpl
