// Opens the library, has a request answered by the engine's thread, frees all and closes the library, a thousand times: memory, threads and
// descriptors stay as they were after the first tenth. Usage: opened_again LIBRARY MODEL [ROUNDS] [WHAT]; WHAT: what is forgotten in each round
// (4 KiB of memory, a queue or a descriptor), which fails.
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "capi/inlay_dl.h"

typedef struct state {
  long n_threads, n_descriptors;
} state;

static inlay_error err;

static int failed(const char* what) {
  printf("%s: %s\n", what, err.message);
  return 1;
}

static long entries(const char* path) {
  DIR* folder = opendir(path);
  long n = 0;
  while (folder && readdir(folder)) n++;
  if (folder) closedir(folder);
  return n;
}

static state look(void) {
  const state out = {entries("/proc/self/task"), entries("/proc/self/fd")};
  return out;
}

// Of the process itself, without the pages of files: how many of those are mapped is the kernel's choice. /proc/self/statm counts per processor,
// and so can be wrong by hundreds of KiB.
static long anonymous_kib(void) {
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  char line[128];
  long kib = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "Anonymous: %ld", &kib) == 1) break;
  }
  if (file) fclose(file);
  return kib;
}

static int compare(const void* a, const void* b) {
  const long x = *(const long*)a, y = *(const long*)b;
  return (x > y) - (x < y);
}

static long median(long* values, int n) {
  qsort(values, (size_t)n, sizeof values[0], compare);
  return values[n / 2];
}

// Looks until there are no more threads and descriptors than `most`, or the time is over: a joined thread stays in the list for a moment.
static state look_until(state most, int n_ms) {
  state out = look();
  for (int i = 0; i < n_ms && (out.n_threads > most.n_threads || out.n_descriptors > most.n_descriptors); i++) {
    usleep(1000);
    out = look();
  }
  return out;
}

static int answer(const inlay_dl* api, const inlay_queue* queue) {
  inlay_session_params session = {.struct_size = sizeof session, .max_tokens = 4};
  inlay_request request = {.struct_size = sizeof request, .session_params = &session, .text = "Once upon", .text_len = 9};
  inlay_request_event events[8];
  inlay_token_logprob tokens[16];
  char text[256];
  uint64_t id = 0;
  inlay_wait_result result = 0;
  size_t n = 0;
  if (api->inlay_submit(queue, &request, &id, &err) != INLAY_OK) return failed("submit");
  for (;;) {
    if (api->inlay_wait(queue, -1, &result, &err) != INLAY_OK) return failed("wait");
    if (api->inlay_poll(queue, events, 8, sizeof events[0], tokens, 16, text, sizeof text, &n, &err) != INLAY_OK) return failed("poll");
    for (size_t i = 0; i < n; i++) {
      if (events[i].kind == INLAY_REQUEST_EVENT_END) return events[i].n_drawn == 4 ? 0 : (printf("%d tokens\n", events[i].n_drawn), 1);
    }
  }
}

static int run_round(const char* library, const char* model, const char* forgets) {
  const inlay_load_params params = {.struct_size = sizeof params, .device = INLAY_DEVICE_CPU, .n_context = 64, .max_sessions = 2, .n_threads = 2};
  const inlay_thread_params thread = {.struct_size = sizeof thread};
  inlay_dl api;
  inlay_engine* engine = NULL;
  inlay_queue* queue = NULL;
  inlay_wait_kind kind;
  int64_t handle = -1;
  if (inlay_dl_open(library, &api, err.message, sizeof err.message) != 0) return failed("open");
  if (api.inlay_load(model, SIZE_MAX, &params, &engine, &err) != INLAY_OK) return failed("load");
  if (api.inlay_queue_create(engine, NULL, &queue, &err) != INLAY_OK) return failed("queue");
  if (api.inlay_queue_get_handle(queue, &kind, &handle, &err) != INLAY_OK) return failed("handle");
  if (api.inlay_engine_set_thread(engine, &thread, &err) != INLAY_OK) return failed("thread");
  if (answer(&api, queue)) return 1;
  if (!forgets || strcmp(forgets, "queue") != 0) api.inlay_queue_free(queue);
  if (forgets && strcmp(forgets, "descriptor") == 0 && dup(0) < 0) return 1;
  if (forgets && strcmp(forgets, "memory") == 0) {
    static char* volatile last;
    last = malloc(4096);
    if (last == NULL) return 1;
    memset(last, 1, 4096);
  }
  api.inlay_free(engine);
  inlay_dl_close(&api);
  return 0;
}

int main(int argc, char** argv) {
  const int n_rounds = argc > 3 ? atoi(argv[3]) : 1000;
  const char* forgets = argc > 4 ? argv[4] : NULL;
  const int n_tenth = n_rounds / 10, n_kib = 4 * n_tenth;
  const int n_ms = forgets ? 1000 : 10000;  // what is forgotten stays in any case
  state before = {0, 0}, least = {LONG_MAX, LONG_MAX}, after;
  // Of each round behind the first tenth, and of as many last ones. mimalloc keeps the library's pages for a while and gives them back when it likes,
  // so that the process holds up to 600 KiB more or less without a reason of its own.
  long *first_kib, *last_kib, kib_before, kib_after;
  if (argc < 3 || n_tenth < 1) return 2;
  first_kib = calloc((size_t)n_kib, sizeof(long));
  last_kib = calloc((size_t)n_kib, sizeof(long));
  if (!first_kib || !last_kib) return 2;
  for (int i = 0; i < n_rounds; i++) {
    if (i > 0 && i < n_tenth) {
      const state now = look();
      if (now.n_threads < least.n_threads) least.n_threads = now.n_threads;
      if (now.n_descriptors < least.n_descriptors) least.n_descriptors = now.n_descriptors;
    }
    if (i == n_tenth) before = look_until(least, n_ms);
    if (i >= n_tenth && i < n_tenth + n_kib) first_kib[i - n_tenth] = anonymous_kib();
    if (i >= n_rounds - n_kib) last_kib[i - (n_rounds - n_kib)] = anonymous_kib();
    if (run_round(argv[1], argv[2], forgets)) return 2;
  }
  after = look_until(before, n_ms);
  kib_before = median(first_kib, n_kib);
  kib_after = median(last_kib, n_kib);
  free(first_kib);
  free(last_kib);
  printf("%d rounds: %ld and %ld KiB, %ld and %ld threads, %ld and %ld descriptors\n", n_rounds, kib_before, kib_after, before.n_threads, after.n_threads,
         before.n_descriptors, after.n_descriptors);
  // A thousand rounds that forget 4 KiB each show as 2,000.
  if (kib_before > 0 && kib_after <= kib_before + 1000 && after.n_threads == before.n_threads && after.n_descriptors == before.n_descriptors) return 0;
  printf("something stays\n");
  return 1;
}
