#include "src/engine/chat.h"

#include "src/capi/guard.h"
#include "src/capi/handles.h"

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_chat_render(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                               const char* chat_template, size_t template_len, inlay_chat_flags flags, char* buf,
                               size_t cap, size_t* needed, inlay_error* err) {
  return guarded(err, engine, [&]() -> Status {
    INLAY_TRY(check_handle(engine, "engine"));
    INLAY_ASSIGN(const std::string_view json, read_text(conversation, conversation_len, "conversation"));
    INLAY_TRY(check_flags(flags, INLAY_CHAT_ADD_GENERATION_PROMPT, "flags"));
    ChatOptions options = {.add_generation_prompt = (flags & INLAY_CHAT_ADD_GENERATION_PROMPT) != 0};
    if (chat_template) {
      INLAY_ASSIGN(options.source, read_text(chat_template, template_len, "chat_template"));
    }
    INLAY_ASSIGN(const std::string text, render_chat(*engine->engine, json, options));
    return write_text(text, buf, cap, needed);
  });
}
