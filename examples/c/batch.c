// Continues several prompts at once: every step reads the weights once and draws a token for each of them.
// usage: batch LIBRARY MODEL TOKENS PROMPT...
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/capi/inlay_dl.h"

#define MAX_PROMPTS 16
#define TEXT_BYTES 4096

typedef struct line {
  inlay_session* session;
  const char* prompt;
  char text[TEXT_BYTES];  // what was written after the prompt; the rest of a longer text is dropped
  size_t n_bytes;
} line;

static inlay_dl api;
static inlay_error err;
static inlay_engine* engine;
static line lines[MAX_PROMPTS];
static int n_lines;

static int fail(const char* what) {
  fprintf(stderr, "batch: %s: %s (%s)\n", what, err.message, api.inlay_status_name(err.status));
  return 1;
}

static int begin_line(line* l, int32_t n_tokens) {
  inlay_session_params params = {.struct_size = sizeof params, .max_tokens = n_tokens};
  size_t cap = strlen(l->prompt) + 2, n = 0;
  int32_t* tokens = malloc(cap * sizeof *tokens);
  if (!tokens) {
    fprintf(stderr, "batch: out of memory\n");
    return 1;
  }
  int failed = 0;
  if (api.inlay_session_create(engine, &params, &l->session, &err) != INLAY_OK ||
      api.inlay_tokenize(engine, l->prompt, SIZE_MAX, 0, tokens, cap, &n, &err) != INLAY_OK ||
      api.inlay_prefill(l->session, tokens, n, NULL, &err) != INLAY_OK) {
    failed = fail(l->prompt);
  }
  free(tokens);
  return failed;
}

static void append(line* l, const char* text, size_t n) {
  if (n > TEXT_BYTES - l->n_bytes) n = TEXT_BYTES - l->n_bytes;
  memcpy(l->text + l->n_bytes, text, n);
  l->n_bytes += n;
}

// A line that has ended leaves the batch; the others go on.
static int decode_all(void) {
  inlay_session* sessions[MAX_PROMPTS];
  line* owner[MAX_PROMPTS];
  inlay_event events[MAX_PROMPTS];
  int n = n_lines;
  for (int i = 0; i < n; i++) {
    owner[i] = &lines[i];
    sessions[i] = lines[i].session;
  }
  while (n > 0) {
    if (api.inlay_decode_step(sessions, (size_t)n, events, sizeof events[0], &err) != INLAY_OK)
      return fail("cannot decode");
    int n_left = 0;
    for (int i = 0; i < n; i++) {
      append(owner[i], events[i].text, events[i].text_bytes);
      if (events[i].finish_reason != INLAY_FINISH_NONE) continue;
      owner[n_left] = owner[i];
      sessions[n_left++] = sessions[i];
    }
    n = n_left;
  }
  return 0;
}

static int run(const char* model, int32_t n_tokens) {
  inlay_load_params params = {.struct_size = sizeof params, .max_sessions = n_lines};
  if (api.inlay_load(model, SIZE_MAX, &params, &engine, &err) != INLAY_OK) return fail(model);
  for (int i = 0; i < n_lines; i++) {
    if (begin_line(&lines[i], n_tokens)) return 1;
  }
  if (decode_all()) return 1;
  for (int i = 0; i < n_lines; i++) {
    printf("%s", lines[i].prompt);
    fwrite(lines[i].text, 1, lines[i].n_bytes, stdout);
    printf("\n");
  }
  return 0;
}

int main(int argc, char** argv) {
  char message[256];
  const int n_tokens = argc > 3 ? atoi(argv[3]) : 0;
  if (argc < 5 || argc - 4 > MAX_PROMPTS || n_tokens < 1) {
    fprintf(stderr, "usage: batch LIBRARY MODEL TOKENS PROMPT... (at most %d)\n", MAX_PROMPTS);
    return 2;
  }
  if (inlay_dl_open(argv[1], &api, message, sizeof message) != 0) {
    fprintf(stderr, "batch: %s\n", message);
    return 1;
  }
  for (int i = 4; i < argc; i++) lines[n_lines++].prompt = argv[i];
  const int failed = run(argv[2], n_tokens);
  for (int i = 0; i < n_lines; i++) api.inlay_session_free(lines[i].session);
  api.inlay_free(engine);
  inlay_dl_close(&api);
  return failed;
}
