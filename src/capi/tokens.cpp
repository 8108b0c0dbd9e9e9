#include "src/base/pulse.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

Result<const Tokenizer*> tokenizer_of(Use<inlay_engine>& use, const inlay_engine* engine) {
  INLAY_TRY(use.begin(engine, "engine"));
  const Tokenizer* tokenizer = engine->engine->tokenizer();
  if (!tokenizer) return error(Code::unsupported, "the model has no tokenizer");
  return tokenizer;
}

// A rendered chat writes BOS itself, and BOS in front of it changes what the model sees. Said once.
void warn_of_two_bos(const inlay_engine& engine, const Tokenizer& tokenizer, std::span<const int32_t> ids) {
  const int32_t bos = tokenizer.bos();
  if (bos < 0 || ids.size() < 2 || ids[0] != bos || ids[1] != bos) return;
  if (engine.shared->warned_of_two_bos.exchange(true)) return;
  engine.engine->log().write(LogLevel::warning,
                             "a text that begins with BOS was tokenized with BOS in front, so that there are two; "
                             "rendered chats want INLAY_TOKENIZE_NO_BOS_EOS, or inlay_chat_tokenize");
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_tokenize(const inlay_engine* engine, const char* text, size_t text_len, inlay_tokenize_flags flags,
                            int32_t* tokens, size_t cap, size_t* n_tokens, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_ASSIGN(const Tokenizer* tokenizer, tokenizer_of(use, engine));
    INLAY_ASSIGN(const std::string_view input, read_text(text, text_len, "text"));
    INLAY_TRY(check_flags(flags, INLAY_TOKENIZE_NO_BOS_EOS | INLAY_TOKENIZE_PARSE_SPECIAL, "flags"));
    INLAY_TRY(check_not_null(n_tokens, "n_tokens"));
    if (cap != 0) INLAY_TRY(check_not_null(tokens, "tokens"));
    *n_tokens = 0;
    const Pulse pulse([engine](uint64_t) { return check_not_freed(*engine); });
    std::vector<int32_t> ids;
    INLAY_TRY(tokenizer->encode(input,
                                {.add_special = (flags & INLAY_TOKENIZE_NO_BOS_EOS) == 0,
                                 .parse_special = (flags & INLAY_TOKENIZE_PARSE_SPECIAL) != 0},
                                ids));
    INLAY_TRY(engine->engine->check_tokens(ids));
    warn_of_two_bos(*engine, *tokenizer, ids);
    return write_tokens(ids, tokens, cap, n_tokens);
  });
}

inlay_status inlay_detokenize(const inlay_engine* engine, const int32_t* tokens, size_t n_tokens,
                              inlay_detokenize_flags flags, char* buf, size_t cap, size_t* needed, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_ASSIGN(const Tokenizer* tokenizer, tokenizer_of(use, engine));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    INLAY_TRY(check_flags(flags, INLAY_DETOKENIZE_SHOW_SPECIAL, "flags"));
    std::string text;
    INLAY_TRY(tokenizer->decode(ids, {.show_special = (flags & INLAY_DETOKENIZE_SHOW_SPECIAL) != 0}, text));
    return write_text(text, buf, cap, needed);
  });
}

inlay_status inlay_token_get_info(const inlay_engine* engine, int32_t token, inlay_token_info* info, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_ASSIGN(const Tokenizer* tokenizer, tokenizer_of(use, engine));
    INLAY_TRY(check_out_struct(info, "info"));
    INLAY_TRY(check_range(token, 0, tokenizer->n_tokens() - 1, "token"));
    const std::string_view piece = tokenizer->piece(token);
    inlay_token_info out = {};
    out.kind = static_cast<inlay_token_kind>(tokenizer->kind(token));
    if (tokenizer->is_end_of_generation(token)) out.flags |= INLAY_TOKEN_FLAG_END_OF_GENERATION;
    if (tokenizer->kind(token) == TokenKind::control) out.flags |= INLAY_TOKEN_FLAG_CONTROL;
    out.score = tokenizer->score(token);
    out.piece_bytes = static_cast<uint32_t>(piece.size());
    std::memcpy(out.piece, piece.data(), std::min(piece.size(), sizeof out.piece));
    write_struct(info, out);
    return {};
  });
}
