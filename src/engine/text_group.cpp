#include "src/engine/text_group.h"

#include <algorithm>

#include "src/engine/step_arrays.h"
#include "src/engine/turn.h"

namespace inlay {

Status check_texts(const Engine& engine, std::span<const std::span<const int32_t>> texts) {
  const auto n_context = static_cast<size_t>(engine.info().n_context);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return error(Code::invalid_argument, "text %zu has no tokens", i);
    if (Status status = engine.check_tokens(texts[i]); !status.ok()) {
      status.message = "text " + std::to_string(i) + ": " + status.message;
      return status;
    }
    if (texts[i].size() <= n_context) continue;
    Status full = error(Code::context_full, "text %zu has %zu tokens, too many for the context of %zu", i, texts[i].size(), n_context);
    full.required = texts[i].size();
    full.available = n_context;
    return full;
  }
  return {};
}

Status TextGroup::take(std::span<const std::span<const int32_t>> texts) {
  size_t n_tokens = 0;
  for (const std::span<const int32_t> text : texts) {
    n_tokens += text.size();
    if (!sessions_.empty() && n_tokens > static_cast<size_t>(most_tokens_)) break;
    Result<std::shared_ptr<Session>> session = engine_.create_session({});
    if (!session.ok() && session.status().code == Code::session_limit && !sessions_.empty()) break;
    if (!session.ok()) return std::move(session).status();
    Status placed = engine_.place_tokens(**session, text);
    if (placed.code == Code::kv_full && !sessions_.empty()) break;
    INLAY_TRY(std::move(placed));
    sessions_.push_back(*std::move(session));
  }
  return {};
}

bool TextGroup::next_step() {
  if (pointers_.empty()) {
    for (const auto& s : sessions_) {
      pointers_.push_back(s.get());
      n_tokens_.push_back(static_cast<int32_t>(s->tokens().size()));
    }
  } else {
    first_ += n_tokens_[0];
    n_tokens_[0] = static_cast<int32_t>(pointers_[0]->tokens().size()) - first_;
  }
  n_tokens_[0] = std::min(n_tokens_[0], most_tokens_);
  return n_tokens_[0] > 0;
}

Status Engine::place_tokens(Session& session, std::span<const int32_t> tokens) {
  INLAY_TRY(session.check_room(tokens.size()));
  const Turn turn(*this);
  INLAY_TRY(reserve_blocks(session, static_cast<int32_t>(tokens.size()), prefill_chunk_));
  session.tokens_.assign(tokens.begin(), tokens.end());
  return {};
}

Status Engine::run_layers(const LayersRun& run) {
  const Turn turn(*this);
  INLAY_TRY(check_idle());
  arrays_->clear();
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    Session& s = *run.sessions[i];
    kv_.cover(s.kv_, s.n_computed_ + run.n_tokens[i]);
    arrays_->add_slice(s.tokens_, s.n_computed_, run.n_tokens[i], s.kv_);
  }
  const int32_t last = plan().last_layer_op();
  Inspection inspection{.stop_after = last, .tap_op = last};
  inspection.tap = run.tap;
  const InspectionScope scope(*backend_, std::move(inspection));
  INLAY_TRY(execute({}));
  if (run.after) {
    Status status;
    {
      const Computing computing(*this);
      status = run.after(*backend_);
    }
    INLAY_TRY(noted(std::move(status)));
  }
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    run.sessions[i]->n_computed_ += run.n_tokens[i];
    kv_.slide(run.sessions[i]->kv_, run.sessions[i]->n_computed_);
    stats_.n_prefill_tokens += static_cast<uint64_t>(run.n_tokens[i]);
  }
  return {};
}

}  // namespace inlay
