// Prints what a call costs, in nanoseconds: the median of blocks of calls, or of single ones for decode_step.
// usage: call_cost LIBRARY MODEL
#define _POSIX_C_SOURCE 200809L  // clocks
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "inlay_dl.h"

static inlay_dl api;
#define EXAMPLE_CALL(function) api.function
#include "prompt.h"

#define BLOCKS 100
#define STEPS 500

static inlay_error err;
static inlay_engine* engine;
static inlay_session* session;

static int fail(const char* what) {
  fprintf(stderr, "call_cost: %s: %s (%s)\n", what, err.message, api.inlay_status_name(err.status));
  return 1;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Seconds of `n` calls each; sorts them.
static void print_median(const char* name, double* seconds, int count, int n_calls) {
  qsort(seconds, (size_t)count, sizeof *seconds, ascending);
  printf("%s %.1f\n", name, seconds[count / 2] / n_calls * 1e9);
}

static void measure_abi_version(void) {
  double seconds[BLOCKS];
  uint32_t sum = 0;
  for (int block = 0; block < BLOCKS; block++) {
    const double start = example_now();
    for (int i = 0; i < 10000; i++) sum += api.inlay_abi_version();
    seconds[block] = example_now() - start;
  }
  if (sum == 0) fail("no version");
  print_median("abi_version", seconds, BLOCKS, 10000);
}

static int measure_get_info(void) {
  double seconds[BLOCKS];
  for (int block = 0; block < BLOCKS; block++) {
    const double start = example_now();
    for (int i = 0; i < 1000; i++) {
      inlay_session_info info = {.struct_size = sizeof info};
      if (api.inlay_session_get_info(session, &info, &err) != INLAY_OK) return fail("no information");
    }
    seconds[block] = example_now() - start;
  }
  print_median("session_get_info", seconds, BLOCKS, 1000);
  return 0;
}

static int measure_decode_step(void) {
  double seconds[STEPS];
  for (int i = 0; i < STEPS; i++) {
    inlay_event event;
    const double start = example_now();
    if (api.inlay_decode_step(&session, 1, &event, sizeof event, &err) != INLAY_OK) return fail("cannot decode");
    seconds[i] = example_now() - start;
  }
  print_median("decode_step", seconds, STEPS, 1);
  return 0;
}

static int run(const char* model) {
  inlay_load_params load = {.struct_size = sizeof load, .device = INLAY_DEVICE_CPU, .n_context = 512, .n_threads = 1};
  inlay_session_params params = {.struct_size = sizeof params, .flags = INLAY_SESSION_IGNORE_END_OF_GENERATION};
  if (api.inlay_load(model, SIZE_MAX, &load, &engine, &err) != INLAY_OK) return fail(model);
  if (api.inlay_session_create(engine, &params, &session, &err) != INLAY_OK) return fail("no session");
  if (example_run_prompt(session, engine, "Once", &err) != INLAY_OK) return fail("cannot run the prompt");
  measure_abi_version();
  return measure_get_info() || measure_decode_step();
}

int main(int argc, char** argv) {
  char message[256];
  if (argc != 3) {
    fprintf(stderr, "usage: call_cost LIBRARY MODEL\n");
    return 2;
  }
  if (inlay_dl_open(argv[1], &api, message, sizeof message) != 0) {
    fprintf(stderr, "call_cost: %s\n", message);
    return 1;
  }
  const int failed = run(argv[2]);
  api.inlay_session_free(session);
  api.inlay_free(engine);
  inlay_dl_close(&api);
  return failed;
}
