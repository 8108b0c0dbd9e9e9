#include "src/engine/session_bytes.h"

#include <algorithm>

#include "src/engine/state_bytes.h"
#include "src/formats/text.h"

namespace inlay {

TakenChunk::TakenChunk(Engine& engine) : engine_(engine) {
  const EngineLock lock(engine_.mutex_);
  const Result<std::byte*> taken = engine_.sequences_.chunks().take();
  if (taken.ok()) {
    data_ = *taken;
  } else {
    status_ = engine_.lost_.noted(taken.status());
  }
}

TakenChunk::~TakenChunk() {
  if (data_ == nullptr) return;
  const EngineLock lock(engine_.mutex_);
  engine_.sequences_.chunks().give_back(data_);
}

Result<SessionState> SessionBytes::describe(const Session& s) {
  SessionState out{.tokens = s.seq_.tokens,
                   .n_computed = s.seq_.n_computed,
                   .has_logits = s.seq_.has_logits,
                   .logits_readable = s.seq_.logits_readable,
                   .first_rows = {},
                   .options = s.options_,
                   .holds_blocks = false,
                   .n_drawn = s.n_drawn_,
                   .finish_reason = s.finish_reason_,
                   .sampler_state = s.sampler_state_,
                   .generation = s.generation_,
                   .text = s.text_.held(),
                   .constrained = {}};
  out.options.for_requests = s.for_requests_;
  {
    const EngineLock lock(s.engine().mutex_);
    for (const KvHolding& holding : s.seq_.kv) {
      out.first_rows.push_back(out.n_computed == 0 ? 0 : holding.first_row);
      out.holds_blocks = out.holds_blocks || holding.n_held > 0;
    }
  }
  if (!s.constraint_) return out;
  const std::string& source = s.options_.constraint->origin();
  if (source.empty()) return error(Code::unsupported, "the session's constraint has no source that could be saved");
  out.constrained.push_back({.source = source, .from = s.constrained_from_, .taken_out = s.taken_out_, .accepted = s.constraint_->accepted()});
  return out;
}

namespace {

Status check_source(const ConstraintSource& source, const StateIn& in) {
  using Kind = ConstraintSource::Kind;
  const bool of_message = !source.prompt.empty() || source.format || source.chat_template;
  bool is_right = in.is_at_end() && source.kind <= Kind::message && is_valid_utf8(source.text) && (source.kind == Kind::message || !of_message) && (source.kind == Kind::choices) != source.choices.empty();
  is_right = is_right && is_valid_utf8(source.format.value_or("")) && is_valid_utf8(source.chat_template.value_or("")) && std::ranges::all_of(source.choices, [&](const std::string& choice) { return !choice.empty() && is_valid_utf8(choice); });
  return is_right ? Status() : error(Code::format, "the saved session's constraint is damaged");
}

Result<ConstrainedText> accept_all(std::shared_ptr<const constraint::Constraint> constraint, const SessionState::Constrained& saved, int32_t n_vocab) {
  ConstrainedText out(std::move(constraint));
  for (const auto& one : saved.accepted) {
    if (one.token >= n_vocab || (one.token >= 0 && !one.bytes.empty())) return error(Code::format, "the saved session's constraint is damaged");
    if (one.token >= 0) {
      out.accept_token(one.token);
    } else {
      INLAY_TRY(out.accept_bytes(one.bytes));
    }
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<Session>> SessionBytes::make(Engine& engine, SessionState state) {
  SessionOptions options = std::move(state.options);
  std::optional<ConstrainedText> constrained;
  for (const SessionState::Constrained& saved : state.constrained) {
    if (saved.compiler != constraint::kCompilerVersion)
      return error(Code::unsupported, "the saved session's constraint was compiled by version %u of the compiler of constraints, this library has version %u: its source could mean something else",
                   saved.compiler, constraint::kCompilerVersion);
    ConstraintSource source;
    StateIn in(saved.source);
    in(source);
    INLAY_TRY(check_source(source, in));
    INLAY_ASSIGN(MadeConstraint made, engine.make_constraint(std::move(source)));
    INLAY_ASSIGN(constrained, accept_all(made.constraint, saved, engine.spec().n_vocab));
    options.constraint = std::move(made.constraint);
  }
  TextStream text;
  if (!text.hold(std::move(state.text)).ok()) return error(Code::format, "the saved session's text is damaged");
  INLAY_ASSIGN(std::shared_ptr<Session> session, engine.create_session(options));
  session->seq_.tokens.assign(state.tokens.begin(), state.tokens.end());  // whose room is the context's
  session->text_ = std::move(text);
  session->n_drawn_ = state.n_drawn;
  session->finish_reason_ = state.finish_reason;
  session->sampler_state_ = state.sampler_state;
  session->generation_ = state.generation;
  session->constraint_ = std::move(constrained);
  for (SessionState::Constrained& saved : state.constrained) {
    session->constrained_from_ = static_cast<size_t>(saved.from);
    session->taken_out_ = std::move(saved.taken_out);
  }
  return session;
}

}  // namespace inlay
