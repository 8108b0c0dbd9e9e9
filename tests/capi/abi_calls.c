// Calls every function of the library through the loader header with what a careless caller gives: NULL, structs of
// wrong size, numbers that mean nothing, indices out of range. Each call must answer with the right status and a
// message; none may crash. Usage: abi_calls LIBRARY [MODEL [cuda]]: the model is loaded on the interpreter or on the
// GPU. Without a model, what needs one is called with NULL only and the program exits with 77, as it does without a GPU
// that is asked for.
#include "tests/capi/abi_checks.h"
#include "tests/capi/abi_chat.h"
#include "tests/capi/abi_constraints.h"
#include "tests/capi/abi_null_handles.h"
#include "tests/capi/abi_requests.h"
#include "tests/capi/abi_states.h"
#include "tests/capi/abi_texts.h"
#include "tests/support/needs_gpu.h"

static void test_library(void) {
  inlay_status status;
  CHECK(strlen(CALL(inlay_version_string)()) >= 5);
  CHECK(CALL(inlay_abi_version)() == ((uint32_t)INLAY_ABI_MAJOR << 16 | INLAY_ABI_MINOR));
  CHECK(strcmp(CALL(inlay_status_name)(INLAY_KV_FULL), "KV_FULL") == 0);
  for (status = INLAY_OK; status <= INLAY_QUEUE_FULL; ++status)
    CHECK(strcmp(api.inlay_status_name(status), "UNKNOWN") != 0);
  CHECK(strcmp(api.inlay_status_name(-1), "UNKNOWN") == 0);
  CHECK(strcmp(api.inlay_status_name(INLAY_QUEUE_FULL + 1), "UNKNOWN") == 0);
  CHECK(strcmp(api.inlay_status_name(INT32_MIN), "UNKNOWN") == 0);
}

static void test_devices(void) {
  inlay_device_info info = {sizeof info, 0, 0, 0, 0, 0, {0}, {0}};
  const int32_t n = CALL(inlay_device_count)();
  CHECK(n >= 1);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_device_get)(0, NULL, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_device_get)(-1, &info, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_device_get)(n, &info, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_device_get)(INT32_MAX, &info, &err));
  OUT_STRUCT(inlay_device_info, CALL(inlay_device_get)(0, p, &err));
  EXPECT(INLAY_OK, CALL(inlay_device_get)(0, &info, &err));
  CHECK(info.kind == INLAY_DEVICE_CPU && info.n_units > 0 && info.total_bytes > 0 && info.name[0] != 0);
  CHECK(api.inlay_device_get(0, &info, NULL) == INLAY_OK);
  CHECK(api.inlay_device_get(-1, &info, NULL) == INLAY_NOT_FOUND);
}

static int32_t read_nothing(void* user, uint64_t offset, void* into, uint64_t n) {
  (void)user, (void)offset, (void)into, (void)n;
  return 5;  // EIO
}

#define MISSING "no/such/model.gguf"
#define BAD_PARAM(field, value)                                                               \
  do {                                                                                        \
    inlay_load_params bad;                                                                    \
    memset(&bad, 0, sizeof bad);                                                              \
    bad.struct_size = sizeof bad;                                                             \
    bad.field = value;                                                                        \
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load)(MISSING, SIZE_MAX, &bad, &engine, &err)); \
    CHECK(strstr(err.message, #field) != NULL);                                               \
  } while (0)

static void test_load(void) {
  inlay_engine* engine = (inlay_engine*)&err;
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_load)(MISSING, SIZE_MAX, NULL, &engine, &err));
  CHECK(engine == NULL);
  CHECK(strstr(err.message, MISSING) != NULL);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load)(NULL, SIZE_MAX, NULL, &engine, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load)("", SIZE_MAX, NULL, &engine, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load)("x", 0, NULL, &engine, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load)("a\0b", 3, NULL, &engine, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load)("x", SIZE_MAX - 1, NULL, &engine, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load)(MISSING, SIZE_MAX, NULL, NULL, &err));
  IN_STRUCT(inlay_load_params, (void)0, CALL(inlay_load)(MISSING, SIZE_MAX, p, &engine, &err), INLAY_NOT_FOUND);
  BAD_PARAM(device, -1);
  BAD_PARAM(device, INLAY_DEVICE_REFERENCE + 1);
  BAD_PARAM(device_index, -1);
  BAD_PARAM(n_context, -1);
  BAD_PARAM(max_sessions, INT32_MIN);
  BAD_PARAM(n_threads, -1);
  BAD_PARAM(kv_dtype, INLAY_KV_INT8 + 1);
  BAD_PARAM(kv_dtype, -1);
  BAD_PARAM(weight_dtype, INLAY_WEIGHT_Q6_K + 1);
  BAD_PARAM(weight_dtype, -1);
  BAD_PARAM(reserved, 1);
  BAD_PARAM(prefill_chunk, -7);
  BAD_PARAM(log_level, 5);
  BAD_PARAM(log_level, -2);
  BAD_PARAM(flags, 0x80000000u);
  CALL(inlay_free)(NULL);
}

