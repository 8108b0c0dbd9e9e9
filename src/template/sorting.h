// Order of items by a key.
#pragma once

#include <vector>

#include "src/template/run.h"

namespace inlay::tmpl {

struct Keyed {
  Value key, value;
};

// The item, or its attribute `path` if that is not none; text in lower case unless the case counts.
Result<Value> sort_key(Run& run, const Value& item, const Value& path, bool case_sensitive);
// A list of such keys, of the paths that commas separate in `path`. Lists compare where their items differ first, so that what cannot be
// compared may be equal.
Result<Value> sort_keys(Run& run, const Value& item, const Value& path, bool case_sensitive);
// Stable. An error if two keys cannot be compared.
Status sort_by_key(Run& run, std::vector<Keyed>& items, bool descending);

}  // namespace inlay::tmpl
