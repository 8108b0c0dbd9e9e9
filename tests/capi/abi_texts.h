// Calls that run texts: embeddings and scores.
#ifndef INLAY_ABI_TEXTS_H
#define INLAY_ABI_TEXTS_H

#include "tests/capi/abi_checks.h"

static int32_t stop_at_once(void* user, uint64_t n_done, uint64_t n_total) {
  CHECK(n_done > 0 && n_done <= n_total);
  ++*(int*)user;
  return 1;
}

#define EMBED(n_inputs, params, out, cap, needed) \
  CALL(inlay_embed)(engine, inputs, n_inputs, sizeof *inputs, params, out, cap, needed, &err)
#define BAD_INPUT(field, value, status)                      \
  do {                                                       \
    inlay_embed_input before = inputs[1];                    \
    inputs[1].field = value;                                 \
    EXPECT(status, EMBED(2, &params, out, n, NULL));         \
    CHECK(strstr(err.message, "inputs[1]") != NULL);         \
    inputs[1] = before;                                      \
  } while (0)

static void test_embeddings(const inlay_engine* engine, int32_t n_vocab) {
  static float out[3 * 8192];
  static const size_t strides[] = {0, 8, sizeof(inlay_embed_input) - 8, sizeof(inlay_embed_input) + 4, 4104, SIZE_MAX};
  int32_t ids[3] = {1, 2, 3};
  inlay_embed_input inputs[2] = {{ids, 1, NULL, 0}, {ids + 1, 2, NULL, 0}};
  struct {
    inlay_embed_input known;
    uint64_t newer;
  } wide[2];
  size_t n = 0, i;
  int n_told = 0;
  inlay_embed_params params = {0};
  params.struct_size = sizeof params;
  params.pooling = INLAY_POOLING_MEAN;
  EXPECT(INLAY_OK, EMBED(2, &params, NULL, 0, &n));
  CHECK(n > 0 && n % 2 == 0 && n <= sizeof out / sizeof *out);
  out[n] = 7;
  EXPECT(INLAY_OK, EMBED(2, &params, out, n, NULL));
  CHECK(out[n] == 7 && memcmp(out, out + n / 2, n / 2 * sizeof *out) != 0);
  EXPECT(INLAY_BUFFER_TOO_SMALL, EMBED(2, &params, out, n - 1, NULL));
  CHECK(err.required == n && err.available == n - 1);
  EXPECT(INLAY_OK, CALL(inlay_embed)(engine, NULL, 0, sizeof *inputs, &params, out, n, &n, &err));
  CHECK(n == 0);
  IN_STRUCT(inlay_embed_params, (p->pooling = INLAY_POOLING_LAST), EMBED(2, p, out, sizeof out / sizeof *out, &n), INLAY_OK);
  for (i = 0; i < sizeof strides / sizeof *strides; ++i) {
    EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_embed)(engine, inputs, 2, strides[i], &params, out, n, NULL, &err));
    CHECK(strstr(err.message, "input_stride") != NULL);
  }
  memset(wide, 0, sizeof wide);
  wide[0].known = inputs[0];
  wide[1].known = inputs[1];
  EXPECT(INLAY_OK, CALL(inlay_embed)(engine, &wide[0].known, 2, sizeof *wide, &params, out, n, NULL, &err));
  wide[1].newer = 1;
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_embed)(engine, &wide[0].known, 2, sizeof *wide, &params, out, n, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, CALL(inlay_embed)(engine, NULL, 2, sizeof *inputs, &params, out, n, NULL, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(SIZE_MAX, &params, out, n, NULL));
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(2, &params, NULL, n, NULL));
  BAD_INPUT(tokens, NULL, INLAY_INVALID_ARGUMENT);
  BAD_INPUT(n_tokens, SIZE_MAX, INLAY_INVALID_ARGUMENT);
  BAD_INPUT(text, "x", INLAY_INVALID_ARGUMENT);
  BAD_INPUT(text_len, 1, INLAY_INVALID_ARGUMENT);
  inputs[1].tokens = NULL;
  inputs[1].n_tokens = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(2, &params, out, n, NULL));
  CHECK(strstr(err.message, "inputs[1] has neither") != NULL);
  BAD_INPUT(text_len, 1, INLAY_INVALID_ARGUMENT);
  inputs[1].tokens = ids;
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(2, &params, out, n, NULL));  // no tokens
  inputs[1].n_tokens = 2;
  ids[1] = n_vocab;
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(2, &params, out, n, NULL));
  ids[1] = 2;
  params.progress = stop_at_once;
  params.progress_user = &n_told;
  EXPECT(INLAY_CANCELLED, EMBED(2, &params, out, n, NULL));
  CHECK(n_told == 1);
  params.progress = NULL;
  params.flags = 4;
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(2, &params, out, n, NULL));
  params.flags = 0;
  params.reserved = 1;
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(2, &params, out, n, NULL));
  params.reserved = 0;
  params.pooling = 4;
  EXPECT(INLAY_INVALID_ARGUMENT, EMBED(2, &params, out, n, NULL));
  EXPECT(INLAY_UNSUPPORTED, EMBED(2, NULL, out, n, NULL));
}

