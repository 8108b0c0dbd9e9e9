// X-macro over all functions, with the minor version of the ABI since which the library has them.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
#ifndef INLAY_GO_SINCE_H
#define INLAY_GO_SINCE_H

#define INLAY_GO_FUNCTIONS(X) \
  X(inlay_load, 0) \
  X(inlay_prefill, 0) \
  X(inlay_decode_step, 0) \
  X(inlay_free, 0) \
  X(inlay_version_string, 0) \
  X(inlay_abi_version, 0) \
  X(inlay_status_name, 0) \
  X(inlay_device_count, 0) \
  X(inlay_device_get, 0) \
  X(inlay_load_memory, 0) \
  X(inlay_load_reader, 0) \
  X(inlay_memory_plan, 0) \
  X(inlay_engine_get_info, 0) \
  X(inlay_meta_count, 0) \
  X(inlay_meta_key, 0) \
  X(inlay_meta_value, 0) \
  X(inlay_tokenize, 0) \
  X(inlay_detokenize, 0) \
  X(inlay_token_get_info, 0) \
  X(inlay_session_create, 0) \
  X(inlay_session_free, 0) \
  X(inlay_session_get_info, 0) \
  X(inlay_session_take_text, 0) \
  X(inlay_session_fork, 0) \
  X(inlay_session_truncate, 0) \
  X(inlay_session_set_sampler, 0) \
  X(inlay_session_set_stop, 0) \
  X(inlay_session_copy_logits, 0) \
  X(inlay_session_cancel, 0) \
  X(inlay_engine_get_stats, 0) \
  X(inlay_plan_text, 0) \
  X(inlay_log_read, 0) \
  X(inlay_profile_step, 1) \
  X(inlay_profile_text, 1) \
  X(inlay_compare_text, 1) \
  X(inlay_convert, 2) \
  X(inlay_chat_render, 2) \
  X(inlay_embed, 2) \
  X(inlay_score, 2) \
  X(inlay_explain, 2) \
  X(inlay_session_view_logits, 2) \
  X(inlay_decode_slice, 2) \
  X(inlay_decode_abandon, 2) \
  X(inlay_session_set_stop_tokens, 2) \
  X(inlay_session_cancel_generation, 2) \
  X(inlay_session_set_max_tokens, 2) \
  X(inlay_chat_tokenize, 2) \
  X(inlay_session_shift, 2) \
  X(inlay_session_accept, 2) \
  X(inlay_session_get_tokens, 2) \
  X(inlay_queue_create, 3) \
  X(inlay_queue_free, 3) \
  X(inlay_submit, 3) \
  X(inlay_request_cancel, 3) \
  X(inlay_request_take_values, 3) \
  X(inlay_poll, 3) \
  X(inlay_wait, 3) \
  X(inlay_queue_wake, 3) \
  X(inlay_queue_get_handle, 3) \
  X(inlay_run, 3) \
  X(inlay_engine_set_thread, 3) \
  X(inlay_constraint_create, 3) \
  X(inlay_constraint_free, 3) \
  X(inlay_constraint_get_info, 3) \
  X(inlay_constraint_get_remark, 3) \
  X(inlay_session_set_constraint, 3) \
  X(inlay_session_save, 3) \
  X(inlay_session_save_to, 3) \
  X(inlay_session_restore, 3) \
  X(inlay_session_restore_from, 3) \
  X(inlay_chat_get_format, 3) \
  X(inlay_chat_parser_create, 3) \
  X(inlay_chat_parser_free, 3) \
  X(inlay_chat_parser_append, 3) \
  X(inlay_chat_parser_append_text, 3) \
  X(inlay_chat_parser_finish, 3) \
  X(inlay_chat_parser_take, 3) \
  X(inlay_chat_parser_get_info, 3) \
  X(inlay_chat_parser_get_message, 3)

#endif
