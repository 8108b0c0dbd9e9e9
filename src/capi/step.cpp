// Prefill and decode, and the text that comes of them.
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

// `failed` is the code of a step that went wrong as a whole; then a session without an error of its own did not
// advance.
inlay_event make_event(const StepEvent& step, Code failed, Session& session, size_t index) {
  inlay_event out = {};
  const bool drew = step.status.ok() && step.sample.token >= 0;
  const bool finished = step.status.ok() && step.finish_reason != FinishReason::none;
  out.status = static_cast<inlay_status>(step.status.ok() && !drew && !finished ? failed : step.status.code);
  out.kind = drew ? INLAY_EVENT_TOKEN : finished ? INLAY_EVENT_FINISHED : INLAY_EVENT_NONE;
  out.session_index = static_cast<int32_t>(index);
  out.token = drew ? step.sample.token : -1;
  out.finish_reason = static_cast<inlay_finish_reason>(step.finish_reason);
  if (drew) {
    out.logprob = step.sample.logprob;
    out.n_logprobs = step.sample.n_logprobs;
    std::memcpy(out.top, step.sample.top, sizeof(TokenLogprob) * static_cast<size_t>(step.sample.n_logprobs));
  }
  if (drew || finished) out.text_bytes = static_cast<uint32_t>(session.take_text(out.text, sizeof out.text));
  out.text_pending = session.n_pending_text();
  return out;
}

bool untouched(const StepEvent& step) {
  return step.status.ok() && step.sample.token < 0 && step.finish_reason == FinishReason::none;
}

Status check_sessions(inlay_session* const* sessions, size_t n_sessions) {
  INLAY_TRY(check_not_null(sessions, "sessions"));
  if (n_sessions == 0) return error(Code::invalid_argument, "n_sessions is 0");
  INLAY_TRY(check_handle(sessions[0], "sessions[0]"));
  const size_t most = sessions[0]->shared->sessions.size();
  if (n_sessions > most)
    return error(Code::invalid_argument, "n_sessions is %zu, the engine was loaded for %zu", n_sessions, most);
  for (size_t i = 1; i < n_sessions; ++i) {
    if (!check_handle(sessions[i], "").ok())
      return error(Code::invalid_argument, "sessions[%zu] is not a live session", i);
  }
  return {};
}

Status check_step_arguments(inlay_session* const* sessions, size_t n_sessions, const inlay_event* events,
                            size_t stride) {
  INLAY_TRY(check_sessions(sessions, n_sessions));
  INLAY_TRY(check_not_null(events, "events"));
  if (stride < kFirstSize<inlay_event> || stride > kMaxStructSize || stride % alignof(inlay_event) != 0) {
    return error(Code::invalid_argument, "event_stride is %zu, expected a multiple of %zu from %zu to %zu", stride,
                 alignof(inlay_event), kFirstSize<inlay_event>, kMaxStructSize);
  }
  return {};
}

// What a step leaves in the caller's memory. A wrong set of sessions is refused before any of them is looked at; then
// the events stay as they are.
void write_events(const Status& status, std::span<const StepEvent> steps, std::span<Session* const> sessions,
                  inlay_event* events, size_t stride) {
  if (status.code == Code::invalid_argument && std::all_of(steps.begin(), steps.end(), untouched)) return;
  for (size_t i = 0; i < steps.size(); ++i) {
    auto* out = reinterpret_cast<std::byte*>(events) + i * stride;
    write_sized(out, stride, make_event(steps[i], status.code, *sessions[i], i));
  }
}

// The arguments of a step in the room that the handles share, which its mutex protects.
struct StepRoom {
  StepRoom(inlay_session* const* handles, size_t n)
      : lock(handles[0]->shared->mutex),
        sessions(handles[0]->shared->sessions.data(), n),
        events(handles[0]->shared->events.data(), n) {
    for (size_t i = 0; i < n; ++i) sessions[i] = handles[i]->session.get();
    std::fill(events.begin(), events.end(), StepEvent{});
  }
  Engine& engine() const { return sessions[0]->engine(); }

  const std::lock_guard<std::mutex> lock;
  const std::span<Session*> sessions;
  const std::span<StepEvent> events;
};

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_prefill(inlay_session* session, const int32_t* tokens, size_t n_tokens, size_t* n_done,
                           inlay_error* err) {
  return guarded(err, session, [&]() -> Status {
    if (n_done) *n_done = 0;
    INLAY_TRY(check_handle(session, "session"));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    size_t n = 0;
    Status status = session->session->prefill(ids, n);
    if (n_done) *n_done = n;
    return status;
  });
}

inlay_status inlay_decode_step(inlay_session* const* sessions, size_t n_sessions, inlay_event* events,
                               size_t event_stride, inlay_error* err) {
  return guarded(err, sessions ? sessions[0] : nullptr, [&]() -> Status {
    INLAY_TRY(check_step_arguments(sessions, n_sessions, events, event_stride));
    const StepRoom room(sessions, n_sessions);
    Status status = room.engine().decode_step(room.sessions, room.events);
    write_events(status, room.events, room.sessions, events, event_stride);
    return status;
  });
}

inlay_status inlay_decode_slice(inlay_session* const* sessions, size_t n_sessions, int32_t max_units,
                                inlay_event* events, size_t event_stride, int32_t* units_left, inlay_error* err) {
  return guarded(err, sessions ? sessions[0] : nullptr, [&]() -> Status {
    INLAY_TRY(check_not_null(units_left, "units_left"));
    *units_left = 0;
    INLAY_TRY(check_step_arguments(sessions, n_sessions, events, event_stride));
    INLAY_TRY(check_range(max_units, 0, INT32_MAX, "max_units"));
    const StepRoom room(sessions, n_sessions);
    Status status = room.engine().decode_slice(room.sessions, max_units, room.events, *units_left);
    if (*units_left == 0) write_events(status, room.events, room.sessions, events, event_stride);
    return status;
  });
}

inlay_status inlay_decode_abandon(inlay_session* const* sessions, size_t n_sessions, inlay_error* err) {
  return guarded(err, sessions ? sessions[0] : nullptr, [&]() -> Status {
    INLAY_TRY(check_sessions(sessions, n_sessions));
    const StepRoom room(sessions, n_sessions);
    return room.engine().decode_abandon(room.sessions);
  });
}

inlay_status inlay_session_take_text(inlay_session* session, char* buf, size_t cap, size_t* n_bytes, inlay_error* err) {
  return guarded(err, session, [&]() -> Status {
    INLAY_TRY(check_handle(session, "session"));
    INLAY_TRY(check_not_null(n_bytes, "n_bytes"));
    *n_bytes = 0;
    if (cap != 0) INLAY_TRY(check_not_null(buf, "buf"));
    Session& s = *session->session;
    *n_bytes = buf ? s.take_text(buf, cap) : 0;
    if (*n_bytes == 0 && s.n_pending_text() != 0) {
      Status small = error(Code::buffer_too_small, "the next character does not fit into %zu bytes; 4 hold any", cap);
      small.required = 4;
      small.available = cap;
      return small;
    }
    return {};
  });
}