static void test_load_elsewhere(void) {
  static const unsigned char junk[64] = {'G', 'G', 'U', 'F', 99};
  inlay_engine* engine = (inlay_engine*)&err;
  inlay_reader reader = {sizeof reader, 0, NULL, 64, read_nothing};
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load_memory)(NULL, 64, NULL, &engine, &err));
  CHECK(engine == NULL);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load_memory)(junk, sizeof junk, NULL, NULL, &err));
  EXPECT(INLAY_FORMAT, CALL(inlay_load_memory)(junk, 0, NULL, &engine, &err));
  EXPECT(INLAY_FORMAT, CALL(inlay_load_memory)(junk, 3, NULL, &engine, &err));
  CHECK(CALL(inlay_load_memory)(junk, sizeof junk, NULL, &engine, &err) != INLAY_OK);
  IN_STRUCT(inlay_load_params, (void)0, CALL(inlay_load_memory)(junk, 3, p, &engine, &err), INLAY_FORMAT);

  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load_reader)(NULL, NULL, &engine, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load_reader)(&reader, NULL, NULL, &err));
  EXPECT(INLAY_IO, CALL(inlay_load_reader)(&reader, NULL, &engine, &err));
  CHECK(err.native_code == 5);
  IN_STRUCT(inlay_load_params, (void)0, CALL(inlay_load_reader)(&reader, p, &engine, &err), INLAY_IO);
  IN_STRUCT(inlay_reader, (p->size = 64, p->read = read_nothing), CALL(inlay_load_reader)(p, NULL, &engine, &err),
            INLAY_IO);
  reader.reserved = 1;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load_reader)(&reader, NULL, &engine, &err));
  reader.reserved = 0;
  reader.size = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load_reader)(&reader, NULL, &engine, &err));
  reader.size = 64;
  reader.read = NULL;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_load_reader)(&reader, NULL, &engine, &err));
}

static void test_memory_plan(const char* model) {
  inlay_memory_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_memory_plan)(MISSING, SIZE_MAX, NULL, &info, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_memory_plan)(NULL, 0, NULL, &info, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_memory_plan)(MISSING, SIZE_MAX, NULL, NULL, &err));
  IN_STRUCT(inlay_load_params, (void)0, CALL(inlay_memory_plan)(MISSING, SIZE_MAX, p, &info, &err), INLAY_NOT_FOUND);
  if (model) OUT_STRUCT(inlay_memory_info, CALL(inlay_memory_plan)(model, SIZE_MAX, &on_device, p, &err));
}

#define BAD_CONVERT_PARAM(field, bad_value)                                                                 \
  do {                                                                                                      \
    inlay_convert_params bad = {0};                                                                         \
    bad.struct_size = sizeof bad;                                                                           \
    bad.field = bad_value;                                                                                  \
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_convert)(MISSING, SIZE_MAX, "x.gguf", SIZE_MAX, &bad, &err)); \
    CHECK(strstr(err.message, #field) != NULL);                                                             \
  } while (0)

static void test_convert(const char* model) {
  inlay_convert_params params = {0};
  inlay_engine* engine = NULL;
  int n_told = 0;
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_convert)(MISSING, SIZE_MAX, "x.gguf", SIZE_MAX, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_convert)(NULL, 0, "x.gguf", SIZE_MAX, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_convert)(MISSING, SIZE_MAX, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_convert)(MISSING, SIZE_MAX, "", 0, NULL, &err));
  IN_STRUCT(inlay_convert_params, (void)0, CALL(inlay_convert)(MISSING, SIZE_MAX, "x.gguf", SIZE_MAX, p, &err),
            INLAY_NOT_FOUND);
  BAD_CONVERT_PARAM(type, -1);
  BAD_CONVERT_PARAM(type, INLAY_CONVERT_F32 + 1);
  BAD_CONVERT_PARAM(type, INLAY_WEIGHT_FP8);
  CHECK(strstr(err.message, "FP8") != NULL);
  BAD_CONVERT_PARAM(n_threads, -1);
  BAD_CONVERT_PARAM(reserved, 1);
  if (!model) return;
  params.struct_size = sizeof params;
  params.progress = stop_at_once;
  params.progress_user = &n_told;
  EXPECT(INLAY_CANCELLED, CALL(inlay_convert)(model, SIZE_MAX, "inlay_convert_stopped.gguf", SIZE_MAX, &params, &err));
  CHECK(n_told == 1);
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_load)("inlay_convert_stopped.gguf", SIZE_MAX, NULL, &engine, &err));
}

