// Rows of a step that prefill attention takes together.
#pragma once

#include <cstdint>

namespace inlay {

inline constexpr int32_t kPromptTileRows = 64;

// Up to kPromptTileRows rows of one sequence, at consecutive positions. No row is padding.
struct PromptTile {
  int32_t first_row, n_rows;
  int32_t end;  // position behind the sequence's last row in the step, which may be in another tile
};

}  // namespace inlay
