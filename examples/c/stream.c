// Loads the Inlay library at run time, and streams the text that a model writes after a prompt.
// usage: stream LIBRARY MODEL PROMPT [TOKENS]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/capi/inlay_dl.h"

static inlay_dl api;
static inlay_error err;
static inlay_engine* engine;
static inlay_session* session;

static int fail(const char* what) {
  fprintf(stderr, "stream: %s: %s (%s)\n", what, err.message, api.inlay_status_name(err.status));
  return 1;
}

// Runs the prompt. Tokens are never more than bytes of text + 2.
static int run_prompt(const char* prompt) {
  size_t cap = strlen(prompt) + 2, n = 0;
  int32_t* tokens = malloc(cap * sizeof *tokens);
  if (!tokens) {
    fprintf(stderr, "stream: out of memory\n");
    return 1;
  }
  int failed = 0;
  if (api.inlay_tokenize(engine, prompt, SIZE_MAX, 0, tokens, cap, &n, &err) != INLAY_OK) {
    failed = fail("cannot tokenize");
  } else if (api.inlay_prefill(session, tokens, n, NULL, &err) != INLAY_OK) {
    failed = fail("cannot run the prompt");
  }
  free(tokens);
  return failed;
}

// An event holds 128 bytes of text; a longer rest is to be taken.
static int write_text(void) {
  char rest[256];
  size_t n = 0;
  for (inlay_event event = {0}; event.finish_reason == INLAY_FINISH_NONE;) {
    if (api.inlay_decode_step(&session, 1, &event, sizeof event, &err) != INLAY_OK) return fail("cannot decode");
    fwrite(event.text, 1, event.text_bytes, stdout);
    do {
      if (api.inlay_session_take_text(session, rest, sizeof rest, &n, &err) != INLAY_OK) return fail("no text");
      fwrite(rest, 1, n, stdout);
    } while (n > 0);
    fflush(stdout);
  }
  printf("\n");
  return 0;
}

static int stream(const char* model, const char* prompt, int32_t n_tokens) {
  inlay_session_params params = {.struct_size = sizeof params, .max_tokens = n_tokens};
  if (api.inlay_load(model, SIZE_MAX, NULL, &engine, &err) != INLAY_OK) return fail(model);
  if (api.inlay_session_create(engine, &params, &session, &err) != INLAY_OK) return fail("no session");
  return run_prompt(prompt) || write_text();
}

int main(int argc, char** argv) {
  char message[256];
  const int n_tokens = argc == 5 ? atoi(argv[4]) : 128;
  if (argc < 4 || argc > 5 || n_tokens < 1) {
    fprintf(stderr, "usage: stream LIBRARY MODEL PROMPT [TOKENS]\n");
    return 2;
  }
  if (inlay_dl_open(argv[1], &api, message, sizeof message) != 0) {
    fprintf(stderr, "stream: %s\n", message);
    return 1;
  }
  const int failed = stream(argv[2], argv[3], n_tokens);
  api.inlay_session_free(session);
  api.inlay_free(engine);
  inlay_dl_close(&api);
  return failed;
}
