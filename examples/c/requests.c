// A loop of frames that hands prompts over and collects their texts: the engine computes for at most 4 ms in each frame.
// usage: requests MODEL [TOKENS [PROMPT...]]      at most eight; without any, three of its own
#define _POSIX_C_SOURCE 200809L  // clocks
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "inlay.h"

#define MAX_PROMPTS 8
#define TEXT_BYTES 4096

typedef struct line {
  const char* prompt;
  char text[TEXT_BYTES];  // what was written after the prompt; the rest of a longer text is dropped
  size_t n_bytes;
} line;

static char* own_prompts[3] = {"Once upon a time", "The old fox said", "In a small house"};
static inlay_error err;
static inlay_engine* engine;
static inlay_queue* queue;
static line lines[MAX_PROMPTS];

static int fail(const char* what) {
  fprintf(stderr, "requests: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

static void append(line* l, const char* text, size_t n) {
  if (n > TEXT_BYTES - l->n_bytes) n = TEXT_BYTES - l->n_bytes;
  memcpy(l->text + l->n_bytes, text, n);
  l->n_bytes += n;
}

// Hands all prompts over. From any thread, at any time: nothing is computed here.
static int submit_all(char** prompts, int n, int32_t n_tokens) {
  inlay_session_params session = {.struct_size = sizeof session, .max_tokens = n_tokens};
  for (int i = 0; i < n; i++) {
    inlay_request request = {.struct_size = sizeof request, .session_params = &session, .user = (uint64_t)i};
    uint64_t id = 0;
    request.text = lines[i].prompt = prompts[i];
    request.text_len = strlen(prompts[i]);
    if (inlay_submit(queue, &request, &id, &err) != INLAY_OK) return fail(prompts[i]);
  }
  return 0;
}

// What has come since the last frame; how many requests have ended, or -1.
static int collect(void) {
  inlay_request_event events[16];
  inlay_token_logprob tokens[64];
  char text[1024];
  size_t n = 0;
  int n_ended = 0;
  if (inlay_poll(queue, events, 16, sizeof events[0], tokens, 64, text, sizeof text, &n, &err) != INLAY_OK)
    return fail("cannot poll"), -1;
  for (size_t i = 0; i < n; i++) {
    const inlay_request_event* event = &events[i];
    if (event->kind == INLAY_REQUEST_EVENT_TOKENS) append(&lines[event->user], text + event->first_byte, event->text_bytes);
    if (event->kind != INLAY_REQUEST_EVENT_END) continue;
    n_ended++;
    if (event->finish_reason == INLAY_FINISH_ERROR)
      fprintf(stderr, "requests: %s: %.*s\n", lines[event->user].prompt, (int)event->text_bytes, text + event->first_byte);
  }
  return n_ended;
}

static int run(const char* model, int32_t n_tokens, char** prompts, int n) {
  const inlay_run_params budget = {.struct_size = sizeof budget, .budget_us = 4000};
  inlay_run_info info = {.struct_size = sizeof info};
  if (inlay_load(model, SIZE_MAX, NULL, &engine, &err) != INLAY_OK) return fail(model);
  if (inlay_queue_create(engine, NULL, &queue, &err) != INLAY_OK) return fail("cannot make a queue");
  if (submit_all(prompts, n, n_tokens)) return 1;
  for (int n_left = n; n_left > 0;) {
    const double frame_ends = example_now() + 1.0 / 60;
    if (inlay_run(engine, &budget, &info, &err) != INLAY_OK) return fail("cannot compute");
    const int n_ended = collect();
    if (n_ended < 0) return 1;
    n_left -= n_ended;
    example_sleep_until(frame_ends);  // a game draws its picture here
  }
  for (int i = 0; i < n; i++) printf("%s%.*s\n", lines[i].prompt, (int)lines[i].n_bytes, lines[i].text);
  return 0;
}

int main(int argc, char** argv) {
  const int n_tokens = argc > 2 ? atoi(argv[2]) : 30, n_prompts = argc - 3;
  if (argc < 2 || n_tokens < 1 || n_prompts > MAX_PROMPTS) {
    fprintf(stderr, "usage: requests MODEL [TOKENS [PROMPT...]] (at most %d)\n", MAX_PROMPTS);
    return 2;
  }
  const int failed = n_prompts > 0 ? run(argv[1], n_tokens, argv + 3, n_prompts) : run(argv[1], n_tokens, own_prompts, 3);
  inlay_queue_free(queue);
  inlay_free(engine);
  return failed;
}
