// The DLL in a process: unloaded and loaded again, used by threads that end, twice at once.
// usage: windows_library MODE LIBRARY MODEL [OTHER_LIBRARY]      MODE: cycles, threads, copies, leave, held or paths
//        windows_library short LIBRARY MODEL MIB                  for memory_short.py
#include <windows.h>
// after windows.h
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlhelp32.h>

#include "tests/support/held_windows.h"
// after stdio.h
#include "inlay_dl.h"

enum { kTextBytes = 512, kTokens = 12, kThreads = 16, kManySessions = 512 };

static void fail(const char* what, const char* message) {
  fprintf(stderr, "%s: %s\n", what, message);
  exit(1);
}

static void expect(int holds, const char* what) {
  if (!holds) fail("it does not hold that", what);
}

static inlay_dl open_library(const char* path) {
  inlay_dl api;
  char message[256];
  if (inlay_dl_open(path, &api, message, sizeof message) != 0) fail("load", message);
  return api;
}

static inlay_engine* try_load(const inlay_dl* api, const char* model, int max_sessions, inlay_error* err) {
  inlay_engine* engine = NULL;
  inlay_load_params params;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  params.n_threads = 2;
  params.max_sessions = max_sessions;
  return api->inlay_load(model, SIZE_MAX, &params, &engine, err) == INLAY_OK ? engine : NULL;
}

static inlay_engine* load(const inlay_dl* api, const char* model) {
  inlay_error err;
  inlay_engine* engine = try_load(api, model, kThreads, &err);
  if (!engine) fail("inlay_load", err.message);
  return engine;
}

// The likeliest continuation of a prompt; or the first call that did not work, with the error.
static const char* try_text(const inlay_dl* api, const inlay_engine* engine, char* text, inlay_error* err) {
  static const char kPrompt[] = "Once upon a time";
  inlay_session* session = NULL;
  inlay_event event;
  int32_t tokens[64];
  size_t n_tokens = 0, n_bytes = 0, n_done = 0;
  const char* failed = NULL;
  if (api->inlay_tokenize(engine, kPrompt, SIZE_MAX, 0, tokens, 64, &n_tokens, err) != INLAY_OK) return "inlay_tokenize";
  if (api->inlay_session_create(engine, NULL, &session, err) != INLAY_OK) return "inlay_session_create";
  if (api->inlay_prefill(session, tokens, n_tokens, &n_done, err) != INLAY_OK) failed = "inlay_prefill";
  for (int i = 0; i < kTokens && !failed; ++i) {
    if (api->inlay_decode_step(&session, 1, &event, sizeof event, err) != INLAY_OK) failed = "inlay_decode_step";
    if (failed) break;
    memcpy(text + n_bytes, event.text, event.text_bytes);
    n_bytes += event.text_bytes;
  }
  text[n_bytes] = 0;
  api->inlay_session_free(session);
  return failed;
}

static void write_text(const inlay_dl* api, const inlay_engine* engine, char* text) {
  inlay_error err;
  const char* failed = try_text(api, engine, text, &err);
  if (failed) fail(failed, err.message);
}

// What a process may lose bit by bit.
typedef struct usage {
  SIZE_T n_bytes;
  DWORD n_handles, n_threads;
} usage;

static usage used_now(void) {
  usage out = {0};
  THREADENTRY32 thread;
  HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  out.n_bytes = inlay_test_private_bytes();
  thread.dwSize = sizeof thread;
  for (BOOL more = Thread32First(all, &thread); more; more = Thread32Next(all, &thread)) {
    out.n_threads += thread.th32OwnerProcessID == GetCurrentProcessId();
  }
  CloseHandle(all);
  out.n_handles = (DWORD)inlay_test_n_handles();
  return out;
}

static void compare(usage before, usage after, const char* what) {
  printf("%s: %lld KiB more, %ld handles more, %ld threads more\n", what, ((long long)after.n_bytes - (long long)before.n_bytes) / 1024,
         (long)after.n_handles - (long)before.n_handles, (long)after.n_threads - (long)before.n_threads);
  expect(after.n_bytes <= before.n_bytes + (4u << 20), "memory does not grow");
  // Now and then it holds a MiB more or less. A thread that has just ended is counted for a moment still.
  expect(after.n_handles <= before.n_handles + 8, "handles do not grow");
  expect(after.n_threads <= before.n_threads + 2, "threads do not grow");
}

static int is_loaded(const char* path) {
  wchar_t wide[1024];
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 1024);
  return GetModuleHandleW(wide) != NULL;
}

