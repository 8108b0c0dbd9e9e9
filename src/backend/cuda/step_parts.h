// How a step is cut: its rows into segments that have their own kernels, its draws into runs that have room in its lists.
#pragma once

#include <vector>

#include "src/backend/step_batch.h"

namespace inlay {

// Rows of a step that run together, one segment after another: rows that decode, at most so many, or prompts. A row that decodes has the same
// bits whoever shares its step.
struct StepSegment {
  int32_t first_sequence = 0, n_sequences = 0;
  int32_t first_row = 0, n_rows = 0;
  int32_t first_logit = 0, n_logits = 0;  // of StepBatch::logit_rows
  bool decodes = false;                   // each row does
  bool prefills = false;                  // none does
  bool has_runs = false;                  // a sequence has several rows, which see each other's keys
};

// In the order of the batch. One segment, of both kinds if need be, where the host asks for rows: those of all sequences are wanted at once.
void cut_segments(const StepBatch& batch, int32_t most_singles, std::vector<StepSegment>& out);
// At most so many.
size_t max_segments(int32_t max_sequences, int32_t max_rows, int32_t most_singles);

// Tokens of the row's history that its penalties look at.
size_t penalised_tokens(const SampleRow& row);
// How many of the rows, from the first on, have together at most max_list biases and at most max_list penalised tokens;
// the first always counts.
size_t fitting_draws(std::span<const SampleRow> rows, int32_t max_list);

}  // namespace inlay
