// Requests: every call with what is right and what is wrong.
#ifndef INLAY_ABI_REQUESTS_H
#define INLAY_ABI_REQUESTS_H

#include "tests/capi/abi_checks.h"

static void test_run(const inlay_engine* engine, int32_t n_requests) {
  inlay_run_info info = {0};
  inlay_run_params step = {0};
  info.struct_size = sizeof info;
  step.struct_size = sizeof step;
  step.flags = INLAY_RUN_ONE_STEP;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_run)(NULL, NULL, &info, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_run)(engine, NULL, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_run)(engine, &step, &info, &err));
  CHECK(info.n_requests == n_requests && (info.flags & INLAY_RUN_INFO_HAS_WORK) != 0);
  IN_STRUCT(inlay_run_params, p->flags = INLAY_RUN_ONE_STEP, CALL(inlay_run)(engine, p, &info, &err), INLAY_OK);
  IN_STRUCT(inlay_run_params, p->flags = INLAY_RUN_ONE_STEP | INLAY_RUN_NO_WAIT, CALL(inlay_run)(engine, p, &info, &err), INLAY_OK);
  IN_STRUCT(inlay_run_params, p->flags = 4, CALL(inlay_run)(engine, p, &info, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_run_params, p->budget_us = UINT64_MAX, CALL(inlay_run)(engine, p, &info, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_run_params, p->host_budget_us = UINT64_MAX, CALL(inlay_run)(engine, p, &info, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_run_params, (p->flags = INLAY_RUN_NO_WAIT, p->host_budget_us = 1), CALL(inlay_run)(engine, p, &info, &err), INLAY_OK);
  IN_STRUCT(inlay_run_params, p->max_step_us = UINT64_MAX, CALL(inlay_run)(engine, p, &info, &err), INLAY_INVALID_ARGUMENT);
  OUT_STRUCT(inlay_run_info, CALL(inlay_run)(engine, NULL, p, &err));
}

static void test_thread(const inlay_engine* engine) {
  inlay_run_info info = {0};
  info.struct_size = sizeof info;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_engine_set_thread)(NULL, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_engine_set_thread)(engine, NULL, &err));
  IN_STRUCT(inlay_thread_params, p->max_step_us = 1000, CALL(inlay_engine_set_thread)(engine, p, &err), INLAY_OK);
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_run)(engine, NULL, &info, &err));
  IN_STRUCT(inlay_thread_params, (p->busy_us = 500, p->period_us = 1000), CALL(inlay_engine_set_thread)(engine, p, &err), INLAY_OK);
  IN_STRUCT(inlay_thread_params, p->busy_us = 500, CALL(inlay_engine_set_thread)(engine, p, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_thread_params, p->period_us = 500, CALL(inlay_engine_set_thread)(engine, p, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_thread_params, (p->busy_us = 2, p->period_us = 1), CALL(inlay_engine_set_thread)(engine, p, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_thread_params, p->reserved = 1, CALL(inlay_engine_set_thread)(engine, p, &err), INLAY_INVALID_ARGUMENT);
  EXPECT(INLAY_OK, CALL(inlay_engine_set_thread)(engine, NULL, &err));
}

static void test_submit(const inlay_queue* queue, uint64_t* id) {
  static const int32_t prompt[] = {65, 66, 67}, far_away[] = {65, 66, 1 << 30};
  inlay_session_params session = {0};
  inlay_chat_params chat = {0};
  inlay_embed_params embed = {0};
  const char* talk = "[{\"role\": \"user\", \"content\": \"Hello\"}]";
  session.struct_size = sizeof session;
  session.max_tokens = 3;
  chat.struct_size = sizeof chat;
  embed.struct_size = sizeof embed;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_submit)(NULL, NULL, id, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_submit)(queue, NULL, id, &err));
  IN_STRUCT(inlay_request, (void)p, CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT);
  CHECK(*id == 0);
#define PROMPT (p->tokens = prompt, p->n_tokens = 3, p->session_params = &session)
#define REFUSED(change) IN_STRUCT(inlay_request, (PROMPT, change), CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT)
  REFUSED(p->n_tokens = 0);
  REFUSED(p->text = "a");
  REFUSED(p->conversation_len = SIZE_MAX);
  REFUSED(p->tokens = far_away);
  REFUSED(p->kind = 3);
  REFUSED(p->kind = INLAY_REQUEST_EMBED); /* with a session */
  REFUSED(p->embed = &embed);
  REFUSED(p->chat = &chat);
  REFUSED(p->priority = 8);
  REFUSED(p->priority = -1);
  REFUSED(p->reserved = 1);
  REFUSED(p->deadline_us = UINT64_MAX);
  REFUSED(p->timeout_us = UINT64_MAX);
#undef REFUSED
  session.flags = INLAY_SESSION_RESERVE;
  IN_STRUCT(inlay_request, PROMPT, CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT);
  session.flags = INLAY_SESSION_FOR_REQUESTS;
  IN_STRUCT(inlay_request, PROMPT, CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT);
  session.flags = 1u << 30;
  IN_STRUCT(inlay_request, PROMPT, CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT);
  session.flags = 0;
  IN_STRUCT(inlay_request, (p->text = "abc", p->text_len = SIZE_MAX, p->session_params = &session), CALL(inlay_submit)(queue, p, id, &err), INLAY_OK);
  IN_STRUCT(inlay_request, (p->conversation = talk, p->conversation_len = SIZE_MAX, p->chat = &chat, p->session_params = &session),
            CALL(inlay_submit)(queue, p, id, &err), INLAY_OK);
  IN_STRUCT(inlay_request, (p->conversation = "[", p->conversation_len = 1), CALL(inlay_submit)(queue, p, id, &err), INLAY_FORMAT);
  IN_STRUCT(inlay_request, (PROMPT, p->priority = 7, p->deadline_us = 5, p->timeout_us = 1000000000, p->user = 77, p->cache_salt = 5),
            CALL(inlay_submit)(queue, p, id, &err), INLAY_OK);
  CHECK(*id > 0);
#undef PROMPT
}

