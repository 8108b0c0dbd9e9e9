// Fills StepBatches: chunks of prompts, and one token for each of many sequences.
#include <algorithm>

#include "src/engine/engine.h"
#include "src/engine/step_arrays.h"
#include "src/engine/stopwatch.h"
#include "src/engine/turn.h"
#include "src/formats/text.h"

namespace inlay {

Status first_error(std::span<const StepEvent> events) {
  const auto failed = std::ranges::find_if(events, [](const StepEvent& event) { return !event.status.ok(); });
  return failed == events.end() ? Status() : failed->status;
}

Status Engine::execute(std::span<Draw> draws) {
  INLAY_TRY(check_idle());
  INLAY_TRY(drop_ahead());
  Status status;
  {
    const Computing computing(*this);
    status = backend_->execute(arrays_->batch(), draws);
  }
  return noted(std::move(status));
}

Status Engine::noted(Status status) {
  if (status.code == Code::device_lost) lost_ = status;
  return status;
}

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

// Blocks for the tokens up to n_positions that were not run yet, at most n_at_once of them in one step. They are taken
// together, so that running them cannot fail for want of one.
Status Engine::reserve_blocks(Session& session, int32_t n_positions, int32_t n_at_once) {
  INLAY_TRY(check_device());
  const Status status = kv_.reserve(
      session.kv_, {.first = session.n_computed_, .end = n_positions, .most = n_at_once},
      [this](int32_t group, int32_t from, int32_t to) { return noted(backend_->duplicate_kv_block(group, from, to)); });
  stats_.n_kv_blocks_peak = std::max(stats_.n_kv_blocks_peak, kv_.n_used());
  return status;
}

// The next chunk of the session's tokens before `end` that were not run yet; their blocks are reserved.
Status Engine::run_chunk(Session& session, int32_t end) {
  INLAY_TRY(check_idle());
  const Stopwatch watch;
  const int32_t n = std::min(end - session.n_computed_, prefill_chunk_);
  const bool last = session.n_computed_ + n == static_cast<int32_t>(session.tokens_.size());
  kv_.cover(session.kv_, session.n_computed_ + n);
  arrays_->clear();
  arrays_->add_slice(session.tokens_, session.n_computed_, n, session.kv_);
  if (last) arrays_->want_logits(session.slot_);
  INLAY_TRY(execute({}));
  session.n_computed_ += n;
  kv_.slide(session.kv_, session.n_computed_);
  session.has_logits_ = session.logits_readable_ = last;
  stats_.n_prefill_tokens += static_cast<uint64_t>(n);
  stats_.prefill_seconds += watch.seconds();
  return {};
}

Status Engine::run_prefill_chunk(Session& session) {
  const Turn turn(*this);
  return run_chunk(session, static_cast<int32_t>(session.tokens_.size()));
}

Result<double> Engine::run_inspected(Session& session, std::span<const int32_t> tokens, int32_t n_past,
                                     Inspection inspection) {
  const Turn turn(*this);
  INLAY_TRY(check_idle());
  const auto n_all = static_cast<int32_t>(tokens.size()), n = n_all - n_past;
  INLAY_TRY(check_tokens(tokens));
  if (n_all > info_.n_context) {
    return error(Code::context_full, "the sequence has %d tokens, too many for the context of %d", n_all, info_.n_context);
  }
  const int32_t most = backend_->config().max_step_tokens;
  if (n_past < 0 || n < 1 || n > most) {
    return error(Code::invalid_argument, "the step has %d tokens, expected 1 to %d", n, most);
  }
  INLAY_TRY(reserve_blocks(session, n_all, n_all - session.n_computed_));
  kv_.cover(session.kv_, n_all);
  kv_.settle(session.kv_);
  arrays_->clear();
  arrays_->add_slice(tokens, n_past, n, session.kv_);
  arrays_->want_logits(session.slot_);
  const SamplerParams greedy;
  if (n == 1) {
    arrays_->sample_rows.push_back(
        {.slot = session.slot_, .params = &greedy, .history = tokens, .position = static_cast<uint64_t>(n_all)});
  }
  const InspectionScope scope(*backend_, std::move(inspection));
  const Stopwatch watch;
  INLAY_TRY(execute(wanted_draws()));
  return watch.seconds();
}

Result<double> Engine::measure_read_bandwidth() {
  const Turn turn(*this);
  INLAY_TRY(check_device());
  Result<double> bandwidth = [this] {
    const Computing computing(*this);
    return backend_->measure_read_bandwidth();
  }();
  if (!bandwidth.ok()) return noted(bandwidth.status());
  return bandwidth;
}

// Of an incomplete one what whole chunks have computed stays. The last token kept is run again later, for its logits.
void Engine::end_prefill(Session& session, size_t n_tokens_before, bool complete) {
  const std::lock_guard lock(mutex_);
  if (!complete) {
    kv_.let_go(session.kv_);
    session.tokens_.resize(std::max(n_tokens_before, static_cast<size_t>(session.n_computed_)));
    if (!session.has_logits_)
      forget_logits(session);  // else it was stopped before the first chunk, and nothing has changed
  }
  kv_.cut(session.kv_, session.n_computed_);
  session.publish();
}

// Afterwards the last token counts as not run; and all of them, if keys that it sees have left a window.
void Engine::forget_logits(Session& session) {
  const auto n_tokens = static_cast<int32_t>(session.tokens_.size());
  session.n_computed_ = std::min(session.n_computed_, std::max(0, n_tokens - 1));
  if (!KvPools::can_go_on(kv_.groups(), session.kv_, session.n_computed_)) session.n_computed_ = 0;
  session.has_logits_ = session.logits_readable_ = false;
  kv_.cut(session.kv_, session.n_computed_);
}

// Before the tokens themselves go. Where a window lacks what it would reach back to, all is run again.
Status Engine::shift_cached(Session& session, const KvPools::Shift& shift) {
  const int32_t end = shift.first + shift.n;
  if (shift.n_cached <= shift.first) return {};
  const bool keeps_last = end < shift.n_cached, moves = keeps_last && kv_.can_shift(session.kv_, shift);
  if (moves) INLAY_TRY(kv_.check_room_to_shift(session.kv_, shift));

  const bool had_logits = session.has_logits_, had_readable_logits = session.logits_readable_;
  session.has_logits_ = session.logits_readable_ = false;
  session.n_computed_ = !keeps_last && KvPools::can_go_on(kv_.groups(), session.kv_, shift.first) ? shift.first : 0;
  struct Cut {  // whatever happens on the way
    KvPools& kv;
    Session& session;
    ~Cut() { kv.cut(session.kv_, session.n_computed_); }
  } cut{kv_, session};
  if (!moves) return {};
  INLAY_TRY(kv_.shift(
      session.kv_, shift,
      [this](int32_t group, int32_t from, int32_t to) { return noted(backend_->duplicate_kv_block(group, from, to)); },
      [this](const Backend::KvMove& move) {
        Status status;
        {
          const Computing computing(*this);
          status = backend_->move_kv(move);
        }
        return noted(std::move(status));
      }));
  session.n_computed_ = shift.n_cached - shift.n;
  session.has_logits_ = had_logits;
  session.logits_readable_ = had_readable_logits;
  stats_.n_kv_blocks_peak = std::max(stats_.n_kv_blocks_peak, kv_.n_used());
  return {};
}

Status Engine::check_step(std::span<Session* const> sessions) const {
  if (sessions.empty() || sessions.size() > static_cast<size_t>(info_.max_sessions)) {
    return error(Code::invalid_argument, "the decode step has %zu sessions, expected 1 to %d", sessions.size(), info_.max_sessions);
  }
  Status status;
  size_t n_marked = 0;
  for (; n_marked < sessions.size() && status.ok(); ++n_marked) {
    Session* s = sessions[n_marked];
    if (!s || s->engine_.get() != this) {
      status = error(Code::invalid_argument, "session %zu is %s", n_marked, s ? "of another engine" : "null");
      break;
    }
    if (s->in_step_) {
      status = error(Code::invalid_argument, "session %zu is given twice", n_marked);
      break;
    }
    s->in_step_ = true;
  }
  for (size_t i = 0; i < n_marked; ++i) sessions[i]->in_step_ = false;
  return status;
}

// Decides whether the session takes part; if not the event says why. What it still has to run comes in catch_up().
void Engine::admit(Session& session, StepEvent& event) {
  event = StepEvent{};
  if (session.finish_reason_ != FinishReason::none) {
    event.status = error(Code::invalid_state, "the sequence has ended; prefill or truncate it to go on");
    event.finish_reason = session.finish_reason_;
    return;
  }
  if (session.tokens_.empty()) {
    event.status = error(Code::invalid_state, "the sequence has no tokens: prefill it first");
    return;
  }
  if (end_if_cancelled(session, event)) return;
  if (session.tokens_.size() == static_cast<size_t>(info_.n_context)) {
    end_without_token(session, event, FinishReason::context_full);
  }
}

// Runs what a truncation has left to be run before the last token, and makes room for that. No step begun ahead has the session: leaving
// it would take the room back.
void Engine::catch_up(Session& session, StepEvent& event) {
  if (!event.draws() || session.has_logits_) return;
  const auto n_tokens = static_cast<int32_t>(session.tokens_.size());
  Status& status = event.status = reserve_blocks(session, n_tokens, prefill_chunk_);
  while (status.ok() && session.n_computed_ < n_tokens - 1) {
    if (end_if_cancelled(session, event)) break;
    status = run_chunk(session, n_tokens - 1);
  }
  if (status.ok() && event.finish_reason == FinishReason::none) {
    kv_.cover(session.kv_, n_tokens);
    kv_.settle(session.kv_);
  } else {
    kv_.cut(session.kv_, session.n_computed_);
  }
}

// A request to cancel is spent by this.
bool Engine::end_if_cancelled(Session& session, StepEvent& event) {
  if (!session.take_cancel()) return false;
  end_without_token(session, event, FinishReason::cancelled);
  return true;
}

void Engine::end_without_token(Session& session, StepEvent& event, FinishReason reason) {
  session.finish_reason_ = event.finish_reason = reason;
  kv_.let_go(session.kv_);
  session.text_.flush();
  session.publish();
}

static Status check_room_for_events(size_t n_sessions, size_t n_events) {
  if (n_events >= n_sessions) return {};
  return error(Code::invalid_argument, "the decode step has %zu sessions, but room for %zu events", n_sessions, n_events);
}

Status Engine::decode_step(std::span<Session* const> sessions, std::span<StepEvent> events) {
  INLAY_TRY(check_room_for_events(sessions.size(), events.size()));
  const Turn turn(*this);
  return whole_step(sessions, events);
}

Status Engine::decode_step(StepCaller& caller) {
  const Turn turn(*this);
  const size_t n = name_sessions(caller);
  const std::span<Session* const> sessions = std::span(called_.sessions).first(n);
  const std::span<StepEvent> events = std::span(called_.events).first(n);
  Status status = whole_step(sessions, events);
  caller.take_events(status, sessions, events);
  return status;
}

size_t Engine::name_sessions(StepCaller& caller) {
  const size_t n = caller.name_sessions(called_.sessions);
  std::fill_n(called_.events.begin(), n, StepEvent{});
  return n;
}

Status Engine::whole_step(std::span<Session* const> sessions, std::span<StepEvent> events) {
  INLAY_TRY(check_idle());
  INLAY_TRY(check_step(sessions));
  for (size_t i = 0; i < sessions.size(); ++i) admit(*sessions[i], events[i]);
  const Stopwatch watch;
  const uint64_t n_steps = stats_.n_decode_steps;
  INLAY_TRY(run_step(sessions, events));
  if (stats_.n_decode_steps > n_steps) stats_.decode_seconds += watch.seconds();
  return first_error(events.first(sessions.size()));
}

Status Engine::run_step(std::span<Session* const> sessions, std::span<StepEvent> events) {
  const bool was_begun = take_ahead(sessions, events);
  if (!was_begun) {
    INLAY_TRY(drop_ahead());
    for (size_t i = 0; i < sessions.size(); ++i) catch_up(*sessions[i], events[i]);
    gather_step(sessions, events);
    if (arrays_->sample_rows.empty()) return {};
  }
  INLAY_TRY(execute_ahead(was_begun, plan_ahead(sessions, events)));
  finish_step(sessions, events);
  return {};
}

std::span<Draw> Engine::wanted_draws() { return std::span(arrays_->draws).first(arrays_->sample_rows.size()); }

// One token for each session that takes part and has no logits yet, one draw for each that takes part.
void Engine::gather_step(std::span<Session* const> sessions, std::span<StepEvent> events) {
  arrays_->clear();
  for (size_t i = 0; i < sessions.size(); ++i) {
    Session& s = *sessions[i];
    if (!events[i].draws()) continue;
    const auto n_tokens = static_cast<int32_t>(s.tokens_.size());
    if (!s.has_logits_) {
      arrays_->add_slice(s.tokens_, s.n_computed_, n_tokens - s.n_computed_, s.kv_);
      arrays_->want_logits(s.slot_);
    }
    arrays_->sample_rows.push_back({.slot = s.slot_,
                                    .params = &s.options_.sampler,
                                    .history = s.tokens_,
                                    .stream = s.options_.stream,
                                    .position = static_cast<uint64_t>(n_tokens),
                                    .context = s.draw_context()});
  }
}

// After the step, in which somebody took part: what was drawn joins the sequences.
void Engine::finish_step(std::span<Session* const> sessions, std::span<StepEvent> events) {
  size_t row = 0;
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (!events[i].draws()) continue;
    Session& s = *sessions[i];
    s.n_computed_ = static_cast<int32_t>(s.tokens_.size());
    kv_.slide(s.kv_, s.n_computed_);
    kv_.settle(s.kv_);
    s.has_logits_ = s.logits_readable_ = true;
    Draw& draw = arrays_->draws[row++];
    events[i].status = std::move(draw.status);
    if (!events[i].status.ok()) continue;
    events[i].sample = draw.result;
    finish_draw(s, events[i]);
    ++stats_.n_decode_tokens;
  }
  ++stats_.n_decode_steps;
}

