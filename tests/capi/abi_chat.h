// Parsers of messages: every call with what is right and what is wrong.
#ifndef INLAY_ABI_CHAT_H
#define INLAY_ABI_CHAT_H

#include "tests/capi/abi_checks.h"

static const char* const kCallsFormat =
    "{\"name\": \"own\", \"reasoning\": {\"begin\": \"<think>\", \"end\": \"</think>\"}, \"calls\": {\"written\": \"json\", \"begin\": \"<call>\", "
    "\"end\": \"</call>\", \"name_key\": \"name\", \"arguments_key\": \"arguments\"}}";

static void test_take(inlay_chat_parser* parser) {
  static const inlay_chat_delta_kind kinds[] = {INLAY_CHAT_DELTA_REASONING, INLAY_CHAT_DELTA_CONTENT,   INLAY_CHAT_DELTA_CALL_BEGIN,
                                                INLAY_CHAT_DELTA_CALL_ID,   INLAY_CHAT_DELTA_ARGUMENTS, INLAY_CHAT_DELTA_CALL_END};
  static const char* const texts[] = {"why", "It is", "add", NULL, "{\"a\": 1}", ""};
  inlay_chat_delta deltas[8];
  char text[600];
  size_t n = 99, i;
  const size_t stride = sizeof *deltas;
#define TAKE CALL(inlay_chat_parser_take)
  EXPECT(INLAY_INVALID_ARGUMENT, TAKE(NULL, deltas, 8, stride, text, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, TAKE(parser, NULL, 8, stride, text, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, TAKE(parser, deltas, 8, stride - 8, text, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, TAKE(parser, deltas, 8, stride, NULL, sizeof text, &n, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, TAKE(parser, deltas, 8, stride, text, sizeof text, NULL, &err));
  EXPECT(INLAY_BUFFER_TOO_SMALL, TAKE(parser, NULL, 0, stride, NULL, 0, &n, &err));
  EXPECT(INLAY_BUFFER_TOO_SMALL, TAKE(parser, deltas, 8, stride, NULL, 0, &n, &err));
  CHECK(n == 0);
  memset(deltas, 0xaa, sizeof deltas);
  EXPECT(INLAY_OK, TAKE(parser, deltas, 8, stride, text, sizeof text, &n, &err));
  CHECK(n == 6);
  for (i = 0; i < n; ++i) {
    const size_t n_text = texts[i] ? strlen(texts[i]) : 9;
    CHECK(deltas[i].kind == kinds[i] && deltas[i].call == 0 && deltas[i].reserved == 0 && deltas[i].text_bytes == n_text);
    CHECK(deltas[i].flags == (kinds[i] == INLAY_CHAT_DELTA_CALL_END ? INLAY_CHAT_DELTA_FLAG_WHOLE : 0));
    if (texts[i]) CHECK(memcmp(text + deltas[i].first_byte, texts[i], n_text) == 0);
  }
  EXPECT(INLAY_OK, TAKE(parser, deltas, 8, stride, text, sizeof text, &n, &err));
  CHECK(n == 0);
#undef TAKE
}

static void test_chat_parsers(const inlay_engine* engine) {
  static const char* const written = "<think>why</think>It is\n<call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</call>";
  static const int32_t ids[] = {65, 66}, far_away[] = {65, 1 << 30};
  inlay_chat_parser *parser = NULL, *other = NULL;
  inlay_chat_parser_info info = {0};
  info.struct_size = sizeof info;
#define OWN (p->format = kCallsFormat, p->format_len = SIZE_MAX)
#define CREATE CALL(inlay_chat_parser_create)(engine, p, &parser, &err)
#define REFUSED(setup, status) IN_STRUCT(inlay_chat_parser_params, setup, CREATE, status)
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_create)(engine, NULL, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_create)(NULL, NULL, &parser, &err));
  REFUSED(p->flags = 2, INLAY_INVALID_ARGUMENT);
  REFUSED(p->format_len = 1, INLAY_INVALID_ARGUMENT);
  REFUSED(p->template_len = 1, INLAY_INVALID_ARGUMENT);
  REFUSED(p->tools_len = 1, INLAY_INVALID_ARGUMENT);
  REFUSED(p->n_prompt = 1, INLAY_INVALID_ARGUMENT);
  REFUSED((p->prompt = far_away, p->n_prompt = 2), INLAY_INVALID_ARGUMENT);
  REFUSED((p->format = "{}", p->format_len = 2), INLAY_FORMAT);
  REFUSED((p->tools = "{}", p->tools_len = 2), INLAY_FORMAT);
  CHECK(parser == NULL);
  EXPECT(INLAY_OK, CALL(inlay_chat_parser_create)(engine, NULL, &other, &err));
  IN_STRUCT(inlay_chat_parser_params, OWN, (api.inlay_chat_parser_free(parser), parser = NULL, CREATE), INLAY_OK);
  {
    inlay_chat_parser_params p[1] = {{0}};
    p->struct_size = sizeof *p;
    OWN;
    TEXT_OUT(CALL(inlay_chat_get_format)(engine, p, buf, cap, &need, &err));
  }
  EXPECT(INLAY_OK, CALL(inlay_chat_get_format)(engine, NULL, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_get_format)(NULL, NULL, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append)(NULL, ids, 2, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append)(parser, NULL, 2, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append)(parser, far_away, 2, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append)((inlay_chat_parser*)engine, ids, 2, &err));
  EXPECT(INLAY_OK, CALL(inlay_chat_parser_append)(parser, NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append_text)(NULL, "a", 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_append_text)(parser, NULL, 1, &err));
  EXPECT(INLAY_OK, CALL(inlay_chat_parser_append_text)(parser, written, SIZE_MAX, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_chat_parser_get_message)(parser, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_finish)(NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_chat_parser_finish)(parser, &err));
  EXPECT(INLAY_OK, CALL(inlay_chat_parser_finish)(parser, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_chat_parser_append)(parser, ids, 2, &err));
  EXPECT(INLAY_INVALID_STATE, CALL(inlay_chat_parser_append_text)(parser, "a", 1, &err));
  test_take(parser);
  TEXT_OUT(CALL(inlay_chat_parser_get_message)(parser, buf, cap, &need, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_get_message)(NULL, NULL, 0, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_chat_parser_get_info)(NULL, &info, &err));
  OUT_STRUCT(inlay_chat_parser_info, CALL(inlay_chat_parser_get_info)(parser, p, &err));
  EXPECT(INLAY_OK, CALL(inlay_chat_parser_get_info)(parser, &info, &err));
  CHECK(info.flags == (INLAY_CHAT_PARSER_INFO_FINISHED | INLAY_CHAT_PARSER_INFO_COMPLETE) && info.n_calls == 1 && info.reserved == 0);
  EXPECT(INLAY_OK, CALL(inlay_chat_parser_append)(other, ids, 2, &err));
  CALL(inlay_chat_parser_free)(parser);
  CALL(inlay_chat_parser_free)(other);
  CALL(inlay_chat_parser_free)(NULL);
#undef OWN
#undef CREATE
#undef REFUSED
}

#endif