/* A vector by a request: the one of inlay_embed, which is taken once. */
static void test_vectors(const inlay_engine* engine, const inlay_queue* queue) {
  static const int32_t text[] = {65, 66, 67};
  inlay_embed_params embed = {0};
  inlay_embed_input input = {0};
  inlay_session* session = NULL;
  inlay_session_params params = {0};
  inlay_chat_params chat = {0};
  inlay_run_info info = {0};
  inlay_request_event event;
  static float want[4096], got[4096];
  size_t n = 0, width = 0;
  uint64_t vector = 0, other = 0, *id = &vector;
  embed.struct_size = sizeof embed;
  embed.pooling = INLAY_POOLING_LAST;
  params.struct_size = sizeof params;
  params.flags = INLAY_SESSION_FOR_REQUESTS;
  chat.struct_size = sizeof chat;
  info.struct_size = sizeof info;
  input.tokens = text;
  input.n_tokens = 3;
  EXPECT(INLAY_OK, CALL(inlay_session_create)(engine, &params, &session, &err));
  EXPECT(INLAY_OK, CALL(inlay_embed)(engine, &input, 1, sizeof input, &embed, want, 4096, &width, &err));
#define A_TEXT (p->kind = INLAY_REQUEST_EMBED, p->tokens = text, p->n_tokens = 3, p->embed = &embed)
#define REFUSED(change) IN_STRUCT(inlay_request, (A_TEXT, change), CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT)
  REFUSED(p->conversation = "[]");
  REFUSED(p->conversation_len = SIZE_MAX);
  REFUSED(p->chat = &chat);
  REFUSED(p->session_params = &params);
  REFUSED(p->continues = session);
  REFUSED(p->n_tokens = 0);
  REFUSED(p->text = "a");
#undef REFUSED
  embed.flags = 4;
  IN_STRUCT(inlay_request, A_TEXT, CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT);
  embed.flags = 0;
  embed.pooling = INLAY_POOLING_DEFAULT;
  IN_STRUCT(inlay_request, A_TEXT, CALL(inlay_submit)(queue, p, id, &err), INLAY_UNSUPPORTED);
  CHECK(vector == 0);
  embed.pooling = INLAY_POOLING_LAST;
  IN_STRUCT(inlay_request, (A_TEXT, p->priority = 7, p->deadline_us = 5, p->timeout_us = 1000000000), CALL(inlay_submit)(queue, p, id, &err), INLAY_OK);
#undef A_TEXT
  IN_STRUCT(inlay_request, (p->tokens = text, p->n_tokens = 3, p->kind = INLAY_REQUEST_PREFILL), CALL(inlay_submit)(queue, p, &other, &err), INLAY_OK);
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_request_take_values)(queue, vector, got, 4096, &n, &err));
  EXPECT(INLAY_OK, CALL(inlay_run)(engine, NULL, &info, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_request_take_values)(queue, other, got, 4096, &n, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_request_take_values)(queue, UINT64_MAX, got, 4096, &n, &err));
  for (n = 1; n > 0;) {
    EXPECT(INLAY_OK, CALL(inlay_poll)(queue, &event, 1, sizeof event, NULL, 0, NULL, 0, &n, &err));
    if (n == 0) break;
    CHECK(event.kind == INLAY_REQUEST_EVENT_END && event.status == INLAY_OK && event.n_drawn == 0);
    CHECK(event.finish_reason == (event.n_values > 0 ? INLAY_FINISH_EMBEDDED : INLAY_FINISH_PREFILLED));
    CHECK(event.n_values == 0 || (event.n_values == width && event.n_prompt == 3 && event.n_cached == 0));
  }
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_request_take_values)(NULL, vector, got, 4096, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_request_take_values)(queue, vector, NULL, 1, &n, &err));
  EXPECT(INLAY_OK, CALL(inlay_request_take_values)(queue, vector, NULL, 0, &n, &err));
  CHECK(n == width);
  EXPECT(INLAY_BUFFER_TOO_SMALL, CALL(inlay_request_take_values)(queue, vector, got, width - 1, &n, &err));
  CHECK(n == width && err.required == width && err.available == width - 1);
  EXPECT(INLAY_OK, CALL(inlay_request_take_values)(queue, vector, got, width, NULL, &err));
  CHECK(memcmp(got, want, width * sizeof *got) == 0);
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_request_take_values)(queue, vector, got, width, &n, &err));
  CHECK(n == 0);
  CALL(inlay_session_free)(session);
}

