#include "src/engine/request_sessions.h"

#include <algorithm>

namespace inlay {

void RequestSessions::add(Session& session) {
  all_.push_back(&session);
  session.rests_since_ = ++n_rests_;
}

RequestSessions::Turn RequestSessions::turn_of(const Request& request) {
  const Request::Run& run = request.run;
  const Session& session = *run.options.continues;
  const std::span<const int32_t> own = session.seq_.tokens;
  Turn out{.prompt = run.prompt, .options = run.options.has_options ? run.options.session : session.options_};
  const auto n_same = static_cast<size_t>(std::ranges::mismatch(own, run.prompt).in1 - own.begin());
  out.n_kept = static_cast<int32_t>(run.options.replaces ? n_same : own.size());
  if (!run.options.replaces) out.prompt.insert(out.prompt.begin(), own.begin(), own.end());
  return out;
}

// Nobody else has it. Its generation begins now, not with its room, so that a cancel of the session reaches a request that waits for that.
void RequestSessions::take(Request& request, Turn turn) {
  Request::Run& run = request.run;
  run.prompt = std::move(turn.prompt);
  run.options.session = std::move(turn.options);
  run.n_prompt = static_cast<int32_t>(run.prompt.size());
  run.n_kept = turn.n_kept;
  run.has_session = true;
  run.options.continues->request_ = &request;
  run.options.continues->begin_generation();
}

void RequestSessions::leave(Request& request) {
  request.run.options.continues->request_ = nullptr;
  request.run.has_session = false;
}

// Its tokens become the prompt; what is computed of the same beginning stays.
void RequestSessions::begin(Request& request) {
  Request::Run& run = request.run;
  Sequence& seq = run.options.continues->seq_;
  sequences_.go_back(seq, std::min(run.n_kept, run.n_prompt - 1));
  own_tokens_.assign(seq.tokens.begin(), seq.tokens.end());
  seq.tokens.assign(run.prompt.begin(), run.prompt.end());
}

// As if it had not begun.
void RequestSessions::undo(Request& request) {
  Sequence& seq = request.run.options.continues->seq_;
  sequences_.go_back(seq, request.run.n_kept);
  seq.tokens.assign(own_tokens_.begin(), own_tokens_.end());
  rest(*request.run.options.continues);
}

// Keeps its blocks until their room is wanted.
void RequestSessions::rest(Session& session) {
  Sequence& seq = session.seq_;
  sequences_.let_go(seq);
  if (keeps_) sequences_.keep_computed(seq);
  sequences_.forget_logits(seq);
  sequences_.release_slot(seq);
  session.rests_since_ = ++n_rests_;
  session.publish();
}

void RequestSessions::stop_resting(Session& session) {
  if (session.for_requests_) session.rests_since_ = 0;
}

// Those of the session that has rested longest; false: none has any.
bool RequestSessions::give_blocks() {
  Session* longest = nullptr;
  for (Session* session : all_) {
    if (session->rests_since_ == 0 || session->in_call_ || (longest != nullptr && longest->rests_since_ < session->rests_since_)) continue;
    if (std::ranges::any_of(session->seq_.kv, [](const KvHolding& holding) { return holding.n_blocks() > 0; })) longest = session;
  }
  if (longest == nullptr) return false;
  sequences_.go_back(longest->seq_, 0);
  longest->publish();
  return true;
}

// Of the group that is counted, that nobody else has.
int32_t RequestSessions::n_blocks() const {
  constexpr size_t group = KvPools::kCountedGroup;
  int32_t n = 0;
  for (const Session* session : all_) {
    const KvHoldings& kv = session->seq_.kv;
    if (session->rests_since_ > 0 && !session->in_call_) n += kv[group].n_blocks() - sequences_.pools().n_shared(kv, group);
  }
  return n;
}

}  // namespace inlay
