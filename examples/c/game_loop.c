// A game's loop: 60 frames a second, while a character talks. Its tales are requests, and each frame collects the words
// that came. First the engine computes on a thread of its own, so that a frame never waits for the model; then each frame
// computes for at most 2 ms itself, by inlay_run. Last a session and inlay_decode_slice do the same, for programs that
// look at logits or choose tokens themselves. Prints how long frames took. usage: game_loop MODEL [SECONDS]
#define _POSIX_C_SOURCE 200809L  // clocks
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "inlay.h"
#include "prompt.h"

#define FRAMES_A_SECOND 60
#define WORK_SECONDS 0.004  // what the rest of the game takes of a frame
#define MODEL_US 2000       // what a frame gives the model where that has no thread
#define MAX_SECONDS 60
#define TALE "Once upon a time"

static const inlay_sampler_params sampler = {.struct_size = sizeof sampler, .temperature = 0.8f, .seed = 7};
static const inlay_session_params character = {.struct_size = sizeof character, .sampler = &sampler};
static inlay_error err;
static inlay_engine* engine;
static inlay_queue* queue;
static inlay_session* session;
static int n_tokens;    // that came
static size_t n_bytes;  // of words that were shown

static int fail(const char* what) {
  fprintf(stderr, "game_loop: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

// ---- by requests

static int submit_tale(void) {
  const inlay_request request = {
      .struct_size = sizeof request, .text = TALE, .text_len = strlen(TALE), .session_params = &character};
  uint64_t id = 0;
  return inlay_submit(queue, &request, &id, &err) == INLAY_OK ? 0 : fail("cannot begin a tale");
}

// Shows what has come since the last frame. One tale follows the other.
static int collect(void) {
  inlay_request_event events[16];
  inlay_token_logprob tokens[256];
  char text[4096];
  size_t n = 0;
  if (inlay_poll(queue, events, 16, sizeof events[0], tokens, 256, text, sizeof text, &n, &err) != INLAY_OK)
    return fail("cannot poll");
  for (size_t i = 0; i < n; i++) {
    if (events[i].finish_reason == INLAY_FINISH_ERROR) {
      fprintf(stderr, "game_loop: %.*s\n", (int)events[i].text_bytes, text + events[i].first_byte);
      return 1;
    }
    n_tokens += events[i].n_tokens;
    n_bytes += events[i].text_bytes;
    if (events[i].kind == INLAY_REQUEST_EVENT_END && submit_tale() != 0) return 1;
  }
  return 0;
}

static int compute_and_collect(void) {
  const inlay_run_params budget = {.struct_size = sizeof budget, .budget_us = MODEL_US};
  inlay_run_info info = {.struct_size = sizeof info};
  return inlay_run(engine, &budget, &info, &err) == INLAY_OK ? collect() : fail("cannot compute");
}

// ---- by a session of the game's own

static int run_prompt(void) {
  if (inlay_session_truncate(session, 0, &err) != INLAY_OK) return fail("cannot begin again");
  return example_run_prompt(session, engine, TALE, &err) == INLAY_OK ? 0 : fail("cannot run the prompt");
}

// Layer by layer, as long as there is time: what a frame does not finish of a token the next one goes on with.
static int decode_slices(void) {
  static inlay_event event;
  const double end = example_now() + MODEL_US * 1e-6;
  do {
    int32_t units_left = 0;
    if (inlay_decode_slice(&session, 1, 1, &event, sizeof event, &units_left, &err) != INLAY_OK)
      return fail("cannot decode");
    if (units_left > 0) continue;
    n_tokens += event.kind == INLAY_EVENT_TOKEN;
    n_bytes += event.text_bytes;
    if (event.finish_reason != INLAY_FINISH_NONE && run_prompt() != 0) return 1;
  } while (example_now() < end);
  return 0;
}

// ---- the game

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Runs frames at their times, in each of which the character may talk. A frame's time goes from when it was due to the
// end of its work.
static int run_frames(const char* what, int n, int (*talk)(void)) {
  static double took[FRAMES_A_SECOND * MAX_SECONDS];
  n_bytes = 0;
  n_tokens = 0;
  const double begin = example_now();
  for (int i = 0; i < n; i++) {
    const double due = begin + (double)i / FRAMES_A_SECOND;
    example_sleep_until(due);
    if (talk && talk() != 0) return 1;
    const double end = example_now() + WORK_SECONDS;
    while (example_now() < end) continue;
    took[i] = (example_now() - due) * 1e3;
  }
  qsort(took, (size_t)n, sizeof *took, ascending);
  printf("%-9s %d frames, ms: p50 %.2f p99 %.2f max %.2f; %zu bytes shown\n", what, n, took[n / 2], took[n * 99 / 100],
         took[n - 1], n_bytes);
  if (talk) printf("%d tokens, %.0f a second\n", n_tokens, n_tokens / (example_now() - begin));
  return 0;
}

static int run(const char* model, int n_frames) {
  // One thread computes: the others stay with the game.
  const inlay_load_params load = {.struct_size = sizeof load, .n_threads = 1};
  const inlay_thread_params all_the_time = {.struct_size = sizeof all_the_time};
  if (inlay_load(model, SIZE_MAX, &load, &engine, &err) != INLAY_OK) return fail(model);
  if (run_frames("silent", n_frames, NULL) != 0) return 1;

  if (inlay_queue_create(engine, NULL, &queue, &err) != INLAY_OK) return fail("no queue");
  if (submit_tale() != 0) return 1;
  if (inlay_engine_set_thread(engine, &all_the_time, &err) != INLAY_OK) return fail("no thread");
  if (run_frames("talking", n_frames, collect) != 0) return 1;
  if (inlay_engine_set_thread(engine, NULL, &err) != INLAY_OK) return fail("the thread does not end");
  if (collect() != 0) return 1;  // what the thread has left
  if (run_frames("budget", n_frames, compute_and_collect) != 0) return 1;

  if (inlay_session_create(engine, &character, &session, &err) != INLAY_OK) return fail("no session");
  return run_prompt() || run_frames("slices", n_frames, decode_slices);
}

int main(int argc, char** argv) {
  const int seconds = argc == 3 ? atoi(argv[2]) : 5;
  if (argc < 2 || argc > 3 || seconds < 1 || seconds > MAX_SECONDS) {
    fprintf(stderr, "usage: game_loop MODEL [SECONDS] (at most %d)\n", MAX_SECONDS);
    return 2;
  }
  const int failed = run(argv[1], seconds * FRAMES_A_SECOND);
  inlay_session_free(session);
  inlay_queue_free(queue);
  inlay_free(engine);
  return failed;
}
