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
// Stable. An error if two keys cannot be compared.
Status sort_by_key(Run& run, std::vector<Keyed>& items, bool descending);

}  // namespace inlay::tmpl
