// Code generated from bindings/api/inlay.toml by bindings/generate.py; DO NOT EDIT.

// Package raw is the C interface of Inlay in Go: the same functions, structs and numbers under Go's names, with C's
// pointers and sizes. Package inlay, which is made of it, is what programs want.
//
// The library is loaded at run time by Open. Before that, a function that can fail returns StatusInvalidState, and the
// others return zero. A function that an older library does not have returns StatusUnsupported.
//
// What Open accepts: the library of this ABI or a newer minor one, and an older minor one without the functions that it
// lacks.
package raw

/*
#cgo linux LDFLAGS: -ldl
#include "loader.h"

static inlay_status go_inlay_load(const char* path, size_t path_len, const inlay_load_params* params,
                                  inlay_engine** engine, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_load) return inlay_go_missing("inlay_load", err);
  return api->inlay_load(path, path_len, params, engine, err);
}
static inlay_status go_inlay_prefill(inlay_session* session, const int32_t* tokens, size_t n_tokens, size_t* n_done,
                                     inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_prefill) return inlay_go_missing("inlay_prefill", err);
  return api->inlay_prefill(session, tokens, n_tokens, n_done, err);
}
static inlay_status go_inlay_decode_step(inlay_session* const* sessions, size_t n_sessions, inlay_event* events,
                                         size_t event_stride, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_decode_step) return inlay_go_missing("inlay_decode_step", err);
  return api->inlay_decode_step(sessions, n_sessions, events, event_stride, err);
}
static void go_inlay_free(inlay_engine* engine) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_free) return;
  api->inlay_free(engine);
}
static const char* go_inlay_version_string(void) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_version_string) return "";
  return api->inlay_version_string();
}
static uint32_t go_inlay_abi_version(void) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_abi_version) return 0;
  return api->inlay_abi_version();
}
static const char* go_inlay_status_name(inlay_status status) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_status_name) return "";
  return api->inlay_status_name(status);
}
static int32_t go_inlay_device_count(void) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_device_count) return 0;
  return api->inlay_device_count();
}
static inlay_status go_inlay_device_get(int32_t index, inlay_device_info* info, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_device_get) return inlay_go_missing("inlay_device_get", err);
  return api->inlay_device_get(index, info, err);
}
static inlay_status go_inlay_load_memory(const void* data, size_t n_bytes, const inlay_load_params* params,
                                         inlay_engine** engine, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_load_memory) return inlay_go_missing("inlay_load_memory", err);
  return api->inlay_load_memory(data, n_bytes, params, engine, err);
}
static inlay_status go_inlay_load_reader(const inlay_reader* reader, const inlay_load_params* params,
                                         inlay_engine** engine, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_load_reader) return inlay_go_missing("inlay_load_reader", err);
  return api->inlay_load_reader(reader, params, engine, err);
}
static inlay_status go_inlay_memory_plan(const char* path, size_t path_len, const inlay_load_params* params,
                                         inlay_memory_info* info, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_memory_plan) return inlay_go_missing("inlay_memory_plan", err);
  return api->inlay_memory_plan(path, path_len, params, info, err);
}
static inlay_status go_inlay_engine_get_info(const inlay_engine* engine, inlay_engine_info* info, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_engine_get_info) return inlay_go_missing("inlay_engine_get_info", err);
  return api->inlay_engine_get_info(engine, info, err);
}
static inlay_status go_inlay_meta_count(const inlay_engine* engine, size_t* count, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_meta_count) return inlay_go_missing("inlay_meta_count", err);
  return api->inlay_meta_count(engine, count, err);
}
static inlay_status go_inlay_meta_key(const inlay_engine* engine, size_t index, char* buf, size_t cap, size_t* needed,
                                      inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_meta_key) return inlay_go_missing("inlay_meta_key", err);
  return api->inlay_meta_key(engine, index, buf, cap, needed, err);
}
static inlay_status go_inlay_meta_value(const inlay_engine* engine, const char* key, size_t key_len, char* buf,
                                        size_t cap, size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_meta_value) return inlay_go_missing("inlay_meta_value", err);
  return api->inlay_meta_value(engine, key, key_len, buf, cap, needed, err);
}
static inlay_status go_inlay_tokenize(const inlay_engine* engine, const char* text, size_t text_len,
                                      inlay_tokenize_flags flags, int32_t* tokens, size_t cap, size_t* n_tokens,
                                      inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_tokenize) return inlay_go_missing("inlay_tokenize", err);
  return api->inlay_tokenize(engine, text, text_len, flags, tokens, cap, n_tokens, err);
}
static inlay_status go_inlay_detokenize(const inlay_engine* engine, const int32_t* tokens, size_t n_tokens,
                                        inlay_detokenize_flags flags, char* buf, size_t cap, size_t* needed,
                                        inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_detokenize) return inlay_go_missing("inlay_detokenize", err);
  return api->inlay_detokenize(engine, tokens, n_tokens, flags, buf, cap, needed, err);
}
static inlay_status go_inlay_token_get_info(const inlay_engine* engine, int32_t token, inlay_token_info* info,
                                            inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_token_get_info) return inlay_go_missing("inlay_token_get_info", err);
  return api->inlay_token_get_info(engine, token, info, err);
}
static inlay_status go_inlay_session_create(const inlay_engine* engine, const inlay_session_params* params,
                                            inlay_session** session, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_create) return inlay_go_missing("inlay_session_create", err);
  return api->inlay_session_create(engine, params, session, err);
}
static void go_inlay_session_free(inlay_session* session) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_free) return;
  api->inlay_session_free(session);
}
static inlay_status go_inlay_session_get_info(const inlay_session* session, inlay_session_info* info, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_get_info) return inlay_go_missing("inlay_session_get_info", err);
  return api->inlay_session_get_info(session, info, err);
}
static inlay_status go_inlay_session_take_text(inlay_session* session, char* buf, size_t cap, size_t* n_bytes,
                                               inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_take_text) return inlay_go_missing("inlay_session_take_text", err);
  return api->inlay_session_take_text(session, buf, cap, n_bytes, err);
}
static inlay_status go_inlay_session_fork(inlay_session* session, inlay_session** child, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_fork) return inlay_go_missing("inlay_session_fork", err);
  return api->inlay_session_fork(session, child, err);
}
static inlay_status go_inlay_session_truncate(inlay_session* session, size_t n_tokens, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_truncate) return inlay_go_missing("inlay_session_truncate", err);
  return api->inlay_session_truncate(session, n_tokens, err);
}
static inlay_status go_inlay_session_set_sampler(inlay_session* session, const inlay_sampler_params* params,
                                                 inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_set_sampler) return inlay_go_missing("inlay_session_set_sampler", err);
  return api->inlay_session_set_sampler(session, params, err);
}
static inlay_status go_inlay_session_set_stop(inlay_session* session, const inlay_text* stops, size_t n_stops,
                                              inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_set_stop) return inlay_go_missing("inlay_session_set_stop", err);
  return api->inlay_session_set_stop(session, stops, n_stops, err);
}
static inlay_status go_inlay_session_copy_logits(inlay_session* session, float* logits, size_t cap, size_t* needed,
                                                 inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_copy_logits) return inlay_go_missing("inlay_session_copy_logits", err);
  return api->inlay_session_copy_logits(session, logits, cap, needed, err);
}
static void go_inlay_session_cancel(const inlay_session* session) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_cancel) return;
  api->inlay_session_cancel(session);
}
static inlay_status go_inlay_engine_get_stats(const inlay_engine* engine, inlay_stats* stats, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_engine_get_stats) return inlay_go_missing("inlay_engine_get_stats", err);
  return api->inlay_engine_get_stats(engine, stats, err);
}
static inlay_status go_inlay_plan_text(const inlay_engine* engine, char* buf, size_t cap, size_t* needed,
                                       inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_plan_text) return inlay_go_missing("inlay_plan_text", err);
  return api->inlay_plan_text(engine, buf, cap, needed, err);
}
static inlay_status go_inlay_log_read(const inlay_engine* engine, uint64_t* cursor, inlay_log_level* level, char* buf,
                                      size_t cap, size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_log_read) return inlay_go_missing("inlay_log_read", err);
  return api->inlay_log_read(engine, cursor, level, buf, cap, needed, err);
}
static inlay_status go_inlay_profile_step(const inlay_engine* engine, const inlay_profile_params* params,
                                          inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_profile_step) return inlay_go_missing("inlay_profile_step", err);
  return api->inlay_profile_step(engine, params, err);
}
static inlay_status go_inlay_profile_text(const inlay_engine* engine, inlay_profile_form form, char* buf, size_t cap,
                                          size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_profile_text) return inlay_go_missing("inlay_profile_text", err);
  return api->inlay_profile_text(engine, form, buf, cap, needed, err);
}
static inlay_status go_inlay_compare_text(const inlay_engine* engine_a, const inlay_engine* engine_b,
                                          const int32_t* tokens, size_t n_tokens, double nmse_limit, int32_t* first,
                                          char* buf, size_t cap, size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_compare_text) return inlay_go_missing("inlay_compare_text", err);
  return api->inlay_compare_text(engine_a, engine_b, tokens, n_tokens, nmse_limit, first, buf, cap, needed, err);
}
static inlay_status go_inlay_convert(const char* path, size_t path_len, const char* out_path, size_t out_path_len,
                                     const inlay_convert_params* params, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_convert) return inlay_go_missing("inlay_convert", err);
  return api->inlay_convert(path, path_len, out_path, out_path_len, params, err);
}
static inlay_status go_inlay_chat_render(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                                         const inlay_chat_params* params, char* buf, size_t cap, size_t* needed,
                                         inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_render) return inlay_go_missing("inlay_chat_render", err);
  return api->inlay_chat_render(engine, conversation, conversation_len, params, buf, cap, needed, err);
}
static inlay_status go_inlay_embed(const inlay_engine* engine, const inlay_embed_input* inputs, size_t n_inputs,
                                   size_t input_stride, const inlay_embed_params* params, float* out, size_t cap,
                                   size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_embed) return inlay_go_missing("inlay_embed", err);
  return api->inlay_embed(engine, inputs, n_inputs, input_stride, params, out, cap, needed, err);
}
static inlay_status go_inlay_score(const inlay_engine* engine, const inlay_engine* against, const int32_t* tokens,
                                   size_t n_tokens, const int32_t* lengths, size_t n_texts,
                                   const inlay_score_params* params, inlay_token_score* scores, size_t score_stride,
                                   inlay_token_logprob* top, size_t top_cap, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_score) return inlay_go_missing("inlay_score", err);
  return api->inlay_score(engine, against, tokens, n_tokens, lengths, n_texts, params, scores, score_stride, top, top_cap, err);
}
static inlay_status go_inlay_explain(const char* path, size_t path_len, const inlay_load_params* params,
                                     inlay_explain_form form, int32_t* n_devices, char* buf, size_t cap, size_t* needed,
                                     inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_explain) return inlay_go_missing("inlay_explain", err);
  return api->inlay_explain(path, path_len, params, form, n_devices, buf, cap, needed, err);
}
static inlay_status go_inlay_session_view_logits(inlay_session* session, inlay_logits* view, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_view_logits) return inlay_go_missing("inlay_session_view_logits", err);
  return api->inlay_session_view_logits(session, view, err);
}
static inlay_status go_inlay_decode_slice(inlay_session* const* sessions, size_t n_sessions, int32_t max_units,
                                          inlay_event* events, size_t event_stride, int32_t* units_left,
                                          inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_decode_slice) return inlay_go_missing("inlay_decode_slice", err);
  return api->inlay_decode_slice(sessions, n_sessions, max_units, events, event_stride, units_left, err);
}
static inlay_status go_inlay_decode_abandon(inlay_session* const* sessions, size_t n_sessions, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_decode_abandon) return inlay_go_missing("inlay_decode_abandon", err);
  return api->inlay_decode_abandon(sessions, n_sessions, err);
}
static inlay_status go_inlay_session_set_stop_tokens(inlay_session* session, const int32_t* tokens, size_t n_tokens,
                                                     inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_set_stop_tokens) return inlay_go_missing("inlay_session_set_stop_tokens", err);
  return api->inlay_session_set_stop_tokens(session, tokens, n_tokens, err);
}
static inlay_status go_inlay_session_cancel_generation(const inlay_session* session, uint64_t generation,
                                                       inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_cancel_generation) return inlay_go_missing("inlay_session_cancel_generation", err);
  return api->inlay_session_cancel_generation(session, generation, err);
}
static inlay_status go_inlay_session_set_max_tokens(inlay_session* session, int32_t max_tokens, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_set_max_tokens) return inlay_go_missing("inlay_session_set_max_tokens", err);
  return api->inlay_session_set_max_tokens(session, max_tokens, err);
}
static inlay_status go_inlay_chat_tokenize(const inlay_engine* engine, const char* conversation,
                                           size_t conversation_len, const inlay_chat_params* params, int32_t* tokens,
                                           size_t cap, size_t* n_tokens, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_tokenize) return inlay_go_missing("inlay_chat_tokenize", err);
  return api->inlay_chat_tokenize(engine, conversation, conversation_len, params, tokens, cap, n_tokens, err);
}
static inlay_status go_inlay_session_shift(inlay_session* session, size_t first, size_t n_tokens, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_shift) return inlay_go_missing("inlay_session_shift", err);
  return api->inlay_session_shift(session, first, n_tokens, err);
}
static inlay_status go_inlay_session_accept(inlay_session* session, const int32_t* tokens, size_t n_tokens,
                                            size_t* n_accepted, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_accept) return inlay_go_missing("inlay_session_accept", err);
  return api->inlay_session_accept(session, tokens, n_tokens, n_accepted, err);
}
static inlay_status go_inlay_session_get_tokens(inlay_session* session, size_t first, int32_t* tokens, size_t cap,
                                                size_t* n_tokens, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_get_tokens) return inlay_go_missing("inlay_session_get_tokens", err);
  return api->inlay_session_get_tokens(session, first, tokens, cap, n_tokens, err);
}
static inlay_status go_inlay_queue_create(const inlay_engine* engine, const inlay_queue_params* params,
                                          inlay_queue** queue, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_queue_create) return inlay_go_missing("inlay_queue_create", err);
  return api->inlay_queue_create(engine, params, queue, err);
}
static void go_inlay_queue_free(inlay_queue* queue) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_queue_free) return;
  api->inlay_queue_free(queue);
}
static inlay_status go_inlay_submit(const inlay_queue* queue, const inlay_request* request, uint64_t* request_id,
                                    inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_submit) return inlay_go_missing("inlay_submit", err);
  return api->inlay_submit(queue, request, request_id, err);
}
static inlay_status go_inlay_request_cancel(const inlay_queue* queue, uint64_t request_id, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_request_cancel) return inlay_go_missing("inlay_request_cancel", err);
  return api->inlay_request_cancel(queue, request_id, err);
}
static inlay_status go_inlay_request_take_values(const inlay_queue* queue, uint64_t request_id, float* values,
                                                 size_t cap, size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_request_take_values) return inlay_go_missing("inlay_request_take_values", err);
  return api->inlay_request_take_values(queue, request_id, values, cap, needed, err);
}
static inlay_status go_inlay_poll(const inlay_queue* queue, inlay_request_event* events, size_t cap_events,
                                  size_t event_stride, inlay_token_logprob* tokens, size_t cap_tokens, char* text,
                                  size_t cap_text, size_t* n_events, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_poll) return inlay_go_missing("inlay_poll", err);
  return api->inlay_poll(queue, events, cap_events, event_stride, tokens, cap_tokens, text, cap_text, n_events, err);
}
static inlay_status go_inlay_wait(const inlay_queue* queue, int64_t timeout_us, inlay_wait_result* result,
                                  inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_wait) return inlay_go_missing("inlay_wait", err);
  return api->inlay_wait(queue, timeout_us, result, err);
}
static inlay_status go_inlay_queue_wake(const inlay_queue* queue, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_queue_wake) return inlay_go_missing("inlay_queue_wake", err);
  return api->inlay_queue_wake(queue, err);
}
static inlay_status go_inlay_queue_get_handle(const inlay_queue* queue, inlay_wait_kind* kind, int64_t* handle,
                                              inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_queue_get_handle) return inlay_go_missing("inlay_queue_get_handle", err);
  return api->inlay_queue_get_handle(queue, kind, handle, err);
}
static inlay_status go_inlay_run(const inlay_engine* engine, const inlay_run_params* params, inlay_run_info* info,
                                 inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_run) return inlay_go_missing("inlay_run", err);
  return api->inlay_run(engine, params, info, err);
}
static inlay_status go_inlay_engine_set_thread(const inlay_engine* engine, const inlay_thread_params* params,
                                               inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_engine_set_thread) return inlay_go_missing("inlay_engine_set_thread", err);
  return api->inlay_engine_set_thread(engine, params, err);
}
static inlay_status go_inlay_constraint_create(const inlay_engine* engine, const inlay_constraint_params* params,
                                               inlay_constraint** constraint, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_constraint_create) return inlay_go_missing("inlay_constraint_create", err);
  return api->inlay_constraint_create(engine, params, constraint, err);
}
static void go_inlay_constraint_free(inlay_constraint* constraint) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_constraint_free) return;
  api->inlay_constraint_free(constraint);
}
static inlay_status go_inlay_constraint_get_info(const inlay_constraint* constraint, inlay_constraint_info* info,
                                                 inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_constraint_get_info) return inlay_go_missing("inlay_constraint_get_info", err);
  return api->inlay_constraint_get_info(constraint, info, err);
}
static inlay_status go_inlay_constraint_get_remark(const inlay_constraint* constraint, size_t index, char* buf,
                                                   size_t cap, size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_constraint_get_remark) return inlay_go_missing("inlay_constraint_get_remark", err);
  return api->inlay_constraint_get_remark(constraint, index, buf, cap, needed, err);
}
static inlay_status go_inlay_session_set_constraint(inlay_session* session, const inlay_constraint* constraint,
                                                    const char* written, size_t written_len, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_set_constraint) return inlay_go_missing("inlay_session_set_constraint", err);
  return api->inlay_session_set_constraint(session, constraint, written, written_len, err);
}
static inlay_status go_inlay_session_get_forced_text(inlay_session* session, char* buf, size_t cap, size_t* needed,
                                                     inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_get_forced_text) return inlay_go_missing("inlay_session_get_forced_text", err);
  return api->inlay_session_get_forced_text(session, buf, cap, needed, err);
}
static inlay_status go_inlay_session_save(inlay_session* session, void* state, size_t cap, size_t* needed,
                                          inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_save) return inlay_go_missing("inlay_session_save", err);
  return api->inlay_session_save(session, state, cap, needed, err);
}
static inlay_status go_inlay_session_save_to(inlay_session* session, const inlay_state_writer* writer,
                                             inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_save_to) return inlay_go_missing("inlay_session_save_to", err);
  return api->inlay_session_save_to(session, writer, err);
}
static inlay_status go_inlay_session_restore(const inlay_engine* engine, const void* state, size_t n_bytes,
                                             inlay_session** session, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_restore) return inlay_go_missing("inlay_session_restore", err);
  return api->inlay_session_restore(engine, state, n_bytes, session, err);
}
static inlay_status go_inlay_session_restore_from(const inlay_engine* engine, const inlay_state_reader* reader,
                                                  inlay_session** session, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_session_restore_from) return inlay_go_missing("inlay_session_restore_from", err);
  return api->inlay_session_restore_from(engine, reader, session, err);
}
static inlay_status go_inlay_chat_get_format(const inlay_engine* engine, const inlay_chat_parser_params* params,
                                             char* buf, size_t cap, size_t* needed, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_get_format) return inlay_go_missing("inlay_chat_get_format", err);
  return api->inlay_chat_get_format(engine, params, buf, cap, needed, err);
}
static inlay_status go_inlay_chat_parser_create(const inlay_engine* engine, const inlay_chat_parser_params* params,
                                                inlay_chat_parser** parser, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_create) return inlay_go_missing("inlay_chat_parser_create", err);
  return api->inlay_chat_parser_create(engine, params, parser, err);
}
static void go_inlay_chat_parser_free(inlay_chat_parser* parser) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_free) return;
  api->inlay_chat_parser_free(parser);
}
static inlay_status go_inlay_chat_parser_append(inlay_chat_parser* parser, const int32_t* tokens, size_t n_tokens,
                                                inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_append) return inlay_go_missing("inlay_chat_parser_append", err);
  return api->inlay_chat_parser_append(parser, tokens, n_tokens, err);
}
static inlay_status go_inlay_chat_parser_append_text(inlay_chat_parser* parser, const char* text, size_t text_len,
                                                     inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_append_text) return inlay_go_missing("inlay_chat_parser_append_text", err);
  return api->inlay_chat_parser_append_text(parser, text, text_len, err);
}
static inlay_status go_inlay_chat_parser_finish(inlay_chat_parser* parser, inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_finish) return inlay_go_missing("inlay_chat_parser_finish", err);
  return api->inlay_chat_parser_finish(parser, err);
}
static inlay_status go_inlay_chat_parser_take(inlay_chat_parser* parser, inlay_chat_delta* deltas, size_t cap_deltas,
                                              size_t delta_stride, char* text, size_t cap_text, size_t* n_deltas,
                                              inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_take) return inlay_go_missing("inlay_chat_parser_take", err);
  return api->inlay_chat_parser_take(parser, deltas, cap_deltas, delta_stride, text, cap_text, n_deltas, err);
}
static inlay_status go_inlay_chat_parser_get_info(inlay_chat_parser* parser, inlay_chat_parser_info* info,
                                                  inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_get_info) return inlay_go_missing("inlay_chat_parser_get_info", err);
  return api->inlay_chat_parser_get_info(parser, info, err);
}
static inlay_status go_inlay_chat_parser_get_message(inlay_chat_parser* parser, char* buf, size_t cap, size_t* needed,
                                                     inlay_error* err) {
  const inlay_dl* api = inlay_go_api();
  if (!api->inlay_chat_parser_get_message) return inlay_go_missing("inlay_chat_parser_get_message", err);
  return api->inlay_chat_parser_get_message(parser, buf, cap, needed, err);
}
*/
import "C"

