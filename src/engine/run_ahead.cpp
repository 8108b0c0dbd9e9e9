// Decode steps that are begun before the host asks for them: docs/design/run-ahead.md.
#include <algorithm>
#include <utility>

#include "src/engine/decoder.h"
#include "src/engine/engine.h"

namespace inlay {
namespace {

// Whether what is drawn depends on nothing but logits.
bool is_plain(const SamplerParams& p) { return p.bias.empty() && !has_penalties(p) && !has_dry(p) && !has_state(p); }

}  // namespace

// Whether this step is the one that was begun. Then it is open, and its logits are where sessions look.
bool Decoder::take_ahead() {
  if (!ahead_.open.ticket || ahead_.sessions.empty() || ahead_.sessions != step_.sessions) return false;
  for (size_t i = 0; i < step_.sessions.size(); ++i) {
    const bool drew = step_.sessions[i]->seq_.tokens.size() == ahead_.open.samples[i].position;
    if (!step_.events[i].draws() || !drew) return false;
  }
  std::swap(step_.open, ahead_.open);
  for (Session* s : step_.sessions) std::swap(s->seq_.slot, s->seq_.ahead_slot);
  step_.draws = true;
  ahead_.sessions.clear();
  ahead_.open.clear();
  return true;
}

// Begins the step behind the one at hand, if that can be done. Its tokens are not known yet.
void Decoder::plan_ahead() {
  const std::vector<Session*>& sessions = step_.sessions;
  if (!engine_.runs_ahead_ || step_.open.works.size() != sessions.size() ||
      sessions.size() > static_cast<size_t>(engine_.backend_->max_sequences_ahead())) {
    return;
  }
  const auto goes_on = [&](const Session& s) {
    const int32_t n_next = s.seq_.n_tokens() + 1;  // tokens that the sequence has after this step
    const bool ends = n_next >= engine_.info_.n_context || (s.options_.max_tokens > 0 && s.n_drawn_ + 1 >= s.options_.max_tokens);
    return !ends && !s.constraint_ && is_plain(s.options_.sampler);
  };
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (!step_.events[i].draws() || !goes_on(*sessions[i])) return;
  }
  ahead_.open.clear();
  Status status;
  for (Session* s : sessions) {
    const int32_t position = s->seq_.n_tokens();
    if (status.ok()) status = engine_.sequences_.reserve(s->seq_, position + 1, 1);  // the blocks for it may be needed elsewhere
    Work work = work_of(s->seq_, position, position + 1);
    work.is_drawn = true;
    work.slot = s->seq_.ahead_slot;
    ahead_.open.works.push_back(work);
    ahead_.open.samples.push_back({.slot = s->seq_.ahead_slot,
                                   .params = &s->options_.sampler,
                                   .history = s->seq_.tokens,
                                   .stream = s->options_.stream,
                                   .position = static_cast<uint64_t>(position) + 1});
  }
  if (status.ok()) status = engine_.queue_.begin(ahead_.open, StepQueue::Extent::all);
  for (Session* s : sessions) status.ok() ? engine_.sequences_.settle(s->seq_) : engine_.sequences_.cut(s->seq_, s->seq_.n_tokens());
  if (status.ok()) ahead_.sessions.assign(sessions.begin(), sessions.end());
}

// Its sessions are as they were. What the device still writes for it lies before all that later steps write.
void Decoder::leave_ahead() {
  if (ahead_.sessions.empty()) return;
  for (Session* s : ahead_.sessions) engine_.sequences_.cut(s->seq_);
  ahead_.sessions.clear();
  left_.push_back(ahead_.open.ticket);
  ahead_.open.clear();
}

void Decoder::leave_ahead(const Session& session) {
  if (std::ranges::find(ahead_.sessions, &session) != ahead_.sessions.end()) leave_ahead();
}

Status Decoder::drop_left() {
  leave_ahead();
  Status status;
  for (const Ticket ticket : left_) {
    if (status.ok()) status = engine_.queue_.cancel(ticket);
  }
  left_.clear();
  return status;
}

}  // namespace inlay
