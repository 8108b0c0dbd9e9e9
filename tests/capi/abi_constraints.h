// Constraints: every call with what is right and what is wrong.
#ifndef INLAY_ABI_CONSTRAINTS_H
#define INLAY_ABI_CONSTRAINTS_H

#include "tests/capi/abi_checks.h"

static void test_constraints(const inlay_engine* engine) {
  static const inlay_text words[] = {{"yes", 3}, {"no", SIZE_MAX}};
  static const char* schema = "{\"type\": \"string\", \"format\": \"no such format\"}";
  inlay_constraint *made = NULL, *other = NULL;
  inlay_session* session = NULL;
  inlay_session_params params = {0};
  inlay_session_info info = {0};
  const int32_t token = 65;
  info.struct_size = sizeof info;
  params.struct_size = sizeof params;
#define SCHEMA (p->text = schema, p->text_len = SIZE_MAX)
#define CREATE CALL(inlay_constraint_create)(engine, p, &made, &err)
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_constraint_create)(engine, NULL, &made, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_constraint_create)(NULL, NULL, &made, &err));
  IN_STRUCT(inlay_constraint_params, SCHEMA, (api.inlay_constraint_free(made), made = NULL, CREATE), INLAY_OK);
  CHECK(made != NULL);
  OUT_STRUCT(inlay_constraint_info, CALL(inlay_constraint_get_info)(made, p, &err));
  {
    inlay_constraint_info about = {0};
    about.struct_size = sizeof about;
    EXPECT(INLAY_OK, CALL(inlay_constraint_get_info)(made, &about, &err));
    CHECK(about.n_remarks == 1 && about.memory_bytes > 0);
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_constraint_get_info)(NULL, &about, &err));
  }
  TEXT_OUT(CALL(inlay_constraint_get_remark)(made, 0, buf, cap, &need, &err));
  EXPECT(INLAY_NOT_FOUND, CALL(inlay_constraint_get_remark)(made, 1, NULL, 0, NULL, &err));
  other = made;
  made = NULL;
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->kind = 6), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->flags = 8), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->reserved = 1), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->choices = words, p->n_choices = 2), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->kind = INLAY_CONSTRAINT_ANY_JSON), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, p->kind = INLAY_CONSTRAINT_CHOICES, CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, p->kind = INLAY_CONSTRAINT_GBNF, CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (p->kind = INLAY_CONSTRAINT_CHOICES, p->n_choices = 2), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (p->text = "{", p->text_len = 1), CREATE, INLAY_FORMAT);
  IN_STRUCT(inlay_constraint_params, (p->text = "{\"contains\": {}, \"unevaluatedItems\": false}", p->text_len = SIZE_MAX), CREATE, INLAY_UNSUPPORTED);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->n_prompt = 1), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->prompt = &token, p->n_prompt = 1), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->kind = INLAY_CONSTRAINT_MESSAGE), CREATE, INLAY_FORMAT);
  IN_STRUCT(inlay_constraint_params, (p->kind = INLAY_CONSTRAINT_MESSAGE, p->text = "{\"tools\": [{\"name\": \"a\"}]}", p->text_len = SIZE_MAX), CREATE,
            INLAY_UNSUPPORTED);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->format = "{}", p->format_len = 2), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (SCHEMA, p->chat_template = "a", p->template_len = 1), CREATE, INLAY_INVALID_ARGUMENT);
#define MESSAGE(t) (p->kind = INLAY_CONSTRAINT_MESSAGE, p->text = t, p->text_len = SIZE_MAX)
  IN_STRUCT(inlay_constraint_params, (MESSAGE("{}"), p->format_len = 1), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (MESSAGE("{}"), p->template_len = 1), CREATE, INLAY_INVALID_ARGUMENT);
  IN_STRUCT(inlay_constraint_params, (MESSAGE("{}"), p->format = "{", p->format_len = 1), CREATE, INLAY_FORMAT);
  IN_STRUCT(inlay_constraint_params, (MESSAGE("{\"tools\": [{\"name\": \"a\"}]}"), p->format = "{\"name\": \"own\"}", p->format_len = SIZE_MAX), CREATE,
            INLAY_UNSUPPORTED);
#undef MESSAGE
  CHECK(made == NULL);
  IN_STRUCT(inlay_constraint_params, (p->kind = INLAY_CONSTRAINT_MESSAGE, p->text = "{}", p->text_len = 2),
            (api.inlay_constraint_free(made), made = NULL, CREATE), INLAY_OK);
  CALL(inlay_constraint_free)(made);
  made = NULL;
  {
    inlay_constraint_params p[1] = {{0}};
    p->struct_size = sizeof *p;
    p->kind = INLAY_CONSTRAINT_CHOICES;
    p->choices = words;
    p->n_choices = 2;
    EXPECT(INLAY_OK, CREATE);
  }
  params.constraint = made;
  EXPECT(INLAY_OK, CALL(inlay_session_create)(engine, &params, &session, &err));
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  {
    inlay_session* none = NULL;
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(engine, &params, &none, &err));
    params.constraint = (const inlay_constraint*)engine;
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_create)(engine, &params, &none, &err));
  }
  EXPECT(INLAY_OK, CALL(inlay_prefill)(session, &token, 1, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_get_info)(session, &info, &err));
  CHECK(info.constraint_state == INLAY_CONSTRAINT_STATE_INCOMPLETE && info.reserved == 0);
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_constraint)(NULL, made, NULL, 0, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_constraint)(session, made, "q", 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_constraint)(session, NULL, "q", 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_constraint)(session, made, NULL, 1, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_set_constraint)(session, (const inlay_constraint*)engine, NULL, 0, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_set_constraint)(session, made, "y", 1, &err));
  TEXT_OUT(CALL(inlay_session_get_forced_text)(session, buf, cap, &need, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_session_get_forced_text)(NULL, NULL, 0, NULL, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_set_constraint)(session, made, "yes", SIZE_MAX, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_get_info)(session, &info, &err));
  CHECK(info.constraint_state == INLAY_CONSTRAINT_STATE_COMPLETE);
  EXPECT(INLAY_OK, CALL(inlay_session_set_constraint)(session, other, NULL, 0, &err));
  EXPECT(INLAY_OK, CALL(inlay_session_set_constraint)(session, NULL, NULL, 0, &err));
  CALL(inlay_constraint_free)(made);
  CALL(inlay_constraint_free)(other);
  CALL(inlay_constraint_free)(NULL);
  CALL(inlay_session_free)(session);
#undef SCHEMA
#undef CREATE
}

#endif
