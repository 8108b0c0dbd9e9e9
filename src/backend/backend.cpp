#include "src/backend/backend.h"

#include <algorithm>

namespace inlay {
namespace {

// Every block that a query of the slice sees is one of the pool.
Status check_tables(const StepBatch& batch, const SequenceSlice& s, const KvGroups& kv, const BackendConfig& config) {
  const int32_t n_blocks = s.n_blocks(), n_groups = static_cast<int32_t>(kv.groups.size());
  const int64_t end = s.first_block + int64_t{n_groups} * n_blocks;
  if (s.first_block < 0 || end > static_cast<int64_t>(batch.block_tables.size())) {
    return error(Code::internal, "a slice needs %d tables of %d entries from %d of the block tables, which have %zu",
                 n_groups, n_blocks, s.first_block, batch.block_tables.size());
  }
  for (int32_t g = 0; g < n_groups; ++g) {
    const int32_t* table = batch.block_table(s, g);
    const int32_t n_pool = config.n_kv_blocks[static_cast<size_t>(g)];
    const int32_t first = first_key(kv.groups[static_cast<size_t>(g)].window, s.first_position) / kKvBlockTokens;
    for (int32_t i = 0; i < n_blocks; ++i) {
      const bool is_needed = i >= first || table[i] != kNoKvBlock;
      if (is_needed && (table[i] < 0 || table[i] >= n_pool)) {
        return error(Code::internal, "KV block %d of %d for positions from %d on, KV group %d", table[i], n_pool,
                     i * kKvBlockTokens, g);
      }
    }
  }
  return {};
}

Status check_slice(const StepBatch& batch, const SequenceSlice& s, const KvGroups& kv, const BackendConfig& config) {
  const auto n_tokens = static_cast<int32_t>(batch.tokens.size());
  if (s.n_tokens < 1 || s.first_token < 0 || s.first_token > n_tokens - s.n_tokens) {
    return error(Code::internal, "a slice of tokens %d to %d in a step of %d", s.first_token, s.first_token + s.n_tokens, n_tokens);
  }
  const int32_t end = s.first_position + s.n_tokens;
  if (s.first_position < 0 || end > config.n_context) {
    return error(Code::internal, "a slice at positions %d to %d in a context of %d", s.first_position, end, config.n_context);
  }
  for (int32_t i = 0; i < s.n_tokens; ++i) {
    if (batch.positions[static_cast<size_t>(s.first_token + i)] != s.first_position + i) {
      return error(Code::internal, "token %d has position %d, expected %d", s.first_token + i,
                   batch.positions[static_cast<size_t>(s.first_token + i)], s.first_position + i);
    }
  }
  return check_tables(batch, s, kv, config);
}

}  // namespace

StepResults StepResults::part(size_t first, size_t n, size_t row_width) const {
  StepResults out;
  if (!rows.empty()) out.rows = rows.subspan(first * row_width, n * row_width);
  if (!scores.empty()) out.scores = scores.subspan(first, n);
  const auto k = static_cast<size_t>(n_top);
  if (!top.empty()) out.top = top.subspan(first * k, n * k);
  out.n_top = n_top;
  return out;
}

Status Backend::copy_logits(int32_t slot, std::span<float> out) {
  INLAY_ASSIGN(const Logits found, logits(slot));
  const std::span<const float> from = found.values;
  if (out.size() < from.size()) return error(Code::buffer_too_small, "%zu floats for %zu logits", out.size(), from.size());
  std::ranges::copy(from, out.begin());
  return {};
}

Status validate(const StepBatch& batch, const Plan& plan, const BackendConfig& config) {
  if (batch.tokens.size() > static_cast<size_t>(config.max_step_tokens) || batch.positions.size() != batch.tokens.size() ||
      batch.sequences.size() > static_cast<size_t>(config.max_sequences) ||
      batch.logit_rows.size() > static_cast<size_t>(config.n_logit_slots) ||
      batch.sample_rows.size() > static_cast<size_t>(config.n_logit_slots)) {
    return error(Code::internal, "a step of %zu tokens (%zu positions), %zu sequences, %zu logit rows, %zu draws does not fit",
                 batch.tokens.size(), batch.positions.size(), batch.sequences.size(), batch.logit_rows.size(),
                 batch.sample_rows.size());
  }
  for (const int32_t token : batch.tokens) {
    if (token < 0 || token >= plan.spec.n_vocab) return error(Code::internal, "token %d of a vocabulary of %d", token, plan.spec.n_vocab);
  }
  int32_t next_token = 0;
  for (const SequenceSlice& s : batch.sequences) {
    if (s.first_token != next_token) return error(Code::internal, "a slice begins at token %d, expected %d", s.first_token, next_token);
    INLAY_TRY(check_slice(batch, s, plan.kv, config));
    if (s.decodes() && &s != batch.sequences.data() && !(&s)[-1].decodes())
      return error(Code::internal, "a slice that decodes, from token %d on, behind one of a prompt", s.first_token);
    if (s.decodes() && s.n_tokens > kMostDecodeRows) return error(Code::internal, "%d rows of one sequence decode; at most %d can", s.n_tokens, kMostDecodeRows);
    next_token = s.first_token + s.n_tokens;
  }
  if (static_cast<size_t>(next_token) != batch.tokens.size()) {
    return error(Code::internal, "the slices cover %d of %zu tokens", next_token, batch.tokens.size());
  }
  for (const LogitRow& row : batch.logit_rows) {
    if (&row != batch.logit_rows.data() && (&row)[-1].token > row.token)
      return error(Code::internal, "logits of token %d behind those of %d", row.token, (&row)[-1].token);
    if (row.token < 0 || row.token >= next_token || row.slot < 0 || row.slot >= config.n_logit_slots) {
      return error(Code::internal, "logits of token %d into slot %d", row.token, row.slot);
    }
  }
  for (const SampleRow& row : batch.sample_rows) {
    if (!row.params || row.slot < 0 || row.slot >= config.n_logit_slots) return error(Code::internal, "a draw from slot %d", row.slot);
    if (row.mask != nullptr && batch.takes_drawn) return error(Code::internal, "a mask for a draw behind one that is not known");
  }
  for (const AskedRows& rows : batch.asked_rows) {
    const bool has_next = batch.asked != RowValues::scores || rows.next.size() == static_cast<size_t>(rows.n_rows);
    if (rows.first_row < 0 || rows.n_rows < 1 || rows.n_rows > next_token - rows.first_row || !has_next)
      return error(Code::internal, "values of %d rows from %d on, of a step of %d", rows.n_rows, rows.first_row, next_token);
  }
  return {};
}

Status OpRunner::run_units(const Plan& plan, std::span<const StepUnit> units, const StepBatch& batch, std::span<Draw> draws,
                           const Inspection& inspection) {
  std::vector<int32_t> timed;  // stays empty without a profile
  if (inspection.time) {
    timed.reserve(plan.ops.size());
    INLAY_TRY(begin_times(plan.ops.size() + 1));
    INLAY_TRY(note_moment(0));
  }
  for (const StepUnit& unit : units) {
    for (int32_t i = unit.first_op; i < unit.end_op; ++i) {
      const Op& op = plan.ops[static_cast<size_t>(i)];
      INLAY_TRY(op.kind == OpKind::head ? run_head_piece(op, batch, unit.head) : run_op(op, batch, draws));
      if (inspection.tap) INLAY_TRY(tap(i, op, batch, inspection));
      if (!inspection.time) continue;
      timed.push_back(i);
      INLAY_TRY(note_moment(timed.size()));
    }
  }
  return inspection.time ? report_times(timed, inspection.time) : Status{};
}

Status OpRunner::tap(int32_t index, const Op& op, const StepBatch& batch, const Inspection& inspection) {
  if (inspection.tap_op >= 0 && inspection.tap_op != index) return {};
  INLAY_ASSIGN(Tap tap, observe(op, batch));
  tap.op_index = index;
  tap.op = &op;
  if (tap.values) inspection.tap(tap);
  return {};
}

Status OpRunner::report_times(std::span<const int32_t> ops, const std::function<void(const OpTime&)>& report) {
  double begin_us = 0;
  for (size_t k = 0; k < ops.size(); ++k) {
    INLAY_ASSIGN(const double us, microseconds_between(k, k + 1));
    report({.op_index = ops[k], .begin_us = begin_us, .us = us});
    begin_us += us;
  }
  return {};
}

Status OpRunner::begin_times(size_t n_moments) {
  moments_.resize(n_moments);
  return {};
}

Status OpRunner::note_moment(size_t k) {
  moments_[k] = std::chrono::steady_clock::now();
  return {};
}

Result<double> OpRunner::microseconds_between(size_t from, size_t to) {
  return std::chrono::duration<double, std::micro>(moments_[to] - moments_[from]).count();
}

}  // namespace inlay
