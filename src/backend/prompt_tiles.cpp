#include "src/backend/prompt_tiles.h"

#include <algorithm>

namespace inlay {

int32_t max_prompt_tiles(int32_t max_rows, int32_t max_sequences) { return max_rows / kPromptTileRows + max_sequences; }

int32_t cut_prompt_tiles(const StepBatch& batch, PromptTile* tiles) {
  int32_t n = 0;
  for (const SequenceSlice& slice : batch.sequences) {
    if (slice.decodes()) continue;
    const int32_t end = slice.first_position + slice.n_tokens;
    for (int32_t first = 0; first < slice.n_tokens; first += kPromptTileRows) {
      tiles[n++] = {slice.first_token + first, std::min(kPromptTileRows, slice.n_tokens - first), end};
    }
  }
  const auto n_keys = [&](const PromptTile& tile) { return batch.positions[static_cast<size_t>(tile.first_row)] + tile.n_rows; };
  std::sort(tiles, tiles + n, [&](const PromptTile& a, const PromptTile& b) {
    return n_keys(a) != n_keys(b) ? n_keys(a) > n_keys(b) : a.first_row < b.first_row;
  });
  return n;
}

void find_single_rows(const StepBatch& batch, std::vector<RowRun>& runs) {
  runs.clear();
  for (const SequenceSlice& slice : batch.sequences) {
    if (!slice.decodes()) continue;
    if (!runs.empty() && runs.back().first_row + runs.back().n_rows == slice.first_token) {
      runs.back().n_rows += slice.n_tokens;
    } else {
      runs.push_back({slice.first_token, slice.n_tokens});
    }
  }
}

}  // namespace inlay
