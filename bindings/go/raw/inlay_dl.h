// Loads the Inlay library at run time, so that a program starts without it. Header only, C11 and C++.
// Generated from bindings/api/inlay.toml by bindings/generate.py. Do not edit.
// clang-format off
//
//   inlay_dl api;
//   char message[256];
//   if (inlay_dl_open("libinlay.so.1", &api, message, sizeof message) != 0) { ... }
//   api.inlay_load(...);
//   inlay_dl_close(&api);
#ifndef INLAY_DL_H
#define INLAY_DL_H

#include <stdio.h>
#include <string.h>

#include "inlay.h"

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <stdlib.h>
#include <windows.h>
#else
#include <dlfcn.h>
#endif

// X-macro over all functions, in the order of the header.
#define INLAY_DL_FUNCTIONS(X) \
  X(inlay_load) \
  X(inlay_prefill) \
  X(inlay_decode_step) \
  X(inlay_free) \
  X(inlay_version_string) \
  X(inlay_abi_version) \
  X(inlay_status_name) \
  X(inlay_device_count) \
  X(inlay_device_get) \
  X(inlay_load_memory) \
  X(inlay_load_reader) \
  X(inlay_memory_plan) \
  X(inlay_engine_get_info) \
  X(inlay_meta_count) \
  X(inlay_meta_key) \
  X(inlay_meta_value) \
  X(inlay_tokenize) \
  X(inlay_detokenize) \
  X(inlay_token_get_info) \
  X(inlay_session_create) \
  X(inlay_session_free) \
  X(inlay_session_get_info) \
  X(inlay_session_take_text) \
  X(inlay_session_fork) \
  X(inlay_session_truncate) \
  X(inlay_session_set_sampler) \
  X(inlay_session_set_stop) \
  X(inlay_session_copy_logits) \
  X(inlay_session_cancel) \
  X(inlay_engine_get_stats) \
  X(inlay_plan_text) \
  X(inlay_log_read) \
  X(inlay_profile_step) \
  X(inlay_profile_text) \
  X(inlay_compare_text) \
  X(inlay_convert) \
  X(inlay_chat_render) \
  X(inlay_embed) \
  X(inlay_score) \
  X(inlay_explain) \
  X(inlay_session_view_logits) \
  X(inlay_decode_slice) \
  X(inlay_decode_abandon) \
  X(inlay_session_set_stop_tokens) \
  X(inlay_session_cancel_generation) \
  X(inlay_session_set_max_tokens) \
  X(inlay_chat_tokenize) \
  X(inlay_session_shift) \
  X(inlay_session_accept) \
  X(inlay_session_get_tokens) \
  X(inlay_queue_create) \
  X(inlay_queue_free) \
  X(inlay_submit) \
  X(inlay_request_cancel) \
  X(inlay_request_take_values) \
  X(inlay_poll) \
  X(inlay_wait) \
  X(inlay_queue_wake) \
  X(inlay_queue_get_handle) \
  X(inlay_run) \
  X(inlay_engine_set_thread) \
  X(inlay_constraint_create) \
  X(inlay_constraint_free) \
  X(inlay_constraint_get_info) \
  X(inlay_constraint_get_remark) \
  X(inlay_session_set_constraint) \
  X(inlay_session_get_forced_text) \
  X(inlay_session_save) \
  X(inlay_session_save_to) \
  X(inlay_session_restore) \
  X(inlay_session_restore_from) \
  X(inlay_chat_get_format) \
  X(inlay_chat_parser_create) \
  X(inlay_chat_parser_free) \
  X(inlay_chat_parser_append) \
  X(inlay_chat_parser_append_text) \
  X(inlay_chat_parser_finish) \
  X(inlay_chat_parser_take) \
  X(inlay_chat_parser_get_info) \
  X(inlay_chat_parser_get_message)

