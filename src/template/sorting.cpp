#include "src/template/sorting.h"

#include <algorithm>
#include <numeric>

#include "src/template/builtins.h"
#include "src/template/text.h"

namespace inlay::tmpl {

Result<Value> sort_key(Run& run, const Value& item, const Value& path, bool case_sensitive) {
  Value key = item;
  if (!path.is_none()) {
    INLAY_ASSIGN(key, path_of(run, item, path, nullptr));
  }
  if (!key.is_string() || case_sensitive) return key;
  return run.text(lower(key.text()));
}

Result<Value> sort_keys(Run& run, const Value& item, const Value& path, bool case_sensitive) {
  std::vector<Value> paths = {path}, keys;
  if (path.is_string()) {
    INLAY_ASSIGN(const Value parts, run.texts(path, split(path.text(), ",", SIZE_MAX, Side::left)));
    paths = parts.list().items;
  }
  for (const Value& one : paths) {
    INLAY_ASSIGN(Value key, sort_key(run, item, one, case_sensitive));
    keys.push_back(std::move(key));
  }
  return run.list(std::move(keys));
}

Status sort_by_key(Run& run, std::vector<Keyed>& items, bool descending) {
  Status failure;
  const auto before = [&](size_t a, size_t b) {
    if (!failure.ok()) return false;
    const Value &x = items[a].key, &y = items[b].key;
    failure = run.charge(1);
    if (!failure.ok()) return false;
    const auto found = run.order(x, y, "<");
    if (!found.ok()) failure = found.status();
    return found.ok() && *found == (descending ? Order::greater : Order::less);
  };
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<Keyed> sorted;
  for (const size_t which : order) sorted.push_back(std::move(items[which]));
  items = std::move(sorted);
  return failure;
}

}  // namespace inlay::tmpl
