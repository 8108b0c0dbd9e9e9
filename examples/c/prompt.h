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

// Runs `text`, ended by a zero. Returns what the first call that failed returned, described in `err`.
static inline inlay_status example_run_prompt(inlay_session* session, const inlay_engine* engine, const char* text,
                                              inlay_error* err) {
  size_t cap = strlen(text) + 2, n = 0;  // there are never more tokens than bytes + 2
  int32_t* tokens = malloc(cap * sizeof *tokens);
  if (!tokens) {
    memset(err, 0, sizeof *err);
    return err->status = INLAY_OUT_OF_MEMORY;
  }
  inlay_status status = EXAMPLE_CALL(inlay_tokenize)(engine, text, SIZE_MAX, 0, tokens, cap, &n, err);
  if (status == INLAY_OK) status = EXAMPLE_CALL(inlay_prefill)(session, tokens, n, NULL, err);
  free(tokens);
  return status;
}

#endif
