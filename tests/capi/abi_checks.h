// What every check of a call shares: the library's table, which functions were called, and how answers are judged.
#ifndef INLAY_ABI_CHECKS_H
#define INLAY_ABI_CHECKS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "include/capi/inlay_dl.h"

#define ID(function) ID_##function,
enum { INLAY_DL_FUNCTIONS(ID) N_FUNCTIONS };
#define NAME(function) #function,
static const char* const names[] = {INLAY_DL_FUNCTIONS(NAME)};

static inlay_dl api;
static inlay_error err;
static int called[N_FUNCTIONS];
static inlay_load_params on_device;
static int n_checks, n_failures;

#define CALL(function) (called[ID_##function] = 1, spoil_error(), api.function)
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define EXPECT(status, call) expect(status, call, #call, __LINE__)

// So that what a call leaves unwritten shows, but still is a text.
static void spoil_error(void) {
  memset(&err, 0x5a, sizeof err);
  err.message[sizeof err.message - 1] = 0;
}

static void check(int holds, const char* what, int line) {
  ++n_checks;
  if (holds) return;
  ++n_failures;
  printf("line %d: %s does not hold\n", line, what);
}

// The returned status, the error's copy of it, and a message exactly if something is wrong.
static void expect(inlay_status want, inlay_status got, const char* call, int line) {
  const int described =
      err.status == got && err.message_len == strlen(err.message) && (err.message_len == 0) == (got == INLAY_OK);
  ++n_checks;
  if (got == want && described) return;
  ++n_failures;
  printf("line %d: %s\n  gave %s (%s), expected %s\n", line, call, api.inlay_status_name(got),
         described ? err.message : "badly described", api.inlay_status_name(want));
}

// Sizes in ABI 1.0, when they appeared, of the structs that have grown since; a client may be as old.
static uint32_t first_size(const char* type, size_t now) {
  if (strcmp(type, "inlay_load_params") == 0) return 80;
  if (strcmp(type, "inlay_memory_info") == 0) return 56;
  if (strcmp(type, "inlay_engine_info") == 0) return 88;
  if (strcmp(type, "inlay_sampler_params") == 0) return 64;
  if (strcmp(type, "inlay_session_params") == 0) return 32;
  if (strcmp(type, "inlay_session_info") == 0) return 32;
  if (strcmp(type, "inlay_stats") == 0) return 72;
  return (uint32_t)now;
}

// `call` uses p, a parameter struct that `setup` fills; `fine` is its status when the struct is well formed.
#define IN_STRUCT(type, setup, call, fine)                                                                       \
  do {                                                                                                           \
    union {                                                                                                      \
      type s;                                                                                                    \
      unsigned char bytes[8192];                                                                                 \
    } u;                                                                                                         \
    const uint32_t n_first = first_size(#type, sizeof(type)), bad[] = {0, 1, 4, n_first - 1, 4097, 0xffffffffu}; \
    type* p = &u.s;                                                                                              \
    size_t i_bad;                                                                                                \
    memset(&u, 0, sizeof u);                                                                                     \
    setup;                                                                                                       \
    for (i_bad = 0; i_bad < sizeof bad / sizeof *bad; ++i_bad) {                                                 \
      p->struct_size = bad[i_bad];                                                                               \
      EXPECT(INLAY_INVALID_ARGUMENT, call);                                                                      \
    }                                                                                                            \
    p->struct_size = n_first;                                                                                    \
    EXPECT(fine, call);                                                                                          \
    p->struct_size = sizeof(type);                                                                               \
    EXPECT(fine, call);                                                                                          \
    p->struct_size = sizeof(type) + 64;                                                                          \
    EXPECT(fine, call);                                                                                          \
    u.bytes[sizeof(type) + 63] = 1;                                                                              \
    EXPECT(INLAY_INVALID_ARGUMENT, call);                                                                        \
    u.bytes[sizeof(type) + 63] = 0;                                                                              \
    u.bytes[sizeof(type) + 64] = 1;                                                                              \
    EXPECT(fine, call);                                                                                          \
  } while (0)

// `call` fills p. What the library does not know of a longer struct becomes zero; what lies behind it stays.
#define OUT_STRUCT(type, call)                                                                                \
  do {                                                                                                        \
    union {                                                                                                   \
      type s;                                                                                                 \
      unsigned char bytes[8192];                                                                              \
    } u;                                                                                                      \
    const uint32_t n_first = first_size(#type, sizeof(type)), bad[] = {0, 4, n_first - 1, 4097, 0xffffffffu}; \
    type* p = &u.s;                                                                                           \
    size_t i_bad;                                                                                             \
    for (i_bad = 0; i_bad < sizeof bad / sizeof *bad; ++i_bad) {                                              \
      memset(&u, 0xaa, sizeof u);                                                                             \
      p->struct_size = bad[i_bad];                                                                            \
      EXPECT(INLAY_INVALID_ARGUMENT, call);                                                                   \
      CHECK(u.bytes[4] == 0xaa && u.bytes[sizeof(type)] == 0xaa);                                             \
    }                                                                                                         \
    memset(&u, 0xaa, sizeof u);                                                                               \
    p->struct_size = n_first;                                                                                 \
    EXPECT(INLAY_OK, call);                                                                                   \
    CHECK(p->struct_size == n_first && u.bytes[n_first] == 0xaa);                                             \
    memset(&u, 0xaa, sizeof u);                                                                               \
    p->struct_size = sizeof(type) + 64;                                                                       \
    EXPECT(INLAY_OK, call);                                                                                   \
    CHECK(p->struct_size == sizeof(type) + 64);                                                               \
    CHECK(u.bytes[sizeof(type)] == 0 && u.bytes[sizeof(type) + 63] == 0);                                     \
    CHECK(u.bytes[sizeof(type) + 64] == 0xaa);                                                                \
    p->struct_size = sizeof(type);                                                                            \
    EXPECT(INLAY_OK, call);                                                                                   \
  } while (0)

// `call` writes a text of size `need` to (buf, cap).
#define TEXT_OUT(call)                                        \
  do {                                                        \
    char room[65536];                                         \
    char* buf = NULL;                                         \
    size_t cap = 0, need = 0;                                 \
    EXPECT(INLAY_OK, call);                                   \
    CHECK(need > 0 && need < sizeof room);                    \
    if (need == 0 || need >= sizeof room) break;              \
    cap = 1;                                                  \
    EXPECT(INLAY_INVALID_ARGUMENT, call);                     \
    memset(room, 0x7e, sizeof room);                          \
    buf = room;                                               \
    cap = need - 1;                                           \
    EXPECT(INLAY_BUFFER_TOO_SMALL, call);                     \
    CHECK(err.required == need && err.available == need - 1); \
    CHECK(room[need - 1] == 0x7e);                            \
    cap = need;                                               \
    EXPECT(INLAY_OK, call);                                   \
    CHECK(room[need - 1] != 0x7e && room[need] == 0x7e);      \
  } while (0)

#endif