// Appends the drawn token, makes its text ready, and decides whether the sequence ends.
void Engine::finish_draw(Session& session, StepEvent& event) {
  const int32_t token = event.sample.token;
  session.tokens_.push_back(token);
  advance(session.options_.sampler, event.sample, session.sampler_state_);
  session.has_logits_ = false;
  ++session.n_drawn_;
  const bool stops = std::ranges::find(session.options_.stop_tokens, token) != session.options_.stop_tokens.end();
  bool stopped = false;
  if (tokenizer_) {
    const bool ends = tokenizer_->is_end_of_generation(token) && !session.options_.ignore_end_of_generation;
    const TokenKind kind = tokenizer_->kind(token);
    if (ends) event.finish_reason = FinishReason::end_of_generation;
    if (!ends && !stops && kind != TokenKind::unused) {
      const std::string_view piece = tokenizer_->piece(token);
      stopped = kind == TokenKind::control ? session.text_.append_name(piece) : session.text_.append(piece);
    }
  }
  if (stops) event.finish_reason = FinishReason::stop_token;
  if (stopped) event.finish_reason = FinishReason::stop_string;
  const int32_t most = session.options_.max_tokens;
  if (event.finish_reason == FinishReason::none && most > 0 && session.n_drawn_ >= most) {
    event.finish_reason = FinishReason::max_tokens;
  }
  if (event.finish_reason == FinishReason::none && session.tokens_.size() == static_cast<size_t>(info_.n_context)) {
    event.finish_reason = FinishReason::context_full;
  }
  session.finish_reason_ = event.finish_reason;
  if (event.finish_reason != FinishReason::none) kv_.let_go(session.kv_);
  if (event.finish_reason != FinishReason::none && !stopped) session.text_.flush();
  session.publish();
}

}  // namespace inlay
