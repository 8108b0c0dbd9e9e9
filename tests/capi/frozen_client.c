// A client of an earlier ABI version, compiled with the header of that time: writes text as examples/c/complete.c does,
// and looks at everything that the library fills, which must not write past the structs that this client knows. usage:
// frozen_client MODEL PROMPT TOKENS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inlay.h"

#define GUARD_BYTES 64

static int n_faults;
static inlay_error err;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "frozen_client: %s: %s\n", what, err.message);
  n_faults++;
}

// FILLED(type, call): `out` is a struct of that type followed by guard bytes, and the call fills it.
#define FILLED(type, call)                                             \
  do {                                                                 \
    struct {                                                           \
      type value;                                                      \
      unsigned char guard[GUARD_BYTES];                                \
    } guarded;                                                         \
    unsigned char untouched[GUARD_BYTES];                              \
    type* out = &guarded.value;                                        \
    memset(&guarded, 0, sizeof guarded);                               \
    memset(guarded.guard, 0xa5, GUARD_BYTES);                          \
    memset(untouched, 0xa5, GUARD_BYTES);                              \
    out->struct_size = sizeof *out;                                    \
    check((call) == INLAY_OK, #call);                                  \
    check(out->struct_size == sizeof *out, #type " has another size"); \
    check(memcmp(guarded.guard, untouched, GUARD_BYTES) == 0, #type);  \
  } while (0)

static void look_at_everything(const char* model, const inlay_load_params* params, inlay_engine* engine,
                               inlay_session* session) {
  FILLED(inlay_device_info, inlay_device_get(0, out, &err));
  FILLED(inlay_memory_info, inlay_memory_plan(model, SIZE_MAX, params, out, &err));
  FILLED(inlay_engine_info, inlay_engine_get_info(engine, out, &err));
  FILLED(inlay_token_info, inlay_token_get_info(engine, 0, out, &err));
  FILLED(inlay_session_info, inlay_session_get_info(session, out, &err));
  FILLED(inlay_stats, inlay_engine_get_stats(engine, out, &err));
}

// Two events beside each other: a library that takes them for longer ones would write the first into the second.
static void write_text(inlay_session* session) {
  inlay_event events[2], untouched;
  memset(&untouched, 0xa5, sizeof untouched);
  do {
    memset(&events[0], 0, sizeof events[0]);
    memset(&events[1], 0xa5, sizeof events[1]);
    check(inlay_decode_step(&session, 1, events, sizeof events[0], &err) == INLAY_OK, "decode_step");
    check(memcmp(&events[1], &untouched, sizeof untouched) == 0, "an event is too long");
    fwrite(events[0].text, 1, events[0].text_bytes, stdout);
  } while (n_faults == 0 && events[0].finish_reason == INLAY_FINISH_NONE);
  printf("\n");
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  inlay_load_params load = {.struct_size = sizeof load, .max_sessions = 2};
  inlay_sampler_params sampler = {.struct_size = sizeof sampler};
  inlay_session_params params = {.struct_size = sizeof params, .sampler = &sampler, .max_tokens = atoi(argv[3])};
  inlay_engine* engine = NULL;
  inlay_session* session = NULL;
  int32_t tokens[256];
  size_t n = 0;
  const uint32_t version = inlay_abi_version();
  check(version >> 16 == INLAY_ABI_MAJOR && (int32_t)(version & 0xffff) >= INLAY_ABI_MINOR,
        "the library is older than this client");
  check(inlay_load(argv[1], SIZE_MAX, &load, &engine, &err) == INLAY_OK, "load");
  check(inlay_session_create(engine, &params, &session, &err) == INLAY_OK, "session_create");
  check(inlay_tokenize(engine, argv[2], SIZE_MAX, 0, tokens, 256, &n, &err) == INLAY_OK, "tokenize");
  check(inlay_prefill(session, tokens, n, NULL, &err) == INLAY_OK, "prefill");
  printf("%s", argv[2]);
  if (n_faults == 0) write_text(session);
  if (n_faults == 0) look_at_everything(argv[1], &load, engine, session);
  inlay_session_free(session);
  inlay_free(engine);
  return n_faults != 0;
}
