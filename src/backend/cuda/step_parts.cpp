#include "src/backend/cuda/step_parts.h"

#include <algorithm>

namespace inlay {
void cut_segments(const StepBatch& batch, int32_t most_singles, std::vector<StepSegment>& out) {
  out.clear();
  const bool is_whole = !batch.asked_rows.empty();
  auto logit = batch.logit_rows.begin();
  for (const SequenceSlice& s : batch.sequences) {
    const bool decodes = s.decodes();
    const bool goes_on = !out.empty() && (is_whole || (out.back().decodes ? decodes && out.back().n_rows + s.n_tokens <= most_singles : !decodes));
    if (!goes_on) {
      const auto sequence = static_cast<int32_t>(&s - batch.sequences.data());
      out.push_back({.first_sequence = sequence,
                     .first_row = s.first_token,
                     .first_logit = static_cast<int32_t>(logit - batch.logit_rows.begin()),
                     .decodes = decodes,
                     .prefills = !decodes});
    }
    StepSegment& segment = out.back();
    ++segment.n_sequences;
    segment.n_rows += s.n_tokens;
    segment.decodes = segment.decodes && decodes && segment.n_rows <= most_singles;
    segment.has_runs = segment.has_runs || s.n_tokens > 1;
    segment.prefills = segment.prefills && !decodes;
    for (; logit != batch.logit_rows.end() && logit->token < s.first_token + s.n_tokens; ++logit) ++segment.n_logits;
  }
}

// Two segments one after the other have more than most_singles rows together.
size_t max_segments(int32_t max_sequences, int32_t max_rows, int32_t most_singles) {
  return static_cast<size_t>(std::min(max_sequences, 2 * (max_rows / most_singles) + 1)) + 2;
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
