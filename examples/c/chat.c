// A conversation on the console: each line is a turn, and the answer is written as it is decoded. Ctrl-D ends it. What the
// session still holds of the turns before is not run again. The model's file must have a chat template.
// usage: chat MODEL [SYSTEM [TOKENS]]      SYSTEM: what the model is told before; TOKENS: the longest answer (256)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inlay.h"

enum { ROOM = 1 << 16 };  // tokens of a conversation
static inlay_error err;
static inlay_engine* engine;
static inlay_session* session;
static int32_t prompt[ROOM], held[ROOM];  // what the template writes, and what the session holds
static char json[16 * ROOM];              // all that was said, an array of messages without its last bracket
static char line[ROOM];
static size_t n_json;

static int fail(const char* what) {
  fprintf(stderr, "chat: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

static void put(const char* text) {
  while (*text && n_json + 2 < sizeof json) json[n_json++] = *text++;  // what was cut is refused, as it is no JSON
}

static void put_quoted(const char* text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char c[8] = {text[i]};
    if (strchr("\"\\", c[0]) || (unsigned char)c[0] < ' ') snprintf(c, sizeof c, "\\u%04x", (unsigned)text[i]);
    put(c);
  }
}

static void put_message(const char* role, const char* text) {
  put(n_json ? ",{\"role\":\"" : "[{\"role\":\"");
  put(role), put("\",\"content\":\""), put_quoted(text, strlen(text));
}

// Runs all that was said, but for the tokens that the session begins with already; 0 if that failed.
static int run_conversation(void) {
  const inlay_chat_params params = {.struct_size = sizeof params, .flags = INLAY_CHAT_ADD_GENERATION_PROMPT};
  size_t n = 0, n_held = 0, n_same = 0;
  json[n_json] = ']';
  if (inlay_chat_tokenize(engine, json, n_json + 1, &params, prompt, ROOM, &n, &err) != INLAY_OK) return 0;
  if (inlay_session_get_tokens(session, 0, held, ROOM, &n_held, &err) != INLAY_OK) return 0;
  while (n_same + 1 < n && n_same < n_held && prompt[n_same] == held[n_same]) n_same++;
  if (inlay_session_truncate(session, n_same, &err) != INLAY_OK) return 0;
  if (inlay_prefill(session, prompt + n_same, n - n_same, NULL, &err) != INLAY_OK) return 0;
  return fprintf(stderr, "(%zu of %zu tokens were new)\n", n - n_same, n);
}

static int answer(void) {
  const size_t before = n_json;
  put_message("user", line), put("\"}");
  if (!run_conversation()) return n_json = before, fail("this line is not taken"), 0;
  put_message("assistant", "");
  for (inlay_event event = {0}; event.finish_reason == INLAY_FINISH_NONE;) {
    if (inlay_decode_step(&session, 1, &event, sizeof event, &err) != INLAY_OK) return fail("cannot decode");
    for (size_t n = event.text_bytes; n > 0;) {  // what an event has no room for is taken
      fwrite(event.text, 1, n, stdout), fflush(stdout), put_quoted(event.text, n);
      if (inlay_session_take_text(session, event.text, sizeof event.text, &n, &err) != INLAY_OK) return fail("no text");
    }
  }
  return put("\"}"), printf("\n"), 0;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) return fprintf(stderr, "usage: chat MODEL [SYSTEM [TOKENS]]\n"), 2;
  const inlay_sampler_params sampler = {.struct_size = sizeof sampler, .temperature = 0.8f, .top_p = 0.95f, .seed = 1};
  inlay_session_params params = {.struct_size = sizeof params, .sampler = &sampler, .max_tokens = 256};
  if (argc > 3) params.max_tokens = atoi(argv[3]);
  if (inlay_load(argv[1], SIZE_MAX, NULL, &engine, &err) != INLAY_OK) return fail(argv[1]);
  int failed = inlay_session_create(engine, &params, &session, &err) != INLAY_OK && fail("no session");
  if (argc > 2) put_message("system", argv[2]), put("\"}");
  for (; !failed && fgets(line, sizeof line, stdin); failed = *line && answer()) line[strcspn(line, "\r\n")] = 0;
  inlay_session_free(session), inlay_free(engine);
  return failed;
}