typedef struct inlay_dl {
  void* library;
  inlay_status (*inlay_load)(const char* path, size_t path_len, const inlay_load_params* params, inlay_engine** engine,
                             inlay_error* err);
  inlay_status (*inlay_prefill)(inlay_session* session, const int32_t* tokens, size_t n_tokens, size_t* n_done,
                                inlay_error* err);
  inlay_status (*inlay_decode_step)(inlay_session* const* sessions, size_t n_sessions, inlay_event* events,
                                    size_t event_stride, inlay_error* err);
  void (*inlay_free)(inlay_engine* engine);
  const char* (*inlay_version_string)(void);
  uint32_t (*inlay_abi_version)(void);
  const char* (*inlay_status_name)(inlay_status status);
  int32_t (*inlay_device_count)(void);
  inlay_status (*inlay_device_get)(int32_t index, inlay_device_info* info, inlay_error* err);
  inlay_status (*inlay_load_memory)(const void* data, size_t n_bytes, const inlay_load_params* params,
                                    inlay_engine** engine, inlay_error* err);
  inlay_status (*inlay_load_reader)(const inlay_reader* reader, const inlay_load_params* params, inlay_engine** engine,
                                    inlay_error* err);
  inlay_status (*inlay_memory_plan)(const char* path, size_t path_len, const inlay_load_params* params,
                                    inlay_memory_info* info, inlay_error* err);
  inlay_status (*inlay_engine_get_info)(const inlay_engine* engine, inlay_engine_info* info, inlay_error* err);
  inlay_status (*inlay_meta_count)(const inlay_engine* engine, size_t* count, inlay_error* err);
  inlay_status (*inlay_meta_key)(const inlay_engine* engine, size_t index, char* buf, size_t cap, size_t* needed,
                                 inlay_error* err);
  inlay_status (*inlay_meta_value)(const inlay_engine* engine, const char* key, size_t key_len, char* buf, size_t cap,
                                   size_t* needed, inlay_error* err);
  inlay_status (*inlay_tokenize)(const inlay_engine* engine, const char* text, size_t text_len,
                                 inlay_tokenize_flags flags, int32_t* tokens, size_t cap, size_t* n_tokens,
                                 inlay_error* err);
  inlay_status (*inlay_detokenize)(const inlay_engine* engine, const int32_t* tokens, size_t n_tokens,
                                   inlay_detokenize_flags flags, char* buf, size_t cap, size_t* needed,
                                   inlay_error* err);
  inlay_status (*inlay_token_get_info)(const inlay_engine* engine, int32_t token, inlay_token_info* info,
                                       inlay_error* err);
  inlay_status (*inlay_session_create)(const inlay_engine* engine, const inlay_session_params* params,
                                       inlay_session** session, inlay_error* err);
  void (*inlay_session_free)(inlay_session* session);
  inlay_status (*inlay_session_get_info)(const inlay_session* session, inlay_session_info* info, inlay_error* err);
  inlay_status (*inlay_session_take_text)(inlay_session* session, char* buf, size_t cap, size_t* n_bytes,
                                          inlay_error* err);
  inlay_status (*inlay_session_fork)(inlay_session* session, inlay_session** child, inlay_error* err);
  inlay_status (*inlay_session_truncate)(inlay_session* session, size_t n_tokens, inlay_error* err);
  inlay_status (*inlay_session_set_sampler)(inlay_session* session, const inlay_sampler_params* params,
                                            inlay_error* err);
  inlay_status (*inlay_session_set_stop)(inlay_session* session, const inlay_text* stops, size_t n_stops,
                                         inlay_error* err);
  inlay_status (*inlay_session_copy_logits)(inlay_session* session, float* logits, size_t cap, size_t* needed,
                                            inlay_error* err);
  void (*inlay_session_cancel)(const inlay_session* session);
  inlay_status (*inlay_engine_get_stats)(const inlay_engine* engine, inlay_stats* stats, inlay_error* err);
  inlay_status (*inlay_plan_text)(const inlay_engine* engine, char* buf, size_t cap, size_t* needed, inlay_error* err);
  inlay_status (*inlay_log_read)(const inlay_engine* engine, uint64_t* cursor, inlay_log_level* level, char* buf,
                                 size_t cap, size_t* needed, inlay_error* err);
  inlay_status (*inlay_profile_step)(const inlay_engine* engine, const inlay_profile_params* params, inlay_error* err);
  inlay_status (*inlay_profile_text)(const inlay_engine* engine, inlay_profile_form form, char* buf, size_t cap,
                                     size_t* needed, inlay_error* err);
  inlay_status (*inlay_compare_text)(const inlay_engine* engine_a, const inlay_engine* engine_b, const int32_t* tokens,
                                     size_t n_tokens, double nmse_limit, int32_t* first, char* buf, size_t cap,
                                     size_t* needed, inlay_error* err);
  inlay_status (*inlay_convert)(const char* path, size_t path_len, const char* out_path, size_t out_path_len,
                                const inlay_convert_params* params, inlay_error* err);
  inlay_status (*inlay_chat_render)(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                                    const inlay_chat_params* params, char* buf, size_t cap, size_t* needed,
                                    inlay_error* err);
  inlay_status (*inlay_embed)(const inlay_engine* engine, const inlay_embed_input* inputs, size_t n_inputs,
                              size_t input_stride, const inlay_embed_params* params, float* out, size_t cap,
                              size_t* needed, inlay_error* err);
  inlay_status (*inlay_score)(const inlay_engine* engine, const inlay_engine* against, const int32_t* tokens,
                              size_t n_tokens, const int32_t* lengths, size_t n_texts, const inlay_score_params* params,
                              inlay_token_score* scores, size_t score_stride, inlay_token_logprob* top, size_t top_cap,
                              inlay_error* err);
  inlay_status (*inlay_explain)(const char* path, size_t path_len, const inlay_load_params* params,
                                inlay_explain_form form, int32_t* n_devices, char* buf, size_t cap, size_t* needed,
                                inlay_error* err);
  inlay_status (*inlay_session_view_logits)(inlay_session* session, inlay_logits* view, inlay_error* err);
  inlay_status (*inlay_decode_slice)(inlay_session* const* sessions, size_t n_sessions, int32_t max_units,
                                     inlay_event* events, size_t event_stride, int32_t* units_left, inlay_error* err);
  inlay_status (*inlay_decode_abandon)(inlay_session* const* sessions, size_t n_sessions, inlay_error* err);
  inlay_status (*inlay_session_set_stop_tokens)(inlay_session* session, const int32_t* tokens, size_t n_tokens,
                                                inlay_error* err);
  inlay_status (*inlay_session_cancel_generation)(const inlay_session* session, uint64_t generation, inlay_error* err);
  inlay_status (*inlay_session_set_max_tokens)(inlay_session* session, int32_t max_tokens, inlay_error* err);
  inlay_status (*inlay_chat_tokenize)(const inlay_engine* engine, const char* conversation, size_t conversation_len,
                                      const inlay_chat_params* params, int32_t* tokens, size_t cap, size_t* n_tokens,
                                      inlay_error* err);
  inlay_status (*inlay_session_shift)(inlay_session* session, size_t first, size_t n_tokens, inlay_error* err);
  inlay_status (*inlay_session_accept)(inlay_session* session, const int32_t* tokens, size_t n_tokens,
                                       size_t* n_accepted, inlay_error* err);
  inlay_status (*inlay_session_get_tokens)(inlay_session* session, size_t first, int32_t* tokens, size_t cap,
                                           size_t* n_tokens, inlay_error* err);
  inlay_status (*inlay_queue_create)(const inlay_engine* engine, const inlay_queue_params* params, inlay_queue** queue,
                                     inlay_error* err);
  void (*inlay_queue_free)(inlay_queue* queue);
  inlay_status (*inlay_submit)(const inlay_queue* queue, const inlay_request* request, uint64_t* request_id,
                               inlay_error* err);
  inlay_status (*inlay_request_cancel)(const inlay_queue* queue, uint64_t request_id, inlay_error* err);
  inlay_status (*inlay_request_take_values)(const inlay_queue* queue, uint64_t request_id, float* values, size_t cap,
                                            size_t* needed, inlay_error* err);
  inlay_status (*inlay_poll)(const inlay_queue* queue, inlay_request_event* events, size_t cap_events,
                             size_t event_stride, inlay_token_logprob* tokens, size_t cap_tokens, char* text,
                             size_t cap_text, size_t* n_events, inlay_error* err);
  inlay_status (*inlay_wait)(const inlay_queue* queue, int64_t timeout_us, inlay_wait_result* result,
                             inlay_error* err);
  inlay_status (*inlay_queue_wake)(const inlay_queue* queue, inlay_error* err);
  inlay_status (*inlay_queue_get_handle)(const inlay_queue* queue, inlay_wait_kind* kind, int64_t* handle,
                                         inlay_error* err);
  inlay_status (*inlay_run)(const inlay_engine* engine, const inlay_run_params* params, inlay_run_info* info,
                            inlay_error* err);
  inlay_status (*inlay_engine_set_thread)(const inlay_engine* engine, const inlay_thread_params* params,
                                          inlay_error* err);
  inlay_status (*inlay_constraint_create)(const inlay_engine* engine, const inlay_constraint_params* params,
                                          inlay_constraint** constraint, inlay_error* err);
  void (*inlay_constraint_free)(inlay_constraint* constraint);
  inlay_status (*inlay_constraint_get_info)(const inlay_constraint* constraint, inlay_constraint_info* info,
                                            inlay_error* err);
  inlay_status (*inlay_constraint_get_remark)(const inlay_constraint* constraint, size_t index, char* buf, size_t cap,
                                              size_t* needed, inlay_error* err);
  inlay_status (*inlay_session_set_constraint)(inlay_session* session, const inlay_constraint* constraint,
                                               const char* written, size_t written_len, inlay_error* err);
  inlay_status (*inlay_session_get_forced_text)(inlay_session* session, char* buf, size_t cap, size_t* needed,
                                                inlay_error* err);
  inlay_status (*inlay_session_save)(inlay_session* session, void* state, size_t cap, size_t* needed,
                                     inlay_error* err);
  inlay_status (*inlay_session_save_to)(inlay_session* session, const inlay_state_writer* writer, inlay_error* err);
  inlay_status (*inlay_session_restore)(const inlay_engine* engine, const void* state, size_t n_bytes,
                                        inlay_session** session, inlay_error* err);
  inlay_status (*inlay_session_restore_from)(const inlay_engine* engine, const inlay_state_reader* reader,
                                             inlay_session** session, inlay_error* err);
  inlay_status (*inlay_chat_get_format)(const inlay_engine* engine, const inlay_chat_parser_params* params, char* buf,
                                        size_t cap, size_t* needed, inlay_error* err);
  inlay_status (*inlay_chat_parser_create)(const inlay_engine* engine, const inlay_chat_parser_params* params,
                                           inlay_chat_parser** parser, inlay_error* err);
  void (*inlay_chat_parser_free)(inlay_chat_parser* parser);
  inlay_status (*inlay_chat_parser_append)(inlay_chat_parser* parser, const int32_t* tokens, size_t n_tokens,
                                           inlay_error* err);
  inlay_status (*inlay_chat_parser_append_text)(inlay_chat_parser* parser, const char* text, size_t text_len,
                                                inlay_error* err);
  inlay_status (*inlay_chat_parser_finish)(inlay_chat_parser* parser, inlay_error* err);
  inlay_status (*inlay_chat_parser_take)(inlay_chat_parser* parser, inlay_chat_delta* deltas, size_t cap_deltas,
                                         size_t delta_stride, char* text, size_t cap_text, size_t* n_deltas,
                                         inlay_error* err);
  inlay_status (*inlay_chat_parser_get_info)(inlay_chat_parser* parser, inlay_chat_parser_info* info,
                                             inlay_error* err);
  inlay_status (*inlay_chat_parser_get_message)(inlay_chat_parser* parser, char* buf, size_t cap, size_t* needed,
                                                inlay_error* err);
} inlay_dl;

