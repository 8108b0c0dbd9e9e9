#include "src/engine/constrained.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "src/base/thread.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "src/engine/engine.h"
#include "src/engine/message_grammar.h"
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

Piece piece_of(const Tokenizer& tokenizer, int32_t token, std::span<const int32_t> markers) {
  if (token >= tokenizer.n_tokens()) return {{}, PieceKind::unused};
  if (tokenizer.is_end_of_generation(token)) return {{}, PieceKind::end};
  if (std::ranges::binary_search(markers, token)) return {{}, PieceKind::control};
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

// A message's demand, in the model's format.
struct MessageSource {
  MessageDemand demand;
  ModelChatFormatPtr format;
  ChatParser::Open open = ChatParser::Open::nothing;
};

Result<MessageSource> read_message(Engine& engine, ConstraintSource& source) {
  MessageSource out;
  INLAY_ASSIGN(out.demand, MessageDemand::read(std::move(source.text)));
  INLAY_ASSIGN(out.format, engine.chat_format({.json = source.format, .source = source.chat_template, .has_tools = out.demand.has_tools}));
  INLAY_ASSIGN(const auto parser, MessageParser::make(out.format, {.prompt = source.prompt}));
  out.open = parser->open();
  return out;
}

Result<Grammar> compile(const Tokenizer& tokenizer, ConstraintSource& source, const MessageSource* message, std::vector<std::string>& remarks) {
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
    case ConstraintSource::Kind::message: {
      INLAY_ASSIGN(MessageGrammar made, message_grammar(*message->format, message->demand, message->open, style, source.lenient));
      remarks = std::move(made.remarks);
      return std::move(made.grammar);
    }
    case ConstraintSource::Kind::json_schema:
      break;
  }
  INLAY_ASSIGN(constraint::CompiledSchema compiled, constraint::compile_json_schema(std::move(source.text), {.style = style, .lenient = source.lenient}));
  remarks = std::move(compiled.remarks);
  return std::move(compiled.grammar);
}

Result<MadeConstraint> compile_all(Engine& engine, DrawnVocabulary& vocabulary, ConstraintSource& source) {
  StateOut archive;  // what a saved session makes it of again; before the source is used up
  archive(source);
  const Tokenizer* tokenizer = engine.tokenizer();
  std::optional<MessageSource> message;
  if (source.kind == ConstraintSource::Kind::message) {
    INLAY_ASSIGN(message, read_message(engine, source));
  }
  const std::span<const int32_t> markers = message ? message->format->vocabulary.marker_ids() : std::span<const int32_t>();
  INLAY_ASSIGN(const std::shared_ptr<const TokenTrie> tokens, vocabulary.get(tokenizer, engine.spec().n_vocab, markers));
  MadeConstraint out;
  INLAY_ASSIGN(Grammar grammar, compile(*tokenizer, source, message ? &*message : nullptr, out.remarks));
  INLAY_ASSIGN(out.constraint, Constraint::make(std::move(grammar), tokens, {}, archive.take()));
  return out;
}

}  // namespace

Result<std::shared_ptr<const TokenTrie>> DrawnVocabulary::get(const Tokenizer* tokenizer, int32_t n_vocab, std::span<const int32_t> markers) {
  if (tokenizer == nullptr) return error(Code::unsupported, "the model has no tokenizer, and so no texts that could be constrained");
  const auto is_text = [&](int32_t token) { return token < n_vocab && piece_of(*tokenizer, token, {}).kind == PieceKind::text; };
  const bool are_apart = std::ranges::any_of(markers, is_text);
  if (!are_apart) markers = {};
  const Lock lock(mutex_);
  std::shared_ptr<const TokenTrie> made;
  if (are_apart) {
    const auto known = std::ranges::find_if(marked_, [&](const Marked& one) { return std::ranges::equal(one.markers, markers); });
    if (known != marked_.end()) {
      made = known->tokens.lock();
      marked_.erase(known);
    }
  } else {
    made = made_;
  }
  if (!made) {
    std::vector<Piece> pieces;
    for (int32_t token = 0; token < n_vocab; ++token) pieces.push_back(piece_of(*tokenizer, token, markers));
    INLAY_ASSIGN(made, TokenTrie::make(pieces));
  }
  if (are_apart) {
    keep(markers, made);
  } else {
    made_ = made;
  }
  return made;
}

void DrawnVocabulary::keep(std::span<const int32_t> markers, const std::shared_ptr<const TokenTrie>& made) {
  marked_.push_back({{markers.begin(), markers.end()}, made, made});
  if (marked_.size() > kKept) marked_[marked_.size() - 1 - kKept].kept.reset();
  std::erase_if(marked_, [](const Marked& one) { return one.tokens.expired(); });
}

bool DrawnVocabulary::has(const Constraint& constraint) const {
  const Lock lock(mutex_);
  const auto is_of = [&](const Marked& known) { return known.tokens.lock().get() == &constraint.tokens(); };
  return &constraint.tokens() == made_.get() || std::ranges::any_of(marked_, is_of);
}

Result<MadeConstraint> make_constraint(Engine& engine, DrawnVocabulary& vocabulary, ConstraintSource source) {
  std::optional<Result<MadeConstraint>> out;
  {
    INLAY_ASSIGN(Thread thread, Thread::start("inlay-compile", [&] { out.emplace(compile_all(engine, vocabulary, source)); }));
    thread.join();
  }
  if (!out) return error(Code::out_of_memory, "out of host memory");
  return *std::move(out);
}

void ConstrainedText::accept_token(int32_t token) {
  mask_.words.clear();
  if (fault_.ok()) fault_ = state_.accept_token(token);
}

Result<std::string> ConstrainedText::forced(size_t most) {
  INLAY_TRY(fault_);
  return is_dead() ? std::string() : state_.forced_bytes(most);
}

void ConstrainedText::make_mask() {
  if (!mask_.words.empty()) return;
  try {
    make_words();
    mask_.status = fault_;
  } catch (const std::bad_alloc&) {  // of this draw alone
    mask_.status = out_of_memory();
  }
}

void ConstrainedText::make_words() {
  if (!fault_.ok() || state_.is_dead()) return;
  std::vector<uint32_t> words = std::move(mask_.words);
  words.resize(state_.n_mask_words());
  fault_ = state_.mask(words);
  if (fault_.ok()) mask_.words = std::move(words);
}

}  // namespace inlay