#define SCORE(lengths, n_texts, params, n_top) \
  CALL(inlay_score)(engine, NULL, ids, 3, lengths, n_texts, params, scores, sizeof *scores, top, n_top, &err)
#define BAD_SCORE(field, value)                                    \
  do {                                                             \
    inlay_score_params bad = {0};                                  \
    bad.struct_size = sizeof bad;                                  \
    bad.field = value;                                             \
    EXPECT(INLAY_INVALID_ARGUMENT, SCORE(lengths, 2, &bad, 1024)); \
    CHECK(strstr(err.message, "params." #field " is ") != NULL);   \
  } while (0)

// As if the caller knew more of the struct: what the library does not know becomes zero.
static void test_wider_scores(const inlay_engine* engine, const inlay_token_score* scores) {
  const int32_t ids[3] = {1, 2, 3};
  union {
    inlay_token_score first;
    unsigned char bytes[3 * 64 + 4];
  } wide;
  int i;
  memset(&wide, 0xaa, sizeof wide);
  EXPECT(INLAY_OK, CALL(inlay_score)(engine, NULL, ids, 3, NULL, 0, NULL, &wide.first, 64, NULL, 0, &err));
  for (i = 0; i < 3; ++i) {
    CHECK(memcmp(wide.bytes + 64 * i, scores + i, sizeof *scores) == 0);
    CHECK(wide.bytes[64 * i + sizeof *scores] == 0 && wide.bytes[64 * i + 63] == 0);
  }
  CHECK(wide.bytes[3 * 64] == 0xaa);
}

static void test_scores(const inlay_engine* engine, int32_t n_vocab) {
  static const size_t strides[] = {0, 8, sizeof(inlay_token_score) - 4, sizeof(inlay_token_score) + 2, 4100, SIZE_MAX};
  static inlay_token_logprob top[1024];
  inlay_token_score scores[4];
  int32_t ids[3] = {1, 2, 3}, lengths[2] = {1, 2}, wrong[2] = {1, 2};
  inlay_score_params params = {0};
  int n_told = 0;
  size_t i;
  params.struct_size = sizeof params;
  params.n_logprobs = 2;
  memset(scores, 0x5a, sizeof scores);
  top[6].token = 77;
  EXPECT(INLAY_OK, SCORE(NULL, 0, &params, 6));
  CHECK(isnan(scores[0].logprob) && scores[0].rank == -1 && top[0].token == -1 && top[1].token == -1);
  for (i = 1; i < 3; ++i) {
    CHECK(scores[i].logprob < 0 && scores[i].rank >= 0 && scores[i].rank < n_vocab);
    CHECK(isnan(scores[i].against_logprob) && scores[i].against_rank == -1);
    CHECK(isnan(scores[i].divergence) && scores[i].same_best == -1);
    CHECK(top[2 * i].token >= 0 && top[2 * i].logprob >= top[2 * i + 1].logprob && top[2 * i + 1].token >= 0);
    CHECK((top[2 * i].token == ids[i]) == (scores[i].rank == 0));
  }
  CHECK(scores[3].rank == 0x5a5a5a5a && top[6].token == 77);
  test_wider_scores(engine, scores);
  EXPECT(INLAY_OK, SCORE(lengths, 2, &params, 6));
  CHECK(scores[0].rank == -1 && scores[1].rank == -1 && scores[2].rank >= 0);
  EXPECT(INLAY_OK, CALL(inlay_score)(engine, engine, ids, 3, NULL, 0, NULL, scores, sizeof *scores, NULL, 0, &err));
  for (i = 1; i < 3; ++i) {
    CHECK(scores[i].against_logprob == scores[i].logprob && scores[i].against_rank == scores[i].rank);
    CHECK(scores[i].divergence == 0 && scores[i].same_best == 1);
  }
  EXPECT(INLAY_OK, CALL(inlay_score)(engine, NULL, NULL, 0, NULL, 0, &params, NULL, 0, NULL, 0, &err));

  EXPECT(INLAY_BUFFER_TOO_SMALL, SCORE(lengths, 2, &params, 5));
  CHECK(err.required == 6 && err.available == 5);
  IN_STRUCT(inlay_score_params, (p->n_given = 2), SCORE(lengths, 2, p, 6), INLAY_OK);
  BAD_SCORE(n_given, -1);
  BAD_SCORE(n_logprobs, -1);
  BAD_SCORE(n_logprobs, INLAY_MAX_LOGPROBS + 1);
  BAD_SCORE(n_logprobs, INT32_MAX);
  BAD_SCORE(reserved, 1);
  for (i = 0; i < sizeof strides / sizeof *strides; ++i) {
    EXPECT(INLAY_INVALID_ARGUMENT,
           CALL(inlay_score)(engine, NULL, ids, 3, lengths, 2, &params, scores, strides[i], top, 6, &err));
  }
  EXPECT(INLAY_INVALID_ARGUMENT,
         CALL(inlay_score)(engine, NULL, ids, 3, lengths, 2, &params, NULL, sizeof *scores, top, 6, &err));
  EXPECT(INLAY_INVALID_ARGUMENT,
         CALL(inlay_score)(engine, NULL, ids, 3, lengths, 2, &params, scores, sizeof *scores, NULL, 6, &err));
  EXPECT(INLAY_INVALID_ARGUMENT,
         CALL(inlay_score)(engine, NULL, NULL, 3, lengths, 2, &params, scores, sizeof *scores, top, 6, &err));
  EXPECT(INLAY_INVALID_ARGUMENT, SCORE(NULL, 2, &params, 6));
  EXPECT(INLAY_INVALID_ARGUMENT, SCORE(lengths, 0, &params, 6));
  EXPECT(INLAY_INVALID_ARGUMENT, SCORE(lengths, 1, &params, 6));
  EXPECT(INLAY_INVALID_ARGUMENT,
         CALL(inlay_score)(engine, NULL, ids, 2, lengths, 2, &params, scores, sizeof *scores, top, 6, &err));
  EXPECT(INLAY_INVALID_ARGUMENT,
         CALL(inlay_score)(engine, NULL, ids, SIZE_MAX, NULL, 0, &params, scores, sizeof *scores, top, 6, &err));
  wrong[0] = 0;
  EXPECT(INLAY_INVALID_ARGUMENT, SCORE(wrong, 2, &params, 6));
  wrong[0] = INT32_MIN;
  EXPECT(INLAY_INVALID_ARGUMENT, SCORE(wrong, 2, &params, 6));
  ids[1] = n_vocab;
  EXPECT(INLAY_INVALID_ARGUMENT, SCORE(lengths, 2, &params, 6));
  ids[1] = -1;
  EXPECT(INLAY_INVALID_ARGUMENT, SCORE(lengths, 2, &params, 6));
  ids[1] = 2;
  params.progress = stop_at_once;
  params.progress_user = &n_told;
  EXPECT(INLAY_CANCELLED, SCORE(lengths, 2, &params, 6));
  CHECK(n_told == 1);
}

#endif