/* A session that requests continue, one after the other; another one they cannot. */
static void test_continued(const inlay_engine* engine, const inlay_queue* queue, uint64_t* id) {
  static const int32_t prompt[] = {65, 66, 67};
  inlay_session *session = NULL, *stepping = NULL;
  inlay_session_params params = {0};
  inlay_session_info info;
  size_t n = 0;
  params.struct_size = sizeof params;
  params.max_tokens = 2;
  EXPECT(INLAY_OK, CALL(inlay_session_create)(engine, &params, &stepping, &err));
  params.flags = INLAY_SESSION_FOR_REQUESTS;
  EXPECT(INLAY_OK, CALL(inlay_session_create)(engine, &params, &session, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_prefill)(session, prompt, 3, &n, &err));
#define MORE(of) (p->tokens = prompt, p->n_tokens = 3, p->continues = of)
  IN_STRUCT(inlay_request, MORE(stepping), CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_request, MORE((const inlay_session*)queue), CALL(inlay_submit)(queue, p, id, &err), INLAY_INVALID_ARGUMENT);
  CHECK(*id == 0);
  IN_STRUCT(inlay_request, MORE(session), CALL(inlay_submit)(queue, p, id, &err), INLAY_OK);
  IN_STRUCT(inlay_request, (MORE(session), p->kind = INLAY_REQUEST_PREFILL), CALL(inlay_submit)(queue, p, id, &err), INLAY_OK);
#undef MORE
  CALL(inlay_session_free)(session);  /* which ends both */
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  EXPECT(INLAY_OK, CALL(inlay_session_get_info)(stepping, &info, &err));
  CALL(inlay_session_free)(stepping);
}

