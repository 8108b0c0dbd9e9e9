// Which rows of a step prefill attention takes, and which are single tokens, to be computed as a decode step does: a token's
// bits do not depend on what else is in the step.
#pragma once

#include <vector>

#include "kernels/common/prompt_tile.h"
#include "src/backend/step_batch.h"

namespace inlay {

// The most tiles of any step.
int32_t max_prompt_tiles(int32_t max_rows, int32_t max_sequences);

// Cuts every slice of more than one row into tiles of kPromptTileRows rows, the last with the rest, and returns how many
// there are. Those that read the most keys of causal attention come first: a device that starts them in this order ends with the short ones.
int32_t cut_prompt_tiles(const StepBatch& batch, PromptTile* tiles);

// Consecutive rows.
struct RowRun {
  int32_t first_row, n_rows;
};

// The slices of one row, those next to each other as one run. Never more runs than sequences.
void find_single_rows(const StepBatch& batch, std::vector<RowRun>& runs);

}  // namespace inlay
