#include "src/engine/text_group.h"

#include <algorithm>

namespace inlay {

Status check_text(const Engine& engine, std::span<const int32_t> text) {
  const auto n_context = static_cast<size_t>(engine.info().n_context), n_chunk = static_cast<size_t>(engine.prefill_chunk());
  if (text.empty()) return error(Code::invalid_argument, "the text has no tokens");
  if (Status status = engine.check_tokens(text); !status.ok()) {
    status.message = "the text: " + status.message;
    return status;
  }
  const auto too_long = [&](Status full, size_t room) {
    full.required = text.size();
    full.available = room;
    return full;
  };
  if (text.size() > n_context) return too_long(error(Code::context_full, "the text has %zu tokens, too many for the context of %zu", text.size(), n_context), n_context);
  if (engine.spec().causal || text.size() <= n_chunk) return {};
  return too_long(error(Code::context_full, "the text has %zu tokens; the model's tokens see those behind them, so that a text is one step, of at most %zu (prefill_chunk)", text.size(),
                        n_chunk),
                  n_chunk);
}

Status of_text(size_t i, Status status) {
  constexpr std::string_view kAny = "the text";
  if (const size_t at = status.message.find(kAny); at != std::string::npos) status.message.replace(at, kAny.size(), "text " + std::to_string(i));
  return status;
}

Status check_texts(const Engine& engine, std::span<const std::span<const int32_t>> texts) {
  for (size_t i = 0; i < texts.size(); ++i) INLAY_TRY(of_text(i, check_text(engine, texts[i])));
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
