// Continues a prompt, and streams the text as it is decoded.
// usage: complete MODEL [PROMPT [TOKENS]]
#include <stdio.h>
#include <stdlib.h>

#include "inlay.h"
#include "prompt.h"

static inlay_error err;
static inlay_engine* engine;
static inlay_session* session;

static int fail(const char* what) {
  fprintf(stderr, "complete: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

// An event holds 128 bytes of text; a longer rest is to be taken.
static int write_text(void) {
  char rest[256];
  size_t n = 0;
  for (inlay_event event = {0}; event.finish_reason == INLAY_FINISH_NONE;) {
    if (inlay_decode_step(&session, 1, &event, sizeof event, &err) != INLAY_OK) return fail("cannot decode");
    fwrite(event.text, 1, event.text_bytes, stdout);
    do {
      if (inlay_session_take_text(session, rest, sizeof rest, &n, &err) != INLAY_OK) return fail("no text");
      fwrite(rest, 1, n, stdout);
    } while (n > 0);
    fflush(stdout);
  }
  printf("\n");
  return 0;
}

static int complete(const char* model, const char* prompt, int32_t n_tokens) {
  inlay_session_params params = {.struct_size = sizeof params, .max_tokens = n_tokens};
  if (inlay_load(model, SIZE_MAX, NULL, &engine, &err) != INLAY_OK) return fail(model);
  if (inlay_session_create(engine, &params, &session, &err) != INLAY_OK) return fail("no session");
  if (example_run_prompt(session, engine, prompt, &err) != INLAY_OK) return fail("cannot run the prompt");
  printf("%s", prompt);
  return write_text();
}

int main(int argc, char** argv) {
  const char* prompt = argc > 2 ? argv[2] : "Once upon a time";
  const int n_tokens = argc > 3 ? atoi(argv[3]) : 100;
  if (argc < 2 || argc > 4 || n_tokens < 1) {
    fprintf(stderr, "usage: complete MODEL [PROMPT [TOKENS]]\n");
    return 2;
  }
  const int failed = complete(argv[1], prompt, n_tokens);
  inlay_session_free(session);
  inlay_free(engine);
  return failed;
}