static void cycles(const char* library, const char* model) {
  enum { kWarm = 50, kCycles = 450 };
  usage warm = {0};
  char first[kTextBytes], text[kTextBytes];
  for (int i = 0; i < kCycles; ++i) {
    inlay_dl api = open_library(library);
    inlay_engine* engine = load(&api, model);
    write_text(&api, engine, i == 0 ? first : text);
    expect(i == 0 || strcmp(first, text) == 0, "each copy writes the same text");
    api.inlay_free(engine);
    inlay_dl_close(&api);
    expect(is_loaded(library), "the library stays loaded");
    if (i + 1 == kWarm) warm = used_now();
  }
  compare(warm, used_now(), "400 more loads");
}

typedef struct work {
  const inlay_dl* api;
  const inlay_engine* engine;
  char text[kTextBytes];
} work;

static DWORD WINAPI work_once(void* given) {
  work* mine = given;
  write_text(mine->api, mine->engine, mine->text);
  return 0;
}

static void threads(const char* library, const char* model) {
  enum { kWarm = 5, kRounds = 30 };
  usage warm = {0};
  work works[kThreads];
  HANDLE handles[kThreads];
  inlay_dl api = open_library(library);
  inlay_engine* engine = load(&api, model);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kThreads; ++i) {
      works[i].api = &api, works[i].engine = engine;
      handles[i] = CreateThread(NULL, 0, work_once, &works[i], 0, NULL);
      expect(handles[i] != NULL, "the system gives a thread");
    }
    WaitForMultipleObjects(kThreads, handles, TRUE, INFINITE);
    for (int i = 0; i < kThreads; ++i) {
      CloseHandle(handles[i]);
      expect(strcmp(works[i].text, works[0].text) == 0, "each thread writes the same text");
    }
    if (round + 1 == kWarm) warm = used_now();
  }
  compare(warm, used_now(), "400 more threads");
  api.inlay_free(engine);
  inlay_dl_close(&api);
}

static void copies(const char* library, const char* model, const char* other) {
  char text_a[kTextBytes], text_b[kTextBytes];
  inlay_dl a = open_library(library), b = open_library(other);
  expect(a.library != b.library && a.inlay_load != b.inlay_load, "they are two libraries");
  inlay_engine *engine_a = load(&a, model), *engine_b = load(&b, model);
  write_text(&a, engine_a, text_a);
  write_text(&b, engine_b, text_b);
  expect(strcmp(text_a, text_b) == 0, "both write the same text");
  a.inlay_free(engine_a);
  inlay_dl_close(&a);
  write_text(&b, engine_b, text_b);
  expect(strcmp(text_a, text_b) == 0, "the other one goes on");
  b.inlay_free(engine_b);
  inlay_dl_close(&b);
}

static DWORD WINAPI work_on(void* given) {
  while (work_once(given) == 0) {
  }
  return 1;
}

// A host that ends while its threads are in the library.
static void leave(const char* library, const char* model) {
  static inlay_dl api;
  static work works[kThreads];
  api = open_library(library);
  const inlay_engine* engine = load(&api, model);
  for (int i = 0; i < kThreads; ++i) {
    works[i].api = &api, works[i].engine = engine;
    expect(CreateThread(NULL, 0, work_on, &works[i], 0, NULL) != NULL, "the system gives a thread");
  }
  Sleep(200);
}

// A host that lets go of the library while its threads are in it, and of its engine afterwards.
static void held(const char* library, const char* model) {
  inlay_dl api = open_library(library);
  const inlay_dl kept = api;
  inlay_engine* engine = load(&api, model);
  char before[kTextBytes], after[kTextBytes];
  write_text(&api, engine, before);
  inlay_dl_close(&api);
  write_text(&kept, engine, after);
  expect(strcmp(before, after) == 0, "the engine goes on");
  kept.inlay_free(engine);
}

// A path of any length, in the form that Windows has for those beyond 259 characters. `other` is in a folder of this build.
static void paths(const char* library, const char* other) {
  enum { kFolders = 9, kFolder = 120 };
  wchar_t path[4096] = L"\\\\?\\", from[1024], beside[1024];
  char utf8[8192], message[8192];
  inlay_dl api;
  expect(MultiByteToWideChar(CP_UTF8, 0, library, -1, from, 1024) > 0, "the library's own path is short");
  expect(MultiByteToWideChar(CP_UTF8, 0, other, -1, beside, 1024) > 0, "the other's path is short");
  size_t n = 4 + GetFullPathNameW(beside, 1024, path + 4, NULL);
  for (int i = 0; i < kFolders; ++i) {
    while (i == 0 && path[n - 1] != L'\\') --n;
    for (int k = 0; k < kFolder; ++k) path[n++] = L'\u00e9';
    path[n] = 0;
    expect(CreateDirectoryW(path, NULL) || GetLastError() == ERROR_ALREADY_EXISTS, "a folder is made");
    path[n++] = L'\\';
  }
  memcpy(path + n, L"a.dll", sizeof L"a.dll");
  expect(n > 1023 && WideCharToMultiByte(CP_UTF8, 0, path, -1, utf8, sizeof utf8, NULL, NULL) > 0, "the path is long");
  DeleteFileW(path);
  expect(inlay_dl_open(utf8, &api, message, sizeof message) != 0, "a file that is not there is not loaded");
  expect(strstr(message, ": error 2") != NULL || strstr(message, ": error 126") != NULL, "the reason is that there is none");
  expect(CopyFileW(from, path, FALSE), "the library is copied");
  if (inlay_dl_open(utf8, &api, message, sizeof message) != 0) fail("load by a long path", message);
  inlay_dl_close(&api);
  expect(inlay_dl_open("\xff.dll", &api, message, sizeof message) != 0 && strstr(message, "error 1113") != NULL, "bytes that are no UTF-8 are named");
}