import "unsafe"

// The ABI that this package was generated for.
const (
	ABIMajor = 1
	ABIMinor = 3
)

// Most alternatives that one event can report.
const MaxLogprobs = 20

// Bytes of text that one event can carry; the rest is had with inlay_session_take_text.
const EventTextBytes = 128

// Size of the message in inlay_error, with its terminating zero.
const ErrorMessageBytes = 480

// Size of the texts in inlay_device_info, with their terminating zero.
const DeviceNameBytes = 128

// Bytes of a token's piece that inlay_token_info can carry.
const TokenPieceBytes = 128

// What a call came to.
type Status int32

// Values of Status.
const (
	// It worked.
	StatusOK Status = 0
	// An argument is NULL, out of its range, or contradicts another.
	StatusInvalidArgument Status = 1
	// No such file, key, index or message.
	StatusNotFound Status = 2
	// Reading failed; native_code is the system's error number.
	StatusIO Status = 3
	// The model's bytes are damaged or contradict themselves.
	StatusFormat Status = 4
	// Well formed, but this build or this model cannot do it.
	StatusUnsupported Status = 5
	// Host memory ran out.
	StatusOutOfMemory Status = 6
	// Device memory, or the budget set for it, is too small.
	StatusDeviceOutOfMemory Status = 7
	// The tokens do not fit into the context; the session is unchanged. A generation that reaches the context's end
	// is no error: its finish reason is CONTEXT_FULL.
	StatusContextFull Status = 8
	// The pool that all sessions share has no free block; the session is unchanged. Where some layers have a sliding
	// window, the message says whose pool.
	StatusKVFull Status = 9
	// The caller's buffer is too small; the needed size was reported.
	StatusBufferTooSmall Status = 10
	// A cancel request or a callback stopped the call.
	StatusCancelled Status = 11
	// Another thread is using the object now.
	StatusBusy Status = 12
	// The machine or this build has no such device.
	StatusNoDevice Status = 13
	// The device failed; the engine can only be freed.
	StatusDeviceLost Status = 14
	// A fault in the library; the handle can only be freed.
	StatusInternal Status = 15
	// The engine already has max_sessions sessions.
	StatusSessionLimit Status = 16
	// The object cannot do this now, as when a session has finished.
	StatusInvalidState Status = 17
	// The queue holds as many requests as it was made for; poll, then try again.
	StatusQueueFull Status = 18
)

// String is the value's name as the C header writes it, without the prefix.
func (v Status) String() string {
	switch v {
	case StatusOK:
		return "OK"
	case StatusInvalidArgument:
		return "INVALID_ARGUMENT"
	case StatusNotFound:
		return "NOT_FOUND"
	case StatusIO:
		return "IO"
	case StatusFormat:
		return "FORMAT"
	case StatusUnsupported:
		return "UNSUPPORTED"
	case StatusOutOfMemory:
		return "OUT_OF_MEMORY"
	case StatusDeviceOutOfMemory:
		return "DEVICE_OUT_OF_MEMORY"
	case StatusContextFull:
		return "CONTEXT_FULL"
	case StatusKVFull:
		return "KV_FULL"
	case StatusBufferTooSmall:
		return "BUFFER_TOO_SMALL"
	case StatusCancelled:
		return "CANCELLED"
	case StatusBusy:
		return "BUSY"
	case StatusNoDevice:
		return "NO_DEVICE"
	case StatusDeviceLost:
		return "DEVICE_LOST"
	case StatusInternal:
		return "INTERNAL"
	case StatusSessionLimit:
		return "SESSION_LIMIT"
	case StatusInvalidState:
		return "INVALID_STATE"
	case StatusQueueFull:
		return "QUEUE_FULL"
	}
	return "UNKNOWN"
}

// Where a model runs.
type DeviceKind int32

// Values of DeviceKind.
const (
	// The fastest device that there is and that the model fits on.
	DeviceAuto DeviceKind = 0
	// The processor, with the widest instructions that it has.
	DeviceCPU DeviceKind = 1
	// An NVIDIA GPU.
	DeviceCUDA DeviceKind = 2
	// The scalar FP32 interpreter on the processor: slow, for checking results.
	DeviceReference DeviceKind = 3
)

// String is the value's name as the C header writes it, without the prefix.
func (v DeviceKind) String() string {
	switch v {
	case DeviceAuto:
		return "AUTO"
	case DeviceCPU:
		return "CPU"
	case DeviceCUDA:
		return "CUDA"
	case DeviceReference:
		return "REFERENCE"
	}
	return "UNKNOWN"
}

// Type of the stored keys and values.
type KVDtype int32

// Values of KVDtype.
const (
	// The device's own: F32 on REFERENCE, else F16.
	KVDefault KVDtype = 0
	// 2 bytes a value; not on REFERENCE.
	KVF16 KVDtype = 1
	// 4 bytes a value; on REFERENCE only.
	KVF32 KVDtype = 2
	// 1 byte a value (E4M3), and 4 bytes for every token and head; on CUDA only.
	KVFP8 KVDtype = 3
	// As FP8, with integers: finer for most values, coarser for small ones beside a large one.
	KVINT8 KVDtype = 4
)

// String is the value's name as the C header writes it, without the prefix.
func (v KVDtype) String() string {
	switch v {
	case KVDefault:
		return "DEFAULT"
	case KVF16:
		return "F16"
	case KVF32:
		return "F32"
	case KVFP8:
		return "FP8"
	case KVINT8:
		return "INT8"
	}
	return "UNKNOWN"
}

// How important a log message is.
type LogLevel int32

// Values of LogLevel.
const (
	// As a limit: nothing.
	LogOff LogLevel = -1
	// As a limit: INFO.
	LogDefault LogLevel = 0
	// Something failed.
	LogError LogLevel = 1
	// It works, but probably not as meant.
	LogWarning LogLevel = 2
	// What was found and chosen.
	LogInfo LogLevel = 3
	// Details for those who look for a fault.
	LogDebug LogLevel = 4
)

// String is the value's name as the C header writes it, without the prefix.
func (v LogLevel) String() string {
	switch v {
	case LogOff:
		return "OFF"
	case LogDefault:
		return "DEFAULT"
	case LogError:
		return "ERROR"
	case LogWarning:
		return "WARNING"
	case LogInfo:
		return "INFO"
	case LogDebug:
		return "DEBUG"
	}
	return "UNKNOWN"
}

// Why a session stopped generating.
type FinishReason int32

// Values of FinishReason.
const (
	// It has not.
	FinishNone FinishReason = 0
	// The model drew one of its end tokens.
	FinishEndOfGeneration FinishReason = 1
	// The text reached a stop string; neither it nor anything behind it is part of the text.
	FinishStopString FinishReason = 2
	// max_tokens tokens were drawn, accepted ones included.
	FinishMaxTokens FinishReason = 3
	// inlay_session_cancel or inlay_request_cancel asked for it, or the engine or the session that it continues was
	// freed.
	FinishCancelled FinishReason = 4
	// A stop token was drawn; it is the event's token and in the sequence, but not in the text.
	FinishStopToken FinishReason = 5
	// The context has no room for another token. The event's token is the last one; -1 where a prompt has filled the
	// context.
	FinishContextFull FinishReason = 6
	// The request's time was over. Requests alone end so.
	FinishTimeout FinishReason = 7
	// The request failed: the event's status says how. Requests alone end so.
	FinishError FinishReason = 8
	// The text is whole under its constraint, which allows nothing more, and the model has no token that ends a text.
	FinishConstraintEnd FinishReason = 9
	// No token that the constraint allows could follow: a bias bans them all, or tokens were accepted that it does
	// not allow.
	FinishDeadEnd FinishReason = 10
	// The prompt of a request of kind PREFILL is computed. Requests alone end so.
	FinishPrefilled FinishReason = 11
	// The vector of a request of kind EMBED is there: inlay_request_take_values gives it. Requests alone end so.
	FinishEmbedded FinishReason = 12
)

// String is the value's name as the C header writes it, without the prefix.
func (v FinishReason) String() string {
	switch v {
	case FinishNone:
		return "NONE"
	case FinishEndOfGeneration:
		return "END_OF_GENERATION"
	case FinishStopString:
		return "STOP_STRING"
	case FinishMaxTokens:
		return "MAX_TOKENS"
	case FinishCancelled:
		return "CANCELLED"
	case FinishStopToken:
		return "STOP_TOKEN"
	case FinishContextFull:
		return "CONTEXT_FULL"
	case FinishTimeout:
		return "TIMEOUT"
	case FinishError:
		return "ERROR"
	case FinishConstraintEnd:
		return "CONSTRAINT_END"
	case FinishDeadEnd:
		return "DEAD_END"
	case FinishPrefilled:
		return "PREFILLED"
	case FinishEmbedded:
		return "EMBEDDED"
	}
	return "UNKNOWN"
}

// What happened to a session in one step.
type EventKind int32

// Values of EventKind.
const (
	// Nothing: the session did not advance, status says why.
	EventNone EventKind = 0
	// A token was drawn and appended; finish_reason tells if it was the last one.
	EventToken EventKind = 1
	// The session finished without a new token.
	EventFinished EventKind = 2
)

// String is the value's name as the C header writes it, without the prefix.
func (v EventKind) String() string {
	switch v {
	case EventNone:
		return "NONE"
	case EventToken:
		return "TOKEN"
	case EventFinished:
		return "FINISHED"
	}
	return "UNKNOWN"
}

// What a vocabulary entry is.
type TokenKind int32

// Values of TokenKind.
const (
	// Text.
	TokenNormal TokenKind = 0
	// Stands for what the vocabulary cannot spell.
	TokenUnknown TokenKind = 1
	// Structure, such as the beginning of a turn; not text.
	TokenControl TokenKind = 2
	// Text that is never split.
	TokenUserDefined TokenKind = 3
	// No meaning.
	TokenUnused TokenKind = 4
	// One byte of a character that has no token of its own.
	TokenByte TokenKind = 5
)

// String is the value's name as the C header writes it, without the prefix.
func (v TokenKind) String() string {
	switch v {
	case TokenNormal:
		return "NORMAL"
	case TokenUnknown:
		return "UNKNOWN"
	case TokenControl:
		return "CONTROL"
	case TokenUserDefined:
		return "USER_DEFINED"
	case TokenUnused:
		return "UNUSED"
	case TokenByte:
		return "BYTE"
	}
	return "UNKNOWN"
}

// Properties of a loaded model.
type EngineFlags uint32

// Values of EngineFlags.
const (
	// Text functions work; without it only token ids do.
	EngineHasTokenizer EngineFlags = 1
	// inlay_tokenize begins with the BOS token unless told otherwise.
	EngineAddsBOS EngineFlags = 2
)

// How text becomes tokens.
type TokenizeFlags uint32

// Values of TokenizeFlags.
const (
	// Leave out the BOS and EOS tokens that the model asks for; changes nothing where it asks for none.
	TokenizeNoBOSEOS TokenizeFlags = 1
	// Control tokens written in the text become their ids. Not for untrusted text.
	TokenizeParseSpecial TokenizeFlags = 2
)

// How tokens become text.
type DetokenizeFlags uint32

// Values of DetokenizeFlags.
const (
	// Control tokens give their text instead of nothing.
	DetokenizeShowSpecial DetokenizeFlags = 1
)

// Properties of a token.
type TokenFlags uint32

// Values of TokenFlags.
const (
	// Drawing it ends the generation.
	TokenFlagEndOfGeneration TokenFlags = 1
	// It is not text.
	TokenFlagControl TokenFlags = 2
)

// How a session generates.
type SessionFlags uint32

// Values of SessionFlags.
const (
	// End tokens are drawn like others and do not finish the session. Changes nothing for a model without end tokens.
	SessionIgnoreEndOfGeneration SessionFlags = 1
	// Each prefill also takes the KV blocks for max_tokens, or up to the context without a limit, or ends with
	// KV_FULL: the generation after it does not. They go back when it ends. Blocks that forks share are not reserved
	// for both.
	SessionReserve SessionFlags = 2
	// The session is what requests continue (inlay_request.continues): it keeps tokens and sampler from one to the
	// next. It has no place among max_sessions, and its KV blocks stay until their room is wanted; then they are
	// computed again. Prefill, decode steps and shift are refused with INVALID_STATE, and it has no logits. Calls are
	// BUSY while a request has it; freeing it ends these requests with CANCELLED. RESERVE changes nothing for it.
	SessionForRequests SessionFlags = 4
)

// How a profile is written.
type ProfileForm int32

// Values of ProfileForm.
const (
	// The latest, one line a kind of operation, with the sums.
	ProfileKinds ProfileForm = 0
	// The latest, one line an operation.
	ProfileTimeline ProfileForm = 1
	// All that the engine keeps, as JSON in Chrome's trace-event format.
	ProfileTrace ProfileForm = 2
)

// String is the value's name as the C header writes it, without the prefix.
func (v ProfileForm) String() string {
	switch v {
	case ProfileKinds:
		return "KINDS"
	case ProfileTimeline:
		return "TIMELINE"
	case ProfileTrace:
		return "TRACE"
	}
	return "UNKNOWN"
}

// How a model runs.
type LoadFlags uint32

// Values of LoadFlags.
const (
	// CUDA, without effect elsewhere, as the load's log says: prompts are multiplied by the library's own kernels,
	// even where the machine has cuBLASLt.
	LoadNoCublas LoadFlags = 1
	// CUDA, likewise: a decode step begins the next one of the same sessions before it returns, so that the device
	// need not wait for the host. If anything else comes than that step, it waits until the device is done with it.
	// Not of sessions with penalties or biases, nor of models with sliding windows. Takes memory for one more row of
	// logits a session.
	LoadRunAhead LoadFlags = 4
	// CPU, without effect elsewhere, as the load's log says: memory for the activations of long prompts is taken from
	// the system when it is first used, not beside the reading of weights. The process stays smaller until there are
	// long prompts; the first prompts take longer.
	LoadTakePagesLater LoadFlags = 8
	// CPU, likewise: matrix products with quantized weights take all activations in 16 bits, not only the third of
	// them that holds most of the error. Logits then are those of the dequantized weights but for a KL divergence of
	// about 1e-6; prompts take longer.
	LoadExactActivations LoadFlags = 16
	// Requests compute all of their prompts. Without it, blocks of the KV pool stay after the requests that computed
	// them until their room is wanted, and requests that begin with the same tokens, at present 8 at least, find them
	// and do not compute these. Only blocks that are full stay (inlay_stats.n_block_tokens). On CUDA the rest of a
	// prompt may then differ in its last bits. Changes nothing for models all of whose layers have a sliding window,
	// of which no blocks are kept.
	LoadNoPrefixCache LoadFlags = 32
)

// Type in which weights are held.
type WeightDtype int32

// Values of WeightDtype.
const (
	// The file's types.
	WeightDefault WeightDtype = 0
	// Matrices of F32, F16 and BF16 are quantized while they are loaded: E4M3 codes and an F16 scale for every 32
	// columns, 8.5 bits a weight. All else stays as it is: quantized matrices, norms, biases, rows that are no
	// multiple of 32 long, and an embedding that is not also the output matrix.
	WeightFP8 WeightDtype = 1
	// Matrices get the types that inlay_convert gives them, while they are loaded; those that take as few bits a
	// weight already stay as they are.
	WeightQ80 WeightDtype = 2
	// Likewise.
	WeightQ40 WeightDtype = 3
	// Likewise.
	WeightQ4KM WeightDtype = 4
	// Likewise.
	WeightQ5KM WeightDtype = 5
	// Likewise.
	WeightQ6K WeightDtype = 6
)

// String is the value's name as the C header writes it, without the prefix.
func (v WeightDtype) String() string {
	switch v {
	case WeightDefault:
		return "DEFAULT"
	case WeightFP8:
		return "FP8"
	case WeightQ80:
		return "Q8_0"
	case WeightQ40:
		return "Q4_0"
	case WeightQ4KM:
		return "Q4_K_M"
	case WeightQ5KM:
		return "Q5_K_M"
	case WeightQ6K:
		return "Q6_K"
	}
	return "UNKNOWN"
}

// What a sampler does otherwise.
type SamplerFlags uint32

// Values of SamplerFlags.
const (
	// Repetitions that DRY looks for reach across any text. Refused together with dry_breakers; changes nothing
	// without dry_multiplier.
	SamplerNoDryBreakers SamplerFlags = 1
	// The temperature comes behind the filters, which see the probabilities that the model gave: as llama.cpp orders
	// them. Changes nothing with mirostat_tau, and without a filter.
	SamplerTemperatureLast SamplerFlags = 2
	// Penalties leave the tokens alone that end a generation. Changes nothing without penalties.
	SamplerSpareEndTokens SamplerFlags = 4
)

