#include "src/backend/cuda/step_parts.h"

#include <algorithm>

namespace inlay {
namespace {

bool is_single(const SequenceSlice& s) { return s.n_tokens == 1; }

void append(const StepBatch& batch, const SequenceSlice& s, StepPart& part) {
  const auto first = static_cast<int32_t>(part.tokens.size());
  const auto tokens = batch.tokens.subspan(static_cast<size_t>(s.first_token), static_cast<size_t>(s.n_tokens));
  const auto positions = batch.positions.subspan(static_cast<size_t>(s.first_token), static_cast<size_t>(s.n_tokens));
  part.tokens.insert(part.tokens.end(), tokens.begin(), tokens.end());
  part.positions.insert(part.positions.end(), positions.begin(), positions.end());
  SequenceSlice moved = s;
  moved.first_token = first;
  part.sequences.push_back(moved);
  for (const LogitRow& row : batch.logit_rows) {
    if (row.token >= s.first_token && row.token < s.first_token + s.n_tokens) {
      part.logit_rows.push_back({.token = row.token - s.first_token + first, .slot = row.slot});
    }
  }
}

}  // namespace

bool has_parts(const StepBatch& batch, int32_t most) {
  const auto singles = std::ranges::count_if(batch.sequences, is_single);
  return singles > most || (singles > 0 && static_cast<size_t>(singles) < batch.sequences.size());
}

std::vector<StepPart> parts_of(const StepBatch& batch, int32_t most) {
  std::vector<StepPart> parts;
  StepPart prompts;
  for (const SequenceSlice& s : batch.sequences) {
    if (!is_single(s)) {
      append(batch, s, prompts);
      continue;
    }
    if (parts.empty() || static_cast<int32_t>(parts.back().sequences.size()) == most) parts.emplace_back();
    append(batch, s, parts.back());
  }
  if (!prompts.sequences.empty()) parts.push_back(std::move(prompts));
  return parts;
}

size_t penalised_tokens(const SampleRow& row) {
  const SamplerParams& p = *row.params;
  if (!has_penalties(p)) return 0;
  return p.penalty_window < 0 ? row.history.size()
                              : std::min(row.history.size(), static_cast<size_t>(p.penalty_window));
}

size_t fitting_draws(std::span<const SampleRow> rows, int32_t max_list) {
  const auto most = static_cast<size_t>(max_list);
  size_t n = 0, n_bias = 0, n_penalised = 0;
  for (; n < rows.size(); ++n) {
    n_bias += rows[n].bias().size();
    n_penalised += penalised_tokens(rows[n]);
    if (n > 0 && (n_bias > most || n_penalised > most)) break;
  }
  return n;
}

}  // namespace inlay
