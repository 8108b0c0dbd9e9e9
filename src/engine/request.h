// A request: a prompt that the engine computes by itself, in its own order, and what becomes of it. docs/design/requests.md
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/engine/embed.h"
#include "src/engine/engine.h"
#include "src/engine/round.h"

namespace inlay {

class RequestQueue;

enum class RequestKind : uint8_t { generate, prefill, embed };

struct RequestOptions {
  RequestKind kind = RequestKind::generate;
  SessionOptions session;
  EmbedOptions embed;  // of kind embed, without progress
  // A session for requests, which it continues; with `replaces` its tokens become the prompt, and what both begin with stays computed. Without
  // has_options the session's own sampler, limits and stops hold, else these from now on.
  std::shared_ptr<Session> continues;
  bool replaces = false, has_options = true;
  int32_t priority = 0;     // 0 to kTopLevel
  int64_t deadline_us = 0;  // from now on: orders requests of one level; 0: none
  int64_t timeout_us = 0;   // likewise: then it ends; 0: never
  uint64_t user = 0;        // of the host
  uint64_t cache_salt = 0;  // it finds what those of the same number have computed, and nothing else
};

// The last that is told of a request.
struct RequestEnd {
  Status status;  // with FinishReason::error
  FinishReason reason = FinishReason::none;
  int32_t n_prompt = 0, n_cached = 0, n_drawn = 0;        // tokens; cached: of the prompt, that were not computed for it
  size_t n_values = 0;                                    // of its vector
  int64_t queued_us = 0, prompt_us = 0, decode_us = 0;  // until it began, from there to the first token, from there to the end
};

// Of kind embed.
struct RequestVector {
  std::vector<Pooling> poolings;
  std::vector<float> values;         // room from the beginning; with FinishReason::embedded they go to the news
  std::optional<TextVector> made;    // of the tokens that are computed, while it runs or is put out
  AskedRows asked;                   // of its part in the step at hand
  Status status;                     // of the vector, once all are
};

struct Request {
  uint64_t id = 0;
  uint64_t user = 0;

  // The engine's mutex guards these.
  struct Run {
    PlannedRequest::State state = PlannedRequest::State::waiting;
    RequestOptions options;               // those of the session until it begins
    int64_t submitted = 0, waiting_since = 0, deadline = INT64_MAX, expires = INT64_MAX;
    int64_t began = 0, drew_first = 0;    // 0: not yet
    std::vector<int32_t> prompt;          // until it begins
    std::shared_ptr<Session> session;     // from then on, maybe the one that it continues; it has a slot and blocks while it runs
    bool has_session = false;             // that it continues: no other request or call has it
    int32_t n_kept = 0;                   // of its tokens, once it has it; then `prompt` is the whole sequence
    int32_t n_prompt = 0, n_cached = 0, n_drawn = 0;  // cached: of the prompt, when it began
    int32_t n_lost = 0;                   // tokens that had been computed when it was put out, and are not stored
    StoredSequence stored;                // while it is put out, where it will not be computed again
    std::unique_ptr<RequestVector> vector;  // of kind embed
    int32_t n_drawn_since = 0;            // since it began or came back
    bool in_step = false;                 // has a part in the step at hand
    bool has_ended = false;
    FinishReason ends_after = FinishReason::none;  // that step
    std::shared_ptr<RequestQueue> queue;  // until it ends: the queue holds the request
  } run;

  // The queue's mutex guards these.
  struct News {
    std::vector<TokenLogprob> tokens;  // that nobody has polled
    std::vector<TokenLogprob> top;     // (tokens, n_top): of each the likeliest in its place, token -1 where there is none
    int32_t n_top = 0;
    std::string text;             // likewise; whole characters
    RequestEnd end;
    std::vector<float> values;    // of the vector, from its end until somebody takes them
    bool has_ended = false, is_cancelled = false, is_listed = false, is_end_polled = false;
    Request* next = nullptr;  // of those that are listed
  } news;
  std::atomic<int32_t> n_unread{0};  // of news.tokens

  bool draws() const { return run.options.kind == RequestKind::generate; }
  bool embeds() const { return run.options.kind == RequestKind::embed; }
  bool is_unread() const;  // has so many that it draws no more; while it has not ended
};

// Tokens that a sequence of which n are there can come to have.
int32_t n_most_tokens(int32_t n, int32_t max_tokens, int32_t n_context);

}  // namespace inlay
