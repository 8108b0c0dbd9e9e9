// Every call without a handle.
#ifndef INLAY_ABI_NULL_HANDLES_H
#define INLAY_ABI_NULL_HANDLES_H

#include "tests/capi/abi_checks.h"

static void test_null_handles(void) {
  inlay_engine_info engine_info = {0};
  inlay_token_info token_info = {0};
  inlay_session_info session_info = {0};
  inlay_stats stats = {0};
  inlay_event event;
  inlay_session* session = (inlay_session*)&err;
  inlay_session* none[1] = {NULL};
  const int32_t token = 0;
  int32_t left = 0;
  uint64_t cursor = 0;
  size_t n = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_engine_get_info)(NULL, &engine_info, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_meta_count)(NULL, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_meta_key)(NULL, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_meta_value)(NULL, "k", SIZE_MAX, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_tokenize)(NULL, "x", SIZE_MAX, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_detokenize)(NULL, &token, 1, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_token_get_info)(NULL, 0, &token_info, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_render)(NULL, "[]", SIZE_MAX, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_tokenize)(NULL, "[]", SIZE_MAX, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(NULL, NULL, &session, &err));
  CHECK(session == NULL);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_info)(NULL, &session_info, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_prefill)(NULL, &token, 1, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(NULL, 1, &event, sizeof event, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(none, 1, &event, sizeof event, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(none, 1, 1, &event, sizeof event, &left, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_abandon)(none, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_take_text)(NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_fork)(NULL, &session, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_truncate)(NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_shift)(NULL, 0, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_accept)(NULL, &token, 1, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_tokens)(NULL, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_sampler)(NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_save)(NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_save_to)(NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore)(NULL, &token, sizeof token, &session, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_restore_from)(NULL, NULL, &session, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop)(NULL, NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop_tokens)(NULL, NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_max_tokens)(NULL, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_copy_logits)(NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_view_logits)(NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_engine_get_stats)(NULL, &stats, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_plan_text)(NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_log_read)(NULL, &cursor, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_profile_step)(NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_profile_text)(NULL, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_compare_text)(NULL, NULL, &token, 1, 0, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_embed)(NULL, NULL, 0, sizeof(inlay_embed_input), NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_score)(NULL, NULL, &token, 1, NULL, 0, NULL, NULL, 0, NULL, 0, &err));
  CALL(inlay_session_cancel)(NULL);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_cancel_generation)(NULL, 1, &err));
  CALL(inlay_session_free)(NULL);
  CALL(inlay_free)(NULL);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_create)(NULL, NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_submit)(NULL, NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_request_cancel)(NULL, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_request_take_values)(NULL, 1, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_poll)(NULL, NULL, 0, 0, NULL, 0, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_wait)(NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_wake)(NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_queue_get_handle)(NULL, NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_run)(NULL, NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_engine_set_thread)(NULL, NULL, &err));
  CALL(inlay_queue_free)(NULL);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_constraint_create)(NULL, NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_constraint_get_info)(NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_constraint_get_remark)(NULL, 0, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_constraint)(NULL, NULL, NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_forced_text)(NULL, NULL, 0, NULL, &err));
  CALL(inlay_constraint_free)(NULL);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_get_format)(NULL, NULL, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_create)(NULL, NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append)(NULL, NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append_text)(NULL, NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_finish)(NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_take)(NULL, NULL, 0, 0, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_get_info)(NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_get_message)(NULL, NULL, 0, NULL, &err));
  CALL(inlay_chat_parser_free)(NULL);
}

#endif
