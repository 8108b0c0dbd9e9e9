#include "src/engine/chat.h"

#include "src/base/pulse.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

struct Given {
  std::string_view conversation;
  ChatOptions options;
};

Result<Given> read_arguments(Use<inlay_engine>& use, const inlay_engine* engine, const char* conversation,
                             size_t conversation_len, const inlay_chat_params* given) {
  INLAY_TRY(use.begin(engine, "engine"));
  Given out;
  INLAY_ASSIGN(out.conversation, read_text(conversation, conversation_len, "conversation"));
  INLAY_TRY(read_chat_params(given, out.options));
  return out;
}

}  // namespace

Status read_chat_params(const inlay_chat_params* given, ChatOptions& out) {
  inlay_chat_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_flags(params.flags, INLAY_CHAT_ADD_GENERATION_PROMPT | INLAY_CHAT_CONTINUE_FINAL_MESSAGE, "params.flags"));
  out.add_generation_prompt = (params.flags & INLAY_CHAT_ADD_GENERATION_PROMPT) != 0;
  out.continue_final_message = (params.flags & INLAY_CHAT_CONTINUE_FINAL_MESSAGE) != 0;
  if (out.add_generation_prompt && out.continue_final_message)
    return error(Code::invalid_argument, "params.flags has ADD_GENERATION_PROMPT and CONTINUE_FINAL_MESSAGE, of which only one can be");
  INLAY_ASSIGN(const std::string_view source, read_text(params.chat_template, params.template_len, "params.chat_template"));
  if (params.chat_template) out.source = source;
  return {};
}

}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_chat_render(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                               const inlay_chat_params* params, char* buf, size_t cap, size_t* needed, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_ASSIGN(const Given given, read_arguments(use, engine, conversation, conversation_len, params));
    INLAY_ASSIGN(const std::string text, render_chat(*engine->engine, given.conversation, given.options));
    return write_text(text, buf, cap, needed);
  });
}

inlay_status inlay_chat_tokenize(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                                 const inlay_chat_params* params, int32_t* tokens, size_t cap, size_t* n_tokens,
                                 inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_ASSIGN(const Given given, read_arguments(use, engine, conversation, conversation_len, params));
    INLAY_TRY(check_not_null(n_tokens, "n_tokens"));
    if (cap != 0) INLAY_TRY(check_not_null(tokens, "tokens"));
    *n_tokens = 0;
    const Pulse pulse([engine](uint64_t) { return check_not_freed(*engine); });
    INLAY_ASSIGN(const std::vector<int32_t> ids, tokenize_chat(*engine->engine, given.conversation, given.options));
    INLAY_TRY(engine->engine->check_tokens(ids));
    return write_tokens(ids, tokens, cap, n_tokens);
  });
}
