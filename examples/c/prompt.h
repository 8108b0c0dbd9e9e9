// What all the C programs here do first: the tokens of a text, run in a session.
#ifndef EXAMPLE_PROMPT_H
#define EXAMPLE_PROMPT_H

#include <stdlib.h>
#include <string.h>

#include "inlay.h"

// A program that opens the library at run time defines it as the function of its table.
#ifndef EXAMPLE_CALL
#define EXAMPLE_CALL(function) function
#endif

// The tokens of `text`, ended by a zero, to be freed by the caller; NULL and `err` filled if that failed.
static inline int32_t* example_tokens(const inlay_engine* engine, const char* text, size_t* n, inlay_error* err) {
  if (EXAMPLE_CALL(inlay_tokenize)(engine, text, SIZE_MAX, 0, NULL, 0, n, err) != INLAY_OK) return NULL;
  int32_t* tokens = malloc((*n + 1) * sizeof *tokens);
  if (!tokens) {
    memset(err, 0, sizeof *err);
    err->status = INLAY_OUT_OF_MEMORY;
    return NULL;
  }
  if (EXAMPLE_CALL(inlay_tokenize)(engine, text, SIZE_MAX, 0, tokens, *n, n, err) == INLAY_OK) return tokens;
  free(tokens);
  return NULL;
}

// Runs `text`, ended by a zero. Returns what the first call that failed returned, described in `err`.
static inline inlay_status example_run_prompt(inlay_session* session, const inlay_engine* engine, const char* text,
                                              inlay_error* err) {
  size_t n = 0;
  int32_t* tokens = example_tokens(engine, text, &n, err);
  if (!tokens) return err->status;
  const inlay_status status = EXAMPLE_CALL(inlay_prefill)(session, tokens, n, NULL, err);
  free(tokens);
  return status;
}

#endif
