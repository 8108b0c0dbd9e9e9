// Filters of sequences that look at their items as they are.
#include <algorithm>

#include "src/template/binding.h"
#include "src/template/builtins.h"
#include "src/template/python_text.h"
#include "src/template/sorting.h"
#include "src/template/text.h"

namespace inlay::tmpl {

namespace {

Result<Value> length(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "length", {}));
  INLAY_ASSIGN(const int64_t n, run.length(value));
  return Value(n);
}

Result<Value> fallback(Run&, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "default", {"default_value", "boolean"}));
  const bool absent = value.is_undefined() || (bound.truth(1, false) && !value.truth());
  if (!absent) return value;
  return bound.has(0) ? bound[0] : Value(std::string());
}

Result<Value> first(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "first", {}));
  if (auto* generator = value.is(Kind::object) ? dynamic_cast<Generator*>(&value.object()) : nullptr) {
    INLAY_ASSIGN(auto item, generator->take_first());
    if (item) return *std::move(item);
    return Value::undefined("No first item, sequence was empty.");
  }
  INLAY_ASSIGN(const auto items, run.iterate(value));
  return items.empty() ? Value::undefined("No first item, sequence was empty.") : items.front();
}

bool reversible(const Value& value) {
  return value.is(Kind::list) || value.is_string() || value.is(Kind::map) || value.is_undefined();
}

Result<Value> last(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "last", {}));
  if (!reversible(value)) return type_error("'%s' object is not reversible", value.type_name());
  INLAY_ASSIGN(const auto items, run.iterate(value));
  if (value.is_markup() && !items.empty()) return run.part(items.back(), items.back().text(), true);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Result<Value> reverse(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "reverse", {}));
  INLAY_ASSIGN(auto items, run.iterate(value));
  std::reverse(items.begin(), items.end());
  if (!value.is_string()) return run.generator(std::move(items));
  std::string out;
  for (const Value& c : items) out += c.text();
  return run.text(std::move(out), value.is_markup());
}

Result<Value> to_list(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "list", {}));
  INLAY_ASSIGN(auto items, run.iterate(value));
  return run.list(std::move(items));
}

Result<Value> join(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "join", {"d", "attribute"}));
  INLAY_ASSIGN(auto items, run.iterate(value));
  if (!bound[1].is_none()) {
    for (Value& item : items) {
      INLAY_ASSIGN(item, path_of(run, item, bound[1], nullptr));
    }
  }
  return join_plainly(run, items, bound.has(0) ? bound[0] : Value(std::string()));
}

Result<Value> sort(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "sort", {"reverse", "case_sensitive", "attribute"}));
  INLAY_ASSIGN(auto items, run.iterate(value));
  const bool reverse = bound.truth(0, false);
  std::vector<Keyed> keyed;
  for (Value& item : items) {
    INLAY_ASSIGN(Value key, sort_keys(run, item, bound[2], bound.truth(1, false)));
    keyed.push_back({std::move(key), std::move(item)});
  }
  INLAY_TRY(sort_by_key(run, keyed, reverse));
  items.clear();
  for (Keyed& entry : keyed) items.push_back(std::move(entry.value));
  return run.list(std::move(items));
}

Result<Value> unique(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "unique", {"case_sensitive", "attribute"}));
  return run.generator_of([&](std::vector<Value>& out) -> Status {
    INLAY_ASSIGN(auto items, run.iterate(value));
    Map seen;
    for (Value& item : items) {
      INLAY_ASSIGN(Value key, sort_key(run, item, bound[1], bound.truth(0, false)));
      const size_t before = seen.size();
      INLAY_TRY(run.set(seen, std::move(key), Value()));
      if (seen.size() > before) out.push_back(std::move(item));
    }
    return {};
  });
}

