// Counts what a library asks of the C library's allocator and of the process's heap: its table of imported functions is changed, so that they are ours.
// What GCC and winpthreads keep for each thread comes from there, some hundred bytes; what the library itself takes does not.
// usage: windows_host_malloc LIBRARY [MODEL]      with a model: a load, a text, threads that end and errors; else the library's function "take"
#include <windows.h>
// after windows.h
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inlay_dl.h"

typedef struct counter {
  const char* name;
  void* ours;
  volatile LONG n_calls, n_bytes;
} counter;

static void* count_malloc(size_t n);
static void* count_calloc(size_t n, size_t size);
static void* count_realloc(void* block, size_t n);
static void* WINAPI count_heap(HANDLE heap, DWORD flags, SIZE_T n);

enum { kMalloc, kCalloc, kRealloc, kHeap, kCounters };
static counter counters[kCounters] = {{"malloc", (void*)count_malloc, 0, 0},
                                      {"calloc", (void*)count_calloc, 0, 0},
                                      {"realloc", (void*)count_realloc, 0, 0},
                                      {"HeapAlloc", (void*)count_heap, 0, 0}};

static void count(int which, size_t n) {
  InterlockedIncrement(&counters[which].n_calls);
  InterlockedExchangeAdd(&counters[which].n_bytes, (LONG)n);
}
static void* count_malloc(size_t n) { return count(kMalloc, n), malloc(n); }
static void* count_calloc(size_t n, size_t size) { return count(kCalloc, n * size), calloc(n, size); }
static void* count_realloc(void* block, size_t n) { return count(kRealloc, n), realloc(block, n); }
static void* WINAPI count_heap(HANDLE heap, DWORD flags, SIZE_T n) { return count(kHeap, n), HeapAlloc(heap, flags, n); }

static void fail(const char* what, const char* message) {
  fprintf(stderr, "%s: %s\n", what, message);
  exit(2);
}

// Puts ours in place of the imported functions that the table names; how many are imported.
static int replace_imports(HMODULE library) {
  char* base = (char*)library;
  const IMAGE_NT_HEADERS* headers = (const IMAGE_NT_HEADERS*)(base + ((const IMAGE_DOS_HEADER*)base)->e_lfanew);
  const IMAGE_DATA_DIRECTORY imports = headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT];
  int n_found = 0;
  for (const IMAGE_IMPORT_DESCRIPTOR* of = (const IMAGE_IMPORT_DESCRIPTOR*)(base + imports.VirtualAddress); of->Name; ++of) {
    const IMAGE_THUNK_DATA* names = (const IMAGE_THUNK_DATA*)(base + of->OriginalFirstThunk);
    IMAGE_THUNK_DATA* functions = (IMAGE_THUNK_DATA*)(base + of->FirstThunk);
    for (; names->u1.AddressOfData; ++names, ++functions) {
      const char* name = ((const IMAGE_IMPORT_BY_NAME*)(base + names->u1.AddressOfData))->Name;
      for (int i = 0; i < kCounters && !IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal); ++i) {
        DWORD before = 0;
        if (strcmp(name, counters[i].name) != 0) continue;
        if (!VirtualProtect(&functions->u1.Function, sizeof functions->u1.Function, PAGE_READWRITE, &before)) fail("VirtualProtect", name);
        functions->u1.Function = (ULONG_PTR)counters[i].ours;
        ++n_found;
      }
    }
  }
  return n_found;
}

typedef struct work {
  const inlay_dl* api;
  const char* model;
} work;

static DWORD WINAPI use_library(void* given) {
  const work* mine = given;
  const inlay_dl* api = mine->api;
  inlay_error err;
  inlay_load_params params;
  inlay_engine* engine = NULL;
  inlay_session* session = NULL;
  inlay_event event;
  int32_t tokens[64];
  size_t n_tokens = 0, n_done = 0;
  memset(&params, 0, sizeof params);
  params.struct_size = sizeof params;
  params.n_threads = 2;
  if (api->inlay_load("no/such.gguf", SIZE_MAX, &params, &engine, &err) == INLAY_OK) fail("inlay_load", "a file that is not there");
  if (api->inlay_load(mine->model, SIZE_MAX, &params, &engine, &err) != INLAY_OK) fail("inlay_load", err.message);
  if (api->inlay_tokenize(engine, "Once upon a time", SIZE_MAX, 0, tokens, 64, &n_tokens, &err) != INLAY_OK) fail("inlay_tokenize", err.message);
  if (api->inlay_session_create(engine, NULL, &session, &err) != INLAY_OK) fail("inlay_session_create", err.message);
  if (api->inlay_prefill(session, tokens, n_tokens, &n_done, &err) != INLAY_OK) fail("inlay_prefill", err.message);
  for (int i = 0; i < 20; ++i) {
    if (api->inlay_decode_step(&session, 1, &event, sizeof event, &err) != INLAY_OK) fail("inlay_decode_step", err.message);
  }
  api->inlay_session_free(session);
  api->inlay_free(engine);
  return 0;
}

int main(int argc, char** argv) {
  enum { kTimes = 8, kMostBytes = 4096 };  // each time four threads begin and end
  LONG n_bytes = 0;
  int n_imported = 0;
  if (argc == 3) {
    inlay_dl api;
    char message[256];
    if (inlay_dl_open(argv[1], &api, message, sizeof message) != 0) fail("load", message);
    n_imported = replace_imports((HMODULE)api.library);
    work mine = {&api, argv[2]};
    for (int i = 0; i < kTimes; ++i) {
      const HANDLE thread = CreateThread(NULL, 0, use_library, &mine, 0, NULL);
      if (!thread) fail("CreateThread", "no thread");
      WaitForSingleObject(thread, INFINITE);
      CloseHandle(thread);
    }
  } else if (argc == 2) {
    const HMODULE library = LoadLibraryA(argv[1]);
    void (*take)(void) = NULL;
    const FARPROC found = library ? GetProcAddress(library, "take") : NULL;
    if (!found) fail("load", argv[1]);
    memcpy(&take, &found, sizeof take);
    n_imported = replace_imports(library);
    take();
  } else {
    fail("usage", "windows_host_malloc LIBRARY [MODEL]");
  }
  printf("%d of the functions imported\n", n_imported);
  for (int i = 0; i < kCounters; ++i) {
    printf("%ld calls of %s, %ld bytes\n", counters[i].n_calls, counters[i].name, counters[i].n_bytes);
    n_bytes += counters[i].n_bytes;
  }
  if (n_bytes <= kTimes * kMostBytes) return 0;
  printf("%ld bytes are more than run-times need\n", n_bytes);
  return 1;
}
