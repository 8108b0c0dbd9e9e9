#include "src/engine/request_sessions.h"

#include <algorithm>

namespace inlay {

// Nobody else has it. From here on the prompt is all that the sequence is to have before it draws.
void RequestSessions::take(Request& request) {
  Request::Run& run = request.run;
  Session& session = *run.options.continues;
  const std::span<const int32_t> own = session.seq_.tokens;
  const auto n_same = static_cast<size_t>(std::ranges::mismatch(own, run.prompt).in1 - own.begin());
  run.n_kept = static_cast<int32_t>(run.options.replaces ? n_same : own.size());
  if (!run.options.replaces) run.prompt.insert(run.prompt.begin(), own.begin(), own.end());
  if (!run.options.has_options) run.options.session = session.options_;
  session.request_ = &request;
  run.has_session = true;
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
  resting_.push_back(&session);
  session.publish();
}

// Those of the session that has rested longest; false: none has any.
bool RequestSessions::give_blocks() {
  const auto last = std::ranges::find_if(resting_, [](const Session* session) INLAY_NEEDS(engine_mutex) {
    return !session->in_call_ && std::ranges::any_of(session->seq_.kv, [](const KvHolding& holding) { return holding.n_blocks() > 0; });
  });
  if (last == resting_.end()) return false;
  Session& session = **last;
  sequences_.go_back(session.seq_, 0);
  session.publish();
  return true;
}

// Of the group that is counted, that nobody else has.
int32_t RequestSessions::n_blocks() const {
  const size_t group = sequences_.pools().counted_group();
  int32_t n = 0;
  for (const Session* session : resting_) {
    const KvHoldings& kv = session->seq_.kv;
    if (!session->in_call_) n += kv[group].n_blocks() - sequences_.pools().n_shared(kv, group);
  }
  return n;
}

}  // namespace inlay
