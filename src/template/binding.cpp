#include "src/template/binding.h"

#include <algorithm>

namespace inlay::tmpl {

Result<Bound> Bound::bind(const Arguments& arguments, std::string_view function,
                          std::initializer_list<std::string_view> parameters, size_t n_required) {
  Bound out;
  out.function_ = function;
  out.parameters_ = parameters;
  out.values_.resize(parameters.size());
  out.given_.resize(parameters.size());
  const char* name = out.function_.c_str();
  if (arguments.positional.size() > parameters.size())
    return type_error("%s takes at most %zu argument(s), %zu given", name, parameters.size(),
                      arguments.positional.size());
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    out.values_[i] = arguments.positional[i], out.given_[i] = true;
  for (const auto& [keyword, value] : arguments.named) {
    const auto found = std::find(out.parameters_.begin(), out.parameters_.end(), keyword);
    if (found == out.parameters_.end()) return type_error("%s takes no argument '%s'", name, keyword.c_str());
    const auto which = static_cast<size_t>(found - out.parameters_.begin());
    if (out.given_[which]) return type_error("%s got two values for '%s'", name, keyword.c_str());
    out.values_[which] = value, out.given_[which] = true;
  }
  for (size_t i = 0; i < n_required; ++i)
    if (!out.given_[i]) return type_error("%s needs '%s'", name, std::string(out.parameters_[i]).c_str());
  return out;
}

Result<std::string_view> Bound::text(size_t which, std::string_view otherwise) const {
  if (!given_[which]) return otherwise;
  if (values_[which].is_undefined()) return undefined_error(values_[which]);
  if (values_[which].is_string()) return std::string_view(values_[which].text());
  return type_error("%s: '%s' must be str, not %s", function_.c_str(), std::string(parameters_[which]).c_str(),
                    values_[which].type_name());
}

Result<int64_t> Bound::integer(size_t which, int64_t otherwise) const {
  if (!given_[which]) return otherwise;
  if (values_[which].is_undefined()) return undefined_error(values_[which]);
  if (values_[which].is_integral()) return values_[which].integer();
  return type_error("%s: '%s' must be int, not %s", function_.c_str(), std::string(parameters_[which]).c_str(),
                    values_[which].type_name());
}

}  // namespace inlay::tmpl