// What every function says to a missing handle.

static void test_engine(const inlay_engine* engine, int32_t n_vocab) {
  size_t n = 0;
  uint64_t cursor = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_engine_get_info)(engine, NULL, &err));
  OUT_STRUCT(inlay_engine_info, CALL(inlay_engine_get_info)(engine, p, &err));
  OUT_STRUCT(inlay_stats, CALL(inlay_engine_get_stats)(engine, p, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_engine_get_stats)(engine, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_meta_count)(engine, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_meta_count)(engine, &n, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_meta_key)(engine, n, NULL, 0, NULL, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_meta_key)(engine, SIZE_MAX, NULL, 0, NULL, &err));
  TEXT_OUT(CALL(inlay_meta_key)(engine, 0, buf, cap, &need, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_meta_value)(engine, NULL, 0, NULL, 0, NULL, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_meta_value)(engine, "no.such.key", SIZE_MAX, NULL, 0, NULL, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_meta_value)(engine, "", SIZE_MAX, NULL, 0, NULL, &err));
  TEXT_OUT(CALL(inlay_meta_value)(engine, "general.architecture", SIZE_MAX, buf, cap, &need, &err));
  TEXT_OUT(CALL(inlay_plan_text)(engine, buf, cap, &need, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_log_read)(engine, NULL, NULL, NULL, 0, &n, &err));
  TEXT_OUT((cursor = 0, CALL(inlay_log_read)(engine, &cursor, NULL, buf, cap, &need, &err)));
  CHECK(cursor == 1);
  cursor = UINT64_MAX;
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_log_read)(engine, &cursor, NULL, NULL, 0, &n, &err));
  CHECK(cursor == UINT64_MAX);
  (void)n_vocab;
}

static void test_inspection(const inlay_engine* engine, int32_t n_vocab) {
  int32_t ids[3] = {1, 2, 3};
  int32_t first = 7;
  size_t n = 0;
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_profile_text)(engine, INLAY_PROFILE_KINDS, NULL, 0, &n, &err));
  IN_STRUCT(inlay_profile_params, (p->n_repetitions = 1), CALL(inlay_profile_step)(engine, p, &err), INLAY_OK);
  {
    inlay_profile_params wrong = {0};
    wrong.struct_size = sizeof wrong;
    wrong.n_tokens = -1;
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_profile_step)(engine, &wrong, &err));
    wrong.n_tokens = INT32_MAX;
    wrong.n_past = INT32_MAX;
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_profile_step)(engine, &wrong, &err));
    wrong.n_tokens = 1;
    wrong.n_past = 0;
    wrong.n_repetitions = -1;
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_profile_step)(engine, &wrong, &err));
  }
  TEXT_OUT(CALL(inlay_profile_text)(engine, INLAY_PROFILE_KINDS, buf, cap, &need, &err));
  TEXT_OUT(CALL(inlay_profile_text)(engine, INLAY_PROFILE_TIMELINE, buf, cap, &need, &err));
  TEXT_OUT(CALL(inlay_profile_text)(engine, INLAY_PROFILE_TRACE, buf, cap, &need, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_profile_text)(engine, 3, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_profile_text)(engine, -1, NULL, 0, &n, &err));

  TEXT_OUT(CALL(inlay_compare_text)(engine, engine, ids, 3, 0, &first, buf, cap, &need, &err));
  CHECK(first == -1);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_compare_text)(engine, NULL, ids, 3, 0, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_compare_text)(engine, engine, NULL, 3, 0, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_compare_text)(engine, engine, ids, 0, 0, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_compare_text)(engine, engine, ids, 3, -1, NULL, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_compare_text)(engine, engine, ids, 3, NAN, NULL, NULL, 0, &n, &err));
  ids[1] = n_vocab;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_compare_text)(engine, engine, ids, 3, 0, NULL, NULL, 0, &n, &err));
}

