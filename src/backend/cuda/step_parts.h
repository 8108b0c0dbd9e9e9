// A step cut into parts of one kind: single tokens, so many at a time, and prompts.
#pragma once

#include <vector>

#include "src/backend/step_batch.h"

namespace inlay {

struct StepPart {
  std::vector<int32_t> tokens, positions;
  std::vector<SequenceSlice> sequences;
  std::vector<LogitRow> logit_rows;

  // Draws are left to the whole.
  StepBatch batch(const StepBatch& whole) const {
    return {.tokens = tokens,
            .positions = positions,
            .sequences = sequences,
            .block_tables = whole.block_tables,
            .logit_rows = logit_rows};
  }
};

// Whether a step has single tokens beside prompts, or more than `most` single tokens.
bool has_parts(const StepBatch& batch, int32_t most);
std::vector<StepPart> parts_of(const StepBatch& batch, int32_t most);

// Tokens of the row's history that its penalties look at.
size_t penalised_tokens(const SampleRow& row);
// How many of the rows, from the first on, have together at most max_list biases and at most max_list penalised tokens;
// the first always counts.
size_t fitting_draws(std::span<const SampleRow> rows, int32_t max_list);

}  // namespace inlay
