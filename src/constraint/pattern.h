// Regular expressions as ECMA-262 defines them with the flag u, and as Annex B reads what that flag refuses.
#pragma once

#include <string_view>

#include "src/base/status.h"
#include "src/constraint/code_points.h"
#include "src/constraint/regex_store.h"

namespace inlay::constraint {

// All texts that have a match somewhere, spelled so. Code::format: this is no pattern; Code::unsupported: it looks around,
// refers back, or is too large. Messages name the byte of the pattern.
Result<RegexId> compile_pattern(RegexStore& store, std::string_view pattern, Spelling spelling);
// All texts that match as a whole.
Result<RegexId> compile_whole_pattern(RegexStore& store, std::string_view pattern, Spelling spelling);

}  // namespace inlay::constraint
