#include "src/engine/constrained.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/base/thread.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "src/engine/state_bytes.h"

namespace inlay {
namespace {

using constraint::Constraint;
using constraint::Grammar;
using constraint::JsonStyle;
using constraint::Piece;
using constraint::PieceKind;
using constraint::TokenTrie;
using constraint::Whitespace;

Piece piece_of(const Tokenizer& tokenizer, int32_t token) {
  if (token >= tokenizer.n_tokens()) return {{}, PieceKind::unused};
  if (tokenizer.is_end_of_generation(token)) return {{}, PieceKind::end};
  switch (tokenizer.kind(token)) {
    case TokenKind::control:
      return {{}, PieceKind::control};
    case TokenKind::unknown:
    case TokenKind::unused:
      return {{}, PieceKind::unused};
    default:
      return {tokenizer.piece(token), PieceKind::text};
  }
}

int32_t token_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  const Status status = tokenizer.encode(text, {.add_special = false, .parse_special = true}, ids);
  return status.ok() && ids.size() == 1 ? ids[0] : -1;
}

Result<Grammar> compile(const Tokenizer& tokenizer, ConstraintSource& source, std::vector<std::string>& remarks) {
  const JsonStyle style{.whitespace = source.compact ? Whitespace::compact : Whitespace::flexible, .escapes = source.escapes};
  switch (source.kind) {
    case ConstraintSource::Kind::any_json:
      return constraint::any_json(style);
    case ConstraintSource::Kind::gbnf:
      return constraint::compile_gbnf(source.text, [&](std::string_view text) { return token_of(tokenizer, text); });
    case ConstraintSource::Kind::regex:
      return constraint::compile_regex(source.text);
    case ConstraintSource::Kind::choices:
      return constraint::compile_choices(source.choices);
    case ConstraintSource::Kind::json_schema:
      break;
  }
  INLAY_ASSIGN(constraint::CompiledSchema compiled, constraint::compile_json_schema(std::move(source.text), {.style = style, .lenient = source.lenient}));
  remarks = std::move(compiled.remarks);
  return std::move(compiled.grammar);
}

Result<MadeConstraint> compile_all(const Tokenizer& tokenizer, ConstraintSource& source, const std::shared_ptr<const TokenTrie>& tokens) {
  MadeConstraint out;
  StateOut origin;  // what a saved session makes it of again
  origin(source);
  INLAY_ASSIGN(Grammar grammar, compile(tokenizer, source, out.remarks));
  INLAY_ASSIGN(out.constraint, Constraint::make(std::move(grammar), tokens, {}, origin.take()));
  return out;
}

}  // namespace

Result<std::shared_ptr<const TokenTrie>> DrawnVocabulary::get(const Tokenizer* tokenizer, int32_t n_vocab) {
  if (tokenizer == nullptr) return error(Code::unsupported, "the model has no tokenizer, and so no texts that could be constrained");
  const std::lock_guard lock(mutex_);
  if (made_) return made_;
  std::vector<Piece> pieces;
  for (int32_t token = 0; token < n_vocab; ++token) pieces.push_back(piece_of(*tokenizer, token));
  INLAY_ASSIGN(made_, TokenTrie::make(pieces));
  return made_;
}

bool DrawnVocabulary::has(const Constraint& constraint) const {
  const std::lock_guard lock(mutex_);
  return &constraint.tokens() == made_.get();
}

Result<MadeConstraint> make_constraint(DrawnVocabulary& vocabulary, const Tokenizer* tokenizer, int32_t n_vocab, ConstraintSource source) {
  INLAY_ASSIGN(const std::shared_ptr<const TokenTrie> tokens, vocabulary.get(tokenizer, n_vocab));
  std::optional<Result<MadeConstraint>> out;
  {
    INLAY_ASSIGN(Thread thread, Thread::start("inlay-compile", [&] { out.emplace(compile_all(*tokenizer, source, tokens)); }));
    thread.join();
  }
  if (!out) return error(Code::out_of_memory, "out of host memory");
  return *std::move(out);
}

void ConstrainedText::accept_token(int32_t token) {
  mask_.words.clear();
  if (fault_.ok()) fault_ = state_.accept_token(token);
}

void ConstrainedText::make_mask() {
  if (!mask_.words.empty()) return;
  if (fault_.ok() && !state_.is_dead()) {
    mask_.words.resize(state_.n_mask_words());
    fault_ = state_.mask(mask_.words);
    if (!fault_.ok()) mask_.words.clear();
  }
  mask_.status = fault_;
}

}  // namespace inlay