// The item of the least (or greatest) key.
Result<Value> extreme(Run& run, const Value& value, const Arguments& arguments, bool greatest) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, greatest ? "max" : "min", {"case_sensitive", "attribute"}));
  INLAY_ASSIGN(const auto items, run.iterate(value));
  if (items.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  const Value* best = nullptr;
  Value best_key;
  for (const Value& item : items) {
    INLAY_ASSIGN(Value key, sort_key(run, item, bound[1], bound.truth(0, false)));
    if (best) {
      INLAY_ASSIGN(const Order order, run.order(key, best_key, greatest ? ">" : "<"));
      if (order != (greatest ? Order::greater : Order::less)) continue;
    }
    best = &item, best_key = std::move(key);
  }
  return *best;
}
Result<Value> least(Run& run, const Value& value, const Arguments& a) { return extreme(run, value, a, false); }
Result<Value> greatest(Run& run, const Value& value, const Arguments& a) { return extreme(run, value, a, true); }

Result<Value> sum(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "sum", {"attribute", "start"}));
  INLAY_ASSIGN(const auto items, run.iterate(value));
  Value total = bound.has(1) ? bound[1] : Value(int64_t{0});
  if (total.is_string()) return type_error("sum() can't sum strings");
  for (Value item : items) {
    if (!bound[0].is_none()) {
      INLAY_ASSIGN(item, path_of(run, item, bound[0], nullptr));
    }
    INLAY_ASSIGN(total, arithmetic(run, "+", total, item));
  }
  return total;
}

// Rows of `linecount` items; a number that no row reaches makes one row of all.
Result<Value> batch(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "batch", {"linecount", "fill_with"}, 1));
  return run.generator_of([&](std::vector<Value>& out) -> Status {
    std::vector<Value> row;
    const auto end_row = [&]() -> Status {
      INLAY_ASSIGN(Value list, run.list(std::exchange(row, {})));
      out.push_back(std::move(list));
      return {};
    };
    INLAY_ASSIGN(const auto items, run.iterate(value));
    for (const Value& item : items) {
      if (equal(bound[0], Value(static_cast<int64_t>(row.size())))) INLAY_TRY(end_row());
      row.push_back(item);
    }
    if (row.empty()) return {};
    if (!bound[1].is_none()) {
      const Value n(static_cast<int64_t>(row.size()));
      INLAY_ASSIGN(const Order order, compare(n, bound[0], "<"));
      if (order == Order::less) {
        INLAY_ASSIGN(const int64_t width, bound.integer(0, 0));
        INLAY_TRY(run.charge(static_cast<uint64_t>(width)));
        row.resize(static_cast<size_t>(width), bound[1]);
      }
    }
    return end_row();
  });
}

Result<Value> slice(Run& run, const Value& value, const Arguments& arguments) {
  INLAY_ASSIGN(const Bound bound, Bound::bind(arguments, "slice", {"slices", "fill_with"}, 1));
  return run.generator_of([&](std::vector<Value>& out) -> Status {
    INLAY_ASSIGN(const auto items, run.iterate(value));
    INLAY_ASSIGN(const int64_t n, bound.integer(0, 0));
    if (n == 0) return type_error("slice: 'slices' must not be 0");
    if (n < 0) return {};
    INLAY_TRY(run.charge(static_cast<uint64_t>(n)));
    const size_t width = items.size() / static_cast<size_t>(n), n_longer = items.size() % static_cast<size_t>(n);
    auto at = items.begin();
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const auto end = at + static_cast<std::ptrdiff_t>(width + (i < n_longer ? 1 : 0));
      std::vector<Value> part(at, end);
      if (!bound[1].is_none() && i >= n_longer) part.push_back(bound[1]);
      INLAY_ASSIGN(Value list, run.list(std::move(part)));
      out.push_back(std::move(list));
      at = end;
    }
    return {};
  });
}

constexpr Named<Filter> kSequenceFilters[] = {{"length", length}, {"count", length}, {"default", fallback}, {"d", fallback},
                                      {"first", first},   {"last", last},    {"reverse", reverse},  {"list", to_list},
                                      {"join", join},     {"sort", sort},    {"unique", unique},    {"min", least},
                                      {"max", greatest},  {"sum", sum},      {"batch", batch},      {"slice", slice}};

}  // namespace

std::span<const Named<Filter>> sequence_filters() { return kSequenceFilters; }

}  // namespace inlay::tmpl
