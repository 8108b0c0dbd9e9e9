#include "src/engine/engine.h"

#include <algorithm>
#include <functional>

#include "src/engine/computing.h"
#include "src/engine/requests.h"
#include "src/engine/stopwatch.h"
#include "src/engine/turn.h"
#include "src/formats/text.h"

namespace inlay {

Status Engine::check_tokens(std::span<const int32_t> tokens) const {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const int32_t id = tokens[i], n_rows = spec().n_vocab;
    if (id >= 0 && id < n_rows) continue;
    if (!tokenizer_ || id < n_rows || id >= tokenizer_->n_tokens())
      return error(Code::invalid_argument, "token %zu is %d, expected 0 to %d", i, id, n_rows - 1);
    return error(Code::invalid_argument, "token %zu is %s (%d), which the tokenizer has, but the model's %d rows do not", i,
                 quote(tokenizer_->piece(id)).c_str(), id, n_rows);
  }
  return {};
}

Status Engine::check_not_in_slices() const {
  const EngineLock lock(mutex_);
  return check_idle();
}

Status Engine::check_idle() const {
  INLAY_TRY(lost_.status());
  return decoder_.check_idle();
}

// A step that nobody interrupts.
Status Engine::run_whole(OpenStep& step, StepQueue::Extent extent, const StepResults& results) {
  INLAY_TRY(check_idle());
  INLAY_TRY(decoder_.drop_left());
  return queue_.run_whole(step, extent, results);
}

Status Engine::reserve(Sequence& sequence, int32_t n_positions, int32_t n_at_once) {
  Status status = sequences_.reserve(sequence, n_positions, n_at_once);
  while (status.code == Code::kv_full && requests_->live().give_way()) status = sequences_.reserve(sequence, n_positions, n_at_once);
  return status;
}

static Status check_room_for_events(size_t n_sessions, size_t n_events) {
  if (n_events >= n_sessions) return {};
  return error(Code::invalid_argument, "the decode step has %zu sessions, but room for %zu events", n_sessions, n_events);
}

Engine::CalledPart Engine::called_part(StepCaller& caller, size_t n) {
  const CalledPart part{.sessions = std::span(called_.sessions).subspan(n, caller.n_sessions()),
                        .events = std::span(called_.events).subspan(n, caller.n_sessions())};
  caller.name_sessions(part.sessions);
  std::ranges::fill(part.events, StepEvent{});
  return part;
}

Status Engine::decode_step(std::span<Session* const> sessions, std::span<StepEvent> events) {
  INLAY_TRY(check_room_for_events(sessions.size(), events.size()));
  const Turn turn(*this);
  INLAY_TRY(decoder_.step(sessions, events));
  return first_error(events);
}

Status Engine::decode_step(StepCaller& caller) {
  SharedSteps::Call call(shared_steps_, caller, caller.first_session().latest_step_);
  if (call.leads()) {
    const Turn turn(*this);
    step_shared(call);
  }
  return call.take_status();
}

// Who asked first waits for nothing but the step: a call with sessions that have more to run than their last tokens is a step of its own.
void Engine::step_shared(SharedSteps::Call& leader) {
  const auto is_ready = [](const Session* s) { return s->seq_.has_logits || s->seq_.n_computed + 1 >= s->seq_.n_tokens(); };
  std::span<Session*> room = std::span(called_.sessions).subspan(leader.caller().n_sessions());
  const std::span<SharedSteps::Call*> calls = shared_steps_.gather([&](StepCaller& caller) {
    const size_t n_own = caller.n_sessions();
    if (n_own > room.size()) return false;
    caller.name_sessions(room);
    if (!std::ranges::all_of(room.first(n_own), is_ready)) return false;
    room = room.subspan(n_own);
    return true;
  });
  // Whatever order they came in: a step that was begun ahead is for these sessions in this order.
  std::ranges::sort(calls, std::less(), [](const SharedSteps::Call* call) { return &call->caller().first_session(); });
  size_t n = 0;
  for (const SharedSteps::Call* call : calls) n += called_part(call->caller(), n).sessions.size();
  const std::span<Session*> sessions = std::span(called_.sessions).first(n);
  const std::span<StepEvent> events = std::span(called_.events).first(n);
  const Status failed = decoder_.step(sessions, events);
  n = 0;
  for (SharedSteps::Call* call : calls) {
    const size_t n_own = call->caller().n_sessions();
    const std::span<StepEvent> own = events.subspan(n, n_own);
    call->caller().take_events(failed, sessions.subspan(n, n_own), own);
    const bool goes_on = failed.ok() && std::ranges::any_of(own, &StepEvent::draws);
    call->end(failed.ok() ? first_error(own) : failed, goes_on);
    n += n_own;
  }
}

