// Decode steps that are begun before the host asks for them: docs/design/run-ahead.md.
#include <algorithm>
#include <utility>

#include "src/engine/engine.h"
#include "src/engine/step_arrays.h"
#include "src/engine/turn.h"

namespace inlay {
namespace {

// Whether what is drawn depends on nothing but logits.
bool is_plain(const SamplerParams& p) { return p.bias.empty() && !has_penalties(p) && !has_dry(p) && !has_state(p); }

}  // namespace

// Whether this step is the one that was begun. Then its batch is the one at hand, and its logits are where sessions
// look.
bool Engine::take_ahead(std::span<Session* const> sessions, std::span<const StepEvent> events) {
  if (ahead_.sessions.empty() || !std::ranges::equal(sessions, ahead_.sessions)) return false;
  for (size_t i = 0; i < sessions.size(); ++i) {
    const bool drew = sessions[i]->tokens_.size() == ahead_.arrays->sample_rows[i].position;
    if (!events[i].draws() || !drew) return false;
  }
  std::swap(arrays_, ahead_.arrays);
  for (Session* s : sessions) std::swap(s->slot_, s->ahead_slot_);
  ahead_.sessions.clear();
  return true;
}

// Whether the step behind the one at hand can be begun; then it is described in ahead_. Its tokens are not known yet.
bool Engine::plan_ahead(std::span<Session* const> sessions, std::span<const StepEvent> events) {
  if (!ahead_.arrays || arrays_->tokens.size() != sessions.size() ||
      sessions.size() > static_cast<size_t>(backend_->max_sequences_ahead())) {
    return false;
  }
  const auto goes_on = [&](const Session& s) {
    const auto n_next = static_cast<int32_t>(s.tokens_.size()) + 1;  // tokens that the sequence has after this step
    const bool ends = n_next >= info_.n_context || (s.options_.max_tokens > 0 && s.n_drawn_ + 1 >= s.options_.max_tokens);
    return !ends && is_plain(s.options_.sampler);
  };
  for (size_t i = 0; i < sessions.size(); ++i) {
    if (!events[i].draws() || !goes_on(*sessions[i])) return false;
  }
  ahead_.arrays->clear();
  for (Session* s : sessions) {
    const auto position = static_cast<int32_t>(s->tokens_.size());
    if (!reserve_blocks(*s, position + 1, 1).ok()) {  // the blocks for it may be needed elsewhere
      for (Session* other : sessions) kv_.cut(other->kv_, static_cast<int32_t>(other->tokens_.size()));
      return false;
    }
    kv_.cover(s->kv_, position + 1);
    kv_.settle(s->kv_);
    ahead_.arrays->add_drawn(position, s->kv_);
    ahead_.arrays->want_logits(s->ahead_slot_);
    ahead_.arrays->sample_rows.push_back({.slot = s->ahead_slot_,
                                          .params = &s->options_.sampler,
                                          .history = s->tokens_,
                                          .stream = s->options_.stream,
                                          .position = static_cast<uint64_t>(position) + 1});
  }
  ahead_.sessions.assign(sessions.begin(), sessions.end());
  return true;
}

// The step at hand, which was begun or is executed now, and behind it the one that is planned, if it is.
Status Engine::execute_ahead(bool was_begun, bool goes_on) {
  if (!was_begun && !goes_on) return execute(wanted_draws());
  const StepBatch next = ahead_.arrays->batch();
  Status status;
  {
    const Computing computing(*this);
    status = was_begun ? backend_->finish_ahead(wanted_draws(), goes_on ? &next : nullptr)
                       : backend_->execute_ahead(arrays_->batch(), wanted_draws(), next);
  }
  if (!status.ok()) ahead_.sessions.clear();
  return noted(status);
}

size_t Engine::n_ahead() const {
  const std::lock_guard lock(mutex_);
  return ahead_.sessions.size();
}

// Its sessions are as they were. What the device still writes for it lies before all that later steps write.
void Engine::leave_ahead() {
  if (ahead_.sessions.empty()) return;
  for (Session* s : ahead_.sessions) kv_.cut(s->kv_, s->n_computed_);
  ahead_.sessions.clear();
  ahead_.is_left = true;
}

void Engine::leave_ahead(const Session& session) {
  if (std::ranges::find(ahead_.sessions, &session) != ahead_.sessions.end()) leave_ahead();
}

// Waits until the device is done with it.
Status Engine::drop_ahead() {
  leave_ahead();
  if (!std::exchange(ahead_.is_left, false)) return {};
  Status status;
  {
    const Computing computing(*this);
    status = backend_->drop_ahead();
  }
  return noted(std::move(status));
}

}  // namespace inlay
