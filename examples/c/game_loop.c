// A game's loop: 60 frames a second, while a character talks. The model runs on a thread of its own and leaves its
// words in a mailbox, which each frame empties; a frame never waits for the model. Then the same without a thread: each
// frame runs a part of a token itself, for as long as it can spare. Prints how long frames took without the model and
// in both ways. usage: game_loop MODEL [SECONDS]
#define _POSIX_C_SOURCE 200809L  // clocks and threads
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "inlay.h"
#include "prompt.h"

#define FRAMES_A_SECOND 60
#define WORK_SECONDS 0.004   // what the rest of the game takes of a frame
#define MODEL_SECONDS 0.002  // what a frame gives the model where that has no thread
#define MAX_SECONDS 60
#define MAILBOX_BYTES 8192

// The character's words on their way to the screen. `mutex` guards all of it.
typedef struct mailbox {
  pthread_mutex_t mutex;
  char text[MAILBOX_BYTES];  // words that do not fit are dropped
  size_t n_bytes;
  int n_tokens;
  int stop;    // set by the game
  int failed;  // set by the character
} mailbox;

static inlay_error err;
static inlay_engine* engine;
static inlay_session* session;
static mailbox box = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int fail(const char* what) {
  fprintf(stderr, "game_loop: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

// Puts an event into the mailbox. Returns whether to go on.
static int post(const inlay_event* event) {
  pthread_mutex_lock(&box.mutex);
  const size_t room = MAILBOX_BYTES - box.n_bytes;
  const size_t n = event->text_bytes < room ? event->text_bytes : room;
  memcpy(box.text + box.n_bytes, event->text, n);
  box.n_bytes += n;
  box.n_tokens += event->kind == INLAY_EVENT_TOKEN;
  const int go_on = !box.stop;
  pthread_mutex_unlock(&box.mutex);
  return go_on;
}

static int begin_tale(void) {
  if (inlay_session_truncate(session, 0, &err) != INLAY_OK) return fail("cannot begin again");
  if (example_run_prompt(session, engine, "Once upon a time", &err) != INLAY_OK) return fail("cannot run the prompt");
  return 0;
}

// One tale after the other. Only this thread uses the session.
static int talk(void) {
  for (int go_on = 1; go_on;) {
    if (begin_tale() != 0) return 1;
    for (inlay_event event = {0}; go_on && event.finish_reason == INLAY_FINISH_NONE;) {
      if (inlay_decode_step(&session, 1, &event, sizeof event, &err) != INLAY_OK) return fail("cannot decode");
      go_on = post(&event);
    }
  }
  return 0;
}

static void* character(void* unused) {
  (void)unused;
  const int failed = talk();
  pthread_mutex_lock(&box.mutex);
  box.failed = failed;
  pthread_mutex_unlock(&box.mutex);
  return NULL;
}

// Layer by layer, as long as there is time: what a frame does not finish of a token the next one goes on with.
static int talk_until(double end) {
  static inlay_event event;
  do {
    int32_t units_left = 0;
    if (inlay_decode_slice(&session, 1, 1, &event, sizeof event, &units_left, &err) != INLAY_OK) return fail("cannot decode");
    if (units_left > 0) continue;
    post(&event);
    if (event.finish_reason != INLAY_FINISH_NONE && begin_tale() != 0) return 1;
  } while (example_now() < end);
  return 0;
}

// What stands for the game: its own work, and showing the words that came. Returns how many bytes came.
static size_t frame(double start, int in_slices) {
  char shown[MAILBOX_BYTES];
  if (in_slices && !box.failed) box.failed = talk_until(start + MODEL_SECONDS);
  pthread_mutex_lock(&box.mutex);
  const size_t n = box.n_bytes;
  memcpy(shown, box.text, n);
  box.n_bytes = 0;
  pthread_mutex_unlock(&box.mutex);
  const double end = example_now() + WORK_SECONDS;
  while (example_now() < end) continue;
  return n;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Runs frames at their times. A frame's time goes from when it was due to the end of its work.
static void run_frames(const char* what, int n, int in_slices) {
  static double took[FRAMES_A_SECOND * MAX_SECONDS];
  size_t n_bytes = 0;
  const double begin = example_now();
  for (int i = 0; i < n; i++) {
    const double due = begin + (double)i / FRAMES_A_SECOND;
    example_sleep_until(due);
    n_bytes += frame(example_now(), in_slices);
    took[i] = (example_now() - due) * 1e3;
  }
  qsort(took, (size_t)n, sizeof *took, ascending);
  printf("%-9s %d frames, ms: p50 %.2f p99 %.2f max %.2f; %zu bytes shown\n", what, n, took[n / 2], took[n * 99 / 100],
         took[n - 1], n_bytes);
}

static int run(const char* model, int n_frames) {
  // One thread computes: the others stay with the game.
  inlay_load_params load = {.struct_size = sizeof load, .n_threads = 1};
  inlay_sampler_params sampler = {.struct_size = sizeof sampler, .temperature = 0.8f, .seed = 7};
  inlay_session_params params = {.struct_size = sizeof params, .sampler = &sampler};
  if (inlay_load(model, SIZE_MAX, &load, &engine, &err) != INLAY_OK) return fail(model);
  if (inlay_session_create(engine, &params, &session, &err) != INLAY_OK) return fail("no session");
  run_frames("silent", n_frames, 0);

  pthread_t thread;
  if (pthread_create(&thread, NULL, character, NULL) != 0) {
    fprintf(stderr, "game_loop: no thread\n");
    return 1;
  }
  const double start = example_now();
  run_frames("talking", n_frames, 0);
  pthread_mutex_lock(&box.mutex);
  box.stop = 1;
  pthread_mutex_unlock(&box.mutex);
  pthread_join(thread, NULL);
  printf("%d tokens, %.0f a second\n", box.n_tokens, box.n_tokens / (example_now() - start));
  if (box.failed || begin_tale() != 0) return 1;

  box.n_tokens = 0;
  const double second_start = example_now();
  run_frames("slices", n_frames, 1);
  printf("%d tokens, %.0f a second\n", box.n_tokens, box.n_tokens / (example_now() - second_start));
  return box.failed;
}

int main(int argc, char** argv) {
  const int seconds = argc == 3 ? atoi(argv[2]) : 5;
  if (argc < 2 || argc > 3 || seconds < 1 || seconds > MAX_SECONDS) {
    fprintf(stderr, "usage: game_loop MODEL [SECONDS] (at most %d)\n", MAX_SECONDS);
    return 2;
  }
  const int failed = run(argv[1], seconds * FRAMES_A_SECOND);
  inlay_session_free(session);
  inlay_free(engine);
  return failed;
}
