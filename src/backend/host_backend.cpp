#include "src/backend/host_backend.h"

#include <algorithm>

namespace inlay {

Status unknown_ticket() { return error(Code::internal, "the ticket has ended, or was never given"); }

void HostBackend::take_lists(const Plan& plan, const BackendConfig& config) {
  for (Step& step : steps_) step.lists = StepLists(plan, config);
  drawn_.reserve(static_cast<size_t>(config.max_sequences));
}

HostBackend::Step* HostBackend::find(Ticket ticket) {
  const auto found = std::ranges::find(steps_, ticket, &Step::ticket);
  return ticket && found != steps_.end() ? &*found : nullptr;
}

Result<Ticket> HostBackend::begin(const StepBatch& batch, std::span<const StepUnit> units) {
  INLAY_TRY(validate(batch, plan(), config()));
  const auto decodes = [](const SequenceSlice& slice) { return slice.decodes(); };
  if (units.size() > 1 && std::ranges::any_of(batch.sequences, decodes) && !std::ranges::all_of(batch.sequences, decodes))
    return error(Code::internal, "a step of rows that decode and prompts in units");  // no backend has to cut one
  const auto free = std::ranges::find(steps_, Ticket{}, &Step::ticket);
  if (free == steps_.end()) return error(Code::internal, "%zu tickets are open", kMostTickets);
  free->lists.assign(batch);
  free->units = units;
  free->n_queued = free->n_done = 0;
  free->ticket = {++n_tickets_};
  return free->ticket;
}

Status HostBackend::advance(Ticket ticket, size_t n_units) {
  Step* step = find(ticket);
  if (step == nullptr) return unknown_ticket();
  const size_t n = std::min(n_units, step->units.size() - step->n_queued);
  if (inspection_.launch) inspection_.launch(step->units.subspan(step->n_queued, n));
  step->n_queued += n;
  return {};
}

Status HostBackend::wait(Ticket ticket, const StepResults& results) {
  Step* step = find(ticket);
  if (step == nullptr) return unknown_ticket();
  Status status = run_queued(*step, results);
  if (status.ok() && inspection_.fault) status = inspection_.fault();
  if (!status.ok() || step->n_done == step->units.size()) step->ticket = {};
  return status;
}

Result<TicketProgress> HostBackend::poll(Ticket ticket) {
  const Step* step = find(ticket);
  if (step == nullptr) return unknown_ticket();
  if (!step->lists.is_timed) return error(Code::internal, "the ticket's batch is not timed");
  return inspection_.progress ? inspection_.progress() : TicketProgress{};
}

Status HostBackend::cancel(Ticket ticket) {
  if (Step* step = find(ticket)) step->ticket = {};
  return {};
}

Status HostBackend::duplicate_kv_block(int32_t kv_group, int32_t from, int32_t to) {
  copy_kv_block(kv_memory(), kv_cache(), kv_group, from, to);
  return {};
}

Status HostBackend::copy_kv_to_host(const KvBlocks& blocks, std::byte* to) {
  copy_kv_out(kv_memory(), kv_cache(), blocks, to);
  return {};
}

Status HostBackend::copy_kv_from_host(const KvBlocks& blocks, const std::byte* from) {
  copy_kv_in(kv_memory(), kv_cache(), blocks, from);
  return {};
}

Status HostBackend::copy_logits_to_host(int32_t slot, std::byte* to) {
  std::ranges::copy(std::as_bytes(logit_row(slot)), to);
  return {};
}

Status HostBackend::copy_logits_from_host(int32_t slot, const std::byte* from) {
  const std::span<std::byte> row = std::as_writable_bytes(logit_row(slot));
  std::copy_n(from, row.size(), row.begin());
  return {};
}

Result<std::span<std::byte>> HostBackend::take_host_memory(uint64_t bytes) {
  INLAY_ASSIGN(HostBuffer buffer, HostBuffer::allocate(bytes, "copies of keys and values"));
  const Lock lock(host_memory_mutex_);
  host_memory_.push_back(std::move(buffer));
  return std::span(host_memory_.back().data(), bytes);
}

Status HostBackend::run_queued(Step& step, const StepResults& results) {
  if (step.lists.takes_drawn && step.n_done == 0) {
    if (drawn_.size() != step.lists.tokens.size())
      return error(Code::internal, "%zu tokens of %zu draws", step.lists.tokens.size(), drawn_.size());
    std::copy_n(drawn_.begin(), step.lists.tokens.size(), step.lists.tokens.begin());
  }
  const StepBatch batch = step.lists.batch();
  if (results.draws.size() < batch.sample_rows.size())
    return error(Code::internal, "%zu results for %zu draws", results.draws.size(), batch.sample_rows.size());
  INLAY_TRY(run_units(plan(), step.units.subspan(step.n_done, step.n_queued - step.n_done), batch, results.draws, inspection_));
  step.n_done = step.n_queued;
  if (step.n_done < step.units.size()) return {};
  drawn_.clear();
  for (const Draw& draw : results.draws.first(batch.sample_rows.size())) drawn_.push_back(draw.status.ok() ? draw.result.token : 0);
  return read_rows(batch, results);
}

Status HostBackend::read_rows(const StepBatch& batch, const StepResults& results) {
  const auto n_vocab = static_cast<size_t>(plan().spec.n_vocab), d_model = static_cast<size_t>(plan().spec.d_model);
  const size_t width = batch.asked == RowValues::hidden ? d_model : n_vocab;
  std::vector<float> logits;   // of rows that are scored
  std::vector<int32_t> next;  // of the rows that follow one another
  size_t n_done = 0;
  for (size_t at = 0, n_ranges = 0; at < batch.asked_rows.size(); at += n_ranges) {
    n_ranges = n_adjoining(batch.asked_rows.subspan(at));
    const std::span<const AskedRows> ranges = batch.asked_rows.subspan(at, n_ranges);
    const size_t n_rows = n_rows_of(ranges);
    next.clear();
    for (const AskedRows& rows : ranges) next.insert(next.end(), rows.next.begin(), rows.next.end());
    for (size_t i = 0, n = 0; i < n_rows; i += n, n_done += n) {
      n = batch.asked == RowValues::scores ? std::min(n_rows - i, kRowsAtOnce) : n_rows;
      const int32_t first = ranges[0].first_row + static_cast<int32_t>(i);
      const StepResults part = results.part(n_done, n, width);
      if (batch.asked == RowValues::hidden) {
        for (size_t k = 0; k < n; ++k)
          std::copy_n(hidden_row(first + static_cast<int32_t>(k)), d_model, part.rows.begin() + static_cast<std::ptrdiff_t>(k * d_model));
      } else if (batch.asked == RowValues::logits) {
        INLAY_TRY(row_logits(first, part.rows));
      } else {
        logits.resize(n * n_vocab);
        INLAY_TRY(row_logits(first, logits));
        INLAY_TRY(score_rows(logits, std::span(next).subspan(i, n), part));
      }
    }
  }
  return {};
}

Status HostBackend::score_rows(std::span<const float> logits, std::span<const int32_t> next, const StepResults& results) {
  const size_t n_vocab = logits.size() / next.size();
  for (size_t i = 0; i < next.size(); ++i) {
    const StepResults one = results.part(i, 1, n_vocab);
    INLAY_ASSIGN(one.scores[0], score_row(logits.subspan(i * n_vocab, n_vocab), next[i], one.top));
  }
  return {};
}

}  // namespace inlay
