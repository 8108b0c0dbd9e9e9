// The values of JSON Schema's keyword format.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace inlay::constraint {

// The pattern that the whole text must match; none for names that are not known, which are annotations.
std::optional<std::string> format_pattern(std::string_view name);

}  // namespace inlay::constraint