// Types of the matrices of a GGUF file that is written, with the numbers of inlay_weight_dtype; FP8's is refused,
// because no GGUF file has it. Norms and biases are F32 in all. Rows that are no whole blocks of a type get one with
// smaller blocks.
type ConvertType int32

// Values of ConvertType.
const (
	// F16.
	ConvertDefault ConvertType = 0
	// 8.5 bits a weight.
	ConvertQ80 ConvertType = 2
	// 4.5 bits a weight; the output matrix in Q6_K.
	ConvertQ40 ConvertType = 3
	// Q4_K, and Q6_K for the output matrix and for the values and down projections of half of the layers.
	ConvertQ4KM ConvertType = 4
	// Q5_K, and Q6_K as in Q4_K_M.
	ConvertQ5KM ConvertType = 5
	// 6.6 bits a weight.
	ConvertQ6K ConvertType = 6
	// Every matrix in F16.
	ConvertF16 ConvertType = 7
	// Every matrix in BF16.
	ConvertBf16 ConvertType = 8
	// Every matrix in F32.
	ConvertF32 ConvertType = 9
)

// String is the value's name as the C header writes it, without the prefix.
func (v ConvertType) String() string {
	switch v {
	case ConvertDefault:
		return "DEFAULT"
	case ConvertQ80:
		return "Q8_0"
	case ConvertQ40:
		return "Q4_0"
	case ConvertQ4KM:
		return "Q4_K_M"
	case ConvertQ5KM:
		return "Q5_K_M"
	case ConvertQ6K:
		return "Q6_K"
	case ConvertF16:
		return "F16"
	case ConvertBf16:
		return "BF16"
	case ConvertF32:
		return "F32"
	}
	return "UNKNOWN"
}

// How an explanation is written.
type ExplainForm int32

// Values of ExplainForm.
const (
	// For people.
	ExplainText ExplainForm = 0
	// The same facts as one object with the members path, error, model, tokenizer, chat_template, tensors, devices
	// and contexts. An error is null or a message. Numbers have the names that they have in inlay_engine_info and
	// inlay_memory_info. Later minors may add members.
	ExplainJson ExplainForm = 1
)

// String is the value's name as the C header writes it, without the prefix.
func (v ExplainForm) String() string {
	switch v {
	case ExplainText:
		return "TEXT"
	case ExplainJson:
		return "JSON"
	}
	return "UNKNOWN"
}

// How a conversation becomes text.
type ChatFlags uint32

// Values of ChatFlags.
const (
	// The text ends where the model's answer begins: the template's variable add_generation_prompt is true. It
	// changes nothing for a template that does not read the variable, or where the conversation sets it itself.
	ChatAddGenerationPrompt ChatFlags = 1
	// The text ends where the last message's text does, whatever the template writes behind it, so that the model
	// goes on with that message: an answer that was begun for it, or one that was cut off. Blanks at its end stay
	// unless the template trims them. Not together with ADD_GENERATION_PROMPT; UNSUPPORTED if the template does not
	// write the message as it is.
	ChatContinueFinalMessage ChatFlags = 2
)

// How the final hidden states of a text's tokens become one vector.
type Pooling int32

// Values of Pooling.
const (
	// As the model's metadata say: one of the others, or what only models ask for (the largest value, the sum divided
	// by the root of the length, a mean whose weights grow, several poolings one behind the other), with the layers
	// that a sentence-transformers folder has behind its pooling (Dense, Normalize), which may change the width; a
	// model that says nothing is refused. The others give the pooled states alone.
	PoolingDefault Pooling = 0
	// The mean of all tokens.
	PoolingMean Pooling = 1
	// The last token, which has seen all others.
	PoolingLast Pooling = 2
	// The first token (CLS), which in a decoder has seen itself alone.
	PoolingFirst Pooling = 3
)

// String is the value's name as the C header writes it, without the prefix.
func (v Pooling) String() string {
	switch v {
	case PoolingDefault:
		return "DEFAULT"
	case PoolingMean:
		return "MEAN"
	case PoolingLast:
		return "LAST"
	case PoolingFirst:
		return "FIRST"
	}
	return "UNKNOWN"
}

// What an embedding is.
type EmbedFlags uint32

// Values of EmbedFlags.
const (
	// Scaled to length 1, so that a scalar product of two is their cosine.
	EmbedNormalize EmbedFlags = 1
	// Texts without the model's default prompt in front; nothing for a model without one. For programs that put
	// another prompt there: the metadata inlay.embedding.prompt.NAME have all prompts of the model.
	EmbedNoPrompt EmbedFlags = 2
)

// What is to become of a request's prompt. Later minors have more.
type RequestKind int32

// Values of RequestKind.
const (
	// Tokens are drawn behind it.
	RequestGenerate RequestKind = 0
	// It is computed but for its last token, and nothing is drawn: the request ends with PREFILLED. A request that
	// begins with the same tokens then begins sooner, as far as they fill whole blocks; one that continues the same
	// session finds all of them.
	RequestPrefill RequestKind = 1
	// It becomes a vector, the same as inlay_embed makes: the request ends with EMBEDDED, and
	// inlay_request_take_values gives the vector. Of tokens or text; a text becomes tokens as by inlay_embed. With a
	// conversation, chat, session_params or continues it is refused.
	RequestEmbed RequestKind = 2
)

// String is the value's name as the C header writes it, without the prefix.
func (v RequestKind) String() string {
	switch v {
	case RequestGenerate:
		return "GENERATE"
	case RequestPrefill:
		return "PREFILL"
	case RequestEmbed:
		return "EMBED"
	}
	return "UNKNOWN"
}

// What became of a request. A kind that a program does not know is to be passed over.
type RequestEventKind int32

// Values of RequestEventKind.
const (
	// Tokens, text or both; neither where the call of inlay_poll wants none.
	RequestEventTokens RequestEventKind = 1
	// The last event of the request: each has exactly one.
	RequestEventEnd RequestEventKind = 2
)

// String is the value's name as the C header writes it, without the prefix.
func (v RequestEventKind) String() string {
	switch v {
	case RequestEventTokens:
		return "TOKENS"
	case RequestEventEnd:
		return "END"
	}
	return "UNKNOWN"
}

// What a handle to wait for is to the system.
type WaitKind int32

// Values of WaitKind.
const (
	// A file descriptor of eventfd, for poll, epoll and io_uring: readable while there is something to poll.
	WaitEventfd WaitKind = 1
	// A HANDLE for WaitForMultipleObjects: signalled while there is something to poll.
	WaitWindowsEvent WaitKind = 2
)

// String is the value's name as the C header writes it, without the prefix.
func (v WaitKind) String() string {
	switch v {
	case WaitEventfd:
		return "EVENTFD"
	case WaitWindowsEvent:
		return "WINDOWS_EVENT"
	}
	return "UNKNOWN"
}

// How a wait for a queue ended.
type WaitResult int32

// Values of WaitResult.
const (
	// There is nothing to poll, and the time is over.
	WaitResultTimeOver WaitResult = 0
	// There is something to poll.
	WaitResultReady WaitResult = 1
	// inlay_queue_wake has ended it.
	WaitResultWoken WaitResult = 2
	// Nobody would end it any more: the device was lost, or the engine's thread has ended and inlay_run was never
	// called. The next call says which.
	WaitResultNobodyComputes WaitResult = 3
)

// String is the value's name as the C header writes it, without the prefix.
func (v WaitResult) String() string {
	switch v {
	case WaitResultTimeOver:
		return "TIME_OVER"
	case WaitResultReady:
		return "READY"
	case WaitResultWoken:
		return "WOKEN"
	case WaitResultNobodyComputes:
		return "NOBODY_COMPUTES"
	}
	return "UNKNOWN"
}

// How inlay_run computes.
type RunFlags uint32

// Values of RunFlags.
const (
	// One step at most: each request that draws gets one token.
	RunOneStep RunFlags = 1
	// The call does not wait for a GPU: it collects what the GPU has computed since the last one and queues the next
	// part, one step at most; budget_us is then the GPU's time, host_budget_us the thread's. Calls of sessions wait
	// for what is queued. The CPU computes as without the flag.
	RunNoWait RunFlags = 2
)

// What inlay_run has left.
type RunInfoFlags uint32

// Values of RunInfoFlags.
const (
	// Another call may compute more; without it none would.
	RunInfoHasWork RunInfoFlags = 1
)

// How a constraint says which texts may be written.
type ConstraintKind int32

// Values of ConstraintKind.
const (
	// JSON by a schema: Draft 2020-12, and what draft-04 to draft-07 spell otherwise. A keyword that is not supported
	// is refused by its name and place.
	ConstraintJsonSchema ConstraintKind = 0
	// Any JSON value.
	ConstraintAnyJson ConstraintKind = 1
	// A grammar as llama.cpp writes them; its rule is root.
	ConstraintGbnf ConstraintKind = 2
	// A regular expression that the whole text matches, as ECMA-262 has them, without look-around and references.
	ConstraintRegex ConstraintKind = 3
	// One of some texts.
	ConstraintChoices ConstraintKind = 4
	// A message with calls of tools, as the model's format writes them, or content by a schema; reasoning before is
	// free or limited. The text is JSON, whose keys are in docs/design/tool-constraints.md: {"tools", "tool_choice",
	// "parallel_tool_calls", "response_format"}, as OpenAI's protocol has them, and {"reasoning": {"max_tokens": N}},
	// which closes reasoning behind N tokens.
	ConstraintMessage ConstraintKind = 5
)

// String is the value's name as the C header writes it, without the prefix.
func (v ConstraintKind) String() string {
	switch v {
	case ConstraintJsonSchema:
		return "JSON_SCHEMA"
	case ConstraintAnyJson:
		return "ANY_JSON"
	case ConstraintGbnf:
		return "GBNF"
	case ConstraintRegex:
		return "REGEX"
	case ConstraintChoices:
		return "CHOICES"
	case ConstraintMessage:
		return "MESSAGE"
	}
	return "UNKNOWN"
}

// How constraints write JSON; refused with GBNF, REGEX and CHOICES.
type ConstraintFlags uint32

// Values of ConstraintFlags.
const (
	// No whitespace between values. Else none, one space, or a line end and up to 19 spaces or tabs. Use it unless a
	// person reads the JSON: without it a model pads with blanks, and answers may get twice as long.
	ConstraintFlagCompact ConstraintFlags = 1
	// Strings that are values may have any escape, such as \u00e9. Else short ones, where JSON needs them.
	ConstraintFlagEscapes ConstraintFlags = 2
	// JSON_SCHEMA and MESSAGE: keywords that are not supported are dropped and remarked, not refused.
	ConstraintFlagLenient ConstraintFlags = 4
)

// Where a session's text stands under its constraint.
type ConstraintState int32

// Values of ConstraintState.
const (
	// There is no constraint.
	ConstraintStateNone ConstraintState = 0
	// Something must follow.
	ConstraintStateIncomplete ConstraintState = 1
	// The text is whole; more may be allowed.
	ConstraintStateComplete ConstraintState = 2
	// It is none that the constraint allows, and none could become of it.
	ConstraintStateDead ConstraintState = 3
)

// String is the value's name as the C header writes it, without the prefix.
func (v ConstraintState) String() string {
	switch v {
	case ConstraintStateNone:
		return "NONE"
	case ConstraintStateIncomplete:
		return "INCOMPLETE"
	case ConstraintStateComplete:
		return "COMPLETE"
	case ConstraintStateDead:
		return "DEAD"
	}
	return "UNKNOWN"
}

// What a part of a message is.
type ChatDeltaKind int32

// Values of ChatDeltaKind.
const (
	// Text that the model wrote for itself.
	ChatDeltaReasoning ChatDeltaKind = 0
	// Text of the answer.
	ChatDeltaContent ChatDeltaKind = 1
	// A call of a tool begins; the text is the tool's name.
	ChatDeltaCallBegin ChatDeltaKind = 2
	// The call's id, directly behind CALL_BEGIN. Where the model wrote none before, it is made: at present 9 letters
	// and digits.
	ChatDeltaCallID ChatDeltaKind = 3
	// Of the call's arguments, which all parts together are: a JSON object, as far as the model keeps to its format.
	ChatDeltaArguments ChatDeltaKind = 4
	// The call ends. Calls do not overlap. The text is empty.
	ChatDeltaCallEnd ChatDeltaKind = 5
)

// String is the value's name as the C header writes it, without the prefix.
func (v ChatDeltaKind) String() string {
	switch v {
	case ChatDeltaReasoning:
		return "REASONING"
	case ChatDeltaContent:
		return "CONTENT"
	case ChatDeltaCallBegin:
		return "CALL_BEGIN"
	case ChatDeltaCallID:
		return "CALL_ID"
	case ChatDeltaArguments:
		return "ARGUMENTS"
	case ChatDeltaCallEnd:
		return "CALL_END"
	}
	return "UNKNOWN"
}

// What is to be known of a part of a message.
type ChatDeltaFlags uint32

// Values of ChatDeltaFlags.
const (
	// With CALL_END: the arguments are one JSON value. Without it the call was cut, or went on as the format does not
	// have it.
	ChatDeltaFlagWhole ChatDeltaFlags = 1
)

// How a parser reads.
type ChatParserFlags uint32

// Values of ChatParserFlags.
const (
	// Letters of markers count, also those that the vocabulary has as tokens: for text in which control tokens are
	// written out. Without it such letters are text, so that a model can speak of them.
	ChatParserWrittenMarkers ChatParserFlags = 1
)

// Where a parser is.
type ChatParserInfoFlags uint32

// Values of ChatParserInfoFlags.
const (
	// inlay_chat_parser_finish was called.
	ChatParserInfoFinished ChatParserInfoFlags = 1
	// With FINISHED: neither reasoning nor a call is open. A message that was cut need not be.
	ChatParserInfoComplete ChatParserInfoFlags = 2
	// Some text was not as the format says. It is content; a control character in a call's JSON is written as JSON
	// has it.
	ChatParserInfoMalformed ChatParserInfoFlags = 4
)

// One model's weights on one device, with the KV pool and the statistics of its sessions.
type Engine struct{ _ [0]byte }

// One token sequence of an engine, which it keeps alive.
type Session struct{ _ [0]byte }

// Where a part of a program submits requests to an engine, and collects what becomes of them. It keeps no engine
// alive and may outlive it.
type Queue struct{ _ [0]byte }

// Which texts may be written, compiled for an engine's vocabulary. Any number of sessions and threads may use one at
// a time. It keeps no engine alive.
type Constraint struct{ _ [0]byte }

// Takes a message apart while a model writes it: reasoning, content and calls of tools. It keeps no engine alive.
type ChatParser struct{ _ [0]byte }

// Receives one log message. Called on the thread of the call that caused it, and on a thread of the engine only where
// the host asked for such a thread, with the host's floating-point settings; must not call the library. It must not
// leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
//
// It is the address of a C function.
type LogFn unsafe.Pointer

// Told how far a load, a conversion, a scoring or an embedding is; while files are read or texts become tokens at
// least once a second, however slow the reader is. Return non-zero to cancel it. Called on the calling thread, with
// the host's floating-point settings; must not call the library. It must not leave by an exception, a panic, longjmp
// or pthread_exit; a C++ exception ends the process.
//
// It is the address of a C function.
type ProgressFn unsafe.Pointer

// Fills `into` with the model's bytes [offset, offset + n), at most 4 MiB at a time. Returns 0, or a system error
// number. Called on the loading thread only, with the host's floating-point settings; must not call the library. It
// must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
//
// It is the address of a C function.
type ReadFn unsafe.Pointer

// Told that a queue has something to poll which had nothing before. Called on whatever thread brought that about, an
// engine's own among them, with the host's floating-point settings; must not call the library, and should do no more
// than wake somebody. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the
// process.
//
// It is the address of a C function.
type WakeFn unsafe.Pointer

// Takes the next bytes of a saved session, some MiB at most. Returns 0, or a system error number. Called on the
// saving thread, with the host's floating-point settings; must not call the library. It must not leave by an
// exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
//
// It is the address of a C function.
type StateWriteFn unsafe.Pointer

// Fills `into` with the next n bytes of a saved session, some MiB at most. Returns 0, or a system error number; also
// where there are fewer. Called on the restoring thread, with the host's floating-point settings; must not call the
// library. It must not leave by an exception, a panic, longjmp or pthread_exit; a C++ exception ends the process.
//
// It is the address of a C function.
type StateReadFn unsafe.Pointer

// What went wrong. Owned by the caller, needs no initialisation; every call that takes it writes it, also on success.
type Error struct {
	// The same as the call returned.
	Status Status
	// The system's or the driver's error number, 0 if there is none.
	NativeCode int32
	// What was needed, in the unit that the message names; 0 where that makes no sense.
	Required uint64
	// What there was, in the same unit.
	Available uint64
	// Length of the message without its terminating zero. [bytes]
	MessageLen uint32
	// 0.
	Reserved uint32
	// What is wrong and where, in English; empty on success. Control characters in what it quotes are escapes, \x1b.
	Message [ErrorMessageBytes]byte
}

// A UTF-8 text of the caller.
type Text struct {
	// The bytes; may be NULL if len is 0.
	Data *byte
	// Their number, or SIZE_MAX if a zero ends them. [bytes]
	Len uintptr
}

// A change of one token's logit.
type LogitBias struct {
	// Token id.
	Token int32
	// Added to the logit; minus infinity bans the token.
	Bias float32
}

// A token and its probability under the model, before any sampling step.
type TokenLogprob struct {
	// Token id.
	Token int32
	// Natural logarithm of the probability. [nats]
	Logprob float32
}

// A device that can run a model.
type DeviceInfo struct {
	// sizeof(inlay_device_info), set by the caller. [bytes]
	StructSize uint32
	// CPU or CUDA.
	Kind DeviceKind
	// Its number among the devices of its kind: device_index of inlay_load_params.
	Index int32
	// Processors that this process may use, by affinity and CPU quota; multiprocessors of a GPU.
	NUnits int32
	// Its memory; of the processor what control groups and resource limits let this process use. [bytes]
	TotalBytes uint64
	// Memory free now. [bytes]
	FreeBytes uint64
	// Product name, ended by a zero.
	Name [DeviceNameBytes]byte
	// What the kernels will use of it, such as an instruction set; ended by a zero.
	Features [DeviceNameBytes]byte
}

// A model's bytes behind a callback: an archive, an asset pack, a decrypting reader.
type Reader struct {
	// sizeof(inlay_reader). [bytes]
	StructSize uint32
	// 0.
	Reserved uint32
	// Given to the callback.
	User unsafe.Pointer
	// Size of the model; must not be 0. [bytes]
	Size uint64
	// Reads a range; must not be NULL.
	Read ReadFn
}

