// Saved sessions: every call with what is right and what is wrong.
#ifndef INLAY_ABI_STATES_H
#define INLAY_ABI_STATES_H

#include "tests/capi/abi_checks.h"

enum { MOST_STATE = 1 << 20 };
static unsigned char state_bytes[MOST_STATE];
static size_t n_state, n_written, n_read;

static int32_t write_state(void* user, const void* state, uint64_t n) {
  CHECK(user == &n_state && n > 0 && memcmp(state_bytes + n_written, state, (size_t)n) == 0);
  n_written += (size_t)n;
  return 0;
}

static int32_t read_state(void* user, void* into, uint64_t n) {
  CHECK(user == &n_state && n > 0);
  if (n > n_state - n_read) return 5;
  memcpy(into, state_bytes + n_read, (size_t)n);
  n_read += (size_t)n;
  return 0;
}

static int32_t refuse_state(void* user, const void* state, uint64_t n) { return (void)user, (void)state, (void)n, 28; }

static void test_restored(inlay_session* session, inlay_session* again) {
  inlay_event event[2];
  int i;
  for (i = 0; i < 4; ++i) {
    EXPECT(INLAY_OK, CALL(inlay_decode_step)(&session, 1, &event[0], sizeof event[0], &err));
    EXPECT(INLAY_OK, CALL(inlay_decode_step)(&again, 1, &event[1], sizeof event[1], &err));
    CHECK(event[0].token == event[1].token && memcmp(&event[0].logprob, &event[1].logprob, sizeof event[0].logprob) == 0);
  }
}

static void test_states(const inlay_engine* engine) {
  const int32_t tokens[] = {65, 66, 67, 68};
  inlay_session *session = NULL, *again = NULL;
  inlay_session_params params = {0};
  size_t n = 0;
  params.struct_size = sizeof params;
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  EXPECT(INLAY_OK, CALL(inlay_session_create)(engine, &params, &session, &err));
  EXPECT(INLAY_OK, CALL(inlay_prefill)(session, tokens, 4, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_save)(NULL, state_bytes, MOST_STATE, &n, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_save)(session, NULL, 0, &n_state, &err));
  CHECK(n_state > 100 && n_state < MOST_STATE);
  EXPECT(INLAY_OK, CALL(inlay_session_save)(session, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_save)(session, NULL, 1, &n, &err));
  EXPECT(INLAY_BUFFER_TOO_SMALL, CALL(inlay_session_save)(session, state_bytes, n_state - 1, &n, &err));
  CHECK(n == n_state && err.required == n_state && err.available == n_state - 1 && state_bytes[0] == 0);
  EXPECT(INLAY_OK, CALL(inlay_session_save)(session, state_bytes, n_state, &n, &err));
  CHECK(n == n_state && state_bytes[0] != 0 && state_bytes[n_state] == 0);

  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_save_to)(session, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_save_to)(NULL, NULL, &err));
  IN_STRUCT(inlay_state_writer, (p->user = &n_state, p->write = write_state), (n_written = 0, CALL(inlay_session_save_to)(session, p, &err)), INLAY_OK);
  CHECK(n_written == n_state);
  IN_STRUCT(inlay_state_writer, (p->write = write_state, p->reserved = 1), CALL(inlay_session_save_to)(session, p, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_state_writer, (void)0, CALL(inlay_session_save_to)(session, p, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_state_writer, p->write = refuse_state, CALL(inlay_session_save_to)(session, p, &err), INLAY_IO);
  {
    inlay_state_writer writer = {sizeof writer, 0, NULL, refuse_state};
    EXPECT(INLAY_IO, CALL(inlay_session_save_to)(session, &writer, &err));
    CHECK(err.native_code == 28);
  }

  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore)(NULL, state_bytes, n_state, &again, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore)(engine, NULL, n_state, &again, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore)(engine, state_bytes, n_state, NULL, &err));
  again = session;
  EXPECT(INLAY_FORMAT, CALL(inlay_session_restore)(engine, state_bytes, n_state - 1, &again, &err));
  CHECK(again == NULL);
  EXPECT(INLAY_FORMAT, CALL(inlay_session_restore)(engine, state_bytes, 0, &again, &err));
  EXPECT(INLAY_FORMAT, CALL(inlay_session_restore)(engine, state_bytes, n_state + 1, &again, &err));
  state_bytes[n_state / 2] ^= 1;
  EXPECT(INLAY_FORMAT, CALL(inlay_session_restore)(engine, state_bytes, n_state, &again, &err));
  state_bytes[n_state / 2] ^= 1;
  EXPECT(INLAY_OK, CALL(inlay_session_restore)(engine, state_bytes, n_state, &again, &err));
  test_restored(session, again);
  CALL(inlay_session_free)(session);
  session = again;
  again = NULL;

  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore_from)(NULL, NULL, &again, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore_from)(engine, NULL, &again, &err));
#define RESTORE (CALL(inlay_session_free)(again), again = NULL, n_read = 0, CALL(inlay_session_restore_from)(engine, p, &again, &err))
  IN_STRUCT(inlay_state_reader, (p->user = &n_state, p->read = read_state), RESTORE, INLAY_OK);
  CHECK(n_read == n_state && again != NULL);
  {
    inlay_state_reader reader = {sizeof reader, 0, &n_state, read_state};
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore_from)(engine, &reader, NULL, &err));
    CALL(inlay_session_free)(again);
    n_read = n_state - 10;
    EXPECT(INLAY_IO, CALL(inlay_session_restore_from)(engine, &reader, &again, &err));
    CHECK(again == NULL && err.native_code == 5);
  }
  IN_STRUCT(inlay_state_reader, (p->read = read_state, p->reserved = 1), RESTORE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_state_reader, (void)0, RESTORE, INLAY_INVALID_ARGUMENT);
#undef RESTORE
  CALL(inlay_session_free)(session);
}

#endif
