// Steps as tickets, each with a block of input and results. A decode step is a graph where it can be; else each op is launched by itself, with
// the same bits, and a host may queue a unit at a time. The token kernel is left out then, because nothing can stop inside of it.
#include <algorithm>

#include "src/backend/cuda/executor.h"
#include "src/backend/host_backend.h"

namespace inlay {

// -1: the step is not one of single tokens, or no graph is there for it.
int32_t CudaExecutor::bucket_of(const StepBatch& batch) const {
  const size_t n = batch.tokens.size();
  if (n == 0 || n != batch.sequences.size() || batch.logit_rows.size() != n || batch.sample_rows.size() > n ||
      !batch.asked_rows.empty() || is_inspected()) {
    return -1;
  }
  for (size_t i = 0; i < kBuckets.size(); ++i) {
    if (n <= static_cast<size_t>(kBuckets[i])) return graphs_[i] ? static_cast<int32_t>(i) : -1;
  }
  return -1;
}

// What a step that failed has launched still reads the memory in which the next one is described.
Status CudaExecutor::end_failed_step() {
  if (is_running_) INLAY_TRY(wait_for(stream_.get(), "ending a step that failed"));
  is_running_ = true;
  return {};
}

CudaExecutor::Block* CudaExecutor::block_of(Ticket ticket) {
  const auto found = std::ranges::find(blocks_, ticket, &Block::ticket);
  return ticket && found != blocks_.end() ? &*found : nullptr;
}

// With a failure all tickets end.
Status CudaExecutor::ended(Status status) {
  if (!status.ok()) {
    for (Block& block : blocks_) block.ticket = {};
  }
  return status;
}

Result<Ticket> CudaExecutor::begin(const StepBatch& batch, std::span<const StepUnit> units) {
  INLAY_TRY(validate(batch, plan_, config_));
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  const auto is_open = [](const Block& block) { return static_cast<bool>(block.ticket); };
  const auto open = std::ranges::find_if(blocks_, is_open);
  if (std::ranges::all_of(blocks_, is_open)) return error(Code::internal, "%zu tickets are open", kMostTickets);
  if (open == blocks_.end()) {
    if (batch.takes_drawn) return error(Code::internal, "no step is open whose draws could be taken");
    INLAY_TRY(end_failed_step());
    use_block(0);
  } else {
    INLAY_TRY(check_behind(*open, batch));
    use_block(open == blocks_.begin() ? 1 : 0);
  }
  INLAY_TRY(ended(describe(batch, units)));
  block_->ticket = {++n_tickets_};
  return block_->ticket;
}

// A second ticket is a graph of as many rows as the first, whose draws are all made by its own.
Status CudaExecutor::check_behind(const Block& open, const StepBatch& batch) const {
  if (n_blocks(config_) < kMostTickets || !batch.takes_drawn) return error(Code::internal, "a ticket is open");
  const int32_t bucket = bucket_of(batch);
  const size_t n = batch.sequences.size();
  const bool can = bucket >= 0 && bucket < static_cast<int32_t>(kAheadBuckets) && bucket == open.bucket && open.sample_rows.size() == n && open.n_first == n &&
                   first_draws(batch.sample_rows) == batch.sample_rows.size();
  if (!can) return error(Code::unsupported, "the step is no graph of as many rows as the one before it");
  return {};
}

// In the block in use.
Status CudaExecutor::describe(const StepBatch& batch, std::span<const StepUnit> units) {
  Block& b = *block_;
  const auto keep = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
  keep(batch.logit_rows, b.logit_rows);
  keep(batch.sample_rows, b.sample_rows);
  keep(batch.asked_rows, b.asked_rows);
  b.asked = batch.asked;
  b.takes_drawn = batch.takes_drawn;
  b.is_timed = batch.is_timed;
  b.units = units;
  b.n_queued = 0;
  b.n_first = first_draws(batch.sample_rows);
  b.is_masked = std::ranges::any_of(batch.sample_rows, [](const SampleRow& row) { return row.mask != nullptr; });
  b.bucket = bucket_of(batch);
  b.replays = b.bucket >= 0 && units.size() == 1 && units.front().begins_step() && units.front().end_op == static_cast<int32_t>(plan_.ops.size());
  b.shape = {.rows = static_cast<int32_t>(batch.tokens.size()),
             .logit_rows = static_cast<int32_t>(std::max(batch.logit_rows.size(), b.n_first)),
             .sequences = static_cast<int32_t>(batch.sequences.size())};
  if (b.bucket >= 0 && (b.replays || units.size() > 1)) b.shape = shape_of(static_cast<size_t>(b.bucket));
  StepBatch first = batch;
  first.sample_rows = batch.sample_rows.first(b.n_first);
  const bool is_one = units.size() > 1 || !batch.asked_rows.empty();  // segment
  INLAY_TRY(step_->fill(first, b.shape, is_one ? kBuckets.back() : segment_rows_));
  if (units.size() > 1 && step_->segments().size() > 1)
    return error(Code::internal, "a step of rows that decode and prompts, or of more than %d that decode, in units", kBuckets.back());
  return {};
}

Status CudaExecutor::advance(Ticket ticket, size_t n_units) {
  Block* const block = block_of(ticket);
  if (block == nullptr) return unknown_ticket();
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  use_block(static_cast<size_t>(block - blocks_.data()));
  is_running_ = true;
  return ended(queue(std::min(n_units, block->units.size() - block->n_queued)));
}

// The next units of the step in the block in use.
Status CudaExecutor::queue(size_t n_units) {
  Block& b = *block_;
  if (n_units == 0) return {};
  const bool begins = b.n_queued == 0, ends = b.n_queued + n_units == b.units.size();
  if (b.is_timed) INLAY_CUDA_TRY(cudaEventRecord(b.part_began.get(), stream_.get()), "running a step");
  if (ends) logit_reader_.forget(b.logit_rows);
  if (b.replays) {
    logit_reader_.mirror(b.logit_rows, *step_);
    INLAY_TRY(replay());
  } else {
    if (begins) {
      INLAY_TRY(step_->copy_fixed(stream_.get()));
      INLAY_TRY(step_->copy_lists(stream_.get()));
    }
    INLAY_TRY(launch_units(b.units.subspan(b.n_queued, n_units)));
  }
  b.n_queued += n_units;
  if (b.is_timed) INLAY_CUDA_TRY(cudaEventRecord(b.part_ended.get(), stream_.get()), "running a step");
  if (!ends) return {};
  INLAY_CUDA_TRY(cudaEventRecord(b.ended.get(), stream_.get()), "running a step");
  return logit_reader_.send(b.logit_rows, stream_.get());
}

Status CudaExecutor::replay() {
  const auto bucket = static_cast<size_t>(block_->bucket);
  if (block_->takes_drawn) return launch_graph(block_->ahead_graphs[bucket].get(), stream_.get(), "launching a decode step");
  INLAY_TRY(step_->copy_lists(stream_.get()));
  const bool draws = !block_->sample_rows.empty() && !block_->is_masked;
  const GraphExec& graph = draws ? graphs_[bucket] : graphs_without_draws_[bucket];
  return launch_graph(graph.get(), stream_.get(), "launching a decode step");
}

// Segment by segment. Where there are several, the draws come once, behind all.
Status CudaExecutor::launch_units(std::span<const StepUnit> units) {
  const std::span<const StepSegment> segments = step_->segments();
  if (segments.size() <= 1) {
    if (!segments.empty()) step_->select(segments[0]);
    m_ = block_->shape.rows, n_logit_rows_ = block_->shape.logit_rows;
    return run_segment(units, segments.empty() ? StepSegment{} : segments[0]);
  }
  const StepUnit& whole = units.front();  // describe() has seen that it is the only one
  const auto n_ops = static_cast<int32_t>(plan_.ops.size());
  for (const StepSegment& segment : segments) {
    step_->select(segment);
    m_ = segment.n_rows, n_logit_rows_ = segment.n_logits;
    const StepUnit rows[] = {{whole.first_op, std::min(whole.end_op, n_ops - 1), {}}};
    INLAY_TRY(run_segment(rows, segment));
  }
  m_ = 0, n_logit_rows_ = static_cast<int32_t>(block_->n_first);
  const StepUnit draws[] = {{n_ops - 1, n_ops, {}}};
  return whole.end_op == n_ops ? run_segment(draws, {}) : Status();
}

Status CudaExecutor::run_segment(std::span<const StepUnit> units, const StepSegment& segment) {
  // Taps of attn_in and the host want to see heads that are shaped.
  const bool is_watched = inspection_.tap || (!block_->asked_rows.empty() && block_->asked == RowValues::hidden);
  decodes_ = segment.decodes && !segment.has_runs && !is_watched;
  prefills_ = segment.prefills && prefill_;
  if (prefills_ && units.front().begins_step()) prefill_->begin_step();
  const StepBatch batch{.logit_rows = block_->logit_rows, .sample_rows = block_->sample_rows};
  Status status = run_units(plan_, units, batch, {}, inspection_);
  prefills_ = decodes_ = false;
  return status;
}

Status CudaExecutor::wait(Ticket ticket, const StepResults& results) {
  Block* const block = block_of(ticket);
  if (block == nullptr) return unknown_ticket();
  if (results.draws.size() < block->sample_rows.size())
    return error(Code::internal, "%zu results for %zu draws", results.draws.size(), block->sample_rows.size());
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  use_block(static_cast<size_t>(block - blocks_.data()));
  is_running_ = true;
  INLAY_TRY(ended(block->n_queued == block->units.size() ? finish(results) : wait_for(stream_.get(), "running a part of a step")));
  is_running_ = false;
  return {};
}

Result<TicketProgress> CudaExecutor::poll(Ticket ticket) {
  const Block* const block = block_of(ticket);
  if (block == nullptr) return unknown_ticket();
  if (!block->is_timed) return error(Code::internal, "the ticket's batch is not timed");
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  const cudaError_t found = cudaEventQuery(block->part_ended.get());
  if (found == cudaErrorNotReady) {
    (void)cudaGetLastError();  // no later launch is to find it
    return TicketProgress{};
  }
  INLAY_TRY(ended(cuda_status(found, "running a step", CudaPoint::wait)));
  float ms = 0;
  INLAY_TRY(ended(cuda_status(cudaEventElapsedTime(&ms, block->part_began.get(), block->part_ended.get()), "timing a step")));
  return TicketProgress{.is_done = true, .seconds = static_cast<double>(ms) * 1e-3};
}

// The step in the block in use, all of which was queued.
Status CudaExecutor::finish(const StepResults& results) {
  Block& b = *block_;
  if (b.is_masked) INLAY_TRY(draw_masked());
  INLAY_TRY(b.asked_rows.empty() ? wait_for(b.ended.get(), "running a step") : read_rows(results));
  read_results(b.sample_rows, results.draws.first(b.n_first));
  INLAY_TRY(draw_rest(results.draws.first(b.sample_rows.size())));
  b.ticket = {};
  return {};
}

// The host has written its masks while the device was computing the logits, behind which the draws are queued.
Status CudaExecutor::draw_masked() {
  Block& b = *block_;
  INLAY_TRY(send_masks(std::span(b.sample_rows).first(b.n_first)));
  n_logit_rows_ = static_cast<int32_t>(b.n_first);
  INLAY_TRY(sample());
  INLAY_CUDA_TRY(cudaEventRecord(b.ended.get(), stream_.get()), "running a step");
  return {};
}

// While the device computes; what is queued behind this sees them. A row of which nothing may be drawn has a mask of zeros. One step at a time
// has masks, and its wait() ends when they were read.
Status CudaExecutor::send_masks(std::span<const SampleRow> rows) {
  const size_t n = mask_words(plan_.spec.n_vocab);
  auto* to = reinterpret_cast<uint32_t*>(host_masks_.data());
  for (const SampleRow& row : rows) {
    if (row.mask != nullptr && row.mask->words.size() == n) {
      std::ranges::copy(row.mask->words, to);
    } else if (row.mask != nullptr) {
      std::fill_n(to, n, 0u);
    }
    to += n;
  }
  INLAY_CUDA_TRY(cudaMemcpyAsync(b_.masks.data(), host_masks_.data(), rows.size() * n * sizeof(uint32_t), cudaMemcpyHostToDevice, mask_stream_.get()), "copying masks of draws");
  INLAY_CUDA_TRY(cudaEventRecord(masks_are_there_.get(), mask_stream_.get()), "copying masks of draws");
  return cuda_status(cudaStreamWaitEvent(stream_.get(), masks_are_there_.get(), 0), "copying masks of draws");
}

// Draws that had no room in the step's lists, from logits that are there.
Status CudaExecutor::draw_rest(std::span<Draw> draws) {
  Block& b = *block_;
  for (size_t n_done = b.n_first, n = 0; n_done < draws.size(); n_done += n) {
    const std::span<const SampleRow> rows = std::span(b.sample_rows).subspan(n_done);
    n = first_draws(rows);
    m_ = 0, n_logit_rows_ = static_cast<int32_t>(n);
    INLAY_TRY(step_->fill({.sample_rows = rows.first(n)}, {.rows = 0, .logit_rows = n_logit_rows_, .sequences = 0}));
    INLAY_TRY(step_->copy_fixed(stream_.get()));
    INLAY_TRY(step_->copy_lists(stream_.get()));
    if (b.is_masked) INLAY_TRY(send_masks(rows.first(n)));
    INLAY_TRY(sample());
    INLAY_TRY(wait_for(stream_.get(), "running a step"));
    read_results(rows, draws.subspan(n_done, n));
  }
  return {};
}

Status CudaExecutor::cancel(Ticket ticket) {
  Block* const block = block_of(ticket);
  if (block == nullptr) return {};
  block->ticket = {};
  if (block->n_queued == 0) return {};
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  const bool is_queued = block->n_queued == block->units.size();
  Status status = is_queued ? wait_for(block->ended.get(), "ending a step that nobody asked for") : wait_for(stream_.get(), "ending a step that nobody asked for");
  if (status.ok()) is_running_ = false;
  return ended(std::move(status));
}

void CudaExecutor::read_results(std::span<const SampleRow> rows, std::span<Draw> draws) {
  const auto* results = reinterpret_cast<const cuda::SampleRowResult*>(block_->host_results.data());
  for (size_t i = 0; i < draws.size(); ++i) {
    const cuda::SampleRowResult& r = results[i];
    const TokenMask* mask = rows[i].mask;
    draws[i] = {};
    if (mask != nullptr && !mask->status.ok()) {
      draws[i].status = mask->status;
      continue;
    }
    draws[i].status = logit_status(r.error, r.bad_token, plan_.spec.n_vocab);
    if (r.error == cuda::RowError::everything_banned && mask == nullptr)
      draws[i].status = error(Code::invalid_argument, "the logit bias bans every token");
    if (r.error != cuda::RowError::none) continue;
    SampleResult& out = draws[i].result;
    out.token = r.token;
    out.logprob = r.logprob;
    out.p_kept = r.p_kept;
    out.n_logprobs = r.n_logprobs;
    for (int32_t k = 0; k < r.n_logprobs; ++k) out.top[k] = {r.top_token[k], r.top_logprob[k]};
  }
}

}  // namespace inlay
