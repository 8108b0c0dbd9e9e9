// One execution of the Plan, described by flat arrays: whole prompts, chunks of prompts, single tokens, and any mix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/plan/kv_groups.h"
#include "src/sampler/sampler.h"

namespace inlay {

// How rows are computed. A decode row has the bits that it has alone, whatever shares its step and however many rows its sequence has in it;
// those of a prompt row may depend on where the prompt was cut.
enum class RowClass : uint8_t { prompt, decode };
inline constexpr int32_t kMostDecodeRows = 32;  // of one sequence in a step

// The tokens of one sequence in this step: consecutive, ascending positions.
struct SequenceSlice {
  int32_t first_token = 0;     // into StepBatch::tokens
  int32_t n_tokens = 0;
  int32_t first_position = 0;  // tokens already cached
  int32_t first_block = 0;     // into StepBatch::block_tables
  RowClass rows = RowClass::prompt;

  bool decodes() const { return n_tokens == 1 || rows == RowClass::decode; }  // a single token always does
  int32_t n_blocks() const { return kv_blocks_for(first_position + n_tokens); }  // of its table in each KV group
};

// In a block table: positions that no query of the step or after it sees.
inline constexpr int32_t kNoKvBlock = -1;

// The hidden state of `token` becomes the logits of logit slot `slot`.
struct LogitRow {
  int32_t token = 0;  // into StepBatch::tokens
  int32_t slot = 0;
};

// The tokens that a row may draw. The host writes it between advance() and wait() of the ticket.
struct TokenMask {
  std::vector<uint32_t> words;  // as DrawContext::allowed; empty: none may be drawn
  Status status;                // an error becomes that of the draw
};

// Draws the next token of a sequence from its logit slot, written in this step or in an earlier one.
struct SampleRow {
  int32_t slot = 0;
  const SamplerParams* params = nullptr;
  std::span<const int32_t> history;  // all tokens of the sequence
  uint64_t stream = 0;
  uint64_t position = 0;             // that the drawn token will have
  DrawContext context = {};
  const TokenMask* mask = nullptr;   // there until the ticket has ended

  std::span<const LogitBias> bias() const { return context.bias_and_dry.empty() ? params->bias : context.bias_and_dry; }
};

// What a SampleRow came to. A row that cannot be drawn (its bias bans every token, its logits are not finite) does not
// concern the others. A masked row of which no token may be drawn is OK, and its token -1.
struct Draw {
  Status status;
  SampleResult result;
};

// What a step leaves of rows behind the last layer, for the host.
enum class RowValues : uint8_t { hidden, logits, scores };

// Rows that follow one another, of which the host wants a value each.
struct AskedRows {
  int32_t first_row = 0;          // into StepBatch::tokens
  int32_t n_rows = 0;
  std::span<const int32_t> next;  // scores: the token that each row is asked for, (n_rows)
};

// How many of them, from the first on, are rows that follow one another.
inline size_t n_adjoining(std::span<const AskedRows> rows) {
  size_t n = 1;
  while (n < rows.size() && rows[n].first_row == rows[n - 1].first_row + rows[n - 1].n_rows) ++n;
  return n;
}
inline size_t n_rows_of(std::span<const AskedRows> rows) {
  size_t n = 0;
  for (const AskedRows& asked : rows) n += static_cast<size_t>(asked.n_rows);
  return n;
}

struct StepBatch {
  std::span<const int32_t> tokens;
  std::span<const int32_t> positions;           // one per token
  std::span<const SequenceSlice> sequences;     // those that decode first
  std::span<const int32_t>
      block_tables;  // of each sequence one for every KV group, (groups, SequenceSlice::n_blocks())
  std::span<const LogitRow> logit_rows;         // in the order of their tokens; slots are unique
  std::span<const SampleRow> sample_rows;
  std::span<const AskedRows> asked_rows = {};
  RowValues asked = RowValues::hidden;
  bool takes_drawn = false;  // each sequence has one token: that of sequence i is what draw i of the ticket before gives, whatever `tokens` says
  bool is_timed = false;     // Backend::poll() is asked for its ticket

  const int32_t* block_table(const SequenceSlice& slice, int32_t kv_group) const {
    return block_tables.data() + slice.first_block + kv_group * slice.n_blocks();
  }
};

}  // namespace inlay
