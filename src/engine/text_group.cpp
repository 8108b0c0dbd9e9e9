#include "src/engine/text_group.h"

#include <algorithm>

namespace inlay {

Status check_texts(const Engine& engine, std::span<const std::span<const int32_t>> texts) {
  const auto n_context = static_cast<size_t>(engine.info().n_context);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return error(Code::invalid_argument, "text %zu has no tokens", i);
    if (Status status = engine.check_tokens(texts[i]); !status.ok()) {
      status.message = "text " + std::to_string(i) + ": " + status.message;
      return status;
    }
    const auto n_chunk = static_cast<size_t>(engine.prefill_chunk());
    if (!engine.spec().causal && texts[i].size() > n_chunk && texts[i].size() <= n_context) {
      Status full = error(Code::context_full, "text %zu has %zu tokens; the model's tokens see those behind them, so that a text is one step, of at most %zu (prefill_chunk)", i,
                          texts[i].size(), n_chunk);
      full.required = texts[i].size();
      full.available = n_chunk;
      return full;
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
    Result<std::shared_ptr<Session>> session = engine_.create_text_session();
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
  if (runs_.empty()) {
    for (const auto& s : sessions_) runs_.push_back({.session = s.get(), .n_tokens = static_cast<int32_t>(s->tokens().size())});
  } else {
    first_ += runs_[0].n_tokens;
    runs_[0].n_tokens = static_cast<int32_t>(runs_[0].session->tokens().size()) - first_;
  }
  runs_[0].n_tokens = std::min(runs_[0].n_tokens, most_tokens_);
  asked_.assign(runs_.size(), {});
  for (Engine::LayersRun& run : runs_) run.asked = {};
  n_asked_ = 0;
  return runs_[0].n_tokens > 0;
}

void TextGroup::ask(size_t i, AskedRows rows) {
  if (rows.n_rows == 0) return;
  asked_[i] = rows;
  runs_[i].asked = {&asked_[i], 1};
  n_asked_ += static_cast<size_t>(rows.n_rows);
}

bool TextGroup::ends(size_t i) const { return first_ + runs_[i].n_tokens == static_cast<int32_t>(runs_[i].session->tokens().size()); }

}  // namespace inlay
