// Lets a model write for as long as it likes, and stops it from another thread, some time after the first token.
// usage: cancel MODEL [MILLISECONDS]
#define _POSIX_C_SOURCE 200809L  // clocks and threads
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "inlay.h"
#include "prompt.h"

// What the two threads share. The session's handle is all that a cancel needs.
typedef struct request {
  inlay_session* session;
  double at;    // when to cancel
  double made;  // when it was cancelled
} request;

static inlay_error err;
static inlay_engine* engine;
static inlay_session* session;

static int fail(const char* what) {
  fprintf(stderr, "cancel: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

static void* cancel_later(void* user) {
  request* r = user;
  example_sleep_until(r->at);
  r->made = example_now();
  inlay_session_cancel(r->session);
  return NULL;
}

// Decodes until the session says that it was cancelled. Where the context is full, the tale begins again.
static int decode_until_cancelled(size_t n_prompt, int* n_tokens) {
  for (inlay_event event = {0}; event.finish_reason != INLAY_FINISH_CANCELLED;) {
    if (inlay_decode_step(&session, 1, &event, sizeof event, &err) != INLAY_OK) return fail("cannot decode");
    if (event.finish_reason == INLAY_FINISH_CONTEXT_FULL && inlay_session_truncate(session, n_prompt, &err) != INLAY_OK) {
      return fail("cannot begin again");
    }
    *n_tokens += event.kind == INLAY_EVENT_TOKEN;
  }
  return 0;
}

static int run(const char* model, double seconds) {
  inlay_session_params params = {.struct_size = sizeof params, .flags = INLAY_SESSION_IGNORE_END_OF_GENERATION};
  inlay_session_info info = {.struct_size = sizeof info};
  if (inlay_load(model, SIZE_MAX, NULL, &engine, &err) != INLAY_OK) return fail(model);
  if (inlay_session_create(engine, &params, &session, &err) != INLAY_OK) return fail("no session");
  if (example_run_prompt(session, engine, "Once upon a time", &err) != INLAY_OK) return fail("cannot run the prompt");
  if (inlay_session_get_info(session, &info, &err) != INLAY_OK) return fail("no information");

  inlay_event first = {0};
  if (inlay_decode_step(&session, 1, &first, sizeof first, &err) != INLAY_OK) return fail("cannot decode");
  int n_tokens = first.kind == INLAY_EVENT_TOKEN;
  pthread_t thread;
  request r = {.session = session, .at = example_now() + seconds};
  if (pthread_create(&thread, NULL, cancel_later, &r) != 0) {
    fprintf(stderr, "cancel: no thread\n");
    return 1;
  }
  const int failed = decode_until_cancelled((size_t)info.n_tokens, &n_tokens);
  const double ended = example_now();
  pthread_join(thread, NULL);
  if (!failed) printf("cancelled after %d tokens, %.2f ms after the request\n", n_tokens, (ended - r.made) * 1e3);
  return failed;
}

int main(int argc, char** argv) {
  const int milliseconds = argc == 3 ? atoi(argv[2]) : 500;
  if (argc < 2 || argc > 3 || milliseconds < 1) {
    fprintf(stderr, "usage: cancel MODEL [MILLISECONDS]\n");
    return 2;
  }
  const int failed = run(argv[1], milliseconds * 1e-3);
  inlay_session_free(session);
  inlay_free(engine);
  return failed;
}