static void test_tokens(const inlay_engine* engine, int32_t n_vocab) {
  int32_t ids[64];
  int32_t wrong[1];
  size_t n = 0, again = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_tokenize)(engine, NULL, 1, 0, ids, 64, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_tokenize)(engine, NULL, SIZE_MAX, 0, ids, 64, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_tokenize)(engine, "x", 1, 4, ids, 64, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_tokenize)(engine, "x", 1, 0, ids, 64, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_tokenize)(engine, "x", 1, 0, NULL, 64, &n, &err));
  EXPECT(INLAY_OK, CALL(inlay_tokenize)(engine, "Hello there", SIZE_MAX, 0, NULL, 0, &n, &err));
  CHECK(n > 0);
  EXPECT(INLAY_BUFFER_TOO_SMALL, CALL(inlay_tokenize)(engine, "Hello there", SIZE_MAX, 0, ids, n - 1, &again, &err));
  CHECK(again == n && err.required == n);
  EXPECT(INLAY_OK, CALL(inlay_tokenize)(engine, "Hello there", SIZE_MAX, 0, ids, n, &again, &err));
  EXPECT(INLAY_OK, CALL(inlay_tokenize)(engine, "\xff\xfe\x80", 3, 0, NULL, 0, &again, &err));

  TEXT_OUT(CALL(inlay_detokenize)(engine, ids, n, INLAY_DETOKENIZE_SHOW_SPECIAL, buf, cap, &need, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_detokenize)(engine, NULL, 1, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_detokenize)(engine, ids, SIZE_MAX, 0, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_detokenize)(engine, ids, 1, 2, NULL, 0, &n, &err));
  wrong[0] = n_vocab;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_detokenize)(engine, wrong, 1, 0, NULL, 0, &n, &err));
  wrong[0] = -1;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_detokenize)(engine, wrong, 1, 0, NULL, 0, &n, &err));

  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_token_get_info)(engine, 0, NULL, &err));
  OUT_STRUCT(inlay_token_info, CALL(inlay_token_get_info)(engine, 0, p, &err));
  {
    inlay_token_info info = {0};
    info.struct_size = sizeof info;
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_token_get_info)(engine, n_vocab, &info, &err));
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_token_get_info)(engine, -1, &info, &err));
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_token_get_info)(engine, INT32_MIN, &info, &err));
  }
}

#define CHAT(form, flags) (&(inlay_chat_params){sizeof(inlay_chat_params), flags, form, SIZE_MAX})

static void test_chat(const inlay_engine* engine) {
  static const char talk[] = "[{\"role\": \"user\", \"content\": \"Hi\"}]";
  static const char form[] = "{{ messages[0].content }}{% if add_generation_prompt %}>{% endif %}";
  size_t n = 0;
  TEXT_OUT(CALL(inlay_chat_render)(engine, talk, SIZE_MAX, CHAT(form, INLAY_CHAT_ADD_GENERATION_PROMPT), buf, cap,
                                   &need, &err));
  EXPECT(INLAY_OK, CALL(inlay_chat_render)(engine, talk, sizeof talk - 1, CHAT(form, 0), NULL, 0, &n, &err));
  CHECK(n == 2);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_render)(engine, NULL, 1, CHAT(form, 0), NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_render)(engine, talk, SIZE_MAX, CHAT(form, 4), NULL, 0, &n, &err));
  EXPECT(INLAY_FORMAT, CALL(inlay_chat_render)(engine, "[", SIZE_MAX, CHAT(form, 0), NULL, 0, &n, &err));
  EXPECT(INLAY_FORMAT, CALL(inlay_chat_render)(engine, "\xff\xfe", 2, CHAT(form, 0), NULL, 0, &n, &err));
  EXPECT(INLAY_FORMAT, CALL(inlay_chat_render)(engine, talk, SIZE_MAX, CHAT("{{", 0), NULL, 0, &n, &err));
  EXPECT(INLAY_UNSUPPORTED,
         CALL(inlay_chat_render)(engine, talk, SIZE_MAX, CHAT("{{ 1|nothing }}", 0), NULL, 0, &n, &err));
  IN_STRUCT(inlay_chat_params, (p->chat_template = form, p->template_len = sizeof form - 1),
            CALL(inlay_chat_render)(engine, talk, SIZE_MAX, p, NULL, 0, &n, &err), INLAY_OK);
  {
    inlay_chat_params wrong = {sizeof wrong, 0, NULL, 1};
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_render)(engine, talk, SIZE_MAX, &wrong, NULL, 0, &n, &err));
    CHECK(strstr(err.message, "params.chat_template is NULL") != NULL);
  }
  int32_t tokens[16];
  EXPECT(INLAY_OK, CALL(inlay_chat_tokenize)(engine, talk, SIZE_MAX, CHAT(form, 0), NULL, 0, &n, &err));
  CHECK(n > 0 && n <= 16);
  EXPECT(INLAY_OK, CALL(inlay_chat_tokenize)(engine, talk, SIZE_MAX, CHAT(form, 0), tokens, n, &n, &err));
  EXPECT(INLAY_BUFFER_TOO_SMALL,
         CALL(inlay_chat_tokenize)(engine, talk, SIZE_MAX, CHAT(form, 0), tokens, n - 1, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_tokenize)(engine, NULL, 1, CHAT(form, 0), NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_tokenize)(engine, talk, SIZE_MAX, CHAT(form, 4), NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_tokenize)(engine, talk, SIZE_MAX, CHAT(form, 0), NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_tokenize)(engine, talk, SIZE_MAX, CHAT(form, 0), NULL, 4, &n, &err));
  EXPECT(INLAY_FORMAT, CALL(inlay_chat_tokenize)(engine, "[", SIZE_MAX, CHAT(form, 0), NULL, 0, &n, &err));
}

