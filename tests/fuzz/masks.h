// Constraints as fuzz targets read them: what an error may be, and masks.
#pragma once

#include <cstdint>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/formats/text.h"
#include "tests/fuzz/check.h"

namespace inlay::fuzz {

inline void check_error(const Status& status) {
  FUZZ_CHECK(status.code == Code::format || status.code == Code::unsupported || status.code == Code::invalid_argument);
  FUZZ_CHECK(!status.message.empty() && is_valid_utf8(status.message));
}

using Mask = std::vector<uint32_t>;

// False where a limit was met.
inline bool mask_of(constraint::ConstraintState& state, Mask& out) {
  out.assign(state.n_mask_words(), 0);
  if (const Status status = state.mask(out); !status.ok()) return check_error(status), false;
  return true;
}

inline bool has(const Mask& mask, int32_t token) { return (mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1) != 0; }

}  // namespace inlay::fuzz