#ifdef _WIN32
static inline void* inlay_dl_library_open(const char* path, char* message, size_t n) {
  HMODULE library = NULL;
  const int n_wide = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
  DWORD error = n_wide > 0 ? ERROR_NOT_ENOUGH_MEMORY : GetLastError();
  wchar_t* wide = n_wide > 0 ? (wchar_t*)malloc((size_t)n_wide * sizeof *wide) : NULL;
  if (wide) {
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, n_wide) > 0) library = LoadLibraryW(wide);
    error = GetLastError();
    free(wide);
  }
  if (!library) snprintf(message, n, "cannot load %s: error %lu", path, (unsigned long)error);
  return (void*)library;
}
static inline void inlay_dl_library_close(void* library) { FreeLibrary((HMODULE)library); }
static inline int inlay_dl_symbol(void* library, const char* name, void* function) {
  FARPROC symbol = GetProcAddress((HMODULE)library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}
#else
static inline void* inlay_dl_library_open(const char* path, char* message, size_t n) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    snprintf(message, n, "cannot load %s: %s", path, reason ? reason : "unknown reason");
  }
  return library;
}
static inline void inlay_dl_library_close(void* library) { dlclose(library); }
// A function pointer may not be cast from an object pointer in ISO C, so its bytes are copied.
static inline int inlay_dl_symbol(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}
#endif