static void test_explanations(const char* model) {
  int32_t n_devices = -1;
  size_t n = 0;
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_explain)(MISSING, SIZE_MAX, NULL, 0, &n_devices, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_explain)(NULL, SIZE_MAX, NULL, 0, &n_devices, NULL, 0, &n, &err));
  IN_STRUCT(inlay_load_params, (void)0, CALL(inlay_explain)(MISSING, SIZE_MAX, p, 0, NULL, NULL, 0, &n, &err),
            INLAY_NOT_FOUND);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_explain)(MISSING, SIZE_MAX, NULL, -1, &n_devices, NULL, 0, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT,
         CALL(inlay_explain)(MISSING, SIZE_MAX, NULL, INLAY_EXPLAIN_JSON + 1, &n_devices, NULL, 0, &n, &err));
  CHECK(n_devices == -1);
  if (!model) return;
  TEXT_OUT(CALL(inlay_explain)(model, SIZE_MAX, NULL, INLAY_EXPLAIN_JSON, NULL, buf, cap, &need, &err));
  TEXT_OUT(CALL(inlay_explain)(model, SIZE_MAX, NULL, INLAY_EXPLAIN_TEXT, &n_devices, buf, cap, &need, &err));
  CHECK(n_devices >= 2);
}

#define BAD_SAMPLER(field, value)                                                         \
  do {                                                                                    \
    inlay_sampler_params bad;                                                             \
    memset(&bad, 0, sizeof bad);                                                          \
    bad.struct_size = sizeof bad;                                                         \
    bad.field = value;                                                                    \
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_sampler)(session, &bad, &err)); \
  } while (0)

static void refuse_biases(inlay_session* session, inlay_logit_bias* bias, int32_t second_token) {
  inlay_sampler_params params = {0};
  params.struct_size = sizeof params;
  params.bias = bias;
  params.n_bias = 1;
  EXPECT(INLAY_OK, CALL(inlay_session_set_sampler)(session, &params, &err));
  params.n_bias = 2;
  bias[1].token = second_token;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_sampler)(session, &params, &err));
}

static void test_sampler(inlay_session* session, int32_t n_vocab) {
  inlay_logit_bias bias[2] = {{0, 1.0f}, {0, 2.0f}};
  IN_STRUCT(inlay_sampler_params, (void)0, CALL(inlay_session_set_sampler)(session, p, &err), INLAY_OK);
  EXPECT(INLAY_OK, CALL(inlay_session_set_sampler)(session, NULL, &err));
  BAD_SAMPLER(temperature, -1.0f);
  BAD_SAMPLER(temperature, NAN);
  BAD_SAMPLER(temperature, INFINITY);
  BAD_SAMPLER(top_k, -1);
  BAD_SAMPLER(top_p, 1.5f);
  BAD_SAMPLER(top_p, -0.5f);
  BAD_SAMPLER(top_p, NAN);
  BAD_SAMPLER(min_p, 2.0f);
  BAD_SAMPLER(repetition_penalty, -1.0f);
  BAD_SAMPLER(frequency_penalty, NAN);
  BAD_SAMPLER(presence_penalty, INFINITY);
  BAD_SAMPLER(penalty_window, -2);
  BAD_SAMPLER(n_logprobs, INLAY_MAX_LOGPROBS + 1);
  BAD_SAMPLER(n_logprobs, -1);
  BAD_SAMPLER(n_bias, 1);  // with a NULL pointer
  BAD_SAMPLER(n_bias, 1025);
  BAD_SAMPLER(typical_p, 1.5f);
  BAD_SAMPLER(top_n_sigma, -1.0f);
  BAD_SAMPLER(dynatemp_range, NAN);
  BAD_SAMPLER(dynatemp_exponent, -1.0f);
  BAD_SAMPLER(xtc_probability, 1.5f);
  BAD_SAMPLER(xtc_threshold, -0.5f);
  BAD_SAMPLER(mirostat_tau, -1.0f);
  BAD_SAMPLER(mirostat_eta, INFINITY);
  BAD_SAMPLER(adaptive_target, 2.0f);
  BAD_SAMPLER(adaptive_decay, 1.0f);
  BAD_SAMPLER(dry_multiplier, -1.0f);
  BAD_SAMPLER(dry_base, 0.5f);
  BAD_SAMPLER(dry_allowed_length, -1);
  BAD_SAMPLER(dry_window, -2);
  BAD_SAMPLER(n_dry_breakers, 1);  // with a NULL pointer
  BAD_SAMPLER(n_dry_breakers, 65);
  BAD_SAMPLER(flags, 0x80000000u);
  BAD_SAMPLER(reserved, 1);
  refuse_biases(session, bias, 0);  // one token twice
  refuse_biases(session, bias, n_vocab);
  refuse_biases(session, bias, -1);
}

