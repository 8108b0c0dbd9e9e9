// Continues eight prompts at once: every step reads the weights once and draws a token for each of them.
// usage: eight MODEL [TOKENS [PROMPT...]]      at most eight; without any, eight of its own
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inlay.h"
#include "prompt.h"

#define MAX_PROMPTS 8
#define TEXT_BYTES 4096

typedef struct line {
  inlay_session* session;
  const char* prompt;
  char text[TEXT_BYTES];  // what was written after the prompt; the rest of a longer text is dropped
  size_t n_bytes;
} line;

static char* own_prompts[MAX_PROMPTS] = {"Once upon a time",     "The old fox said", "In a small house",
                                         "One cold winter day,", "The queen smiled", "A little boat",
                                         "Deep in the forest",   "The bear woke up"};
static inlay_error err;
static inlay_engine* engine;
static line lines[MAX_PROMPTS];

static int fail(const char* what) {
  fprintf(stderr, "eight: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

static void append(line* l, const char* text, size_t n) {
  if (n > TEXT_BYTES - l->n_bytes) n = TEXT_BYTES - l->n_bytes;
  memcpy(l->text + l->n_bytes, text, n);
  l->n_bytes += n;
}

// A line that has ended leaves the batch; the others go on.
static int decode_all(int n) {
  inlay_session* sessions[MAX_PROMPTS];
  line* owner[MAX_PROMPTS];
  inlay_event events[MAX_PROMPTS];
  for (int i = 0; i < n; i++) {
    owner[i] = &lines[i];
    sessions[i] = lines[i].session;
  }
  while (n > 0) {
    if (inlay_decode_step(sessions, (size_t)n, events, sizeof events[0], &err) != INLAY_OK)
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

static int run(const char* model, int32_t n_tokens, char** prompts, int n) {
  inlay_load_params load = {.struct_size = sizeof load, .max_sessions = MAX_PROMPTS};
  inlay_session_params params = {.struct_size = sizeof params, .max_tokens = n_tokens};
  if (inlay_load(model, SIZE_MAX, &load, &engine, &err) != INLAY_OK) return fail(model);
  for (int i = 0; i < n; i++) {
    lines[i].prompt = prompts[i];
    if (inlay_session_create(engine, &params, &lines[i].session, &err) != INLAY_OK ||
        example_run_prompt(lines[i].session, engine, prompts[i], &err) != INLAY_OK)
      return fail(prompts[i]);
  }
  if (decode_all(n)) return 1;
  for (int i = 0; i < n; i++) printf("%s%.*s\n", lines[i].prompt, (int)lines[i].n_bytes, lines[i].text);
  return 0;
}

int main(int argc, char** argv) {
  const int n_tokens = argc > 2 ? atoi(argv[2]) : 30, n_prompts = argc - 3;
  if (argc < 2 || n_tokens < 1 || n_prompts > MAX_PROMPTS) {
    fprintf(stderr, "usage: eight MODEL [TOKENS [PROMPT...]] (at most %d)\n", MAX_PROMPTS);
    return 2;
  }
  const int failed =
      n_prompts > 0 ? run(argv[1], n_tokens, argv + 3, n_prompts) : run(argv[1], n_tokens, own_prompts, MAX_PROMPTS);
  for (int i = 0; i < MAX_PROMPTS; i++) inlay_session_free(lines[i].session);
  inlay_free(engine);
  return failed;
}
