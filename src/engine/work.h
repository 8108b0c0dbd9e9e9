// What is to be computed, and how a step takes it up: docs/design/step-contract.md.
#pragma once

#include <span>

#include "src/backend/step_lists.h"
#include "src/engine/sequence.h"

namespace inlay {

// Tokens of one sequence that are to be run, and what is wanted of their rows.
struct Work {
  Sequence* sequence = nullptr;
  std::span<const int32_t> tokens;          // the sequence's, mostly
  int32_t first = 0, end = 0;               // those that are run
  RowClass rows = RowClass::prompt;         // a single one decodes anyhow
  int32_t slot = -1;                        // takes the logits of the last one's row; -1: not wanted
  std::span<const int32_t> slots = {};      // takes the logits of every row, (n_rows), instead of `slot`: for drafts that are to be verified
  std::span<const AskedRows> asked = {};    // rows counted from `first`
  bool is_drawn = false;                    // its one token is what the step before draws, and not known yet

  int32_t n_rows() const { return end - first; }
  bool decodes() const { return n_rows() == 1 || rows == RowClass::decode; }
};

// Tokens [first, end) of the sequence's own.
Work work_of(Sequence& sequence, int32_t first, int32_t end);

struct StepLimits {
  int32_t max_tokens = 0, max_sequences = 0;
};

// Cuts the works to what a step has room for: in their order, each whole while there is room, the last one in part, the others not at all
// (then `end` is `first`); rows of one sequence that decode up to kMostDecodeRows. A work that is cut has no use of `slot`: its last row comes in a
// later step.
void plan_step(std::span<Work> works, const StepLimits& limits);

// The arrays of the step: rows that decode first, prompts behind them. The sequences' tables cover the works.
void describe(std::span<const Work> works, StepLists& out);

}  // namespace inlay