static void test_stops(inlay_session* session) {
  inlay_text stops[65];
  size_t i;
  for (i = 0; i < 65; ++i) stops[i].data = "stop", stops[i].len = SIZE_MAX;
  EXPECT(INLAY_OK, CALL(inlay_session_set_stop)(session, stops, 64, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop)(session, stops, 65, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop)(session, stops, SIZE_MAX, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop)(session, NULL, 1, &err));
  stops[1].len = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop)(session, stops, 2, &err));
  stops[1].data = NULL;
  stops[1].len = 3;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop)(session, stops, 2, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_set_stop)(session, NULL, 0, &err));
  static const int32_t stop_tokens[] = {1, 1, 0, -1, INT32_MAX};
  EXPECT(INLAY_OK, CALL(inlay_session_set_stop_tokens)(session, stop_tokens, 3, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop_tokens)(session, stop_tokens, 4, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop_tokens)(session, stop_tokens + 4, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop_tokens)(session, stop_tokens, SIZE_MAX, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_stop_tokens)(session, NULL, 1, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_set_stop_tokens)(session, NULL, 0, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_set_max_tokens)(session, 5, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_max_tokens)(session, -1, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_set_max_tokens)(session, 0, &err));
}

static void test_session_create(const inlay_engine* engine) {
  inlay_session_params params = {0};
  inlay_session* s = (inlay_session*)&err;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(engine, NULL, NULL, &err));
  IN_STRUCT(
      inlay_session_params, (void)0,
      (CALL(inlay_session_free)(s != (inlay_session*)&err ? s : NULL), CALL(inlay_session_create)(engine, p, &s, &err)),
      INLAY_OK);
  CALL(inlay_session_free)(s);
  params.struct_size = sizeof params;
  params.flags = 8;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(engine, &params, &s, &err));
  CHECK(s == NULL);
  params.flags = 0;
  params.max_tokens = -1;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(engine, &params, &s, &err));
  params.max_tokens = 0;
  params.reserved = 1;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(engine, &params, &s, &err));
  params.reserved = 0;
  params.n_stops = 1;  // with a NULL pointer
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(engine, &params, &s, &err));
  params.n_stops = 0;
  IN_STRUCT(inlay_sampler_params, params.sampler = p,
            (CALL(inlay_session_free)(s), CALL(inlay_session_create)(engine, &params, &s, &err)), INLAY_OK);
  CALL(inlay_session_free)(s);
}

static void test_step(inlay_session* session, const inlay_session* other_type, int32_t n_vocab) {
  union {
    inlay_event events[2];
    unsigned char bytes[8192];
  } u;
  inlay_event* events = u.events;
  inlay_session* both[2];
  // An event of ABI 1.0 ends with its text.
  static const size_t strides[] = {0, 8, offsetof(inlay_event, n_tokens) - 8, sizeof(inlay_event) + 4, 4104, SIZE_MAX};
  int32_t ids[2] = {0, 0};
  size_t i, n = 99;
  both[0] = both[1] = session;
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_decode_step)(both, 1, events, sizeof *events, &err));
  CHECK(events[0].status == INLAY_INVALID_STATE && events[0].kind == INLAY_EVENT_NONE && events[0].token == -1);
  CHECK(events[0].n_tokens == 0);
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_session_copy_logits)(session, (float*)u.bytes, (size_t)n_vocab, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_prefill)(session, NULL, 1, &n, &err));
  CHECK(n == 0);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_prefill)(session, ids, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_prefill)(session, ids, SIZE_MAX, NULL, &err));
  ids[1] = n_vocab;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_prefill)(session, ids, 2, &n, &err));
  ids[1] = -1;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_prefill)(session, ids, 2, &n, &err));
  ids[1] = 1;
  EXPECT(INLAY_OK, CALL(inlay_prefill)(session, ids, 2, &n, &err));
  CHECK(n == 2);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(both, 0, events, sizeof *events, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(both, SIZE_MAX, events, sizeof *events, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(both, 2, events, sizeof *events, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(both, 1, NULL, sizeof *events, &err));
  for (i = 0; i < sizeof strides / sizeof *strides; ++i) {
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(both, 1, events, strides[i], &err));
  }
  both[1] = (inlay_session*)other_type;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(both, 2, events, sizeof *events, &err));
  both[1] = NULL;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_step)(both, 2, events, sizeof *events, &err));
  memset(&u, 0xaa, sizeof u);
  EXPECT(INLAY_OK, CALL(inlay_decode_step)(both, 1, events, sizeof *events + 64, &err));
  CHECK(events[0].kind == INLAY_EVENT_TOKEN && events[0].token >= 0 && events[0].token < n_vocab);
  CHECK(events[0].n_tokens == 1);
  CHECK(u.bytes[sizeof *events] == 0 && u.bytes[sizeof *events + 63] == 0 && u.bytes[sizeof *events + 64] == 0xaa);
}

