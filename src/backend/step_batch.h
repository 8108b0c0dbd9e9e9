// One execution of the Plan, described by flat arrays: whole prompts, chunks of prompts, single tokens, and any mix.
#pragma once

#include <cstdint>
#include <span>

#include "src/sampler/sampler.h"

namespace inlay {

// The tokens of one sequence in this step: consecutive, ascending positions.
struct SequenceSlice {
  int32_t first_token = 0;     // into StepBatch::tokens
  int32_t n_tokens = 0;
  int32_t first_position = 0;  // tokens already cached
  int32_t first_block = 0;     // into StepBatch::block_tables
};

// The hidden state of `token` becomes the logits of logit slot `slot`.
struct LogitRow {
  int32_t token = 0;  // into StepBatch::tokens
  int32_t slot = 0;
};

// Draws the next token of a sequence from its logit slot, written in this step or in an earlier one.
struct SampleRow {
  int32_t slot = 0;
  const SamplerParams* params = nullptr;
  std::span<const int32_t> history;  // all tokens of the sequence
  uint64_t stream = 0;
  uint64_t position = 0;             // that the drawn token will have
};

// What a SampleRow came to. A row that cannot be drawn (its bias bans every token, its logits are not finite) does not
// concern the others.
struct Draw {
  Status status;
  SampleResult result;
};

struct StepBatch {
  std::span<const int32_t> tokens;
  std::span<const int32_t> positions;           // one per token
  std::span<const SequenceSlice> sequences;
  std::span<const int32_t> block_tables;        // of all sequences, each covering its last position
  std::span<const LogitRow> logit_rows;         // slots are unique
  std::span<const SampleRow> sample_rows;
};

}  // namespace inlay