// How a model is loaded. Zero means default for every field.
type LoadParams struct {
	// sizeof(inlay_load_params). [bytes]
	StructSize uint32
	// Where the model runs. [default AUTO]
	Device DeviceKind
	// Which device of that kind. [0 or more, default 0]
	DeviceIndex int32
	// Longest sequence of one session; at most what the model was trained for. [tokens, 0 or more, default what the
	// model was trained for, at most 4096]
	NContext int32
	// Sessions that may exist at a time, and requests that run: together. Sessions made with FOR_REQUESTS do not
	// count. [0 to 1024, default 8]
	MaxSessions int32
	// Threads that compute, the calling one included; on CUDA they load the weights. REFERENCE computes on one, and
	// the log says so. [0 to 1024, default all processors that the calling thread may use: its affinity, and the CPU
	// quota of the process]
	NThreads int32
	// Size of the KV pool that the sessions share; the log says where they cannot use all of it. Layers with a
	// sliding window take of it what the windows of all sessions need, at most. Less than one block is refused.
	// [bytes, default max_sessions x n_context, at most 2 GiB but one n_context at least]
	KVBudgetBytes uint64
	// Type of the stored keys and values. [default F32 on REFERENCE, else F16]
	KVDtype KVDtype
	// Tokens that prefill runs at a time; a cancel is seen between them. The longest text that can be embedded where
	// tokens see those behind them. More than n_context is as n_context, and the log says so. [tokens, 0 to 4096,
	// default 512, on a GPU with the memory for it 1024; 2048 where tokens see those behind them]
	PrefillChunk int32
	// Least important messages to keep and to report. [default INFO]
	LogLevel LogLevel
	// Of inlay_load_flags; others are refused. [default 0]
	Flags uint32
	// Called with every message, for as long as the engine lives. [default none]
	Log LogFn
	// Given to log; unused without it. [default NULL]
	LogUser unsafe.Pointer
	// Called during the load only. [default none]
	Progress ProgressFn
	// Given to progress; unused without it. [default NULL]
	ProgressUser unsafe.Pointer
	// Type in which the weights are held, on every device. [default the file's types]
	WeightDtype WeightDtype
	// 0.
	Reserved uint32
	// How byte-level BPE of a GGUF file splits text into words: a name as in tokenizer.ggml.pre, instead of the
	// file's. Files from before that key have none, and get `default` with a warning. Copied. An unknown name is
	// refused, and so is any where the model has another tokenizer. [default NULL: the file's]
	PreTokenizer *byte
	// Its length. [bytes, default 0]
	PreTokenizerLen uintptr
	// What changes speed alone, for those who measure: key=value pairs with blanks or commas between. Copied. Keys
	// and values may come and go in any version; an unknown one is refused, and the error lists the known ones. On
	// CUDA token_kernel=0 (decode steps launch every operation, even where one launch could run all layers), cublas=0
	// (as NO_CUBLAS), mixed_gemm=0 (prompts multiply weights that were dequantized before) and group_rows=1 (matrix
	// products of 9 to 32 rows always share weights among several multiprocessors); on the CPU isa=generic, avx2 or
	// avx512 (instructions that the processor lacks are refused). The load's log names those that change nothing on
	// the device. [default NULL: none]
	Tuning *byte
	// Its length. [bytes, default 0]
	TuningLen uintptr
	// Memory of the host for blocks that requests may find again, but whose room in the KV pool is wanted: they go
	// there by a copy that nobody waits for, and come back when a request begins with them. Whole blocks count; less
	// than one is refused, and so is any beside NO_PREFIX_CACHE. A thread of the engine takes all of the memory once
	// the engine is loaded, page-locked on a GPU; inlay_stats says how much is there. It changes nothing for models
	// with sliding windows or without text, and the log says so. [bytes, default 0: none]
	PrefixCacheHostBytes uint64
}

// Memory that a load would take, and what its parameters come to.
type MemoryInfo struct {
	// sizeof(inlay_memory_info), set by the caller. [bytes]
	StructSize uint32
	// Where the model would run.
	Device DeviceKind
	// Longest sequence of one session. [tokens]
	NContext int32
	// Sessions that may exist at a time.
	MaxSessions int32
	// Weights in the form that the device computes with. [bytes]
	WeightBytes uint64
	// The KV pool. [bytes]
	KVBytes uint64
	// Activations, logits and buffers. [bytes]
	ScratchBytes uint64
	// The sum. [bytes]
	TotalBytes uint64
	// Free memory of the device now. [bytes]
	AvailableBytes uint64
	// What was asked for if it changes the type of any matrix, else DEFAULT.
	WeightDtype WeightDtype
	// 0.
	Reserved uint32
	// Memory of the host for blocks whose room in the KV pool is wanted, at most; not in the sum. [bytes]
	PrefixCacheHostBytes uint64
}

// A loaded model's sizes.
type EngineInfo struct {
	// sizeof(inlay_engine_info), set by the caller. [bytes]
	StructSize uint32
	// Where it runs; never AUTO.
	Device DeviceKind
	// Weights.
	NParams uint64
	// Memory of the weights. [bytes]
	WeightBytes uint64
	// Memory of the KV pool. [bytes]
	KVBytes uint64
	// Rows of logits: ids 0 to n_vocab - 1 can be drawn, and are taken wherever an id is given. One that is no token
	// of the tokenizer has kind UNUSED and no text. Tokens of the tokenizer from n_vocab on are ones that the model
	// has no row for: they are described and detokenized, and a text or a sequence with one is refused by its name.
	NVocab int32
	// Layers.
	NLayers int32
	// Width of the residual stream.
	DModel int32
	// Query heads a layer.
	NHeads int32
	// Key and value heads a layer.
	NKVHeads int32
	// Width of a head.
	DHead int32
	// Width of the feed-forward part.
	DFf int32
	// Context that the model was trained for. [tokens]
	NContextTrain int32
	// Longest sequence of one session. [tokens]
	NContext int32
	// Sessions that may exist at a time.
	MaxSessions int32
	// Beginning-of-sequence token, -1 if there is none.
	BOS int32
	// End-of-sequence token, -1 if there is none.
	EOS int32
	// Threads that compute.
	NThreads int32
	// What the model has.
	Flags EngineFlags
	// What was asked for if it changed the type of any matrix, else DEFAULT.
	WeightDtype WeightDtype
	// 0.
	Reserved uint32
}

// One entry of the vocabulary.
type TokenInfo struct {
	// sizeof(inlay_token_info), set by the caller. [bytes]
	StructSize uint32
	// What it is.
	Kind TokenKind
	// Properties.
	Flags TokenFlags
	// The vocabulary's score, 0 where it has none.
	Score float32
	// Length of the whole piece, which may be more than fits here. [bytes]
	PieceBytes uint32
	// 0.
	Reserved uint32
	// The bytes that the token stands for in the middle of a text; they need not be whole characters.
	Piece [TokenPieceBytes]uint8
}

// How a token is drawn. The steps run in this order: bias and DRY, penalties, top_n_sigma, temperature, top_k,
// typical_p, top_p, min_p, XTC, draw. All zero is greedy. Where temperature is 0 only bias, DRY, penalties and
// n_logprobs change anything. Where mirostat_tau is set top_k, typical_p, top_p, min_p and XTC change nothing.
// Mirostat's and adaptive-p's averages are the session's: a fork takes them along, a prefill and a truncation let
// them begin anew, another sampler goes on with them.
type SamplerParams struct {
	// sizeof(inlay_sampler_params). [bytes]
	StructSize uint32
	// Divides the logits. [0 or more, default 0: greedy, the likeliest token, the lower id at a tie]
	Temperature float32
	// Keep the k likeliest tokens; all where the vocabulary has fewer. [0 or more, default 0: off]
	TopK int32
	// Keep the likeliest tokens whose probabilities reach this sum. [0 to 1, default 0: off, as 1 is]
	TopP float32
	// Drop tokens less likely than this part of the likeliest one's probability. [0 to 1, default 0: off]
	MinP float32
	// Divides positive and multiplies negative logits of tokens in the window. [0 or more, default 0: off, as 1 is]
	RepetitionPenalty float32
	// Subtracted once for every time that the token is in the window. [any number, default 0: off]
	FrequencyPenalty float32
	// Subtracted if the token is in the window. [any number, default 0: off]
	PresencePenalty float32
	// Last tokens of the sequence that the penalties look at; -1 for all. Changes nothing without penalties. [tokens,
	// -1 or more, default 0: the last 64]
	PenaltyWindow int32
	// Likeliest tokens to report in events, at most INLAY_MAX_LOGPROBS; fewer where fewer have a probability. [0 to
	// 20, default 0: none]
	NLogprobs int32
	// Same seed, stream, tokens and logits: same draw, whatever else is in the step. Logits may differ in their last
	// bits between devices and versions, and on a GPU between cuts of a prompt. [default 0: the seed 0]
	Seed uint64
	// Logit changes, each token once; copied. [default NULL: none]
	Bias *LogitBias
	// Their number. [0 to 1024, default 0]
	NBias uintptr
	// Locally typical sampling: keep the tokens whose surprise is nearest to the mean surprise and whose
	// probabilities reach this sum. [0 to 1, default 0: off, as 1 is]
	TypicalP float32
	// Keep logits that are at most this many standard deviations below the largest. [0 or more, default 0: off]
	TopNSigma float32
	// Dynamic temperature: up to this much below `temperature` where the model is sure of the next token, up to this
	// much above where it is not. [0 or more, default 0: off]
	DynatempRange float32
	// Power of the entropy, from 0 to 1, that says where in that range the temperature is. Changes nothing without
	// dynatemp_range. [0 or more, default 0: 1]
	DynatempExponent float32
	// Exclude top choices: the chance with which, of the tokens that reach xtc_threshold, only the least likely
	// stays. [0 to 1, default 0: off]
	XtcProbability float32
	// Probability that makes a token a top choice; above 0.5 there is no more than one, and nothing changes. Changes
	// nothing without xtc_probability. [0 to 1, default 0: 0.1]
	XtcThreshold float32
	// Mirostat 2: the mean surprise of the drawn tokens that is aimed at. It stands in the place of the filters from
	// top_k to XTC. Refused together with adaptive_target. [bits, 0 or more, default 0: off]
	MirostatTau float32
	// How much of its error Mirostat corrects with each token. Changes nothing without mirostat_tau. [0 or more,
	// default 0: 0.1]
	MirostatEta float32
	// Adaptive-p: tokens near a probability are preferred such that the mean of the drawn tokens' probabilities
	// becomes this one. To be used with a filter as min_p, because it prefers unlikely tokens, too. [0 to 1, default
	// 0: off]
	AdaptiveTarget float32
	// What that mean keeps of itself with each token. Changes nothing without adaptive_target. [0 to 0.99, default 0:
	// 0.9]
	AdaptiveDecay float32
	// DRY: a token that would go on with a repetition of the sequence's end loses dry_multiplier * dry_base ^ (length
	// of the repetition - dry_allowed_length) of its logit. [0 or more, default 0: off]
	DryMultiplier float32
	// Base of that power. Changes nothing without dry_multiplier. [1 or more, default 0: 1.75]
	DryBase float32
	// Shorter repetitions cost nothing. Changes nothing without dry_multiplier. [tokens, 0 or more, default 0: 2]
	DryAllowedLength int32
	// Last tokens of the sequence in which repetitions are looked for. Changes nothing without dry_multiplier.
	// [tokens, -1 or more, default 0: all, as -1 is]
	DryWindow int32
	// Texts that no repetition reaches across and whose tokens DRY leaves alone, each of 1 to 128 bytes; copied.
	// Changes nothing without dry_multiplier. [default NULL: a line feed, a colon, a quotation mark, an asterisk]
	DryBreakers *Text
	// Their number. [0 to 64, default 0]
	NDryBreakers uintptr
	// Others than the named ones are refused. [default 0]
	Flags SamplerFlags
	// 0. [default 0]
	Reserved uint32
}

// How a session generates. Zero means default for every field.
type SessionParams struct {
	// sizeof(inlay_session_params). [bytes]
	StructSize uint32
	// Others than the named ones are refused. [default 0]
	Flags SessionFlags
	// How tokens are drawn; copied. [default NULL: greedy]
	Sampler *SamplerParams
	// Tells sessions with one seed apart: another stream, other random numbers. Changes nothing where temperature is
	// 0. [default 0]
	Stream uint64
	// Tokens to draw after each prefill before the session finishes. The context may be full before. [tokens, 0 or
	// more, default 0: no limit but the context]
	MaxTokens int32
	// 0. [default 0]
	Reserved uint32
	// Token ids that end the generation when drawn; copied. Ids outside of the vocabulary are refused; one that is
	// named twice counts once. End tokens may be among them: then the reason is STOP_TOKEN, also with
	// IGNORE_END_OF_GENERATION. [default NULL: none]
	StopTokens *int32
	// Their number. [0 to 1024, default 0]
	NStopTokens uintptr
	// Texts that end the generation, as inlay_session_set_stop takes them; copied. [default NULL: none]
	Stops *Text
	// Their number. [0 to 64, default 0]
	NStops uintptr
	// What each generation may write, from its first drawn token on. The session shares it: the handle may be freed.
	// Of the same engine; refused with IGNORE_END_OF_GENERATION, since the constraint says where a text ends.
	// [default NULL: anything may be written]
	Constraint *Constraint
}

// Where a session stands.
type SessionInfo struct {
	// sizeof(inlay_session_info), set by the caller. [bytes]
	StructSize uint32
	// NONE while it can go on.
	FinishReason FinishReason
	// Length of the sequence, the last drawn token included. [tokens]
	NTokens int32
	// Longest that it can become. [tokens]
	NContext int32
	// Tokens drawn or accepted since the last prefill or truncation. [tokens]
	NGenerated int32
	// Blocks of the KV pool that it uses, those shared with forks included. Layers with a sliding window have blocks
	// of their own, those of the window.
	NKVBlocks int32
	// Text that inlay_session_take_text would give. [bytes]
	TextPending uint64
	// Number of the generation, for inlay_session_cancel_generation: how many have begun. A fork counts from where
	// its parent was.
	Generation uint64
	// Where the generation's text stands under the constraint.
	ConstraintState ConstraintState
	// 0.
	Reserved int32
}

// What one session did in one decode step. Arrays of events come with a stride, sizeof(inlay_event) as the caller
// knows it.
type Event struct {
	// OK, or why this session did not advance.
	Status Status
	// What happened.
	Kind EventKind
	// Position of the session in the call's array.
	SessionIndex int32
	// The drawn token, -1 if there is none.
	Token int32
	// Not NONE: this was the session's last event until its next prefill.
	FinishReason FinishReason
	// Natural logarithm of the token's probability under the model, before any sampling step. [nats]
	Logprob float32
	// Entries of top.
	NLogprobs int32
	// Length of text. [bytes]
	TextBytes uint32
	// Text that did not fit and is to be had with inlay_session_take_text. [bytes]
	TextPending uint64
	// The likeliest tokens, the likeliest first.
	Top [MaxLogprobs]TokenLogprob
	// New text, whole characters, not ended by a zero. What may begin a stop string is held back until that is clear.
	// A character whose first bytes end the prompt comes whole with the token that completes it.
	Text [EventTextBytes]byte
	// Tokens that were drawn: 1 with TOKEN, else 0. More only where the session asked for it by a flag of a later
	// minor: then they are the last ones of the sequence, to be read with inlay_session_get_tokens, and token is the
	// last of them. [tokens]
	NTokens int32
	// 0.
	Reserved int32
}

// What an engine has done since it was loaded.
type Stats struct {
	// sizeof(inlay_stats), set by the caller. [bytes]
	StructSize uint32
	// Sessions that have a place among max_sessions: those made with FOR_REQUESTS have none.
	NSessions int32
	// Tokens that prefill ran. [tokens]
	NPrefillTokens uint64
	// Tokens that decode steps drew. [tokens]
	NDecodeTokens uint64
	// Decode steps in which a session took part.
	NDecodeSteps uint64
	// Time that the load took. [seconds]
	LoadSeconds float64
	// Time in prefill. [seconds]
	PrefillSeconds float64
	// Time in decode steps. [seconds]
	DecodeSeconds float64
	// Blocks of the KV pool, those of layers with a sliding window included.
	NKVBlocks int32
	// Blocks in use now; a block that forks share counts once.
	NKVBlocksUsed int32
	// Most blocks that were ever in use at once.
	NKVBlocksPeak int32
	// Tokens of a block. [tokens]
	NBlockTokens int32
	// Blocks that went to the host's memory when their room in the pool was wanted (prefix_cache_host_bytes).
	NKVBlocksToHost uint64
	// Of these, blocks that came back for a request that begins with them.
	NKVBlocksFromHost uint64
	// Of these, blocks that were given up there for others.
	NKVBlocksHostDropped uint64
	// Of the load's prefix_cache_host_bytes, what was taken of the host's memory so far. [bytes]
	PrefixCacheHostBytesTaken uint64
	// Blocks that are there now; they are not among n_kv_blocks.
	NKVBlocksOnHost int32
	// 0.
	Reserved uint32
}

// Which step is profiled. Zero means default for every field.
type ProfileParams struct {
	// sizeof(inlay_profile_params). [bytes]
	StructSize uint32
	// Tokens of the step; at most prefill_chunk. [tokens, 0 or more, default 1: a decode step, which draws]
	NTokens int32
	// Tokens in the session before the step. [tokens, 0 or more, default 0]
	NPast int32
	// How often it is run; times are medians. [0 to 10000, default 20]
	NRepetitions int32
}

// How a model is converted. Zero means default for every field.
type ConvertParams struct {
	// sizeof(inlay_convert_params). [bytes]
	StructSize uint32
	// Type of the matrices. [default F16]
	Type ConvertType
	// Threads that compute, the calling one included. [0 to 1024, default as of a load]
	NThreads int32
	// 0.
	Reserved uint32
	// Called with the bytes of the source that are done, and all. [default none]
	Progress ProgressFn
	// Given to progress; unused without it. [default NULL]
	ProgressUser unsafe.Pointer
	// Called with warnings: what of a folder's tokenizer other programs will not read in the file. [default none]
	Log LogFn
	// Given to log; unused without it. [default NULL]
	LogUser unsafe.Pointer
}

// How a conversation is written. Zero means default for every field.
type ChatParams struct {
	// sizeof(inlay_chat_params). [bytes]
	StructSize uint32
	// Others than the named ones are refused. [default 0: the conversation alone]
	Flags ChatFlags
	// A template. Not used after the call. [default NULL: the model's own]
	ChatTemplate *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	TemplateLen uintptr
}

// What embeddings are made of. Zero means default for every field.
type EmbedParams struct {
	// sizeof(inlay_embed_params). [bytes]
	StructSize uint32
	// How tokens become one vector. [default DEFAULT]
	Pooling Pooling
	// Others than the named ones are refused. [default 0]
	Flags EmbedFlags
	// 0.
	Reserved uint32
	// Called while texts become tokens, then after each step with the tokens that were run, and all that will be.
	// [default none]
	Progress ProgressFn
	// Given to progress; unused without it. [default NULL]
	ProgressUser unsafe.Pointer
}

// What one embedding is of: tokens or text, not both. Arrays come with a stride, sizeof(inlay_embed_input) as the
// caller knows it.
type EmbedInput struct {
	// Token ids, at least 1. [default NULL: text is given]
	Tokens *int32
	// Their number. [tokens, default 0]
	NTokens uintptr
	// A text, which becomes tokens as by inlay_tokenize without flags. Where the model comes from a
	// sentence-transformers folder, by itself or converted, that library's rules hold before: the default prompt
	// stands in front, the text is put in lower case if the folder says so, and tokens beyond max_seq_length are cut
	// off at the end, or at the beginning where truncation_side is left; BOS and EOS stay. None of this is done to
	// tokens. [default NULL: tokens are given]
	Text *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	TextLen uintptr
}