Status Engine::decode_slice(std::span<Session* const> sessions, int32_t max_units, std::span<StepEvent> events,
                            int32_t& units_left) {
  units_left = 0;
  if (max_units < 0) return error(Code::invalid_argument, "max_units is %d, expected 0 or more", max_units);
  INLAY_TRY(check_room_for_events(sessions.size(), events.size()));
  const SliceTurn turn(*this);
  INLAY_TRY(decoder_.slice(sessions, max_units, events, units_left));
  return units_left == 0 ? first_error(events) : Status();
}

Status Engine::decode_slice(StepCaller& caller, int32_t max_units, int32_t& units_left) {
  units_left = 0;
  const SliceTurn turn(*this);
  const CalledPart part = called_part(caller, 0);
  const Status failed = decoder_.slice(part.sessions, max_units, part.events, units_left);
  if (units_left == 0) caller.take_events(failed, part.sessions, part.events);
  return failed.ok() && units_left == 0 ? first_error(part.events) : failed;
}

Status Engine::decode_abandon(std::span<Session* const> sessions) {
  const EngineLock lock(mutex_);
  return decoder_.abandon(sessions);
}

size_t Engine::n_ahead() const {
  const EngineLock lock(mutex_);
  return decoder_.n_ahead();
}

Result<double> Engine::run_inspected(Session& session, std::span<const int32_t> tokens, int32_t n_past,
                                     Inspection inspection) {
  const LongTurn turn(*this);
  const auto n_all = static_cast<int32_t>(tokens.size()), n = n_all - n_past;
  INLAY_TRY(check_tokens(tokens));
  if (n_all > info_.n_context) {
    return error(Code::context_full, "the sequence has %d tokens, too many for the context of %d", n_all, info_.n_context);
  }
  const int32_t most = backend_->config().max_step_tokens;
  if (n_past < 0 || n < 1 || n > most) {
    return error(Code::invalid_argument, "the step has %d tokens, expected 1 to %d", n, most);
  }
  Sequence& seq = session.seq_;
  INLAY_TRY(reserve(seq, n_all, n_all - seq.n_computed));
  sequences_.cover(seq, n_all);
  sequences_.settle(seq);
  step_.clear();
  step_.works.push_back({.sequence = &seq, .tokens = tokens, .first = n_past, .end = n_all, .slot = seq.slot});
  const SamplerParams greedy;
  if (n == 1) step_.samples.push_back({.slot = seq.slot, .params = &greedy, .history = tokens, .position = static_cast<uint64_t>(n_all)});
  const InspectionScope scope(*backend_, std::move(inspection));
  const Stopwatch watch;
  Draw draw;
  INLAY_TRY(run_whole(step_, StepQueue::Extent::all, {.draws = {&draw, 1}}));
  return watch.seconds();
}

Status Engine::run_layers(std::span<const LayersRun> runs, RowValues asked, const StepResults& results) {
  const LongTurn turn(*this);
  step_.clear();
  for (const LayersRun& run : runs) {
    Sequence& seq = run.session->seq_;
    step_.works.push_back(work_of(seq, seq.n_computed, seq.n_computed + run.n_tokens));
    step_.works.back().asked = run.asked;
  }
  step_.asked = asked;
  INLAY_TRY(run_whole(step_, StepQueue::Extent::layers, results));
  queue_.commit(step_);
  for (const LayersRun& run : runs) stats_.n_prefill_tokens += static_cast<uint64_t>(run.n_tokens);
  return {};
}

Status Engine::place_tokens(Session& session, std::span<const int32_t> tokens) {
  INLAY_TRY(session.check_room(tokens.size()));
  const Turn turn(*this);
  INLAY_TRY(reserve(session.seq_, static_cast<int32_t>(tokens.size()), prefill_chunk_));
  session.seq_.tokens.assign(tokens.begin(), tokens.end());
  return {};
}

Result<double> Engine::measure_read_bandwidth() {
  const Turn turn(*this);
  INLAY_TRY(lost_.status());
  Result<double> bandwidth = [this]() INLAY_NEEDS(engine_mutex) {
    const Computing computing(mutex_);
    return backend_->measure_read_bandwidth();
  }();
  if (!bandwidth.ok()) return lost_.noted(bandwidth.status());
  return bandwidth;
}

}  // namespace inlay
