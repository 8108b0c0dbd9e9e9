#include "src/backend/step_lists.h"

#include <algorithm>

namespace inlay {

StepLists::StepLists(const Plan& plan, const BackendConfig& config) {
  const auto tokens_max = static_cast<size_t>(config.max_step_tokens);
  const auto sequences_max = static_cast<size_t>(config.max_sequences);
  tokens.reserve(tokens_max);
  positions.reserve(tokens_max);
  sequences.reserve(sequences_max);
  // Without a window, a table has no more entries than the pool has blocks.
  int32_t table_max = kv_blocks_for(config.n_context);
  if (plan.kv.groups[0].window == 0) table_max = std::min(table_max, config.n_kv_blocks[0]);
  block_tables.reserve(sequences_max * static_cast<size_t>(table_max) * plan.kv.groups.size());
  logit_rows.reserve(sequences_max);
  sample_rows.reserve(sequences_max);
  asked_rows.reserve(sequences_max);
}

void StepLists::clear() {
  tokens.clear();
  positions.clear();
  block_tables.clear();
  sequences.clear();
  logit_rows.clear();
  sample_rows.clear();
  asked_rows.clear();
  asked = RowValues::hidden;
  takes_drawn = is_timed = false;
}

void StepLists::assign(const StepBatch& batch) {
  const auto copy = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
  copy(batch.tokens, tokens);
  copy(batch.positions, positions);
  copy(batch.block_tables, block_tables);
  copy(batch.sequences, sequences);
  copy(batch.logit_rows, logit_rows);
  copy(batch.sample_rows, sample_rows);
  copy(batch.asked_rows, asked_rows);
  asked = batch.asked;
  takes_drawn = batch.takes_drawn;
  is_timed = batch.is_timed;
}

StepBatch StepLists::batch() const {
  return {tokens, positions, sequences, block_tables, logit_rows, sample_rows, asked_rows, asked, takes_drawn, is_timed};
}

}  // namespace inlay
