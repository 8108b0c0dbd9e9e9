// llama.cpp's library (libllama v0.5.0, opened with dlopen) with the requests that bench_requests has had, batched as its API allows: each step has
// one token of every text that is being written and, in what is left of its batch, prompts in the order of their coming. Greedy draws.
//
//   cc -O3 -march=native -o peer_arrivals peer_arrivals.c -ldl
//   peer_arrivals FOLDER MODEL JOBS [--places N] [--threads N] [--unified] [--ubatch N]
//     FOLDER: with libllama, libggml and their backends. JOBS: what bench_requests has written (INLAY_BENCH_JOBS).
//
// The library takes its parameters by value: here they are opaque blocks, filled with its defaults, in which single fields are set. Another version is refused by
// its defaults.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kGpuLayers = 4 };                                                                        // int32 fields of the model's parameters
enum { kContext, kBatch, kUbatch, kSequences, kThreads = 7, kThreadsBatch = 8, kUnified = 133 };  // of the context's; kUnified: a byte
enum { kMostJobs = 4096, kBatchTokens = 2048 };

typedef struct { uint64_t words[128]; } block;
typedef struct {
  int32_t n_tokens;
  int32_t* token;
  float* embd;
  int32_t* pos;
  int32_t* n_seq_id;
  int32_t** seq_id;
  int8_t* logits;
} batch;

static struct {
  void (*ggml_backend_load_all_from_path)(const char*);
  void (*llama_log_set)(void (*)(int, const char*, void*), void*);
  void (*llama_backend_init)(void);
  block (*llama_model_default_params)(void);
  block (*llama_context_default_params)(void);
  void* (*llama_model_load_from_file)(const char*, block);
  void* (*llama_init_from_model)(void*, block);
  void* (*llama_model_get_vocab)(void*);
  int32_t (*llama_vocab_n_tokens)(void*);
  int32_t (*llama_decode)(void*, batch);
  float* (*llama_get_logits_ith)(void*, int32_t);
  void* (*llama_get_memory)(void*);
  bool (*llama_memory_seq_rm)(void*, int32_t, int32_t, int32_t);
  batch (*llama_batch_init)(int32_t, int32_t, int32_t);
} api;

typedef struct {
  double at, began, drew_first, ended;
  int n_prompt, n_answer, n_run, n_drawn, place;  // place: -1 while it waits
  int32_t next;                                   // token to be run
  int32_t row;                                    // of the batch at hand whose logits it draws from; -1: none
} job;

static job jobs[kMostJobs];
static int n_jobs;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static _Noreturn void fail(const char* what, const char* which) {
  fprintf(stderr, "peer_arrivals: %s: %s\n", what, which);
  exit(1);
}
static void set(block* to, int field, int32_t value) { memcpy((char*)to + 4 * field, &value, 4); }
static int32_t get(const block* from, int field) {
  int32_t value;
  memcpy(&value, (const char*)from + 4 * field, 4);
  return value;
}
static void quiet(int level, const char* text, void* user) {
  (void)user;
  if (level == 4) fputs(text, stderr);
}

