#include "src/engine/decoder.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "src/base/format.h"
#include "src/engine/engine.h"

namespace inlay {

Status first_error(std::span<const StepEvent> events) {
  const auto failed = std::ranges::find_if(events, [](const StepEvent& event) { return !event.status.ok(); });
  if (failed == events.end()) return {};
  try {
    return failed->status;
  } catch (const std::bad_alloc&) {  // of the message's copy
    Status out;
    out.code = failed->status.code;
    return out;
  }
}

// Where memory runs out for one session of a step, it has not advanced, and its event says so; the others go on.
static StepEvent without_memory() {
  StepEvent event;
  event.status = out_of_memory();
  return event;
}

Decoder::Decoder(Engine& engine) : engine_(engine) {
  const auto most = static_cast<size_t>(engine.info_.max_sessions);
  for (std::vector<Session*>* sessions : {&step_.sessions, &ahead_.sessions}) sessions->reserve(most);
  for (OpenStep* open : {&step_.open, &ahead_.open}) {
    open->works.reserve(most);
    open->samples.reserve(most);
  }
  step_.events.reserve(most);
  left_.reserve(kMostTickets);
  draws_.resize(most);
}

Status Decoder::step(std::span<Session* const> sessions, std::span<StepEvent> events) {
  INLAY_TRY(engine_.check_idle());
  INLAY_TRY(check_step(sessions));
  start(sessions);
  Status status;
  try {
    if (!take_ahead()) status = drop_left();
    if (status.ok()) status = advance(std::numeric_limits<size_t>::max());
  } catch (const std::bad_alloc&) {  // nobody has advanced; who has ended says so
    status = out_of_memory();
    if (step_.open.ticket) left_.push_back(std::exchange(step_.open.ticket, {}));
  }
  status = finish(std::move(status));
  std::ranges::move(step_.events, events.begin());
  return status;
}

Status Decoder::slice(std::span<Session* const> sessions, int32_t max_units, std::span<StepEvent> events, int32_t& units_left) {
  INLAY_TRY(engine_.lost_.status());
  INLAY_TRY(check_step(sessions));
  if (step_.is_pending) {
    INLAY_TRY(check_slices_of(sessions));
  } else {
    const auto most = static_cast<size_t>(engine_.backend_->max_sequences_in_units());
    if (sessions.size() > most) {
      return error(Code::invalid_argument, "the decode step in slices has %zu sessions, expected at most %zu on this device",
                   sessions.size(), most);
    }
    INLAY_TRY(drop_left());
    start(sessions);
    step_.is_pending = true;
    for (Session* s : sessions) s->in_slices_ = true;
  }
  Status status = advance(static_cast<size_t>(max_units));
  if (status.ok() && n_units_left() > 0) {
    units_left = static_cast<int32_t>(n_units_left());
    return {};
  }
  status = finish(std::move(status));
  std::ranges::move(step_.events, events.begin());
  end_slices();
  return status;
}

Status Decoder::abandon(std::span<Session* const> sessions) {
  INLAY_TRY(check_step(sessions));
  if (!step_.is_pending) return {};
  INLAY_TRY(check_slices_of(sessions));
  end_slices();
  for (Session* s : sessions) {
    engine_.sequences_.cut(s->seq_);
    s->publish();
  }
  return {};
}

Status Decoder::check_idle() const {
  if (!step_.is_pending) return {};
  return error(Code::invalid_state, "a decode step in slices of %s is pending: finish or abandon it first",
               counted(step_.sessions.size(), "session").c_str());
}

Status Decoder::check_slices_of(std::span<Session* const> sessions) const {
  if (std::ranges::equal(sessions, step_.sessions)) return {};
  return error(Code::invalid_state,
               "a decode step in slices of other sessions, or of these in another order, is pending: finish or abandon "
               "it first");
}

void Decoder::end_slices() {
  for (Session* s : step_.sessions) s->in_slices_ = false;
  if (step_.open.ticket) left_.push_back(step_.open.ticket);
  step_.open.clear();
  step_.sessions.clear();
  step_.events.clear();
  step_.is_pending = false;
  engine_.owes_turn_ = engine_.n_waiting_ > 0;
}

Status Decoder::check_step(std::span<Session* const> sessions) const {
  if (sessions.empty() || sessions.size() > static_cast<size_t>(engine_.info_.max_sessions)) {
    return error(Code::invalid_argument, "the decode step has %zu sessions, expected 1 to %d", sessions.size(), engine_.info_.max_sessions);
  }
  Status status;
  size_t n_marked = 0;
  for (; n_marked < sessions.size() && status.ok(); ++n_marked) {
    Session* s = sessions[n_marked];
    if (!s || s->engine_.get() != &engine_) {
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

void Decoder::start(std::span<Session* const> sessions) {
  step_.sessions.assign(sessions.begin(), sessions.end());
  step_.events.assign(sessions.size(), {});
  step_.n_prepared = 0;
  step_.has_room = step_.draws = false;
  step_.open.clear();
  for (size_t i = 0; i < sessions.size(); ++i) {
    try {
      admit(*sessions[i], step_.events[i]);
    } catch (const std::bad_alloc&) {
      step_.events[i] = without_memory();
    }
  }
}

// Decides whether the session takes part; if not the event says why.
void Decoder::admit(Session& session, StepEvent& event) {
  if (event.status = session.check_steps_itself(); !event.status.ok()) return;
  if (session.finish_reason_ != FinishReason::none) {
    event.status = error(Code::invalid_state, "the sequence has ended; prefill or truncate it to go on");
    event.finish_reason = session.finish_reason_;
    return;
  }
  if (session.seq_.tokens.empty()) {
    event.status = error(Code::invalid_state, "the sequence has no tokens: prefill it first");
    return;
  }
  if (end_if_cancelled(session, event)) return;
  if (session.seq_.n_tokens() == engine_.info_.n_context) end_without_token(session, event, FinishReason::context_full);
}

// A request to cancel is spent by this.
bool Decoder::end_if_cancelled(Session& session, StepEvent& event) {
  if (!session.is_cancelled()) return false;
  session.text_.make_room(0);  // before it is spent
  if (!session.take_cancel()) return false;
  end_without_token(session, event, FinishReason::cancelled);
  return true;
}

void Decoder::end_without_token(Session& session, StepEvent& event, FinishReason reason) {
  session.text_.make_room(0);
  session.finish_reason_ = event.finish_reason = reason;
  engine_.sequences_.let_go(session.seq_);
  session.text_.flush();
  session.publish();
}

// The next n units of all that the step has. A whole step has a unit for each chunk, and one.
Status Decoder::advance(size_t n_units) {
  for (;;) {
    OpenStep& open = step_.open;
    if (!open.ticket) INLAY_TRY(prepare());
    const size_t n = std::min(n_units, open.n_left());
    if (n == 0) return {};
    n_units -= n;
    if (!step_.draws) {
      Status status = engine_.queue_.run(open, n);
      if (!status.ok() || open.n_left() == 0) end_chunk(std::move(status));
      continue;
    }
    const auto masks = [this]() INLAY_NEEDS(engine_turn) { make_masks(); };
    if (step_.is_pending) return engine_.queue_.run(open, n, {.draws = draws_}, masks);
    plan_ahead();
    Status status = engine_.queue_.run_ahead_of(open, ahead_.open, {.draws = draws_}, masks);
    if (!status.ok()) ahead_.sessions.clear();
    return status;
  }
}

// Begins the next chunk of a session that has one, or, behind all of them, the step itself, if anybody draws.
Status Decoder::prepare() {
  for (; step_.n_prepared < step_.sessions.size(); ++step_.n_prepared, step_.has_room = false) {
    Session& session = *step_.sessions[step_.n_prepared];
    StepEvent& event = step_.events[step_.n_prepared];
    if (event.draws() && !session.seq_.has_logits && begin_chunk(session, event)) return {};
  }
  gather();
  step_.draws = !step_.open.samples.empty();
  if (!step_.draws) return {};
  return engine_.queue_.begin(step_.open, step_.is_pending ? StepQueue::Extent::units : StepQueue::Extent::all);
}

// What a truncation has left to be run before the last token; false: there is nothing of it any more. Makes room for the last token, too. No
// step begun ahead has the session: leaving it would take the room back.
bool Decoder::begin_chunk(Session& session, StepEvent& event) {
  Sequence& seq = session.seq_;
  const int32_t last = seq.n_tokens() - 1;
  if (!step_.has_room) event.status = engine_.reserve(seq, last + 1, engine_.prefill_chunk_);
  step_.has_room = true;
  if (event.status.ok() && seq.n_computed < last && !end_if_cancelled(session, event)) {
    step_.open.clear();
    step_.open.works.push_back(work_of(seq, seq.n_computed, std::min(last, seq.n_computed + engine_.prefill_chunk_)));
    event.status = engine_.queue_.begin(step_.open, step_.is_pending ? StepQueue::Extent::layer_units : StepQueue::Extent::layers);
    if (event.status.ok()) return true;
  }
  if (event.draws()) {
    engine_.sequences_.cover(seq, last + 1);
    engine_.sequences_.settle(seq);
  } else {
    engine_.sequences_.cut(seq);
  }
  return false;
}

void Decoder::end_chunk(Status status) {
  Session& session = *step_.sessions[step_.n_prepared];
  if (status.ok()) {
    engine_.queue_.commit(step_.open);
    engine_.stats_.n_prefill_tokens += static_cast<uint64_t>(step_.open.works[0].n_rows());
    engine_.stats_.prefill_seconds += step_.open.seconds;
  } else {
    step_.events[step_.n_prepared].status = std::move(status);
    engine_.sequences_.cut(session.seq_);
  }
  step_.open.clear();
}

// One token for each session that takes part and has no logits yet, one draw for each that takes part.
void Decoder::gather() {
  step_.open.clear();
  for (size_t i = 0; i < step_.sessions.size(); ++i) {
    Session& s = *step_.sessions[i];
    if (!step_.events[i].draws()) continue;
    const int32_t n_tokens = s.seq_.n_tokens();
    if (!s.seq_.has_logits) {
      step_.open.works.push_back(work_of(s.seq_, s.seq_.n_computed, n_tokens));
      step_.open.works.back().slot = s.seq_.slot;
    }
    step_.open.samples.push_back({.slot = s.seq_.slot,
                                  .params = &s.options_.sampler,
                                  .history = s.seq_.tokens,
                                  .stream = s.options_.stream,
                                  .position = static_cast<uint64_t>(n_tokens),
                                  .context = s.draw_context(),
                                  .mask = s.mask()});
  }
}

size_t Decoder::n_units_left() const {
  size_t n = step_.open.ticket ? step_.open.n_left() : 0;
  if (step_.draws) return n;
  bool draws = false, runs = false;
  const auto chunk = static_cast<size_t>(engine_.prefill_chunk_);
  for (size_t i = 0; i < step_.sessions.size(); ++i) {
    if (!step_.events[i].draws()) continue;
    const Sequence& seq = step_.sessions[i]->seq_;
    draws = true;
    if (seq.has_logits) continue;
    runs = true;
    if (i < step_.n_prepared) continue;
    const bool is_open = i == step_.n_prepared && step_.open.ticket;
    const auto missing = static_cast<size_t>(seq.n_tokens() - 1 - (is_open ? step_.open.works[0].end : seq.n_computed));
    n += (missing + chunk - 1) / chunk * engine_.queue_.n_units(StepQueue::Extent::layer_units);
  }
  return n + (!draws ? 0 : runs ? engine_.queue_.n_units(StepQueue::Extent::units) : 1);
}

// What was drawn joins the sequences.
Status Decoder::finish(Status status) {
  INLAY_TRY(std::move(status));
  if (!step_.draws) return {};
  engine_.queue_.commit(step_.open);
  size_t row = 0;
  for (size_t i = 0; i < step_.sessions.size(); ++i) {
    StepEvent& event = step_.events[i];
    if (!event.draws()) continue;
    Session& s = *step_.sessions[i];
    engine_.sequences_.settle(s.seq_);
    try {
      take_draw(s, event, draws_[row++]);
    } catch (const std::bad_alloc&) {
      event = without_memory();
    }
    if (event.status.code == Code::out_of_memory) leave_ahead(s);  // which went on behind its token
  }
  ++engine_.stats_.n_decode_steps;
  engine_.stats_.decode_seconds += step_.open.seconds;
  return {};
}

void Decoder::make_masks() {
  for (size_t i = 0; i < step_.sessions.size(); ++i) {
    if (step_.events[i].draws()) step_.sessions[i]->make_mask();
  }
}

void Decoder::take_draw(Session& session, StepEvent& event, Draw& draw) {
  event.status = std::move(draw.status);
  if (!event.status.ok()) return;
  if (draw.result.token < 0) return end_without_token(session, event, session.end_of_constraint());
  event.sample = draw.result;
  if (finish_draw(session, event).ok()) ++engine_.stats_.n_decode_tokens;
}

Status Decoder::finish_draw(Session& session, StepEvent& event) {
  try {
    append(session, event);
  } catch (const std::bad_alloc&) {
    event = without_memory();
  }
  return event.status;
}

// The drawn token, its text, and whether the sequence ends.
void Decoder::append(Session& session, StepEvent& event) {
  const int32_t token = event.sample.token;
  const Tokenizer* tokenizer = engine_.tokenizer();
  struct Undo {
    Session& session;
    bool is_accepted = false, is_done = false;
    ~Undo() {
      if (is_done) return;
      if (is_accepted && session.constraint_) (void)session.constraint_->roll_back(1);
      session.seq_.tokens.pop_back();
    }
  };
  session.seq_.tokens.push_back(token);
  Undo undo{session};
  session.text_.make_room(tokenizer ? tokenizer->piece(token).size() : 0);
  session.accept_constrained(token);
  undo.is_accepted = true;
  const bool stops = std::ranges::find(session.options_.stop_tokens, token) != session.options_.stop_tokens.end();
  bool stopped = false;
  if (tokenizer) {
    const bool ends = tokenizer->is_end_of_generation(token) && !session.options_.ignore_end_of_generation;
    const TokenKind kind = tokenizer->kind(token);
    if (ends) event.finish_reason = FinishReason::end_of_generation;
    if (!ends && !stops && kind != TokenKind::unused) {
      const std::string_view piece = tokenizer->piece(token);
      stopped = kind == TokenKind::control ? session.text_.append_name(piece) : session.text_.append(piece);
    }
  }
  undo.is_done = true;
  ::inlay::advance(session.options_.sampler, event.sample, session.sampler_state_);
  session.seq_.has_logits = false;
  ++session.n_drawn_;
  if (stops) event.finish_reason = FinishReason::stop_token;
  if (stopped) event.finish_reason = FinishReason::stop_string;
  const int32_t most = session.options_.max_tokens;
  if (event.finish_reason == FinishReason::none && most > 0 && session.n_drawn_ >= most) {
    event.finish_reason = FinishReason::max_tokens;
  }
  if (event.finish_reason == FinishReason::none && session.seq_.n_tokens() == engine_.info_.n_context) {
    event.finish_reason = FinishReason::context_full;
  }
  session.finish_reason_ = event.finish_reason;
  if (event.finish_reason != FinishReason::none) engine_.sequences_.let_go(session.seq_);
  if (event.finish_reason != FinishReason::none && !stopped) session.text_.flush();
  session.publish();
}

}  // namespace inlay