// What is scored. Zero means default for every field.
type ScoreParams struct {
	// sizeof(inlay_score_params). [bytes]
	StructSize uint32
	// At the beginning of each text: context that gets no scores. [tokens, 0 or more, default 1]
	NGiven int32
	// Likeliest tokens to report beside each token, at most INLAY_MAX_LOGPROBS. [0 to 20, default 0: none]
	NLogprobs int32
	// 0.
	Reserved uint32
	// Called after each step with the tokens that were run, and all that will be. [default none]
	Progress ProgressFn
	// Given to progress; unused without it. [default NULL]
	ProgressUser unsafe.Pointer
}

// How likely a token of a text is, given those before it. Arrays come with a stride, sizeof(inlay_token_score) as the
// caller knows it.
type TokenScore struct {
	// Natural logarithm of the token's probability; NaN where the token has no score: it was given. [nats]
	Logprob float32
	// Tokens that are likelier, or as likely with a lower id; 0: a greedy draw takes this one. -1 without a score.
	Rank int32
	// The same for the engine that is compared with; NaN without one. [nats]
	AgainstLogprob float32
	// Likewise; -1 without one.
	AgainstRank int32
	// Kullback-Leibler divergence of this engine's distribution from that of the other one, which counts as the exact
	// one: the sum over all tokens t of P(t) (ln P(t) - ln Q(t)), P of the other. NaN without one. [nats]
	Divergence float32
	// 1: the likeliest token of both engines is the same; 0: it is not; -1 without another engine.
	SameBest int32
}

// Logits where they lie. They are not to be written.
type Logits struct {
	// sizeof(inlay_logits), set by the caller. [bytes]
	StructSize uint32
	// 0.
	Reserved uint32
	// As the model gives them.
	Values *float32
	// n_vocab. [values]
	NValues uintptr
}

// What a queue holds. Zero means default for every field.
type QueueParams struct {
	// sizeof(inlay_queue_params). [bytes]
	StructSize uint32
	// 0. [default 0]
	Reserved uint32
	// Requests that were submitted and whose ends were not polled, or whose vectors were not taken: one more is
	// QUEUE_FULL. [0 to 1048576, default 1024]
	MaxRequests int32
	// A request of which as many tokens wait to be polled rests until some are. It loses nothing, and holds no other
	// up. [tokens, 0 to 1048576, default 256]
	MaxUnreadTokens int32
	// Called when there comes something to poll; never after inlay_queue_free has returned. [default none]
	Wake WakeFn
	// Given to wake; unused without it. [default NULL]
	WakeUser unsafe.Pointer
}

// A prompt and what is to become of it. One of tokens, text and conversation is given. Zero means default for every
// other field. Nothing of it is used after inlay_submit.
type Request struct {
	// sizeof(inlay_request). [bytes]
	StructSize uint32
	// What is to become of the prompt. [default GENERATE]
	Kind RequestKind
	// The prompt as token ids, at least 1. [default NULL: not given]
	Tokens *int32
	// Their number. [tokens, 0 or more, default 0]
	NTokens uintptr
	// The prompt as a text, which becomes tokens as by inlay_tokenize without flags: ill-formed UTF-8 is read as
	// U+FFFD. [default NULL: not given]
	Text *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, 0 or more, default 0: an empty prompt]
	TextLen uintptr
	// The prompt as a conversation, as inlay_chat_tokenize takes it: ill-formed UTF-8 is refused with FORMAT.
	// [default NULL: not given]
	Conversation *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, 0 or more, default 0]
	ConversationLen uintptr
	// How the conversation is written; refused without one. [default NULL: ADD_GENERATION_PROMPT]
	Chat *ChatParams
	// How tokens are drawn and what ends the request; with continues from now on. The flags RESERVE and FOR_REQUESTS
	// are refused: they are of sessions. [default NULL: all defaults; with continues what the session has]
	SessionParams *SessionParams
	// Who has more comes first, and may put out who has less where the pool or all places are taken. What waits to
	// begin, or for a prompt's next chunk, rises by one every 250 ms at present, and puts out no equal. [0 to 7,
	// default 0]
	Priority int32
	// 0. [default 0]
	Reserved uint32
	// From now on. Among waiting requests of one level, which is their priority and what waiting has added, the
	// earliest comes first, behind those that were put out; it is no promise. [microseconds, 0 or more, default 0:
	// none]
	DeadlineUs uint64
	// From now on, the time that it waits included. Then the request ends with TIMEOUT, and keeps its text so far;
	// where a budget has left its step pending, only with the next computation. [microseconds, 0 or more, default 0:
	// none]
	TimeoutUs uint64
	// Comes back in each event. [any number, default 0]
	User uint64
	// A session made with FOR_REQUESTS, of the same engine, that the request continues: tokens and text come behind
	// what it has, a text without special tokens in front unless the session is empty and no other request for it
	// waits when this one is submitted. A conversation takes the place of its tokens; what both begin with is not
	// computed again. Requests for one session run one after the other, as they were submitted. The sequence stays in
	// the session, with drawn tokens, also of a request that is cancelled. Whether the prompt fits behind the one
	// before is known only when the request gets the session: if not, it ends with reason ERROR and CONTEXT_FULL or
	// KV_FULL, and the session is as it was. [default NULL: a sequence of its own]
	Continues *Session
	// EMBED: what the vector is made of, without progress. Of no other kind. [default NULL: all defaults]
	Embed *EmbedParams
	// The request goes on behind what requests of the same number have computed, and nobody else's, and behind what
	// the session has that it continues: so that nobody can tell by the time of an answer what others have asked. Of
	// EMBED it changes nothing. [any number, default 0]
	CacheSalt uint64
}

// What became of a request since its last event. Arrays of events come with a stride, sizeof(inlay_request_event) as
// the caller knows it.
type RequestEvent struct {
	// Number that inlay_submit gave.
	RequestID uint64
	// 1 for the first event that was polled from the queue, then one more for each.
	Number uint64
	// Of the request.
	User uint64
	// What it is.
	Kind RequestEventKind
	// Tokens of this event: tokens[first_token] to tokens[first_token + n_tokens - 1] of the call. [tokens]
	NTokens int32
	// See n_tokens.
	FirstToken uintptr
	// Where this event's text begins in the call's text. [bytes]
	FirstByte uintptr
	// Its length: whole characters, not ended by a zero. What may begin a stop string is held back until that is
	// clear. With END and reason ERROR it is the error's message, cut to the room that the call has. [bytes]
	TextBytes uintptr
	// With END: why. Else NONE.
	FinishReason FinishReason
	// With END and reason ERROR: what failed. Else OK.
	Status Status
	// With END: tokens of the prompt, and with a session that it continues those before it, once it has got the
	// session. [tokens]
	NPrompt int32
	// With END: those of them that were not computed for this request. [tokens]
	NCached int32
	// With END: tokens that were drawn. [tokens]
	NDrawn int32
	// Likeliest tokens of each of them, the n_logprobs of the request's sampler: behind the event's tokens the call's
	// tokens has n_tokens x n_top of them, for each token in its place the likeliest first; token -1 where fewer have
	// a probability. [tokens]
	NTop int32
	// With END: from its submission until it began, or until its end if it never did. [microseconds]
	QueuedUs uint64
	// With END: from there to its first token, or to its end if it drew none. [microseconds]
	PromptUs uint64
	// With END: from there to its end. [microseconds]
	DecodeUs uint64
	// With END and reason EMBEDDED: of the vector that inlay_request_take_values gives. Else 0. [values]
	NValues uintptr
}

// How long inlay_run may compute. Zero means default for every field.
type RunParams struct {
	// sizeof(inlay_run_params). [bytes]
	StructSize uint32
	// Others than the named ones are refused. [default 0]
	Flags RunFlags
	// The call begins no part of a step that it does not expect to end within this time, by what parts like it have
	// taken, but the first, so that requests go on with any budget. [microseconds, 0 or more, default 0: until no
	// request can go on]
	BudgetUs uint64
	// The longest that a step with prompts is to take: so it bounds the time from one token to the next of those that
	// draw. Chunks of prompts are cut for it; the least chunk has 16 tokens at present. [microseconds, 0 or more,
	// default 0: no bound]
	MaxStepUs uint64
	// The same for the calling thread's time. It matters with NO_WAIT on a GPU, where budget_us bounds the GPU's time
	// alone. Where the call waits for what it computes, the smaller of the two counts. [microseconds, 0 or more,
	// default 0: no bound of its own]
	HostBudgetUs uint64
}

// What a call of inlay_run came to.
type RunInfo struct {
	// sizeof(inlay_run_info), set by the caller. [bytes]
	StructSize uint32
	// What is left.
	Flags RunInfoFlags
	// Tokens that were drawn. [tokens]
	NTokens uint64
	// Requests of the engine that have not ended.
	NRequests int32
	// 0.
	Reserved uint32
}

// How an engine's own thread computes. Zero means default for every field.
type ThreadParams struct {
	// sizeof(inlay_thread_params). [bytes]
	StructSize uint32
	// 0. [default 0]
	Reserved uint32
	// It computes for at most this long in each period, as far as that can be foretold. [microseconds, 0 or more,
	// default 0: all the time]
	BusyUs uint64
	// Of at least busy_us; both are set or neither. [microseconds, 0 or more, default 0: all the time]
	PeriodUs uint64
	// As in inlay_run_params. [microseconds, 0 or more, default 0: no bound]
	MaxStepUs uint64
}

// What a constraint is made of. Nothing of it is used after the call.
type ConstraintParams struct {
	// sizeof(inlay_constraint_params). [bytes]
	StructSize uint32
	// What the text is. [default JSON_SCHEMA]
	Kind ConstraintKind
	// Others than the named ones are refused. [default 0]
	Flags ConstraintFlags
	// 0. [default 0]
	Reserved uint32
	// The schema, grammar, expression, or JSON of a message. Not of ANY_JSON and CHOICES. [default NULL: none]
	Text *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	TextLen uintptr
	// The texts of CHOICES; of no other kind. [default NULL: none]
	Choices *Text
	// Their number, at least 1 with CHOICES. [0 to 65536, default 0]
	NChoices uintptr
	// MESSAGE: tokens of the prompt, or its last ones, which say whether reasoning is open. Of no other kind.
	// [default NULL: nothing of the answer is in it]
	Prompt *int32
	// Their number. [tokens, 0 or more, default 0]
	NPrompt uintptr
	// MESSAGE: how reasoning and calls are written, as in inlay_chat_parser_params. Of no other kind. [default NULL:
	// the one that the template writes]
	Format *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	FormatLen uintptr
	// MESSAGE: the chat template that wrote the prompt, where it is not the model's own. Of no other kind. [default
	// NULL: the model's own]
	ChatTemplate *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	TemplateLen uintptr
}

// What a constraint takes.
type ConstraintInfo struct {
	// sizeof(inlay_constraint_info), set by the caller. [bytes]
	StructSize uint32
	// Remarks, for inlay_constraint_get_remark.
	NRemarks int32
	// Host memory that it has now, without the vocabulary's, which all constraints of an engine share. It grows while
	// it is used, within a bound: by tens of megabytes at most, and the choices or the grammar themselves. [bytes]
	MemoryBytes uint64
}

// Where a saved session's bytes go.
type StateWriter struct {
	// sizeof(inlay_state_writer). [bytes]
	StructSize uint32
	// 0.
	Reserved uint32
	// Given to the callback.
	User unsafe.Pointer
	// Takes the bytes, one part behind the other; must not be NULL.
	Write StateWriteFn
}

// Where a saved session's bytes come from.
type StateReader struct {
	// sizeof(inlay_state_reader). [bytes]
	StructSize uint32
	// 0.
	Reserved uint32
	// Given to the callback.
	User unsafe.Pointer
	// Gives the bytes, one part behind the other; must not be NULL.
	Read StateReadFn
}

// What a message is read by. Nothing of it is used after the call. Zero means default for every field.
type ChatParserParams struct {
	// sizeof(inlay_chat_parser_params). [bytes]
	StructSize uint32
	// Others than the named ones are refused. [default 0]
	Flags ChatParserFlags
	// A format as JSON, at most 1 MiB: docs/design/chat-parsing.md has its keys. [default NULL: the one that the
	// template writes]
	Format *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	FormatLen uintptr
	// The chat template that wrote the prompt, where it is not the model's own. [default NULL: the model's own]
	ChatTemplate *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	TemplateLen uintptr
	// The tools as a JSON array: {"type": "function", "function": {"name", "parameters": JSON Schema}}, or the inner
	// object alone. What formats write without quotes becomes JSON by their types. [default NULL: none]
	Tools *byte
	// Its length, or SIZE_MAX if a zero ends it. [bytes, default 0]
	ToolsLen uintptr
	// Tokens of the prompt, or its last ones. Templates may begin the answer, as those do that open the reasoning.
	// [default NULL: not known]
	Prompt *int32
	// Their number. [tokens, 0 or more, default 0]
	NPrompt uintptr
}

// A part of a message. Arrays of them come with a stride, sizeof(inlay_chat_delta) as the caller knows it.
type ChatDelta struct {
	// What it is.
	Kind ChatDeltaKind
	// What is to be known of it.
	Flags ChatDeltaFlags
	// The call that it is of, 0 for the message's first. 0 with REASONING and CONTENT.
	Call int32
	// 0.
	Reserved int32
	// Where its text begins in the call's text. [bytes]
	FirstByte uintptr
	// Its length: whole characters, not ended by a zero. [bytes]
	TextBytes uintptr
}

// Where a parser is.
type ChatParserInfo struct {
	// sizeof(inlay_chat_parser_info), set by the caller. [bytes]
	StructSize uint32
	// Where it is.
	Flags ChatParserInfoFlags
	// Calls that have begun.
	NCalls int32
	// 0.
	Reserved int32
}

