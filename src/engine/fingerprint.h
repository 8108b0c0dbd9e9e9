// What tells a model from others whose keys and values mean something else. docs/design/session-state.md
#pragma once

#include "src/plan/plan.h"

namespace inlay {

// Of its sizes and constants, of each weight's name, type and shape, and of one row of up to 64 weights, as the file has them.
Result<uint64_t> fingerprint_of(const Plan& plan, const WeightReader& reader);

}  // namespace inlay