// Forgets the functions and unloads the library. All handles must have been freed.
static inline void inlay_dl_close(inlay_dl* api) {
  if (api->library) inlay_dl_library_close(api->library);
  memset(api, 0, sizeof *api);
}

// Fails, with a message, if the library cannot be loaded, offers an older ABI than this header, or lacks a function.
// Returns 0 on success and -1 on failure, which leaves the table empty. `message` may be NULL if n is 0.
static inline int inlay_dl_open(const char* path, inlay_dl* api, char* message, size_t n) {
  uint32_t version;
  unsigned abi_major;
  int abi_minor;
  const char* missing = NULL;
  memset(api, 0, sizeof *api);
  if (n > 0) message[0] = 0;
  api->library = inlay_dl_library_open(path, message, n);
  if (!api->library) return -1;
  if (!inlay_dl_symbol(api->library, "inlay_abi_version", &api->inlay_abi_version)) {
    snprintf(message, n, "%s is not an Inlay library", path);
    inlay_dl_close(api);
    return -1;
  }
  version = api->inlay_abi_version();
  abi_major = version >> 16;
  abi_minor = version & 0xffffu;
  if (abi_major != INLAY_ABI_MAJOR || abi_minor < INLAY_ABI_MINOR) {
    snprintf(message, n, "%s offers ABI %u.%d, the program needs %d.%d", path, abi_major, abi_minor, INLAY_ABI_MAJOR, INLAY_ABI_MINOR);
    inlay_dl_close(api);
    return -1;
  }
#define INLAY_DL_RESOLVE(name) \
  if (!inlay_dl_symbol(api->library, #name, &api->name)) missing = #name;
  INLAY_DL_FUNCTIONS(INLAY_DL_RESOLVE)
#undef INLAY_DL_RESOLVE
  if (missing) {
    snprintf(message, n, "%s lacks the function %s", path, missing);
    inlay_dl_close(api);
    return -1;
  }
  return 0;
}

#endif