// Load is inlay_load. Loads a model: a GGUF file, of which a split one is named by its first file, or a Hugging Face
// folder with config.json and safetensors files.
//
//   - path: The file's path.
//   - pathLen: Its length, or SIZE_MAX.
//   - params: NULL: all defaults.
//   - engine: The new engine.
//   - Thread: any.
//   - Blocks: on disk and processor for the whole load; progress is called meanwhile; takes device memory.
//   - Ownership: `*engine` is the caller's, to be freed with inlay_free. The file is not needed after the call.
//   - On error: `*engine` is NULL.
//   - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
//   - Since: 1.0.
func Load(path *byte, pathLen uintptr, params *LoadParams, engine **Engine, err *Error) Status {
	return Status(C.go_inlay_load((*C.char)(unsafe.Pointer(path)), C.size_t(pathLen), (*C.inlay_load_params)(unsafe.Pointer(params)), (**C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Prefill is inlay_prefill. Appends tokens to a session and runs them, chunk by chunk. It begins a new generation:
// finish reason and max_tokens start over, text that was not taken is dropped.
//
//   - session: The session.
//   - tokens: Token ids.
//   - nTokens: At least 1.
//   - nDone: How many of them the session has now.
//   - Thread: exclusive(session).
//   - Blocks: on the device until all tokens are run; other threads' calls that compute on the engine run before it
//     and after each chunk.
//   - Ownership: The tokens are copied.
//   - On error: The session keeps the first `*n_done` tokens, whole chunks; none unless it was cancelled, or the
//     device or memory failed.
//   - Errors: CONTEXT_FULL, KV_FULL, CANCELLED, INVALID_STATE, DEVICE_LOST.
//   - Since: 1.0.
func Prefill(session *Session, tokens *int32, nTokens uintptr, nDone *uintptr, err *Error) Status {
	return Status(C.go_inlay_prefill((*C.inlay_session)(unsafe.Pointer(session)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(nTokens), (*C.size_t)(unsafe.Pointer(nDone)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// DecodeStep is inlay_decode_step. Draws one token for each of the sessions, reading the weights once for all. One
// event a session, in the order given. A session that cannot advance is unchanged and says so in its event's status;
// the others advance, and the first such status is returned. Sessions are of one engine, each named once. Calls of
// several threads that wait for their turn share a step; each is told of its own sessions alone.
//
//   - sessions: The sessions.
//   - nSessions: At least 1.
//   - events: One event a session.
//   - eventStride: sizeof(inlay_event): from one event to the next.
//   - Thread: exclusive(sessions).
//   - Blocks: on the device for one step; waits for other threads' calls that compute on the engine, at most for one
//     chunk of each prefill, and up to a millisecond or half a step for calls that shared the last step.
//   - Ownership: Events are copies.
//   - On error: Wrong arguments: nothing happened, events are untouched. Otherwise each event has its own status.
//     UNSUPPORTED: the session's constraint needs more than its limits at this place of its text.
//   - Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, FORMAT, DEVICE_LOST.
//   - Since: 1.0.
func DecodeStep(sessions **Session, nSessions uintptr, events *Event, eventStride uintptr, err *Error) Status {
	return Status(C.go_inlay_decode_step((**C.inlay_session)(unsafe.Pointer(sessions)), C.size_t(nSessions), (*C.inlay_event)(unsafe.Pointer(events)), C.size_t(eventStride), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Free is inlay_free. Gives up an engine. Its memory goes when its last session is freed, too. Its requests end as
// CANCELLED, its thread ends, and its queues' wake functions are called on this one. NULL is allowed.
//
//   - engine: The engine.
//   - Thread: exclusive(engine).
//   - Blocks: until the device is idle; not where other threads are inside the engine: the last of them to leave does
//     all of this, on its thread. inlay_run leaves soon, with INVALID_STATE.
//   - Ownership: The handle is invalid afterwards.
//   - Since: 1.0.
func Free(engine *Engine) {
	C.go_inlay_free((*C.inlay_engine)(unsafe.Pointer(engine)))
}

// VersionString is inlay_version_string. The library's version, such as 0.1.0.
//
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - Since: 1.0.
func VersionString() string {
	return C.GoString(C.go_inlay_version_string())
}

// ABIVersion is inlay_abi_version. The ABI that the library offers: major x 65536 + minor. It serves every client of
// the same major and a minor up to its own.
//
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - Since: 1.0.
func ABIVersion() uint32 {
	return uint32(C.go_inlay_abi_version())
}

// StatusName is inlay_status_name. A status as it is written in the header, without the prefix: KV_FULL. A number
// that is none gives UNKNOWN.
//
//   - status: The status.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - Since: 1.0.
func StatusName(status Status) string {
	return C.GoString(C.go_inlay_status_name(C.inlay_status(status)))
}

// DeviceCount is inlay_device_count. Number of devices; device 0 is the processor.
//
//   - Thread: any.
//   - Blocks: on drivers at the first call.
//   - Ownership: Nothing is kept.
//   - Since: 1.0.
func DeviceCount() int32 {
	return int32(C.go_inlay_device_count())
}

// DeviceGet is inlay_device_get. Describes a device.
//
//   - index: 0 to inlay_device_count() - 1.
//   - info: The device.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: NOT_FOUND.
//   - Since: 1.0.
func DeviceGet(index int32, info *DeviceInfo, err *Error) Status {
	return Status(C.go_inlay_device_get(C.int32_t(index), (*C.inlay_device_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// LoadMemory is inlay_load_memory. Loads a model that lies in memory.
//
//   - data: The model's bytes.
//   - nBytes: Their number.
//   - params: NULL: all defaults.
//   - engine: The new engine.
//   - Thread: any.
//   - Blocks: on the processor for the whole load; progress is called meanwhile; takes device memory.
//   - Ownership: `*engine` is the caller's, to be freed with inlay_free. `data` is not needed after the call.
//   - On error: `*engine` is NULL.
//   - Errors: FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
//   - Since: 1.0.
func LoadMemory(data unsafe.Pointer, nBytes uintptr, params *LoadParams, engine **Engine, err *Error) Status {
	return Status(C.go_inlay_load_memory(data, C.size_t(nBytes), (*C.inlay_load_params)(unsafe.Pointer(params)), (**C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// LoadReader is inlay_load_reader. Loads a model through a callback, which is called on this thread and during this
// call only.
//
//   - reader: Where the bytes come from.
//   - params: NULL: all defaults.
//   - engine: The new engine.
//   - Thread: any.
//   - Blocks: on the callback and the processor for the whole load; takes device memory.
//   - Ownership: `*engine` is the caller's, to be freed with inlay_free. The reader is not needed after the call.
//   - On error: `*engine` is NULL.
//   - Errors: IO, FORMAT, UNSUPPORTED, DEVICE_OUT_OF_MEMORY, NO_DEVICE, CANCELLED.
//   - Since: 1.0.
func LoadReader(reader *Reader, params *LoadParams, engine **Engine, err *Error) Status {
	return Status(C.go_inlay_load_reader((*C.inlay_reader)(unsafe.Pointer(reader)), (*C.inlay_load_params)(unsafe.Pointer(params)), (**C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// MemoryPlan is inlay_memory_plan. Tells what inlay_load would need, from the file's header alone.
//
//   - path: The file's path.
//   - pathLen: Its length, or SIZE_MAX.
//   - params: NULL: all defaults.
//   - info: The needs.
//   - Thread: any.
//   - Blocks: on disk, for the header.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, NO_DEVICE.
//   - Since: 1.0.
func MemoryPlan(path *byte, pathLen uintptr, params *LoadParams, info *MemoryInfo, err *Error) Status {
	return Status(C.go_inlay_memory_plan((*C.char)(unsafe.Pointer(path)), C.size_t(pathLen), (*C.inlay_load_params)(unsafe.Pointer(params)), (*C.inlay_memory_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// EngineGetInfo is inlay_engine_get_info. Sizes of the model and of what was allocated for it.
//
//   - engine: The engine.
//   - info: The sizes.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: only the common ones.
//   - Since: 1.0.
func EngineGetInfo(engine *Engine, info *EngineInfo, err *Error) Status {
	return Status(C.go_inlay_engine_get_info((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_engine_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// MetaCount is inlay_meta_count. Number of the model file's metadata entries.
//
//   - engine: The engine.
//   - count: The number.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: only the common ones.
//   - Since: 1.0.
func MetaCount(engine *Engine, count *uintptr, err *Error) Status {
	return Status(C.go_inlay_meta_count((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.size_t)(unsafe.Pointer(count)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// MetaKey is inlay_meta_key. Key of a metadata entry, in the file's order.
//
//   - engine: The engine.
//   - index: 0 to the count - 1.
//   - buf: The key, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the key.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
//   - Since: 1.0.
func MetaKey(engine *Engine, index uintptr, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_meta_key((*C.inlay_engine)(unsafe.Pointer(engine)), C.size_t(index), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// MetaValue is inlay_meta_value. A metadata value as text. An array is written as [a, b, c]; a long one is cut short
// and says how many elements there are.
//
//   - engine: The engine.
//   - key: The key, such as general.architecture.
//   - keyLen: Its length, or SIZE_MAX.
//   - buf: The value, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the value.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
//   - Since: 1.0.
func MetaValue(engine *Engine, key *byte, keyLen uintptr, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_meta_value((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.char)(unsafe.Pointer(key)), C.size_t(keyLen), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Tokenize is inlay_tokenize. Turns text into token ids, which can all be prefilled. There may be more of them than
// bytes of text: ill-formed UTF-8 becomes U+FFFD, a vocabulary's normalizer may lengthen the text, tokens are added
// around it. The same text and flags always give the same ids, so `*n_tokens` of one call is room for the next: ask
// with tokens NULL and cap 0, or grow at BUFFER_TOO_SMALL.
//
//   - engine: The engine.
//   - text: The text; ill-formed UTF-8 is read as U+FFFD.
//   - textLen: Its length, or SIZE_MAX.
//   - flags: 0 adds BOS and EOS as the model asks and reads control tokens as plain text.
//   - tokens: The ids.
//   - cap_: Room in tokens.
//   - nTokens: Their number.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*n_tokens` is what is needed, tokens are unspecified.
//   - Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED.
//   - Since: 1.0.
func Tokenize(engine *Engine, text *byte, textLen uintptr, flags TokenizeFlags, tokens *int32, cap_ uintptr, nTokens *uintptr, err *Error) Status {
	return Status(C.go_inlay_tokenize((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.char)(unsafe.Pointer(text)), C.size_t(textLen), C.inlay_tokenize_flags(flags), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(nTokens)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Detokenize is inlay_detokenize. Turns token ids into text. If the ids begin or end inside a character, so does the
// text.
//
//   - engine: The engine.
//   - tokens: The ids.
//   - nTokens: Their number.
//   - flags: 0 leaves out control tokens.
//   - buf: The text, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the text.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified.
//   - Errors: UNSUPPORTED, BUFFER_TOO_SMALL.
//   - Since: 1.0.
func Detokenize(engine *Engine, tokens *int32, nTokens uintptr, flags DetokenizeFlags, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_detokenize((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(nTokens), C.inlay_detokenize_flags(flags), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// TokenGetInfo is inlay_token_get_info. Describes one token.
//
//   - engine: The engine.
//   - token: Its id.
//   - info: The token.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: UNSUPPORTED.
//   - Since: 1.0.
func TokenGetInfo(engine *Engine, token int32, info *TokenInfo, err *Error) Status {
	return Status(C.go_inlay_token_get_info((*C.inlay_engine)(unsafe.Pointer(engine)), C.int32_t(token), (*C.inlay_token_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionCreate is inlay_session_create. Makes an empty session. UNSUPPORTED of a model whose tokens see those behind
// them (`attention.causal` false): it makes embeddings and writes no text.
//
//   - engine: The engine.
//   - params: NULL: all defaults.
//   - session: The new session.
//   - Thread: any.
//   - Blocks: no; where running requests have all places: for their step, after which one of them gives way; takes
//     device memory.
//   - Ownership: `*session` is the caller's, to be freed with inlay_session_free; it keeps the engine alive.
//   - On error: `*session` is NULL.
//   - Errors: UNSUPPORTED, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
//   - Since: 1.0.
func SessionCreate(engine *Engine, params *SessionParams, session **Session, err *Error) Status {
	return Status(C.go_inlay_session_create((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_session_params)(unsafe.Pointer(params)), (**C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionFree is inlay_session_free. Frees a session and gives its KV blocks back. NULL is allowed.
//
//   - session: The session.
//   - Thread: exclusive(session).
//   - Blocks: no; the last session of an engine that was freed: until the device is idle.
//   - Ownership: The handle is invalid afterwards.
//   - Since: 1.0.
func SessionFree(session *Session) {
	C.go_inlay_session_free((*C.inlay_session)(unsafe.Pointer(session)))
}

// SessionGetInfo is inlay_session_get_info. Tells where a session stands; as of the last finished step while another
// thread runs one.
//
//   - session: The session.
//   - info: The state.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: only the common ones.
//   - Since: 1.0.
func SessionGetInfo(session *Session, info *SessionInfo, err *Error) Status {
	return Status(C.go_inlay_session_get_info((*C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_session_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionTakeText is inlay_session_take_text. Takes text that did not fit into events: as many whole characters as
// fit. Call it until `*n_bytes` is 0; what is not taken stays, also past later steps, and comes before newer text.
//
//   - session: The session.
//   - buf: The text, not ended by a zero.
//   - cap_: Room in buf; 4 bytes hold any character.
//   - nBytes: Bytes taken.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: buf has no room for the next character.
//   - Errors: BUFFER_TOO_SMALL.
//   - Since: 1.0.
func SessionTakeText(session *Session, buf *byte, cap_ uintptr, nBytes *uintptr, err *Error) Status {
	return Status(C.go_inlay_session_take_text((*C.inlay_session)(unsafe.Pointer(session)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(nBytes)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionFork is inlay_session_fork. Makes a second session with the same sequence, parameters and state. Keys and
// values are shared until one of the two writes. Give the child another seed if the two are to differ.
//
//   - session: The session.
//   - child: The new session.
//   - Thread: exclusive(session).
//   - Blocks: no; takes device memory.
//   - Ownership: `*child` is the caller's, to be freed with inlay_session_free, in any order.
//   - On error: `*child` is NULL.
//   - Errors: SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST.
//   - Since: 1.0.
func SessionFork(session *Session, child **Session, err *Error) Status {
	return Status(C.go_inlay_session_fork((*C.inlay_session)(unsafe.Pointer(session)), (**C.inlay_session)(unsafe.Pointer(child)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionTruncate is inlay_session_truncate. Cuts the sequence back to its first tokens. It begins a new generation:
// finish reason and max_tokens start over, text that was not taken is dropped. Where a sliding window reaches back to
// keys that are no longer kept, the next prefill or step first runs the sequence from its beginning again.
//
//   - session: The session.
//   - nTokens: Tokens to keep, at most the present length.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.0.
func SessionTruncate(session *Session, nTokens uintptr, err *Error) Status {
	return Status(C.go_inlay_session_truncate((*C.inlay_session)(unsafe.Pointer(session)), C.size_t(nTokens), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionSetSampler is inlay_session_set_sampler. Changes how the following tokens are drawn.
//
//   - session: The session.
//   - params: NULL: greedy.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: Everything is copied.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.0.
func SessionSetSampler(session *Session, params *SamplerParams, err *Error) Status {
	return Status(C.go_inlay_session_set_sampler((*C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_sampler_params)(unsafe.Pointer(params)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionSetStop is inlay_session_set_stop. Sets the texts that end a generation, at most 64 of at most 1024 bytes
// each; an empty one is refused, one that is given twice counts once. They are looked for in the text, and in what it
// is with the names of control tokens in it: <|user|> stops at that token. Text held back for the old ones stays held
// until the next step.
//
//   - session: The session.
//   - stops: The texts, each of 1 to 1024 bytes.
//   - nStops: Their number, at most 64; 0 removes all.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: The texts are copied.
//   - On error: Nothing has changed.
//   - Errors: only the common ones.
//   - Since: 1.0.
func SessionSetStop(session *Session, stops *Text, nStops uintptr, err *Error) Status {
	return Status(C.go_inlay_session_set_stop((*C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_text)(unsafe.Pointer(stops)), C.size_t(nStops), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionCopyLogits is inlay_session_copy_logits. Copies the logits of the last position that was run: those that the
// last token was drawn from, or the next one will be.
//
//   - session: The session.
//   - logits: n_vocab values, as the model gives them.
//   - cap_: Room in logits.
//   - needed: n_vocab.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE, BUFFER_TOO_SMALL, FORMAT.
//   - Since: 1.0.
func SessionCopyLogits(session *Session, logits *float32, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_session_copy_logits((*C.inlay_session)(unsafe.Pointer(session)), (*C.float)(unsafe.Pointer(logits)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionCancel is inlay_session_cancel. Asks a session to stop. A prefill under way ends with CANCELLED after its
// chunk; otherwise the session's next step, or its next prefill, sees the request, once. NULL is allowed. It may be
// called from a signal handler: it takes no lock and no memory. The session must not be freed meanwhile, also not by
// the thread that the signal interrupts.
//
//   - session: The session.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - Since: 1.0.
func SessionCancel(session *Session) {
	C.go_inlay_session_cancel((*C.inlay_session)(unsafe.Pointer(session)))
}

// EngineGetStats is inlay_engine_get_stats. What the engine has done so far.
//
//   - engine: The engine.
//   - stats: The figures.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: only the common ones.
//   - Since: 1.0.
func EngineGetStats(engine *Engine, stats *Stats, err *Error) Status {
	return Status(C.go_inlay_engine_get_stats((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_stats)(unsafe.Pointer(stats)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// PlanText is inlay_plan_text. The list of operations that a step runs, as text: one line an operation, with its
// bytes and its floating-point operations for one token.
//
//   - engine: The engine.
//   - buf: The text, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the text.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: BUFFER_TOO_SMALL.
//   - Since: 1.0.
func PlanText(engine *Engine, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_plan_text((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// LogRead is inlay_log_read. Reads one message from the engine's ring of the latest messages. `*cursor` is the number
// of the message read before, 0 for none, and becomes that of this one; numbers count from 1, and those that the ring
// no longer holds are passed over.
//
//   - engine: The engine.
//   - cursor: Which message.
//   - level: Its importance.
//   - buf: Its text, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the text.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: `*cursor` is unchanged. NOT_FOUND: there is no newer message yet.
//   - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
//   - Since: 1.0.
func LogRead(engine *Engine, cursor *uint64, level *LogLevel, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_log_read((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.uint64_t)(unsafe.Pointer(cursor)), (*C.inlay_log_level)(unsafe.Pointer(level)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ProfileStep is inlay_profile_step. Runs a step of fixed tokens again and again, in a session of its own: whole,
// then with a time for each operation, and measures how fast the device reads memory. The engine keeps its latest 16
// profiles; inlay_profile_text writes them.
//
//   - engine: The engine.
//   - params: The step; NULL for defaults.
//   - Thread: any.
//   - Blocks: on the device for all repetitions; other calls that compute on the engine run between them; takes
//     device memory.
//   - Ownership: Nothing is kept.
//   - On error: No profile is added.
//   - Errors: UNSUPPORTED, SESSION_LIMIT, KV_FULL, DEVICE_OUT_OF_MEMORY, INVALID_STATE, DEVICE_LOST.
//   - Since: 1.1.
func ProfileStep(engine *Engine, params *ProfileParams, err *Error) Status {
	return Status(C.go_inlay_profile_step((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_profile_params)(unsafe.Pointer(params)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ProfileText is inlay_profile_text. What inlay_profile_step measured: time, bytes, bytes a second and the share of
// the read bandwidth, operation by operation. Bytes are those that the operation must move at least, each weight as
// it is held.
//
//   - engine: The engine.
//   - form: Table or trace.
//   - buf: The text, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the text.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: NOT_FOUND: nothing was profiled yet.
//   - Errors: NOT_FOUND, BUFFER_TOO_SMALL.
//   - Since: 1.1.
func ProfileText(engine *Engine, form ProfileForm, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_profile_text((*C.inlay_engine)(unsafe.Pointer(engine)), C.inlay_profile_form(form), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// CompareText is inlay_compare_text. Runs the same tokens in two engines, all but the last as one step and the last
// as another, and writes how far apart each operation's values are: cosine, squared error over squares (NMSE),
// largest difference. For finding where two devices, or two files of a model, begin to differ.
//
//   - engineA: The engine whose values count as right.
//   - engineB: The other one; it may be the same.
//   - tokens: Token ids.
//   - nTokens: At least 1; one less than these at most prefill_chunk of both engines.
//   - nmseLimit: An NMSE above it, or one that is no number, counts as different.
//   - first: The first operation that differs, counted over both steps; -1 if none does.
//   - buf: The table, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the text.
//   - Thread: any.
//   - Blocks: on both devices for two steps, on each call, also one for the size; takes device memory.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: SESSION_LIMIT, CONTEXT_FULL, KV_FULL, BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST.
//   - Since: 1.1.
func CompareText(engineA *Engine, engineB *Engine, tokens *int32, nTokens uintptr, nmseLimit float64, first *int32, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_compare_text((*C.inlay_engine)(unsafe.Pointer(engineA)), (*C.inlay_engine)(unsafe.Pointer(engineB)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(nTokens), C.double(nmseLimit), (*C.int32_t)(unsafe.Pointer(first)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Convert is inlay_convert. Writes a model as a GGUF file with matrices of another type, under the names that GGUF
// files use. The source is a path as inlay_load takes it. With a quantized type, quantized matrices that take as few
// bits a weight already stay as they are. A folder's tokenizer gives the same tokens, texts and ends from the file;
// the log names what other programs will not read there.
//
//   - path: The source.
//   - pathLen: Its length, or SIZE_MAX.
//   - outPath: The file to write, which is named so when it is whole.
//   - outPathLen: Its length, or SIZE_MAX.
//   - params: NULL: all defaults.
//   - Thread: any.
//   - Blocks: on disk, and to quantize.
//   - Ownership: Nothing is kept.
//   - On error: Nothing is left; a file that was there before stays. Where only the folder cannot be brought to the
//     disk, IO: the file is in place, but its name may not outlive a power failure; the message says so.
//   - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, CANCELLED.
//   - Since: 1.2.
func Convert(path *byte, pathLen uintptr, outPath *byte, outPathLen uintptr, params *ConvertParams, err *Error) Status {
	return Status(C.go_inlay_convert((*C.char)(unsafe.Pointer(path)), C.size_t(pathLen), (*C.char)(unsafe.Pointer(outPath)), C.size_t(outPathLen), (*C.inlay_convert_params)(unsafe.Pointer(params)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatRender is inlay_chat_render. Writes a conversation as the text that the model was trained on, by the model's
// chat template or a given one (Jinja, as Hugging Face transformers sets it up). A conversation is JSON: an array of
// messages such as {"role": "user", "content": "Hi"}, or an object of all the template's variables: messages, tools,
// documents, enable_thinking and so on. The text holds control tokens in writing, BOS where the template writes it:
// tokenize it with NO_BOS_EOS and PARSE_SPECIAL. Those that messages write pass as they are, too; inlay_chat_tokenize
// takes messages as text alone.
//
//   - engine: The engine.
//   - conversation: JSON, as said above.
//   - conversationLen: Its length, or SIZE_MAX.
//   - params: NULL: all defaults.
//   - buf: The text, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the text.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified.
//   - Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
//   - Since: 1.2.
func ChatRender(engine *Engine, conversation *byte, conversationLen uintptr, params *ChatParams, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_chat_render((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.char)(unsafe.Pointer(conversation)), C.size_t(conversationLen), (*C.inlay_chat_params)(unsafe.Pointer(params)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Embed is inlay_embed. Turns texts into vectors: the final hidden states of a text's tokens, normalized as before
// the output matrix, pooled. Texts run together where sessions are free; one longer than prefill_chunk runs in
// chunks, or is CONTEXT_FULL where tokens see later ones.
//
//   - engine: The engine.
//   - inputs: The texts.
//   - nInputs: Their number.
//   - inputStride: sizeof(inlay_embed_input): from one text to the next.
//   - params: NULL: all defaults.
//   - out: n_inputs x width values, text after text. The width is d_model. With pooling DEFAULT it is d_model times
//     the number of the model's poolings, or that of its last Dense layer.
//   - cap_: Room in out.
//   - needed: n_inputs x width.
//   - Thread: any.
//   - Blocks: on the device until all texts are run; other threads' calls that compute on the engine run between its
//     steps; progress is called meanwhile.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*needed` is set, nothing was run. Otherwise `out` is unspecified.
//   - Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST,
//     FORMAT, CANCELLED.
//   - Since: 1.2.
func Embed(engine *Engine, inputs *EmbedInput, nInputs uintptr, inputStride uintptr, params *EmbedParams, out *float32, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_embed((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_embed_input)(unsafe.Pointer(inputs)), C.size_t(nInputs), C.size_t(inputStride), (*C.inlay_embed_params)(unsafe.Pointer(params)), (*C.float)(unsafe.Pointer(out)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Score is inlay_score. Says how likely each token of texts is, given those before it: one run of the model in steps,
// nothing is drawn. Each text runs in a session of its own, several at once where sessions are free and a step has
// room; a longer one runs chunk by chunk. With another engine of the same vocabulary both run, and their
// distributions are compared: what a quantization costs.
//
//   - engine: The engine.
//   - against: Another engine to compare with, whose distributions count as exact; or NULL.
//   - tokens: The texts' token ids, one text after the other.
//   - nTokens: Of all texts together.
//   - lengths: Tokens of each text, 1 at least. NULL: all tokens are one text.
//   - nTexts: Their number; without lengths 0.
//   - params: NULL: all defaults.
//   - scores: One for each token.
//   - scoreStride: sizeof(inlay_token_score): from one score to the next.
//   - top: n_tokens x n_logprobs entries: of each token the likeliest in its place, the likeliest first; token -1
//     where there is none. NULL without n_logprobs.
//   - topCap: Room in top.
//   - Thread: any.
//   - Blocks: on the device until all texts are run; other threads' calls that compute on the engine run between its
//     steps; progress is called meanwhile.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: nothing was run. Otherwise scores and top are unspecified.
//   - Errors: UNSUPPORTED, BUFFER_TOO_SMALL, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, INVALID_STATE, DEVICE_LOST,
//     FORMAT, CANCELLED.
//   - Since: 1.2.
func Score(engine *Engine, against *Engine, tokens *int32, nTokens uintptr, lengths *int32, nTexts uintptr, params *ScoreParams, scores *TokenScore, scoreStride uintptr, top *TokenLogprob, topCap uintptr, err *Error) Status {
	return Status(C.go_inlay_score((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_engine)(unsafe.Pointer(against)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(nTokens), (*C.int32_t)(unsafe.Pointer(lengths)), C.size_t(nTexts), (*C.inlay_score_params)(unsafe.Pointer(params)), (*C.inlay_token_score)(unsafe.Pointer(scores)), C.size_t(scoreStride), (*C.inlay_token_logprob)(unsafe.Pointer(top)), C.size_t(topCap), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Explain is inlay_explain. Says what a model is, from its files' headers alone: family, features, types of its
// tensors, which devices would run it and why others would not, and the memory that contexts of several lengths take.
// A model that no device runs is no error here; files that cannot be read are.
//
//   - path: As inlay_load takes it.
//   - pathLen: Its length, or SIZE_MAX.
//   - params: NULL: all defaults. Contexts are shown for its device.
//   - form: Text or JSON.
//   - nDevices: How many devices would run it with these parameters.
//   - buf: The text, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Length of the text.
//   - Thread: any.
//   - Blocks: on disk, for headers and the tokenizer, and on drivers.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: NOT_FOUND, IO, FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
//   - Since: 1.2.
func Explain(path *byte, pathLen uintptr, params *LoadParams, form ExplainForm, nDevices *int32, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_explain((*C.char)(unsafe.Pointer(path)), C.size_t(pathLen), (*C.inlay_load_params)(unsafe.Pointer(params)), C.inlay_explain_form(form), (*C.int32_t)(unsafe.Pointer(nDevices)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionViewLogits is inlay_session_view_logits. The logits that inlay_session_copy_logits copies, without a copy:
// for hosts that read those of many sessions after every step.
//
//   - session: The session.
//   - view: Where they are.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: The values are the engine's. They are there until the session's next call that is `exclusive`,
//     decode steps that it takes part in included, or its end.
//   - On error: `view` is unspecified.
//   - Errors: INVALID_STATE, DEVICE_LOST.
//   - Since: 1.2.
func SessionViewLogits(session *Session, view *Logits, err *Error) Status {
	return Status(C.go_inlay_session_view_logits((*C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_logits)(unsafe.Pointer(view)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// DecodeSlice is inlay_decode_slice. Runs a part of a decode step, for hosts that give the model a little time in
// every frame. The first call begins it, the next ones go on, until `*units_left` is 0: then events and status are
// those of inlay_decode_step, bit for bit. Units take about the same time, but for what a truncation has left to be
// run first. Meanwhile calls that compute on the engine (those under way on other threads wait), and those that fork
// its sessions, change them or set a sampler, return INVALID_STATE; later minors may refuse fewer. Freeing one of the
// sessions drops the step.
//
//   - sessions: The sessions; of a pending step those that it began with, in their order.
//   - nSessions: At least 1; at most 64 on a GPU.
//   - maxUnits: Most units to run now. 0 begins a step, if none is pending, and tells its units.
//   - events: One event a session, untouched until the step has ended.
//   - eventStride: sizeof(inlay_event): from one event to the next.
//   - unitsLeft: Units that the step still has; 0: it has ended, or the call failed.
//   - Thread: exclusive(sessions).
//   - Blocks: on the device for max_units units; waits for other calls that compute on the engine, of a prefill for
//     one chunk.
//   - Ownership: Events are copies.
//   - On error: Wrong arguments: nothing happened, events are untouched. Otherwise each event has its own status.
//   - Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, BUSY, FORMAT, DEVICE_LOST.
//   - Since: 1.2.
func DecodeSlice(sessions **Session, nSessions uintptr, maxUnits int32, events *Event, eventStride uintptr, unitsLeft *int32, err *Error) Status {
	return Status(C.go_inlay_decode_slice((**C.inlay_session)(unsafe.Pointer(sessions)), C.size_t(nSessions), C.int32_t(maxUnits), (*C.inlay_event)(unsafe.Pointer(events)), C.size_t(eventStride), (*C.int32_t)(unsafe.Pointer(unitsLeft)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// DecodeAbandon is inlay_decode_abandon. Drops the pending step that inlay_decode_slice has begun for these sessions:
// they are as they were before it, except that one which it found cancelled has finished. If no step is pending,
// nothing happens.
//
//   - sessions: The sessions that it began with, in their order.
//   - nSessions: At least 1.
//   - Thread: exclusive(sessions).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.2.
func DecodeAbandon(sessions **Session, nSessions uintptr, err *Error) Status {
	return Status(C.go_inlay_decode_abandon((**C.inlay_session)(unsafe.Pointer(sessions)), C.size_t(nSessions), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionSetStopTokens is inlay_session_set_stop_tokens. Sets the token ids that end a generation when drawn, in
// place of those that there were.
//
//   - session: The session.
//   - tokens: Token ids; those outside of the vocabulary are refused.
//   - nTokens: At most 1024; 0: none.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: The ids are copied.
//   - On error: Nothing has changed.
//   - Errors: only the common ones.
//   - Since: 1.2.
func SessionSetStopTokens(session *Session, tokens *int32, nTokens uintptr, err *Error) Status {
	return Status(C.go_inlay_session_set_stop_tokens((*C.inlay_session)(unsafe.Pointer(session)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(nTokens), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionCancelGeneration is inlay_session_cancel_generation. Asks for the end of one generation: as
// inlay_session_cancel, but a request for one that is over has no effect on later ones. A generation begins with a
// prefill or a truncation; its number is one more than the last one's, and inlay_session_info tells it. A request for
// the coming one is seen by the prefill that begins it. Of requests for several the session knows the highest.
//
//   - session: The session.
//   - generation: Its number.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: only the common ones.
//   - Since: 1.2.
func SessionCancelGeneration(session *Session, generation uint64, err *Error) Status {
	return Status(C.go_inlay_session_cancel_generation((*C.inlay_session)(unsafe.Pointer(session)), C.uint64_t(generation), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionSetMaxTokens is inlay_session_set_max_tokens. Sets how many tokens may be drawn after a prefill: with the
// last of them the session finishes, the reason is MAX_TOKENS. It counts for the generation under way, too; one that
// has drawn as many already ends with its next token. With INLAY_SESSION_RESERVE a generation under way also gets the
// KV blocks for a higher limit, or KV_FULL.
//
//   - session: The session.
//   - maxTokens: 0 or more; 0: no limit but the context.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: KV_FULL.
//   - Since: 1.2.
func SessionSetMaxTokens(session *Session, maxTokens int32, err *Error) Status {
	return Status(C.go_inlay_session_set_max_tokens((*C.inlay_session)(unsafe.Pointer(session)), C.int32_t(maxTokens), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatTokenize is inlay_chat_tokenize. Writes a conversation as inlay_chat_render does, and tokenizes it, so that
// only the template's own control tokens count: those that the conversation writes, in messages, tools or any other
// of its values, or that arise only together with what it writes, are text. Where it writes none the tokens are those
// of inlay_chat_render and inlay_tokenize with NO_BOS_EOS and PARSE_SPECIAL, behind BOS where the model asks for it
// and its own template writes none. Whatever a template makes of the conversation's texts counts as theirs; where it
// changes a text that mixes both (replace, upper, tojson), all of it does.
//
//   - engine: The engine.
//   - conversation: As inlay_chat_render takes it.
//   - conversationLen: Its length, or SIZE_MAX.
//   - params: NULL: all defaults.
//   - tokens: The tokens.
//   - cap_: Room in tokens.
//   - nTokens: How many tokens the conversation has.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*n_tokens` is set, nothing is written.
//   - Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL, CANCELLED.
//   - Since: 1.2.
func ChatTokenize(engine *Engine, conversation *byte, conversationLen uintptr, params *ChatParams, tokens *int32, cap_ uintptr, nTokens *uintptr, err *Error) Status {
	return Status(C.go_inlay_chat_tokenize((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.char)(unsafe.Pointer(conversation)), C.size_t(conversationLen), (*C.inlay_chat_params)(unsafe.Pointer(params)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(nTokens)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionShift is inlay_session_shift. Takes tokens out of the sequence: those behind them move to the front. Their
// keys and values stay, keys are rotated to the new positions (RoPE), in about the time of a copy. They still carry
// what they have seen of the tokens that went: logits are close to those of the shorter sequence, not the same; FP8
// and INT8 keys are rounded once more. A generation goes on, also one that ended with CONTEXT_FULL; where the last
// token goes, this is inlay_session_truncate. Where a sliding window needs keys that are gone, the next prefill or
// step first runs the shorter sequence from its beginning. UNSUPPORTED: the model has a state that cannot lose
// tokens; no present model has.
//
//   - session: The session.
//   - first: The first token to go, at most the present length.
//   - nTokens: How many go; 0: nothing happens.
//   - Thread: exclusive(session).
//   - Blocks: while the device moves keys and values; waits for other calls that compute on the engine.
//   - Ownership: Nothing is kept.
//   - On error: DEVICE_LOST: unspecified. Otherwise nothing has changed.
//   - Errors: KV_FULL, UNSUPPORTED, INVALID_STATE, DEVICE_LOST.
//   - Since: 1.2.
func SessionShift(session *Session, first uintptr, nTokens uintptr, err *Error) Status {
	return Status(C.go_inlay_session_shift((*C.inlay_session)(unsafe.Pointer(session)), C.size_t(first), C.size_t(nTokens), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionAccept is inlay_session_accept. Appends tokens that the host chose, as if they had been drawn: they count
// toward max_tokens, penalties and DRY see them, their text comes with the next event or inlay_session_take_text. A
// stop string, a stop or end token, max_tokens or the context's end finishes the generation as in a step; what comes
// behind is not accepted. Averages of Mirostat and adaptive-p stay. Nothing is run: logits remain those of before,
// and the next step runs the tokens before it draws.
//
//   - session: A session that has tokens and has not finished.
//   - tokens: Token ids.
//   - nTokens: 0: nothing happens.
//   - nAccepted: How many of them the sequence has now; fewer only where the generation has finished, as
//     inlay_session_get_info tells, or memory ran out.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: The ids are copied.
//   - On error: OUT_OF_MEMORY: the first `*n_accepted` tokens stay. Otherwise nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.2.
func SessionAccept(session *Session, tokens *int32, nTokens uintptr, nAccepted *uintptr, err *Error) Status {
	return Status(C.go_inlay_session_accept((*C.inlay_session)(unsafe.Pointer(session)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(nTokens), (*C.size_t)(unsafe.Pointer(nAccepted)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionGetTokens is inlay_session_get_tokens. Reads a session's tokens back: those of prompts, drawn and accepted
// ones.
//
//   - session: The session.
//   - first: The first token to read, at most the length of the sequence.
//   - tokens: Their ids, up to the end of the sequence.
//   - cap_: Room in tokens.
//   - nTokens: How many there are from the first one on.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*n_tokens` is set, nothing is written.
//   - Errors: BUFFER_TOO_SMALL.
//   - Since: 1.2.
func SessionGetTokens(session *Session, first uintptr, tokens *int32, cap_ uintptr, nTokens *uintptr, err *Error) Status {
	return Status(C.go_inlay_session_get_tokens((*C.inlay_session)(unsafe.Pointer(session)), C.size_t(first), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(nTokens)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// QueueCreate is inlay_queue_create. Makes a queue of an engine. An engine may have several; none sees what becomes
// of another's requests. All of them share the device.
//
//   - engine: The engine.
//   - params: NULL: all defaults.
//   - queue: The new queue.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: `*queue` is the caller's, to be freed with inlay_queue_free. It does not keep the engine alive.
//   - On error: `*queue` is NULL.
//   - Errors: only the common ones.
//   - Since: 1.3.
func QueueCreate(engine *Engine, params *QueueParams, queue **Queue, err *Error) Status {
	return Status(C.go_inlay_queue_create((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_queue_params)(unsafe.Pointer(params)), (**C.inlay_queue)(unsafe.Pointer(queue)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// QueueFree is inlay_queue_free. Cancels the queue's requests and frees it; nobody is told. Calls that wait for it
// end with INVALID_STATE. NULL is allowed. Not from within the queue's wake function.
//
//   - queue: The queue.
//   - Thread: exclusive(queue).
//   - Blocks: while the queue's wake function runs on another thread.
//   - Ownership: The handle is invalid afterwards.
//   - Since: 1.3.
func QueueFree(queue *Queue) {
	C.go_inlay_queue_free((*C.inlay_queue)(unsafe.Pointer(queue)))
}

// Submit is inlay_submit. Hands a request over; inlay_run or the engine's own thread computes it, together with
// others. What can be wrong with it is refused here. Rendering and tokenization happen in this call. The number that
// it gets is never used again, and there is nothing to free.
//
//   - queue: The queue.
//   - request: The request.
//   - requestID: Its number, at least 1.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: The request is copied.
//   - On error: `*request_id` is 0 and nothing was submitted.
//   - Errors: UNSUPPORTED, FORMAT, CONTEXT_FULL, KV_FULL, QUEUE_FULL, CANCELLED, INVALID_STATE, DEVICE_LOST.
//   - Since: 1.3.
func Submit(queue *Queue, request *Request, requestID *uint64, err *Error) Status {
	return Status(C.go_inlay_submit((*C.inlay_queue)(unsafe.Pointer(queue)), (*C.inlay_request)(unsafe.Pointer(request)), (*C.uint64_t)(unsafe.Pointer(requestID)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// RequestCancel is inlay_request_cancel. Ends a request of the queue: no token is added once this has returned. Those
// to be polled still arrive, then its END, with the next computation where a budget has left its step pending. An
// unknown number, or one whose END was there, changes nothing.
//
//   - queue: The queue.
//   - requestID: Of inlay_submit.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.3.
func RequestCancel(queue *Queue, requestID uint64, err *Error) Status {
	return Status(C.go_inlay_request_cancel((*C.inlay_queue)(unsafe.Pointer(queue)), C.uint64_t(requestID), (*C.inlay_error)(unsafe.Pointer(err))))
}

// RequestTakeValues is inlay_request_take_values. Moves the vector of a request of kind EMBED that has ended with
// EMBEDDED to the caller, once. Until then it stays, and the request counts among the queue's max_requests. A request
// that ended otherwise has none.
//
//   - queue: The queue.
//   - requestID: Of inlay_submit.
//   - values: The vector. NULL with cap 0 only asks for the number of values.
//   - cap_: Room in values.
//   - needed: Values of the vector.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: The vector stays. BUFFER_TOO_SMALL: `*needed` is set. NOT_FOUND: the queue has no vector of such a
//     request: the number is unknown, the vector was taken, or the request ended without one. INVALID_STATE: the
//     request has not ended.
//   - Errors: BUFFER_TOO_SMALL, NOT_FOUND, INVALID_STATE.
//   - Since: 1.3.
func RequestTakeValues(queue *Queue, requestID uint64, values *float32, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_request_take_values((*C.inlay_queue)(unsafe.Pointer(queue)), C.uint64_t(requestID), (*C.float)(unsafe.Pointer(values)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Poll is inlay_poll. Collects what became of the queue's requests, as far as there is room; what there is no room
// for stays. A request's events come in order, its END last; nothing is ever lost but what is not wanted: with tokens
// NULL the tokens, with text NULL the texts.
//
//   - queue: The queue.
//   - events: The events.
//   - capEvents: Room in events.
//   - eventStride: sizeof(inlay_request_event): from one event to the next.
//   - tokens: The events' tokens. NULL with cap_tokens 0: none are wanted. They are dropped, and n_tokens and n_top
//     are 0 in each event.
//   - capTokens: Room in tokens.
//   - text: The events' texts, one behind the other. NULL with cap_text 0: none are wanted. They are dropped, and
//     text_bytes is 0 in each event.
//   - capText: Room in text.
//   - nEvents: Events that were written; 0 where there are none.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: no room for the next event. 1 event, 1 + n_logprobs tokens and 4 bytes of text,
//     where these are wanted, are room for any; the error's required is 4 whatever lacks. INVALID_STATE: the engine
//     was freed, and all was polled.
//   - Errors: BUFFER_TOO_SMALL, INVALID_STATE.
//   - Since: 1.3.
func Poll(queue *Queue, events *RequestEvent, capEvents uintptr, eventStride uintptr, tokens *TokenLogprob, capTokens uintptr, text *byte, capText uintptr, nEvents *uintptr, err *Error) Status {
	return Status(C.go_inlay_poll((*C.inlay_queue)(unsafe.Pointer(queue)), (*C.inlay_request_event)(unsafe.Pointer(events)), C.size_t(capEvents), C.size_t(eventStride), (*C.inlay_token_logprob)(unsafe.Pointer(tokens)), C.size_t(capTokens), (*C.char)(unsafe.Pointer(text)), C.size_t(capText), (*C.size_t)(unsafe.Pointer(nEvents)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Wait is inlay_wait. Waits until the queue has something to poll. Refused with INVALID_STATE where nobody would ever
// wake it: the engine has no thread of its own and inlay_run was never called; with timeout_us 0 never refused for
// that.
//
//   - queue: The queue.
//   - timeoutUs: The longest wait; 0 asks only, a negative number waits for ever.
//   - result: How it ended.
//   - Thread: any.
//   - Blocks: until there is something to poll, the time is over, somebody calls inlay_queue_wake, the device is
//     lost, the engine's thread ends where inlay_run was never called, or the queue or its engine is freed.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE, DEVICE_LOST.
//   - Since: 1.3.
func Wait(queue *Queue, timeoutUs int64, result *WaitResult, err *Error) Status {
	return Status(C.go_inlay_wait((*C.inlay_queue)(unsafe.Pointer(queue)), C.int64_t(timeoutUs), (*C.inlay_wait_result)(unsafe.Pointer(result)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// QueueWake is inlay_queue_wake. Ends every inlay_wait of the queue that is under way. Where none is, the next one
// that would wait ends at once; calls until then count as one. Nothing else changes: there is no event, the system's
// handle stays as it is, and the wake function is not called.
//
//   - queue: The queue.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.3.
func QueueWake(queue *Queue, err *Error) Status {
	return Status(C.go_inlay_queue_wake((*C.inlay_queue)(unsafe.Pointer(queue)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// QueueGetHandle is inlay_queue_get_handle. Gives what a loop of the system can wait for: ready while there is
// something to poll. inlay_poll alone makes it unready. Once the engine is freed it is ready for ever, and inlay_poll
// says INVALID_STATE when all was polled: then leave it out.
//
//   - queue: The queue.
//   - kind: What it is to the system.
//   - handle: A file descriptor, or a HANDLE as a number.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: The handle belongs to the queue and is closed with it; do not read, write, set or close it.
//   - On error: Nothing has changed.
//   - Errors: UNSUPPORTED, IO, INVALID_STATE.
//   - Since: 1.3.
func QueueGetHandle(queue *Queue, kind *WaitKind, handle *int64, err *Error) Status {
	return Status(C.go_inlay_queue_get_handle((*C.inlay_queue)(unsafe.Pointer(queue)), (*C.inlay_wait_kind)(unsafe.Pointer(kind)), (*C.int64_t)(unsafe.Pointer(handle)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// Run is inlay_run. Computes the engine's requests, of all queues, on the calling thread. A step that the budget cuts
// goes on at the next call; other calls that compute end it first, and fail no more than without it. It draws
// together what requests have to draw and runs prompts in chunks beside that.
//
//   - engine: The engine.
//   - params: NULL: all defaults.
//   - info: What it came to.
//   - Thread: any.
//   - Blocks: on the device for the budget, on a GPU with NO_WAIT not at all; waits for other threads' calls that
//     compute on the engine.
//   - Ownership: Nothing is kept.
//   - On error: `*info` is as before; what was drawn is polled. BUSY: another thread is in it. INVALID_STATE: the
//     engine has a thread of its own, or a decode step in slices is pending, which may have begun between two steps
//     of this call.
//   - Errors: BUSY, INVALID_STATE, DEVICE_LOST.
//   - Since: 1.3.
func Run(engine *Engine, params *RunParams, info *RunInfo, err *Error) Status {
	return Status(C.go_inlay_run((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_run_params)(unsafe.Pointer(params)), (*C.inlay_run_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// EngineSetThread is inlay_engine_set_thread. Gives the engine a thread of its own that computes its requests,
// changes how that one computes, or ends it. Without any thread the host calls inlay_run. The engine's log may then
// come from that thread.
//
//   - engine: The engine.
//   - params: NULL: the thread ends.
//   - Thread: any.
//   - Blocks: to end the thread: for the step at hand.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE, DEVICE_LOST.
//   - Since: 1.3.
func EngineSetThread(engine *Engine, params *ThreadParams, err *Error) Status {
	return Status(C.go_inlay_engine_set_thread((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_thread_params)(unsafe.Pointer(params)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ConstraintCreate is inlay_constraint_create. Compiles which texts may be written. The mask of tokens that may come
// next is exact: each of them begins what some allowed text goes on with, and control tokens never count for their
// letters. The first constraint of an engine reads its vocabulary, which takes a moment. Compiling has limits of
// steps and memory, so that no text makes it endless.
//
//   - engine: The engine, whose model has a tokenizer.
//   - params: What it is made of.
//   - constraint: The new constraint.
//   - Thread: any.
//   - Blocks: while it compiles.
//   - Ownership: `*constraint` is the caller's, to be freed with inlay_constraint_free.
//   - On error: `*constraint` is NULL. FORMAT: the text is no such schema, grammar or expression, or nothing can
//     match it; UNSUPPORTED: it needs what is not supported, or more than the limits. The message names the place.
//   - Errors: FORMAT, UNSUPPORTED.
//   - Since: 1.3.
func ConstraintCreate(engine *Engine, params *ConstraintParams, constraint **Constraint, err *Error) Status {
	return Status(C.go_inlay_constraint_create((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_constraint_params)(unsafe.Pointer(params)), (**C.inlay_constraint)(unsafe.Pointer(constraint)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ConstraintFree is inlay_constraint_free. Frees a constraint. Sessions and requests that have it keep what they
// need. NULL is allowed.
//
//   - constraint: The constraint.
//   - Thread: exclusive(constraint).
//   - Blocks: no.
//   - Ownership: The handle is invalid afterwards.
//   - Since: 1.3.
func ConstraintFree(constraint *Constraint) {
	C.go_inlay_constraint_free((*C.inlay_constraint)(unsafe.Pointer(constraint)))
}

// ConstraintGetInfo is inlay_constraint_get_info. Tells what a constraint takes.
//
//   - constraint: The constraint.
//   - info: What it takes.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.3.
func ConstraintGetInfo(constraint *Constraint, info *ConstraintInfo, err *Error) Status {
	return Status(C.go_inlay_constraint_get_info((*C.inlay_constraint)(unsafe.Pointer(constraint)), (*C.inlay_constraint_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ConstraintGetRemark is inlay_constraint_get_remark. Gives one of the remarks that compiling a schema left: a
// keyword or a format that is not known and demands nothing, or what LENIENT dropped, with its place.
//
//   - constraint: The constraint.
//   - index: 0 to n_remarks - 1.
//   - buf: The remark, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Its length.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*needed` is set, nothing is written.
//   - Errors: NOT_FOUND, BUFFER_TOO_SMALL, INVALID_STATE.
//   - Since: 1.3.
func ConstraintGetRemark(constraint *Constraint, index uintptr, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_constraint_get_remark((*C.inlay_constraint)(unsafe.Pointer(constraint)), C.size_t(index), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionSetConstraint is inlay_session_set_constraint. Says what the session may write from now on, and in every
// later generation. A truncation inside of what was written under it goes back in it, a fork takes it along, a shift
// changes nothing.
//
//   - session: The session.
//   - constraint: The constraint; NULL: anything may be written.
//   - written: What of the text is in the sequence already, of the present generation alone; NULL: nothing.
//   - writtenLen: Its length, or SIZE_MAX if a zero ends it.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: The session shares the constraint: its handle may be freed.
//   - On error: The session is as before. INVALID_ARGUMENT: the constraint is another engine's, or does not allow
//     what was written.
//   - Errors: UNSUPPORTED, INVALID_STATE.
//   - Since: 1.3.
func SessionSetConstraint(session *Session, constraint *Constraint, written *byte, writtenLen uintptr, err *Error) Status {
	return Status(C.go_inlay_session_set_constraint((*C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_constraint)(unsafe.Pointer(constraint)), (*C.char)(unsafe.Pointer(written)), C.size_t(writtenLen), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionGetForcedText is inlay_session_get_forced_text. Gives the text that must follow under the session's
// constraint, up to where there is a choice or the text may end. Empty without a constraint. It is drawn all the
// same; a host may show it at once, or append its tokens with inlay_session_accept.
//
//   - session: The session.
//   - buf: Whole characters, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Its length, at present at most 4096.
//   - Thread: exclusive(session).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. UNSUPPORTED: the constraint needs more than
//     its limits at this place of the text.
//   - Errors: BUFFER_TOO_SMALL, UNSUPPORTED, INVALID_STATE.
//   - Since: 1.3.
func SessionGetForcedText(session *Session, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_session_get_forced_text((*C.inlay_session)(unsafe.Pointer(session)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionSave is inlay_session_save. Writes all that a session is: tokens, keys and values, undrawn logits, sampler,
// limits, text that is held back, constraint. A session that is restored from it goes on as this one would. Other
// sessions compute meanwhile.
//
//   - session: The session; not one in a decode step in slices.
//   - state: The bytes; NULL with cap 0 to ask for their number.
//   - cap_: Room in bytes.
//   - needed: How many there are.
//   - Thread: exclusive(session).
//   - Blocks: while it copies.
//   - Ownership: The bytes are the caller's, with a version and a checksum (docs/design/session-state.md). Another
//     version of the library may refuse them: who must outlive it keeps the tokens beside them.
//   - On error: The session is as before. BUFFER_TOO_SMALL: `*needed` is set, nothing is written.
//   - Errors: BUFFER_TOO_SMALL, INVALID_STATE, UNSUPPORTED, DEVICE_LOST.
//   - Since: 1.3.
func SessionSave(session *Session, state unsafe.Pointer, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_session_save((*C.inlay_session)(unsafe.Pointer(session)), state, C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionSaveTo is inlay_session_save_to. inlay_session_save through a callback, part by part.
//
//   - session: The session; not one in a decode step in slices.
//   - writer: Where the bytes go.
//   - Thread: exclusive(session).
//   - Blocks: on the callback, and while it copies.
//   - Ownership: Nothing is kept.
//   - On error: The session is as before; some bytes may be written. IO: the callback failed, native_code is what it
//     returned.
//   - Errors: IO, INVALID_STATE, UNSUPPORTED, DEVICE_LOST.
//   - Since: 1.3.
func SessionSaveTo(session *Session, writer *StateWriter, err *Error) Status {
	return Status(C.go_inlay_session_save_to((*C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_state_writer)(unsafe.Pointer(writer)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionRestore is inlay_session_restore. Makes a session of what inlay_session_save has written, on an engine of
// the same model with the same weight and KV types. Pool, threads, chunks and device may differ, and the context, as
// long as the tokens fit and positions are scaled alike. Nothing is computed.
//
//   - engine: The engine.
//   - state: The bytes.
//   - nBytes: How many there are.
//   - session: The new session.
//   - Thread: any.
//   - Blocks: for one chunk of each prefill under way, and while it copies and compiles a constraint; takes device
//     memory.
//   - Ownership: `*session` is the caller's, to be freed with inlay_session_free; it keeps the engine alive.
//   - On error: `*session` is NULL, nothing has changed, whatever the bytes are: all that they say is checked.
//     FORMAT: the bytes are damaged or no saved session; UNSUPPORTED: of another model, KV type, scaling of positions
//     or version.
//   - Errors: FORMAT, UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
//   - Since: 1.3.
func SessionRestore(engine *Engine, state unsafe.Pointer, nBytes uintptr, session **Session, err *Error) Status {
	return Status(C.go_inlay_session_restore((*C.inlay_engine)(unsafe.Pointer(engine)), state, C.size_t(nBytes), (**C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// SessionRestoreFrom is inlay_session_restore_from. inlay_session_restore through a callback, part by part. What lies
// behind the saved session is not read.
//
//   - engine: The engine.
//   - reader: Where the bytes come from.
//   - session: The new session.
//   - Thread: any.
//   - Blocks: on the callback, for one chunk of each prefill under way, and while it copies and compiles a
//     constraint; takes device memory.
//   - Ownership: `*session` is the caller's, to be freed with inlay_session_free; it keeps the engine alive.
//   - On error: `*session` is NULL, nothing has changed. As inlay_session_restore; IO: the callback failed,
//     native_code is what it returned.
//   - Errors: IO, FORMAT, UNSUPPORTED, CONTEXT_FULL, KV_FULL, SESSION_LIMIT, DEVICE_OUT_OF_MEMORY, DEVICE_LOST.
//   - Since: 1.3.
func SessionRestoreFrom(engine *Engine, reader *StateReader, session **Session, err *Error) Status {
	return Status(C.go_inlay_session_restore_from((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_state_reader)(unsafe.Pointer(reader)), (**C.inlay_session)(unsafe.Pointer(session)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatGetFormat is inlay_chat_get_format. Says in which format the model writes reasoning and calls of tools, by its
// chat template or as it is given. JSON: {"name", "reasoning": whether it has any, "calls": whether it has any,
// "arguments": "object" or "text", as the template takes those of earlier calls, "remark": what was not recognized,
// empty if all was}.
//
//   - engine: The engine, whose model has a tokenizer.
//   - params: NULL: all defaults. The prompt is unused.
//   - buf: The JSON, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Its length.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. FORMAT: the format or the tools are not as
//     they should be.
//   - Errors: FORMAT, UNSUPPORTED, BUFFER_TOO_SMALL.
//   - Since: 1.3.
func ChatGetFormat(engine *Engine, params *ChatParserParams, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_chat_get_format((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_chat_parser_params)(unsafe.Pointer(params)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatParserCreate is inlay_chat_parser_create. Makes a parser of one message: tokens or text go in while they are
// drawn, parts of the message come out. What came out is never taken back, and parts together are the same however
// the message is cut. Whatever a model writes is a message: what is not as the format says is content, and MALFORMED
// is set.
//
//   - engine: The engine, whose model has a tokenizer.
//   - params: NULL: all defaults.
//   - parser: The new parser.
//   - Thread: any.
//   - Blocks: no.
//   - Ownership: `*parser` is the caller's, to be freed with inlay_chat_parser_free; the engine may be freed before.
//   - On error: `*parser` is NULL. FORMAT: the format or the tools are not as they should be; the message names the
//     place.
//   - Errors: FORMAT, UNSUPPORTED.
//   - Since: 1.3.
func ChatParserCreate(engine *Engine, params *ChatParserParams, parser **ChatParser, err *Error) Status {
	return Status(C.go_inlay_chat_parser_create((*C.inlay_engine)(unsafe.Pointer(engine)), (*C.inlay_chat_parser_params)(unsafe.Pointer(params)), (**C.inlay_chat_parser)(unsafe.Pointer(parser)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatParserFree is inlay_chat_parser_free. Frees a parser. NULL is allowed.
//
//   - parser: The parser.
//   - Thread: exclusive(parser).
//   - Blocks: no.
//   - Ownership: The handle is invalid afterwards.
//   - Since: 1.3.
func ChatParserFree(parser *ChatParser) {
	C.go_inlay_chat_parser_free((*C.inlay_chat_parser)(unsafe.Pointer(parser)))
}

// ChatParserAppend is inlay_chat_parser_append. Reads tokens that the model drew. A token that is a marker of the
// format counts as one, the same letters in other tokens do not; other control tokens are nothing.
//
//   - parser: The parser.
//   - tokens: Token ids.
//   - nTokens: Their number; 0 reads nothing.
//   - Thread: exclusive(parser).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing was read. INVALID_STATE: inlay_chat_parser_finish was called. OUT_OF_MEMORY: the parser is
//     unspecified and can only be freed.
//   - Errors: INVALID_STATE.
//   - Since: 1.3.
func ChatParserAppend(parser *ChatParser, tokens *int32, nTokens uintptr, err *Error) Status {
	return Status(C.go_inlay_chat_parser_append((*C.inlay_chat_parser)(unsafe.Pointer(parser)), (*C.int32_t)(unsafe.Pointer(tokens)), C.size_t(nTokens), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatParserAppendText is inlay_chat_parser_append_text. Reads text, which may be cut anywhere, inside of characters
// too. Letters of markers count where the vocabulary has no such token, and with WRITTEN_MARKERS.
//
//   - parser: The parser.
//   - text: The text.
//   - textLen: Its length, or SIZE_MAX if a zero ends it.
//   - Thread: exclusive(parser).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing was read. INVALID_STATE: inlay_chat_parser_finish was called. OUT_OF_MEMORY: the parser is
//     unspecified and can only be freed.
//   - Errors: INVALID_STATE.
//   - Since: 1.3.
func ChatParserAppendText(parser *ChatParser, text *byte, textLen uintptr, err *Error) Status {
	return Status(C.go_inlay_chat_parser_append_text((*C.inlay_chat_parser)(unsafe.Pointer(parser)), (*C.char)(unsafe.Pointer(text)), C.size_t(textLen), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatParserFinish is inlay_chat_parser_finish. Says that the message ended, or was cut: what was held back is given.
// A second call changes nothing.
//
//   - parser: The parser.
//   - Thread: exclusive(parser).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: OUT_OF_MEMORY: the parser is unspecified and can only be freed.
//   - Errors: INVALID_STATE.
//   - Since: 1.3.
func ChatParserFinish(parser *ChatParser, err *Error) Status {
	return Status(C.go_inlay_chat_parser_finish((*C.inlay_chat_parser)(unsafe.Pointer(parser)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatParserTake is inlay_chat_parser_take. Takes the parts of the message that are ready, in the order of the text,
// as far as there is room; what there is no room for stays. Texts of REASONING, CONTENT and ARGUMENTS may be cut
// between characters.
//
//   - parser: The parser.
//   - deltas: The parts.
//   - capDeltas: Room in deltas.
//   - deltaStride: sizeof(inlay_chat_delta): from one part to the next.
//   - text: Their texts, one behind the other.
//   - capText: Room in text.
//   - nDeltas: Parts that were written; 0 where there are none.
//   - Thread: exclusive(parser).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: no room for the next part; 1 part and 512 bytes of text are room for any. Nothing
//     is taken.
//   - Errors: BUFFER_TOO_SMALL, INVALID_STATE.
//   - Since: 1.3.
func ChatParserTake(parser *ChatParser, deltas *ChatDelta, capDeltas uintptr, deltaStride uintptr, text *byte, capText uintptr, nDeltas *uintptr, err *Error) Status {
	return Status(C.go_inlay_chat_parser_take((*C.inlay_chat_parser)(unsafe.Pointer(parser)), (*C.inlay_chat_delta)(unsafe.Pointer(deltas)), C.size_t(capDeltas), C.size_t(deltaStride), (*C.char)(unsafe.Pointer(text)), C.size_t(capText), (*C.size_t)(unsafe.Pointer(nDeltas)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatParserGetInfo is inlay_chat_parser_get_info. Tells where a parser is.
//
//   - parser: The parser.
//   - info: Where it is.
//   - Thread: exclusive(parser).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: Nothing has changed.
//   - Errors: INVALID_STATE.
//   - Since: 1.3.
func ChatParserGetInfo(parser *ChatParser, info *ChatParserInfo, err *Error) Status {
	return Status(C.go_inlay_chat_parser_get_info((*C.inlay_chat_parser)(unsafe.Pointer(parser)), (*C.inlay_chat_parser_info)(unsafe.Pointer(info)), (*C.inlay_error)(unsafe.Pointer(err))))
}

// ChatParserGetMessage is inlay_chat_parser_get_message. Gives the whole message, whether its parts were taken or
// not, as JSON that can be appended to the conversation: {"role": "assistant", "content"}, with "reasoning_content"
// and "tool_calls" where there are any. A call is {"id", "type": "function", "function": {"name", "arguments"}}; its
// arguments are an object, or the text of one where the chat template wants text, or what there is of a call that was
// cut, as text.
//
//   - parser: The parser.
//   - buf: The JSON, ended by a zero if there is room.
//   - cap_: Room in buf.
//   - needed: Its length.
//   - Thread: exclusive(parser).
//   - Blocks: no.
//   - Ownership: Nothing is kept.
//   - On error: BUFFER_TOO_SMALL: `*needed` is set, buf is unspecified. INVALID_STATE: inlay_chat_parser_finish was
//     not called.
//   - Errors: INVALID_STATE, BUFFER_TOO_SMALL.
//   - Since: 1.3.
func ChatParserGetMessage(parser *ChatParser, buf *byte, cap_ uintptr, needed *uintptr, err *Error) Status {
	return Status(C.go_inlay_chat_parser_get_message((*C.inlay_chat_parser)(unsafe.Pointer(parser)), (*C.char)(unsafe.Pointer(buf)), C.size_t(cap_), (*C.size_t)(unsafe.Pointer(needed)), (*C.inlay_error)(unsafe.Pointer(err))))
}
