// The slices of a step as tiles of prefill attention.
#pragma once

#include "kernels/common/prompt_tile.h"
#include "src/backend/step_batch.h"

namespace inlay {

// The most tiles of any step.
int32_t max_prompt_tiles(int32_t max_rows, int32_t max_sequences);

// Cuts every slice into tiles of kPromptTileRows rows, the last with the rest, and returns how many there are. Those that
// read the most keys come first: a device that starts them in this order ends with the short ones.
int32_t cut_prompt_tiles(const StepBatch& batch, PromptTile* tiles);

}  // namespace inlay
