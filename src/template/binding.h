// Arguments of a built-in function by the names of its parameters.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "src/template/object.h"
#include "src/template/value.h"

namespace inlay::tmpl {

class Bound {
 public:
  // The first `n_required` parameters must be given; `function` is for messages.
  static Result<Bound> bind(const Arguments& arguments, std::string_view function,
                            std::initializer_list<std::string_view> parameters, size_t n_required = 0);

  bool has(size_t which) const { return given_[which]; }
  const Value& operator[](size_t which) const { return values_[which]; }  // none if not given
  // Values of the expected type, or the default if absent.
  Result<std::string_view> text(size_t which, std::string_view otherwise = "") const;
  Result<int64_t> integer(size_t which, int64_t otherwise) const;
  bool truth(size_t which, bool otherwise) const { return given_[which] ? values_[which].truth() : otherwise; }

 private:
  std::string function_;
  std::vector<std::string_view> parameters_;
  std::vector<Value> values_;
  std::vector<bool> given_;
};

}  // namespace inlay::tmpl
