// The arrays behind a StepBatch, made once; filling them allocates nothing.
#pragma once

#include <algorithm>
#include <vector>

#include "src/backend/backend.h"
#include "src/engine/engine.h"

namespace inlay {

struct Engine::StepArrays {
  StepArrays(const Plan& plan, const BackendConfig& config) {
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
    draws.resize(sequences_max);
  }

  void clear() {
    tokens.clear();
    positions.clear();
    sequences.clear();
    block_tables.clear();
    logit_rows.clear();
    sample_rows.clear();
  }

  // Adds tokens [first, first + n) of a sequence whose block tables cover them.
  void add_slice(std::span<const int32_t> sequence, int32_t first, int32_t n, const KvHoldings& kv) {
    add_tokens(sequence.subspan(static_cast<size_t>(first), static_cast<size_t>(n)), first, kv);
  }
  // Adds tokens at `first` and on.
  void add_tokens(std::span<const int32_t> added, int32_t first, const KvHoldings& kv) {
    const auto n = static_cast<int32_t>(added.size());
    sequences.push_back({.first_token = static_cast<int32_t>(tokens.size()),
                         .n_tokens = n,
                         .first_position = first,
                         .first_block = static_cast<int32_t>(block_tables.size())});
    tokens.insert(tokens.end(), added.begin(), added.end());
    for (int32_t i = first; i < first + n; ++i) positions.push_back(i);
    const int32_t n_blocks = sequences.back().n_blocks();
    for (const KvHolding& h : kv) block_tables.insert(block_tables.end(), h.table.begin(), h.table.begin() + n_blocks);
  }

  // Adds the token that a sequence will have drawn, which is at `position`.
  void add_drawn(int32_t position, const KvHoldings& kv) {
    constexpr int32_t kUnknown[] = {0};
    add_tokens(kUnknown, position, kv);
  }

  // The last token added leaves its logits in `slot`.
  void want_logits(int32_t slot) { logit_rows.push_back({static_cast<int32_t>(tokens.size()) - 1, slot}); }

  StepBatch batch() const { return {tokens, positions, sequences, block_tables, logit_rows, sample_rows}; }

  std::vector<int32_t> tokens, positions, block_tables;
  std::vector<SequenceSlice> sequences;
  std::vector<LogitRow> logit_rows;
  std::vector<SampleRow> sample_rows;
  std::vector<Draw> draws;
};

}  // namespace inlay
