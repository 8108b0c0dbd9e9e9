#include "src/engine/step_queue.h"

#include <algorithm>
#include <exception>

#include "src/engine/computing.h"
#include "src/engine/stopwatch.h"

namespace inlay {
namespace {

// Cancels a step that an exception leaves, as where memory runs out: its ticket would stay open for ever.
class CancelIfThrown {
 public:
  CancelIfThrown(Backend& backend, OpenStep& step) : backend_(backend), step_(step) {}
  ~CancelIfThrown() {
    if (std::uncaught_exceptions() == n_before_ || !step_.ticket) return;
    (void)backend_.cancel(step_.ticket);
    step_.ticket = {};
  }
  CancelIfThrown(const CancelIfThrown&) = delete;
  CancelIfThrown& operator=(const CancelIfThrown&) = delete;

 private:
  Backend& backend_;
  OpenStep& step_;
  const int n_before_ = std::uncaught_exceptions();
};

}  // namespace

void OpenStep::clear() {
  works.clear();
  samples.clear();
  asked = RowValues::hidden;
  is_timed = false;
  ticket = {};
  n_units = n_queued = n_done = 0;
  seconds = 0;
}

StepQueue::StepQueue(Backend& backend, Sequences& sequences, LostDevice& lost, Mutex& mutex)
    : backend_(backend), sequences_(sequences), lost_(lost), mutex_(mutex), units_(step_units(backend.plan())), lists_(backend.plan(), backend.config()) {
  const Plan& plan = backend.plan();
  const auto n_ops = static_cast<int32_t>(plan.ops.size());
  const int32_t head = plan.last_layer_op() + 1;
  n_layer_units_ = static_cast<size_t>(std::ranges::count_if(units_, [&](const StepUnit& unit) { return unit.end_op <= head; }));
  all_ = {0, n_ops, {}};
  layers_ = {0, head, {}};
  draws_ = {n_ops - 1, n_ops, {}};
}

std::span<const StepUnit> StepQueue::units_of(Extent extent) const {
  switch (extent) {
    case Extent::all: return {&all_, 1};
    case Extent::layers: return {&layers_, 1};
    case Extent::layer_units: return std::span(units_).first(n_layer_units_);
    case Extent::units: break;
  }
  return units_;
}

Status StepQueue::begin(OpenStep& step, Extent extent) {
  const BackendConfig& config = backend_.config();
  plan_step(step.works, {.max_tokens = config.max_step_tokens, .max_sequences = config.max_sequences});
  for (const Work& work : step.works) sequences_.cover(*work.sequence, work.end);
  describe(step.works, lists_);
  lists_.asked = step.asked;
  lists_.is_timed = step.is_timed;
  lists_.sample_rows.assign(step.samples.begin(), step.samples.end());
  const std::span<const StepUnit> units = lists_.tokens.empty() ? std::span(&draws_, 1) : units_of(extent);
  Result<Ticket> ticket = backend_.begin(lists_.batch(), units);
  if (!ticket.ok()) return lost_.noted(ticket.status());
  step.ticket = *ticket;
  step.n_units = units.size();
  step.n_queued = step.n_done = 0;
  step.seconds = 0;
  return {};
}

Status StepQueue::run(OpenStep& step, size_t n_units, const StepResults& results, const Meanwhile& meanwhile) {
  const Stopwatch watch;
  Status status;
  const size_t end = std::max(step.n_done + n_units, step.n_queued);
  {
    const Computing computing(mutex_);
    const CancelIfThrown cancel(backend_, step);
    if (end > step.n_queued) status = backend_.advance(step.ticket, end - step.n_queued);
    if (meanwhile) meanwhile();
    if (status.ok()) status = backend_.wait(step.ticket, results);
  }
  step.n_done = step.n_queued = end;
  step.seconds += watch.seconds();
  if (!status.ok() || step.n_left() == 0) step.ticket = {};
  return lost_.noted(std::move(status));
}

Status StepQueue::queue(OpenStep& step, size_t n_units, const Meanwhile& meanwhile) {
  Status status;
  {
    const Computing computing(mutex_);
    const CancelIfThrown cancel(backend_, step);
    status = backend_.advance(step.ticket, n_units);
    if (meanwhile) meanwhile();
  }
  step.n_queued += n_units;
  if (!status.ok()) step.ticket = {};
  return lost_.noted(std::move(status));
}

Result<TicketProgress> StepQueue::poll(OpenStep& step) {
  Result<TicketProgress> progress = backend_.poll(step.ticket);
  if (!progress.ok()) {
    (void)backend_.cancel(step.ticket);
    step.ticket = {};
    return lost_.noted(progress.status());
  }
  if (progress->is_done) step.seconds += progress->seconds;
  return progress;
}

Status StepQueue::run_ahead_of(OpenStep& step, OpenStep& next, const StepResults& results, const Meanwhile& meanwhile) {
  const Stopwatch watch;
  Status status;
  {
    const Computing computing(mutex_);
    const CancelIfThrown cancel(backend_, step), cancel_next(backend_, next);
    status = backend_.advance(step.ticket, step.n_left());
    if (status.ok() && next.ticket) status = backend_.advance(next.ticket, next.n_left());
    if (meanwhile) meanwhile();
    if (status.ok()) status = backend_.wait(step.ticket, results);
  }
  step.n_done = step.n_queued = step.n_units;
  step.seconds += watch.seconds();
  step.ticket = {};
  if (!status.ok()) next.ticket = {};
  return lost_.noted(std::move(status));
}

void StepQueue::commit(const OpenStep& step, std::span<const int32_t> accepted) {
  for (size_t i = 0; i < step.works.size(); ++i) {
    const Work& work = step.works[i];
    const int32_t end = accepted.empty() ? work.end : work.first + accepted[i];
    sequences_.advance(*work.sequence, end, work.slot >= 0 && end == work.end);
  }
}

Status StepQueue::cancel(Ticket ticket) {
  Status status;
  {
    const Computing computing(mutex_);
    status = backend_.cancel(ticket);
  }
  return lost_.noted(std::move(status));
}

Status StepQueue::run_whole(OpenStep& step, Extent extent, const StepResults& results) {
  INLAY_TRY(begin(step, extent));
  return run(step, step.n_units, results);
}

}  // namespace inlay