// A session that has drawn a token.
static void test_slices(inlay_session* session, const inlay_session* other_type) {
  inlay_event event = {0};
  inlay_session* both[2];
  int32_t left = 99, id = 1;
  size_t n = 0;
  both[0] = both[1] = session;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(NULL, 1, 1, &event, sizeof event, &left, &err));
  CHECK(left == 0);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(both, 0, 1, &event, sizeof event, &left, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(both, 2, 1, &event, sizeof event, &left, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(both, 1, -1, &event, sizeof event, &left, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(both, 1, 1, NULL, sizeof event, &left, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(both, 1, 1, &event, 8, &left, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(both, 1, 1, &event, sizeof event, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_abandon)(NULL, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_abandon)(both, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_abandon)(both, 2, &err));
  both[1] = (inlay_session*)other_type;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_abandon)(both, 2, &err));
  EXPECT(INLAY_OK, CALL(inlay_decode_abandon)(both, 1, &err));
  EXPECT(INLAY_OK, CALL(inlay_decode_slice)(both, 1, 0, &event, sizeof event, &left, &err));
  CHECK(left > 0 && event.kind == INLAY_EVENT_NONE);
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_prefill)(session, &id, 1, &n, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_session_truncate)(session, 0, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_session_shift)(session, 0, 1, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_session_set_sampler)(session, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_decode_slice)(both, 1, -1, &event, sizeof event, &left, &err));
  EXPECT(INLAY_OK, CALL(inlay_decode_slice)(both, 1, 1 << 20, &event, sizeof event, &left, &err));
  CHECK(left == 0 && event.kind == INLAY_EVENT_TOKEN);
}

static void test_accept(inlay_session* session, int32_t n_vocab) {
  int32_t ids[2] = {0, 0}, read[64];
  size_t n = 99, n_all = 0;
  EXPECT(INLAY_OK, CALL(inlay_session_get_tokens)(session, 0, NULL, 0, &n_all, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_accept)(session, NULL, 1, &n, &err));
  CHECK(n == 0);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_accept)(session, ids, SIZE_MAX, &n, &err));
  ids[1] = n_vocab;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_accept)(session, ids, 2, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_accept)(session, NULL, 0, &n, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_accept)(session, ids, 1, &n, &err));
  CHECK(n == 1);
  EXPECT(INLAY_OK, CALL(inlay_session_get_tokens)(session, 0, read, 64, &n, &err));
  CHECK(n == n_all + 1 && read[n_all] == ids[0]);
  EXPECT(INLAY_BUFFER_TOO_SMALL, CALL(inlay_session_get_tokens)(session, 0, read, n_all, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_tokens)(session, 0, NULL, 1, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_tokens)(session, 0, read, 64, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_tokens)(session, SIZE_MAX, read, 64, &n, &err));
}