static void test_poll(const inlay_queue* queue, size_t n_requests, uint64_t last) {
  inlay_request_event events[8];
  inlay_token_logprob tokens[16];
  char text[256];
  inlay_wait_result result = 99;
  size_t n = 99, n_ends = 0, i;
  uint64_t number = 0;
  const size_t stride = sizeof *events;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_poll)(NULL, events, 8, stride, tokens, 16, text, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_poll)(queue, NULL, 8, stride, tokens, 16, text, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_poll)(queue, events, 8, stride - 8, tokens, 16, text, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_poll)(queue, events, 8, stride, NULL, 16, text, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_poll)(queue, events, 8, stride, tokens, 16, NULL, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_poll)(queue, events, 8, stride, tokens, 16, text, sizeof text, NULL, &err));
  EXPECT(INLAY_BUFFER_TOO_SMALL, CALL(inlay_poll)(queue, NULL, 0, stride, NULL, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_BUFFER_TOO_SMALL, CALL(inlay_poll)(queue, events, 8, stride, tokens, 0, text, 0, &n, &err));
  CHECK(n == 0);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_wait)(NULL, 0, &result, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_wait)(queue, 0, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_wait)(queue, -1, &result, &err));
  CHECK(result == INLAY_WAIT_RESULT_READY);
  for (n = 1; n > 0;) {
    memset(events, 0xaa, sizeof events);
    EXPECT(INLAY_OK, CALL(inlay_poll)(queue, events, 8, stride, tokens, 16, text, sizeof text, &n, &err));
    for (i = 0; i < n; ++i) {
      const inlay_request_event* e = &events[i];
      CHECK(e->number == ++number && e->request_id > 0 && e->n_top == 0);
      CHECK(e->first_token + (size_t)e->n_tokens <= 16 && e->first_byte + e->text_bytes <= sizeof text);
      CHECK((e->request_id + 4 > last) == (e->user == 77));
      if (e->kind != INLAY_REQUEST_EVENT_END) continue;
      ++n_ends;
      CHECK(e->finish_reason == INLAY_FINISH_MAX_TOKENS || e->finish_reason == INLAY_FINISH_END_OF_GENERATION);
      CHECK(e->n_values == 0);
      CHECK(e->n_prompt > 0 && e->n_drawn > 0 && e->n_drawn <= 3 && e->status == INLAY_OK);
    }
  }
  CHECK(n_ends == n_requests);
  EXPECT(INLAY_OK, CALL(inlay_wait)(queue, 1000, &result, &err));
  CHECK(result == INLAY_WAIT_RESULT_TIME_OVER);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_wake)(NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_queue_wake)(queue, &err));
  EXPECT(INLAY_OK, CALL(inlay_queue_wake)(queue, &err));
  EXPECT(INLAY_OK, CALL(inlay_wait)(queue, 0, &result, &err));
  CHECK(result == INLAY_WAIT_RESULT_TIME_OVER);
  EXPECT(INLAY_OK, CALL(inlay_wait)(queue, -1, &result, &err));
  CHECK(result == INLAY_WAIT_RESULT_WOKEN);
  EXPECT(INLAY_OK, CALL(inlay_wait)(queue, 1000, &result, &err));
  CHECK(result == INLAY_WAIT_RESULT_TIME_OVER);
}

static void test_requests(const inlay_engine* engine) {
  enum { N = 12 };  // that test_submit() submits
  inlay_queue *queue = NULL, *other = NULL;
  inlay_wait_kind kind = 0;
  int64_t handle = -1;
  inlay_wait_result result = 99;
  uint64_t id = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_create)(NULL, NULL, &queue, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_create)(engine, NULL, NULL, &err));
  IN_STRUCT(inlay_queue_params, p->max_requests = -1, CALL(inlay_queue_create)(engine, p, &queue, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_queue_params, p->max_unread_tokens = -1, CALL(inlay_queue_create)(engine, p, &queue, &err), INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_queue_params, p->reserved = 1, CALL(inlay_queue_create)(engine, p, &queue, &err), INLAY_INVALID_ARGUMENT);
  CHECK(queue == NULL);
  EXPECT(INLAY_OK, CALL(inlay_queue_create)(engine, NULL, &queue, &err));
  EXPECT(INLAY_OK, CALL(inlay_queue_create)(engine, NULL, &other, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_wait)(queue, -1, &result, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_get_handle)(NULL, &kind, &handle, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_get_handle)(queue, NULL, &handle, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_get_handle)(queue, &kind, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_queue_get_handle)(queue, &kind, &handle, &err));
  CHECK(handle > 0 && (kind == INLAY_WAIT_EVENTFD || kind == INLAY_WAIT_WINDOWS_EVENT));
  test_submit(queue, &id);
  test_run(engine, N);
  test_poll(queue, N, id);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_request_cancel)(NULL, id, &err));
  EXPECT(INLAY_OK, CALL(inlay_request_cancel)(queue, id, &err));
  EXPECT(INLAY_OK, CALL(inlay_request_cancel)(queue, UINT64_MAX, &err));
  test_vectors(engine, other);
  test_continued(engine, other, &id);
  test_thread(engine);
  CALL(inlay_queue_free)(NULL);
  CALL(inlay_queue_free)(queue);
  CALL(inlay_queue_free)(other);
}

#endif
