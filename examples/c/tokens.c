// Prints the ids of the tokens that a model draws, for comparison with the same program in other languages: first each
// case alone, then all of them together, one token each a step. usage: tokens LIBRARY MODEL DEVICE CASES     a line of
// CASES: name, temperature, seed, tokens at most, prompt; tabs between
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inlay_dl.h"

static inlay_dl api;
#define EXAMPLE_CALL(function) api.function
#include "prompt.h"

#define MAX_CASES 8
#define MAX_TOKENS 512
#define LINE_BYTES 1024

typedef struct drawing {
  char line[LINE_BYTES];  // name and prompt point into it
  const char* name;
  const char* prompt;
  float temperature;
  uint64_t seed;
  int32_t max_tokens;
  inlay_session* session;
  int32_t tokens[MAX_TOKENS];
  int n_tokens;
} drawing;

static inlay_error err;
static inlay_engine* engine;
static drawing cases[MAX_CASES];
static int n_cases;

static int fail(const char* what) {
  fprintf(stderr, "tokens: %s: %s (%s)\n", what, err.message, api.inlay_status_name(err.status));
  return 1;
}

static int parse_case(drawing* c) {
  char* columns[5] = {c->line};
  for (int i = 1; i < 5; i++) {
    char* tab = strchr(columns[i - 1], '\t');
    if (!tab) return 1;
    *tab = 0;
    columns[i] = tab + 1;
  }
  columns[4][strcspn(columns[4], "\n")] = 0;
  c->name = columns[0];
  c->temperature = strtof(columns[1], NULL);
  c->seed = strtoull(columns[2], NULL, 10);
  c->max_tokens = (int32_t)strtol(columns[3], NULL, 10);
  c->prompt = columns[4];
  return c->max_tokens < 1 || c->max_tokens > MAX_TOKENS;
}

static int read_cases(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "tokens: cannot open %s\n", path);
    return 1;
  }
  while (n_cases < MAX_CASES && fgets(cases[n_cases].line, LINE_BYTES, file)) {
    if (parse_case(&cases[n_cases++])) {
      fprintf(stderr, "tokens: %s: line %d is wrong\n", path, n_cases);
      fclose(file);
      return 1;
    }
  }
  fclose(file);
  return 0;
}

static int begin(drawing* c) {
  inlay_sampler_params sampler = {.struct_size = sizeof sampler, .temperature = c->temperature, .seed = c->seed};
  inlay_session_params params = {.struct_size = sizeof params, .sampler = &sampler, .max_tokens = c->max_tokens};
  c->n_tokens = 0;
  if (api.inlay_session_create(engine, &params, &c->session, &err) != INLAY_OK) return fail(c->name);
  return example_run_prompt(c->session, engine, c->prompt, &err) == INLAY_OK ? 0 : fail(c->name);
}

// Draws for `n` cases that begin() was called for, until all of them have finished.
static int draw(drawing* first, int n) {
  drawing* owner[MAX_CASES];
  inlay_session* sessions[MAX_CASES];
  inlay_event events[MAX_CASES];
  for (int i = 0; i < n; i++) {
    owner[i] = &first[i];
    sessions[i] = first[i].session;
  }
  while (n > 0) {
    if (api.inlay_decode_step(sessions, (size_t)n, events, sizeof events[0], &err) != INLAY_OK)
      return fail("cannot decode");
    int n_left = 0;
    for (int i = 0; i < n; i++) {
      drawing* c = owner[i];
      if (events[i].kind == INLAY_EVENT_TOKEN && c->n_tokens < MAX_TOKENS) c->tokens[c->n_tokens++] = events[i].token;
      if (events[i].finish_reason != INLAY_FINISH_NONE) continue;
      owner[n_left] = c;
      sessions[n_left++] = c->session;
    }
    n = n_left;
  }
  return 0;
}

static void end(drawing* c) {
  printf("%s", c->name);
  for (int i = 0; i < c->n_tokens; i++) printf(" %d", (int)c->tokens[i]);
  printf("\n");
  api.inlay_session_free(c->session);
  c->session = NULL;
}

static int run(const char* model, inlay_device_kind device) {
  inlay_load_params params = {.struct_size = sizeof params, .device = device, .n_context = 512, .n_threads = 2};
  if (api.inlay_load(model, SIZE_MAX, &params, &engine, &err) != INLAY_OK) return fail(model);
  for (int i = 0; i < n_cases; i++) {
    if (begin(&cases[i]) || draw(&cases[i], 1)) return 1;
    end(&cases[i]);
  }
  printf("together:\n");
  for (int i = 0; i < n_cases; i++) {
    if (begin(&cases[i])) return 1;
  }
  if (draw(cases, n_cases)) return 1;
  for (int i = 0; i < n_cases; i++) end(&cases[i]);
  return 0;
}

// The kind of a device by its name, -1 for none.
static inlay_device_kind device_kind(const char* name) {
  if (strcmp(name, "cpu") == 0) return INLAY_DEVICE_CPU;
  if (strcmp(name, "cuda") == 0) return INLAY_DEVICE_CUDA;
  return strcmp(name, "reference") == 0 ? INLAY_DEVICE_REFERENCE : -1;
}

int main(int argc, char** argv) {
  char message[256];
  if (argc != 5 || device_kind(argv[3]) < 0) {
    fprintf(stderr, "usage: tokens LIBRARY MODEL cpu|cuda|reference CASES\n");
    return 2;
  }
  if (inlay_dl_open(argv[1], &api, message, sizeof message) != 0) {
    fprintf(stderr, "tokens: %s\n", message);
    return 1;
  }
  const int failed = read_cases(argv[4]) || run(argv[2], device_kind(argv[3]));
  for (int i = 0; i < n_cases; i++) api.inlay_session_free(cases[i].session);
  api.inlay_free(engine);
  inlay_dl_close(&api);
  return failed;
}
