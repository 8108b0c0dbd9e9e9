// Ranks texts by how like they are to a query: by the cosine of their embeddings, the likest first.
// usage: embeddings MODEL QUERY TEXT...
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inlay.h"

#define MAX_TEXTS 64

static inlay_error err;
static inlay_engine* engine;

static int fail(const char* what) {
  fprintf(stderr, "embeddings: %s: %s (%s)\n", what, err.message, inlay_status_name(err.status));
  return 1;
}

// A text's vector, of length 1; NULL if that failed. Several texts in one call are faster.
static float* embed(const char* text, size_t width) {
  // A model that was not made for embeddings names no pooling: the mean is a good choice.
  inlay_embed_params params = {
      .struct_size = sizeof params, .pooling = INLAY_POOLING_MEAN, .flags = INLAY_EMBED_NORMALIZE};
  const inlay_embed_input input = {.text = text, .text_len = SIZE_MAX};
  float* vector = malloc(width * sizeof *vector);
  if (!vector) err = (inlay_error){.status = INLAY_OUT_OF_MEMORY};
  if (vector && inlay_embed(engine, &input, 1, sizeof input, &params, vector, width, NULL, &err) == INLAY_OK) return vector;
  fail(text);
  free(vector);
  return NULL;
}

static int print_likest_first(char** texts, int n, size_t width) {
  float* vectors[MAX_TEXTS] = {NULL};
  double likeness[MAX_TEXTS] = {0};
  int failed = 0;
  for (int i = 0; i < n && !failed; i++) {
    vectors[i] = embed(texts[i], width);
    failed = !vectors[i];
    for (size_t k = 0; k < width && !failed; k++) likeness[i] += (double)vectors[0][k] * vectors[i][k];
  }
  for (int rank = 1; rank < n && !failed; rank++) {
    int best = 1;
    for (int i = 2; i < n; i++) best = likeness[i] > likeness[best] ? i : best;
    printf("%.4f  %s\n", likeness[best], texts[best]);
    likeness[best] = -2;  // below any cosine
  }
  for (int i = 0; i < n; i++) free(vectors[i]);
  return failed;
}

int main(int argc, char** argv) {
  inlay_engine_info info = {.struct_size = sizeof info};
  if (argc < 4 || argc - 2 > MAX_TEXTS) {
    fprintf(stderr, "usage: embeddings MODEL QUERY TEXT...\n");
    return 2;
  }
  int failed = 0;
  if (inlay_load(argv[1], SIZE_MAX, NULL, &engine, &err) != INLAY_OK) failed = fail(argv[1]);
  if (!failed && inlay_engine_get_info(engine, &info, &err) != INLAY_OK) failed = fail("no sizes");
  if (!failed) failed = print_likest_first(argv + 2, argc - 2, (size_t)info.d_model);
  inlay_free(engine);
  return failed;
}
