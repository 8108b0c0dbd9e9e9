// Requests that continue a session of the host's: which of them has it, how it begins, and what rests of it afterwards.
#include <algorithm>

#include "src/engine/request_queue.h"
#include "src/engine/requests.h"

namespace inlay {

Status Requests::add_session(Session& session) {
  const EngineLock lock(engine_.mutex_);
  INLAY_TRY(engine_.lost_.status());
  resting_.push_back(&session);
  return {};
}

void Requests::remove_session(Session& session) { std::erase(resting_, &session); }

bool Requests::is_fresh(const Session& session) const {
  const EngineLock lock(engine_.mutex_);
  return session.info().n_tokens == 0 && std::ranges::none_of(live_, [&](const auto& request) { return request->run.continues.get() == &session; });
}

void Requests::cancel_of(const Session& session) {
  {
    const EngineLock lock(engine_.mutex_);
    for (const auto& request : live_) {
      if (request->run.continues.get() == &session) stop(*request, FinishReason::cancelled);
    }
    sweep();
  }
  flush();
}

// Whether the request needs no session of the host's, or has it: the first of those that wait for one gets it. One that turns out not to fit ends.
bool Requests::has_session(Request& request) {
  Request::Run& run = request.run;
  if (run.has_ended) return false;
  if (!run.continues || run.has_session) return true;
  if (!run.continues->is_idle()) return false;
  if (Status status = take_session(request); !status.ok()) return end(request, FinishReason::error, std::move(status)), false;
  return true;
}

// From here on the prompt is all that the sequence is to have before it draws.
Status Requests::take_session(Request& request) {
  Request::Run& run = request.run;
  Session& session = *run.continues;
  const std::span<const int32_t> own = session.seq_.tokens;
  const auto n_same = static_cast<size_t>(std::ranges::mismatch(own, run.prompt).in1 - own.begin());
  const size_t n_kept = run.replaces ? n_same : own.size();
  if (!run.replaces) run.prompt.insert(run.prompt.begin(), own.begin(), own.end());
  if (!run.has_options) run.options = session.options_;
  INLAY_TRY(check(run.prompt, {.session = run.options}));
  session.request_ = &request;
  run.has_session = true;
  run.n_kept = static_cast<int32_t>(n_kept);
  run.n_prompt = static_cast<int32_t>(run.prompt.size());
  return {};
}

void Requests::leave_session(Request& request) {
  request.run.continues->request_ = nullptr;
  request.run.has_session = false;
}

// Its tokens become the prompt; what is computed of the same beginning stays.
void Requests::begin_session(Request& request) {
  Request::Run& run = request.run;
  Sequence& seq = run.continues->seq_;
  engine_.sequences_.go_back(seq, std::min(run.n_kept, run.n_prompt - 1));
  own_tokens_.assign(seq.tokens.begin(), seq.tokens.end());
  seq.tokens.assign(run.prompt.begin(), run.prompt.end());
}

// As if it had not begun.
void Requests::undo_session(Request& request) {
  Sequence& seq = request.run.continues->seq_;
  engine_.sequences_.go_back(seq, request.run.n_kept);
  seq.tokens.assign(own_tokens_.begin(), own_tokens_.end());
  rest(*request.run.continues);
}

// Keeps its blocks until their room is wanted.
void Requests::rest(Session& session) {
  Sequence& seq = session.seq_;
  engine_.sequences_.let_go(seq);
  if (keeps_) engine_.sequences_.keep_computed(seq);
  engine_.sequences_.forget_logits(seq);
  engine_.sequences_.release_slot(seq);
  resting_.push_back(&session);
  session.publish();
}

// The blocks of the session that has rested longest; false: none has any.
bool Requests::take_from_resting() {
  const auto last = std::ranges::find_if(resting_, [](const Session* session) INLAY_NEEDS(engine_mutex) {
    return !session->in_call_ && std::ranges::any_of(session->seq_.kv, [](const KvHolding& holding) { return holding.n_blocks() > 0; });
  });
  if (last == resting_.end()) return false;
  Session& session = **last;
  engine_.sequences_.go_back(session.seq_, 0);
  session.publish();
  return true;
}

// Of the counted group, that nobody else has.
int32_t Requests::n_resting_blocks() const {
  const size_t group = counted_group();
  int32_t n = 0;
  for (const Session* session : resting_) {
    const KvHoldings& kv = session->seq_.kv;
    if (!session->in_call_) n += kv[group].n_blocks() - engine_.sequences_.pools().n_shared(kv, group);
  }
  return n;
}

// Puts out a request other than that of the sequence that draws no more until it is polled, and is in no step; false: there is none.
bool Requests::take_from_unread(const Sequence& sequence) {
  for (const auto& request : live_) {
    const Request::Run& run = request->run;
    if (run.state != State::running || run.in_step || run.has_ended || &run.session->seq_ == &sequence || !is_unread(*request)) continue;
    put_out(*request);
    return true;
  }
  return false;
}

// As Sequences::reserve(), with the blocks of sessions that rest, and of requests that nobody polls: the planner does not count blocks of windows.
Status Requests::reserve(Sequence& sequence, int32_t end) {
  Status status = engine_.sequences_.reserve(sequence, end, engine_.prefill_chunk_);
  while (status.code == Code::kv_full && (take_from_resting() || take_from_unread(sequence))) status = engine_.sequences_.reserve(sequence, end, engine_.prefill_chunk_);
  return status;
}

}  // namespace inlay