// The limit of a job that this process is in; 0: none. Whether the system keeps it.
static int limit_memory(HANDLE job, SIZE_T n_bytes) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;
  memset(&limits, 0, sizeof limits);
  limits.BasicLimitInformation.LimitFlags = n_bytes ? JOB_OBJECT_LIMIT_PROCESS_MEMORY : 0;
  limits.ProcessMemoryLimit = n_bytes;
  if (!SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits)) return 0;
  return QueryInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits, NULL) && limits.ProcessMemoryLimit == n_bytes;
}

static void say(const char* what, const char* more) {
  printf("%s%s\n", what, more);
  fflush(stdout);
}

static void wait_for_line(void) {
  char line[16];
  if (!fgets(line, sizeof line, stdin)) fail("wait", "the input has ended");
}

static DWORD WINAPI do_nothing(void* given) {
  (void)given;
  return 0;
}

// A host that has `mib` left, says what its calls say, and has more again afterwards. Who started it sets the limit where the system keeps none of a job.
static void short_of_memory(const char* library, const char* model, const char* mib) {
  char text[kTextBytes], again[kTextBytes], line[512];
  inlay_error err;
  inlay_dl api = open_library(library);
  inlay_engine* engine;
  const char* failed = "inlay_load";
  const HANDLE job = CreateJobObjectW(NULL, NULL);
  const SIZE_T room = (SIZE_T)strtoul(mib, NULL, 10) << 20;
  // What Wine itself needs for the end of a thread it takes at the first one, and ends the process where it does not get it.
  WaitForSingleObject(CreateThread(NULL, 0, do_nothing, NULL, 0, NULL), INFINITE);
  expect(AssignProcessToJobObject(job, GetCurrentProcess()), "the process is in a job");
  say(limit_memory(job, inlay_test_private_bytes() + room) ? "limit: job" : "limit: none", "");
  wait_for_line();
  engine = try_load(&api, model, kManySessions, &err);
  if (engine) failed = try_text(&api, engine, text, &err);
  snprintf(line, sizeof line, "%s: %s: %s", failed ? failed : "", failed ? api.inlay_status_name(err.status) : "", failed ? err.message : "");
  say(failed ? line : "all: OK", "");
  wait_for_line();
  limit_memory(job, 0);
  if (engine) {  // it goes on where it stopped
    write_text(&api, engine, again);
    expect(failed || strcmp(text, again) == 0, "the text is the same");
    api.inlay_free(engine);
  }
  engine = try_load(&api, model, kManySessions, &err);
  if (!engine) fail("inlay_load", err.message);
  write_text(&api, engine, text);
  expect(!failed || strcmp(failed, "inlay_load") == 0 || strcmp(text, again) == 0, "an engine that had too little writes the same");
  api.inlay_free(engine);
  say("text: ", text);
}

int main(int argc, char** argv) {
  if (argc < 4) fail("usage", "windows_library MODE LIBRARY MODEL [OTHER_LIBRARY]");
  if (strcmp(argv[1], "cycles") == 0) cycles(argv[2], argv[3]);
  else if (strcmp(argv[1], "threads") == 0) threads(argv[2], argv[3]);
  else if (strcmp(argv[1], "copies") == 0 && argc == 5) copies(argv[2], argv[3], argv[4]);
  else if (strcmp(argv[1], "held") == 0) held(argv[2], argv[3]);
  else if (strcmp(argv[1], "paths") == 0 && argc == 5) paths(argv[2], argv[4]);
  else if (strcmp(argv[1], "short") == 0 && argc == 5) short_of_memory(argv[2], argv[3], argv[4]);
  else if (strcmp(argv[1], "leave") == 0) leave(argv[2], argv[3]);
  else fail("no such mode", argv[1]);
  printf("ok\n");
  return 0;
}
