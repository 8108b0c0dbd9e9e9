#include "src/engine/work.h"

#include <algorithm>

namespace inlay {
namespace {

void add(const Work& work, StepLists& out) {
  constexpr int32_t kUnknown[] = {0};
  const auto first_row = static_cast<int32_t>(out.tokens.size()), n = work.n_rows();
  const std::span<const int32_t> tokens =
      work.is_drawn ? std::span<const int32_t>(kUnknown) : work.tokens.subspan(static_cast<size_t>(work.first), static_cast<size_t>(n));
  out.sequences.push_back(
      {.first_token = first_row, .n_tokens = n, .first_position = work.first, .first_block = static_cast<int32_t>(out.block_tables.size()), .rows = work.rows});
  out.tokens.insert(out.tokens.end(), tokens.begin(), tokens.end());
  for (int32_t i = work.first; i < work.end; ++i) out.positions.push_back(i);
  const int32_t n_blocks = out.sequences.back().n_blocks();
  for (const KvHolding& h : work.sequence->kv) out.block_tables.insert(out.block_tables.end(), h.table.begin(), h.table.begin() + n_blocks);
  for (int32_t i = 0; i < std::min(n, static_cast<int32_t>(work.slots.size())); ++i) out.logit_rows.push_back({first_row + i, work.slots[static_cast<size_t>(i)]});
  if (work.slot >= 0) out.logit_rows.push_back({first_row + n - 1, work.slot});
  out.takes_drawn = out.takes_drawn || work.is_drawn;
}

}  // namespace

Work work_of(Sequence& sequence, int32_t first, int32_t end) {
  return {.sequence = &sequence, .tokens = sequence.tokens, .first = first, .end = end};
}

void plan_step(std::span<Work> works, const StepLimits& limits) {
  int32_t n_tokens = limits.max_tokens, n_sequences = limits.max_sequences;
  for (Work& work : works) {
    const int32_t most = work.decodes() ? std::min(n_tokens, kMostDecodeRows) : n_tokens;
    const int32_t n = n_sequences > 0 ? std::min(work.n_rows(), most) : 0;
    if (n < work.n_rows()) {
      work.end = work.first + n;
      work.slot = -1;
      n_tokens = n_sequences = 0;  // nobody overtakes
    }
    n_tokens -= std::min(n, n_tokens);
    n_sequences -= n > 0 ? 1 : 0;
  }
}

void describe(std::span<const Work> works, StepLists& out) {
  out.clear();
  for (const bool decodes : {true, false}) {
    for (const Work& work : works) {
      if (work.n_rows() > 0 && work.decodes() == decodes) add(work, out);
    }
  }
  // What the host wants of rows comes in the order of the works.
  int32_t next[] = {0, 0};
  for (const Work& work : works) next[1] += work.decodes() ? work.n_rows() : 0;
  for (const Work& work : works) {
    if (work.n_rows() == 0) continue;
    int32_t& row = next[work.decodes() ? 0 : 1];
    for (AskedRows asked : work.asked) {
      asked.first_row += row;
      out.asked_rows.push_back(asked);
    }
    row += work.n_rows();
  }
}

}  // namespace inlay