static void* open_library(const char* folder, const char* prefix) {
  char path[PATH_MAX] = "";
  DIR* d = opendir(folder);
  if (!d) fail("cannot open the folder", folder);
  for (struct dirent* e; (e = readdir(d));) {
    const size_t n = strlen(e->d_name);
    if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && n > 3 && strcmp(e->d_name + n - 3, ".so") == 0)
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
  }
  closedir(d);
  void* library = path[0] ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (!library) fail(prefix, path[0] ? dlerror() : "is not in the folder");
  return library;
}
static void load_library(const char* folder) {
  (void)open_library(folder, "libggml-base.");
  void* ggml = open_library(folder, "libggml.");
  void* llama = open_library(folder, "libllama.");
#define TAKE(library, name) \
  if (!(*(void**)&api.name = dlsym(library, #name))) fail("the library has no function", #name)
  TAKE(ggml, ggml_backend_load_all_from_path);
  TAKE(llama, llama_log_set);
  TAKE(llama, llama_backend_init);
  TAKE(llama, llama_model_default_params);
  TAKE(llama, llama_context_default_params);
  TAKE(llama, llama_model_load_from_file);
  TAKE(llama, llama_init_from_model);
  TAKE(llama, llama_model_get_vocab);
  TAKE(llama, llama_vocab_n_tokens);
  TAKE(llama, llama_decode);
  TAKE(llama, llama_get_logits_ith);
  TAKE(llama, llama_get_memory);
  TAKE(llama, llama_memory_seq_rm);
  TAKE(llama, llama_batch_init);
}

static int32_t some_token(int i, int k, int n_vocab) { return (int32_t)(((unsigned)i * 7919u + (unsigned)k * 104729u + 100u) % (unsigned)n_vocab); }

static void put(batch* b, int32_t token, int32_t position, int32_t place, bool draws) {
  const int32_t i = b->n_tokens++;
  b->token[i] = token;
  b->pos[i] = position;
  b->n_seq_id[i] = 1;
  b->seq_id[i][0] = place;
  b->logits[i] = draws;
}

static int32_t likeliest(const float* logits, int n) {
  int best = 0;
  for (int i = 1; i < n; ++i) best = logits[i] > logits[best] ? i : best;
  return best;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int n_places = 64, n_threads = 0, n_ubatch = 512;
  bool unified = false;
  if (argc < 4) return fprintf(stderr, "usage: peer_arrivals FOLDER MODEL JOBS [--places N] [--threads N] [--unified] [--ubatch N]\n"), 2;
  for (int i = 4; i < argc; ++i) {
    if (strcmp(argv[i], "--unified") == 0) unified = true;
    else if (i + 1 < argc && strcmp(argv[i], "--places") == 0) n_places = atoi(argv[++i]);
    else if (i + 1 < argc && strcmp(argv[i], "--threads") == 0) n_threads = atoi(argv[++i]);
    else if (i + 1 < argc && strcmp(argv[i], "--ubatch") == 0) n_ubatch = atoi(argv[++i]);
    else fail("unknown option", argv[i]);
  }
  FILE* file = fopen(argv[3], "r");
  if (!file) fail("cannot open", argv[3]);
  int longest = 0;
  for (job j = {.place = -1, .row = -1}; n_jobs < kMostJobs && fscanf(file, "%lf %d %d", &j.at, &j.n_prompt, &j.n_answer) == 3; ++n_jobs) {
    jobs[n_jobs] = j;
    longest = j.n_prompt + j.n_answer > longest ? j.n_prompt + j.n_answer : longest;
  }
  fclose(file);
  if (n_jobs == 0) fail("no requests in", argv[3]);

  load_library(argv[1]);
  api.llama_log_set(quiet, NULL);
  api.ggml_backend_load_all_from_path(argv[1]);
  api.llama_backend_init();
  block mp = api.llama_model_default_params(), cp = api.llama_context_default_params();
  if (get(&mp, kGpuLayers) != -1 || get(&cp, kContext) != 512 || get(&cp, kBatch) != 2048 || get(&cp, kUbatch) != 512 || get(&cp, kSequences) != 1)
    fail("the library is none of v0.5.0", argv[1]);
  void* model = api.llama_model_load_from_file(argv[2], mp);
  if (!model) fail("cannot load", argv[2]);
  const int per_place = (longest + 256) / 256 * 256;
  set(&cp, kContext, per_place * n_places);
  set(&cp, kBatch, kBatchTokens);
  set(&cp, kUbatch, n_ubatch);
  set(&cp, kSequences, n_places);
  if (n_threads > 0) set(&cp, kThreads, n_threads), set(&cp, kThreadsBatch, n_threads);
  ((unsigned char*)&cp)[kUnified] = unified;
  void* context = api.llama_init_from_model(model, cp);
  if (!context) fail("no context for it", argv[2]);
  void* memory = api.llama_get_memory(context);
  const int n_vocab = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model));
  batch b = api.llama_batch_init(kBatchTokens, 0, 1);
  bool taken[1024] = {false};

  // Warm: a prompt and some steps.
  for (int step = 0; step < 8; ++step) {
    b.n_tokens = 0;
    for (int k = 0; k < (step == 0 ? 64 : 1); ++k) put(&b, some_token(0, k, n_vocab), step == 0 ? k : 63 + step, 0, true);
    if (api.llama_decode(context, b) != 0) fail("cannot decode", "at the beginning");
  }
  api.llama_memory_seq_rm(memory, 0, -1, -1);

  const double start = now();
  int n_ended = 0, first_open = 0, n_steps = 0;
  double idle = 0;
  while (n_ended < n_jobs) {
    const double t = now() - start;
    b.n_tokens = 0;
    for (int i = first_open; i < n_jobs && jobs[i].at <= t; ++i) {  // what is being written
      job* j = &jobs[i];
      j->row = -1;
      if (j->place < 0 || j->n_drawn == 0) continue;
      j->row = b.n_tokens;
      put(&b, j->next, j->n_prompt + j->n_drawn - 1, j->place, true);
    }
    for (int i = first_open; i < n_jobs && jobs[i].at <= t && b.n_tokens < kBatchTokens; ++i) {  // prompts
      job* j = &jobs[i];
      if (j->ended > 0 || j->n_run == j->n_prompt) continue;
      for (int place = 0; place < n_places && j->place < 0; ++place) {
        if (taken[place]) continue;
        taken[place] = true;
        j->place = place;
        j->began = t;
      }
      if (j->place < 0) break;
      for (; j->n_run < j->n_prompt && b.n_tokens < kBatchTokens; ++j->n_run) {
        const bool draws = j->n_run + 1 == j->n_prompt;
        if (draws) j->row = b.n_tokens;
        put(&b, some_token(i, j->n_run, n_vocab), j->n_run, j->place, draws);
      }
    }
    if (b.n_tokens == 0) {
      idle += now() - start - t;
      continue;
    }
    if (api.llama_decode(context, b) != 0) fail("cannot decode", "a step");
    ++n_steps;
    for (int i = first_open; i < n_jobs; ++i) {
      job* j = &jobs[i];
      if (j->row < 0) continue;
      j->next = likeliest(api.llama_get_logits_ith(context, j->row), n_vocab);
      j->row = -1;
      if (j->n_drawn++ == 0) j->drew_first = now() - start;
      if (j->n_drawn < j->n_answer) continue;
      j->ended = now() - start;
      taken[j->place] = false;
      api.llama_memory_seq_rm(memory, j->place, -1, -1);
      j->place = -1;
      ++n_ended;
    }
    while (first_open < n_jobs && jobs[first_open].ended > 0) ++first_open;
  }
  const double took = now() - start;
  static double first[kMostJobs], between[kMostJobs];
  long n_drawn = 0;
  for (int i = 0; i < n_jobs; ++i) {
    first[i] = jobs[i].drew_first - jobs[i].at;
    between[i] = (jobs[i].ended - jobs[i].drew_first) / (jobs[i].n_answer > 1 ? jobs[i].n_answer - 1 : 1);
    n_drawn += jobs[i].n_answer;
  }
  qsort(first, (size_t)n_jobs, sizeof *first, ascending);
  qsort(between, (size_t)n_jobs, sizeof *between, ascending);
  printf("%d requests: %.3f s, %.0f tokens/s drawn, idle %.3f s, %d steps; to the first token p50 %.1f, p99 %.1f ms; from one to the next p50 %.2f, p99 %.2f ms\n", n_jobs, took,
         (double)n_drawn / took, idle, n_steps, first[n_jobs / 2] * 1e3, first[(n_jobs - 1) * 99 / 100] * 1e3, between[n_jobs / 2] * 1e3, between[(n_jobs - 1) * 99 / 100] * 1e3);
  return 0;
}
