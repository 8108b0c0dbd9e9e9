// Decode steps in slices: docs/design/decode-slices.md.
#include <algorithm>

#include "src/base/format.h"
#include "src/engine/engine.h"
#include "src/engine/step_arrays.h"
#include "src/engine/stopwatch.h"
#include "src/engine/turn.h"

namespace inlay {

Status Engine::check_idle() const {
  INLAY_TRY(check_device());
  if (sliced_.sessions.empty()) return {};
  return error(Code::invalid_state, "a decode step in slices of %s is pending: finish or abandon it first",
               counted(sliced_.sessions.size(), "session").c_str());
}

Status Engine::check_slices_of(std::span<Session* const> sessions) const {
  if (std::ranges::equal(sessions, sliced_.sessions)) return {};
  return error(Code::invalid_state,
               "a decode step in slices of other sessions, or of these in another order, is pending: finish or abandon "
               "it first");
}

Status Engine::decode_slice(std::span<Session* const> sessions, int32_t max_units, std::span<StepEvent> events,
                            int32_t& units_left) {
  units_left = 0;
  if (max_units < 0) return error(Code::invalid_argument, "max_units is %d, expected 0 or more", max_units);
  if (events.size() < sessions.size()) {
    return error(Code::invalid_argument, "the decode step has %zu sessions, but room for %zu events", sessions.size(), events.size());
  }
  const Turn turn(*this);
  return next_slice(sessions, max_units, events, units_left);
}

Status Engine::decode_slice(StepCaller& caller, int32_t max_units, int32_t& units_left) {
  units_left = 0;
  const Turn turn(*this);
  const size_t n = name_sessions(caller);
  const std::span<Session* const> sessions = std::span(called_.sessions).first(n);
  const std::span<StepEvent> events = std::span(called_.events).first(n);
  Status status = next_slice(sessions, max_units, events, units_left);
  if (units_left == 0) caller.take_events(status, sessions, events);
  return status;
}

Status Engine::next_slice(std::span<Session* const> sessions, int32_t max_units, std::span<StepEvent> events, int32_t& units_left) {
  INLAY_TRY(check_device());
  INLAY_TRY(check_step(sessions));
  const Stopwatch watch;
  INLAY_TRY(sliced_.sessions.empty() ? begin_slices(sessions) : check_slices_of(sessions));
  Status status = run_slice(static_cast<size_t>(max_units));
  sliced_.seconds += watch.seconds();
  if (status.ok() && sliced_.n_done < sliced_.n_units) {
    units_left = static_cast<int32_t>(sliced_.n_units - sliced_.n_done);
    return {};
  }
  if (status.ok()) {
    if (!arrays_->sample_rows.empty()) {
      finish_step(sessions, sliced_.events);
      stats_.decode_seconds += sliced_.seconds;
    }
    status = first_error(sliced_.events);
  }
  std::ranges::move(sliced_.events, events.begin());
  end_slices();
  return status;
}

Status Engine::begin_slices(std::span<Session* const> sessions) {
  if (n_long_runs_ > 0) {
    return error(
        Code::busy,
        "another thread's call of several steps, as a prefill, is under way: no step in slices can begin between them");
  }
  const auto most = static_cast<size_t>(backend_->max_sequences_in_units());
  if (sessions.size() > most) {
    return error(Code::invalid_argument, "the decode step in slices has %zu sessions, expected at most %zu on this device",
                 sessions.size(), most);
  }
  INLAY_TRY(drop_ahead());
  sliced_.events.assign(sessions.size(), {});
  for (size_t i = 0; i < sessions.size(); ++i) {
    admit(*sessions[i], sliced_.events[i]);
    catch_up(*sessions[i], sliced_.events[i]);
  }
  gather_step(sessions, sliced_.events);
  sliced_.n_units = arrays_->sample_rows.empty() ? 0 : arrays_->tokens.empty() ? 1 : units_.size();
  sliced_.n_done = 0;
  sliced_.seconds = 0;
  sliced_.sessions.assign(sessions.begin(), sessions.end());
  for (Session* s : sessions) s->in_slices_ = true;
  return {};
}

Status Engine::run_slice(size_t max_units) {
  const size_t n = std::min(max_units, sliced_.n_units - sliced_.n_done);
  if (n == 0) return {};
  // All that is to be done may be the draws, from logits that are there.
  Status status;
  {
    const Computing computing(*this);
    status = arrays_->tokens.empty()
                 ? backend_->execute(arrays_->batch(), wanted_draws())
                 : backend_->execute_units(arrays_->batch(), std::span(units_).subspan(sliced_.n_done, n), wanted_draws());
  }
  INLAY_TRY(noted(std::move(status)));
  sliced_.n_done += n;
  return {};
}

void Engine::end_slices() {
  for (Session* s : sliced_.sessions) s->in_slices_ = false;
  sliced_.sessions.clear();
  sliced_.events.clear();
}

Status Engine::decode_abandon(std::span<Session* const> sessions) {
  const std::lock_guard lock(mutex_);
  INLAY_TRY(check_step(sessions));
  if (sliced_.sessions.empty()) return {};
  INLAY_TRY(check_slices_of(sessions));
  end_slices();
  for (Session* s : sessions) {
    kv_.cut(s->kv_, s->n_computed_);
    s->publish();
  }
  return {};
}

}  // namespace inlay
