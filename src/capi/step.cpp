// Prefill and decode, and the text that comes of them.
#include <algorithm>
#include <bitset>
#include <vector>

#include "src/base/format.h"
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
  out.n_tokens = drew;
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

// The handles of a step, each claimed but for those that another call has.
class StepUses {
 public:
  StepUses() = default;
  StepUses(const StepUses&) = delete;
  StepUses& operator=(const StepUses&) = delete;
  ~StepUses() {
    for (size_t i = 0; i < n_; ++i) {
      if (claimed_[i]) handles_[i]->users.unclaim();
      if (handles_[i]->users.leave()) delete handles_[i];
    }
  }

  // `use`: of the first one.
  Status begin(Use<inlay_session>& use, inlay_session* const* handles, size_t n) {
    INLAY_TRY(check_not_null(handles, "sessions"));
    if (n == 0) return error(Code::invalid_argument, "n_sessions is 0");
    INLAY_TRY(use.begin(static_cast<const inlay_session*>(handles[0]), "sessions[0]"));
    const auto most = static_cast<size_t>(handles[0]->session->engine().info().max_sessions);
    if (n > most)
      return error(Code::invalid_argument, "n_sessions is %zu, expected at most %zu, the max_sessions of the load", n, most);
    handles_ = handles;
    for (; n_ < n; ++n_) {
      if (!is_live(handles[n_]) || !handles[n_]->users.enter())
        return error(Code::invalid_argument, "sessions[%zu] is not a live session", n_);
      claimed_[n_] = handles[n_]->users.claim();
      if (!claimed_[n_] && std::find(handles, handles + n_, handles[n_]) != handles + n_) {
        (void)handles[n_]->users.leave();  // the first of them stays in it
        return error(Code::invalid_argument, "session %zu is given twice", n_);
      }
    }
    return {};
  }

  size_t size() const { return n_; }
  size_t n_claimed() const { return claimed_.count(); }
  bool has(size_t i) const { return claimed_[i]; }
  inlay_session& operator[](size_t i) const { return *handles_[i]; }
  Status busy() const {  // for the first that another call has
    for (size_t i = 0; i < n_; ++i) {
      if (!claimed_[i]) return error(Code::busy, "another thread is in a call on sessions[%zu]", i);
    }
    return {};
  }

 private:
  inlay_session* const* handles_ = nullptr;
  size_t n_ = 0;
  std::bitset<kMaxSessions> claimed_;
};

Status check_events(const inlay_event* events, size_t stride) {
  INLAY_TRY(check_not_null(events, "events"));
  return check_stride(stride, kFirstSize<inlay_event>, alignof(inlay_event), "event_stride");
}

// The step that the handles ask for; its events go to the caller's array.
class Step final : public StepCaller {
 public:
  Step(const StepUses& uses, inlay_event* events, size_t stride) : uses_(uses), events_(events), stride_(stride) {}

  Engine& engine() const { return uses_[0].session->engine(); }

  size_t n_sessions() const override { return uses_.n_claimed(); }
  Session& first_session() const override {
    size_t i = 0;
    while (!uses_.has(i)) ++i;
    return *uses_[i].session;
  }
  void name_sessions(std::span<Session*> room) override {
    size_t n = 0;
    for (size_t i = 0; i < uses_.size(); ++i) {
      if (uses_.has(i)) room[n++] = uses_[i].session.get();
    }
  }

  // A wrong set of sessions is refused before any of them is looked at; then the events stay as they are.
  void take_events(const Status& failed, std::span<Session* const> sessions, std::span<const StepEvent> events) override {
    if (failed.code == Code::invalid_argument && std::all_of(events.begin(), events.end(), untouched)) return;
    size_t k = 0;
    for (size_t i = 0; i < uses_.size(); ++i) {
      if (!uses_.has(i)) continue;
      write(i, make_event(events[k], failed.code, *sessions[k], i));
      ++k;
    }
    write_busy();
  }

  // Of the sessions that another call has.
  void write_busy() const {
    for (size_t i = 0; i < uses_.size(); ++i) {
      if (uses_.has(i)) continue;
      inlay_event event = {};
      event.status = INLAY_BUSY;
      event.kind = INLAY_EVENT_NONE;
      event.session_index = static_cast<int32_t>(i);
      event.token = -1;
      write(i, event);
    }
  }

 private:
  void write(size_t place, const inlay_event& event) const {
    write_sized(reinterpret_cast<std::byte*>(events_) + place * stride_, stride_, event);
  }

  const StepUses& uses_;
  inlay_event* const events_;
  const size_t stride_;
};

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_prefill(inlay_session* session, const int32_t* tokens, size_t n_tokens, size_t* n_done,
                           inlay_error* err) {
  clear(n_done);
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    size_t n = 0;
    Status status = session->session->prefill(ids, n);
    if (n_done) *n_done = n;
    return status;
  });
}

inlay_status inlay_decode_step(inlay_session* const* sessions, size_t n_sessions, inlay_event* events,
                               size_t event_stride, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    StepUses uses;
    INLAY_TRY(uses.begin(use, sessions, n_sessions));
    INLAY_TRY(check_events(events, event_stride));
    Step step(uses, events, event_stride);
    if (step.n_sessions() > 0) {
      INLAY_TRY(step.engine().decode_step(step));
    } else {
      step.write_busy();
    }
    return uses.busy();
  });
}

inlay_status inlay_decode_slice(inlay_session* const* sessions, size_t n_sessions, int32_t max_units,
                                inlay_event* events, size_t event_stride, int32_t* units_left, inlay_error* err) {
  clear(units_left);
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(check_not_null(units_left, "units_left"));
    StepUses uses;
    INLAY_TRY(uses.begin(use, sessions, n_sessions));
    INLAY_TRY(check_events(events, event_stride));
    INLAY_TRY(check_range(max_units, 0, INT32_MAX, "max_units"));
    INLAY_TRY(uses.busy());
    Step step(uses, events, event_stride);
    return step.engine().decode_slice(step, max_units, *units_left);
  });
}

inlay_status inlay_decode_abandon(inlay_session* const* sessions, size_t n_sessions, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    StepUses uses;
    INLAY_TRY(uses.begin(use, sessions, n_sessions));
    INLAY_TRY(uses.busy());
    std::vector<Session*> named;
    for (size_t i = 0; i < uses.size(); ++i) named.push_back(uses[i].session.get());
    return named[0]->engine().decode_abandon(named);
  });
}

inlay_status inlay_session_take_text(inlay_session* session, char* buf, size_t cap, size_t* n_bytes, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_TRY(check_not_null(n_bytes, "n_bytes"));
    *n_bytes = 0;
    if (cap != 0) INLAY_TRY(check_not_null(buf, "buf"));
    Session& s = *session->session;
    *n_bytes = buf ? s.take_text(buf, cap) : 0;
    if (*n_bytes == 0 && s.n_pending_text() != 0) {
      Status small = error(Code::buffer_too_small, "the next character does not fit into %s; 4 hold any",
                           counted(cap, "byte").c_str());
      small.required = 4;
      small.available = cap;
      return small;
    }
    return {};
  });
}