static void test_session(const inlay_engine* engine, int32_t n_vocab) {
  inlay_session *session = NULL, *child = (inlay_session*)&err;
  static float logits[1 << 20];
  inlay_logits view = {sizeof view, 0, NULL, 0};
  char text[8];
  size_t n = 0;
  test_session_create(engine);
  EXPECT(INLAY_OK, CALL(inlay_session_create)(engine, NULL, &session, &err));
  OUT_STRUCT(inlay_session_info, CALL(inlay_session_get_info)(session, p, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_info)(session, NULL, &err));
  test_sampler(session, n_vocab);
  test_stops(session);
  test_step(session, (const inlay_session*)engine, n_vocab);
  EXPECT(INLAY_OK, CALL(inlay_session_copy_logits)(session, NULL, 0, &n, &err));
  CHECK(n == (size_t)n_vocab);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_copy_logits)(session, NULL, n, NULL, &err));
  EXPECT(INLAY_BUFFER_TOO_SMALL, CALL(inlay_session_copy_logits)(session, logits, n - 1, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_copy_logits)(session, logits, n, NULL, &err));
  OUT_STRUCT(inlay_logits, CALL(inlay_session_view_logits)(session, p, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_view_logits)(session, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_view_logits)(NULL, &view, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_view_logits)(session, &view, &err));
  CHECK(view.n_values == n && memcmp(view.values, logits, n * sizeof *logits) == 0);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_take_text)(session, NULL, 8, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_take_text)(session, text, 8, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_take_text)(session, text, 8, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_fork)(session, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_fork)(session, &child, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_truncate)(session, 4, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_truncate)(session, SIZE_MAX, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_shift)(NULL, 0, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_shift)((inlay_session*)engine, 0, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_shift)(session, 1, SIZE_MAX, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_shift)(session, SIZE_MAX, 1, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_shift)(session, 0, 1, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_shift)(session, 0, 0, &err));
  test_slices(session, (const inlay_session*)engine);
  test_accept(session, n_vocab);
  EXPECT(INLAY_OK, CALL(inlay_session_truncate)(session, 0, &err));
  CALL(inlay_session_cancel)(session);
  EXPECT(INLAY_OK, CALL(inlay_session_cancel_generation)(session, 1000000, &err));
  CALL(inlay_session_free)(session);
  CALL(inlay_session_free)(child);
}

static void test_with_model(const char* model) {
  inlay_engine* engine = NULL;
  inlay_engine_info info = {0};
  EXPECT(INLAY_OK, CALL(inlay_load)(model, strlen(model), &on_device, &engine, &err));
  if (!engine) return;
  info.struct_size = sizeof info;
  EXPECT(INLAY_OK, CALL(inlay_engine_get_info)(engine, &info, &err));
  CHECK((info.flags & INLAY_ENGINE_HAS_TOKENIZER) != 0);
  // A handle of the wrong type.
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_truncate)((inlay_session*)engine, 0, &err));
  test_inspection(engine, info.n_vocab);
  test_engine(engine, info.n_vocab);
  test_tokens(engine, info.n_vocab);
  test_chat(engine);
  test_embeddings(engine, info.n_vocab);
  test_scores(engine, info.n_vocab);
  test_session(engine, info.n_vocab);
  test_requests(engine);
  test_constraints(engine);
  test_states(engine);
  test_chat_parsers(engine);
  CALL(inlay_free)(engine);
}

static int test_open(const char* library) {
  char message[256] = "";
  CHECK(inlay_dl_open("no/such/library.so", &api, message, sizeof message) != 0 && message[0] != 0);
  CHECK(inlay_dl_open("no/such/library.so", &api, NULL, 0) != 0);
#ifndef _WIN32
  CHECK(inlay_dl_open("libm.so.6", &api, message, sizeof message) != 0 &&
        strstr(message, "not an Inlay library") != NULL);
#endif
  CHECK(api.library == NULL);
  if (inlay_dl_open(library, &api, message, sizeof message) == 0) return 1;
  printf("%s\n", message);
  return 0;
}

static int has_gpu(void) {
  int32_t i;
  for (i = 0; i < api.inlay_device_count(); ++i) {
    inlay_device_info info = {0};
    info.struct_size = sizeof info;
    if (api.inlay_device_get(i, &info, NULL) == INLAY_OK && info.kind == INLAY_DEVICE_CUDA) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* model = argc > 2 && strcmp(argv[2], "none") != 0 ? argv[2] : NULL;
  const int cuda = argc > 3 && strcmp(argv[3], "cuda") == 0;
  int i;
  if (argc < 2 || !test_open(argv[1])) return 1;
  on_device.struct_size = sizeof on_device;
  on_device.device = cuda ? INLAY_DEVICE_CUDA : INLAY_DEVICE_REFERENCE;
  if (cuda && !has_gpu()) {
    printf("skipped: " INLAY_NEEDS_GPU "\n");
    return 77;
  }
  test_library();
  test_devices();
  test_load();
  test_load_elsewhere();
  test_memory_plan(model);
  test_convert(model);
  test_explanations(model);
  test_null_handles();
  if (model) test_with_model(model);
  for (i = 0; i < N_FUNCTIONS; ++i) {
    if (!called[i]) ++n_failures, printf("%s was not called\n", names[i]);
  }
  inlay_dl_close(&api);
  CHECK(api.library == NULL && api.inlay_load == NULL);
  if (!test_open(argv[1])) return 1;  // it can be loaded again
  test_library();
  inlay_dl_close(&api);
  printf("%d functions, %d checks, %d failures\n", (int)N_FUNCTIONS, n_checks, n_failures);
  if (n_failures > 0) return 1;
  if (!model) printf("no model, so nothing was called on a live handle\n");
  return model ? 0 : 77;
}
