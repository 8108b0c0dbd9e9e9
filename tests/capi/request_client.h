// Requests as tests use them: queues that free themselves, and what is collected as text.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/capi/client.h"

namespace inlay::test {

struct FreeQueue {
  void operator()(inlay_queue* q) const { inlay_queue_free(q); }
};
using QueuePtr = std::unique_ptr<inlay_queue, FreeQueue>;

inline QueuePtr new_queue(const EnginePtr& engine, const inlay_queue_params* params = nullptr) {
  inlay_queue* made = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_queue_create(engine.get(), params, &made, &err), INLAY_OK) << err.message;
  return QueuePtr(made);
}

inline inlay_request request_of(const Tokens& tokens, const inlay_session_params* session = nullptr) {
  inlay_request out = sized<inlay_request>();
  out.tokens = tokens.data();
  out.n_tokens = tokens.size();
  out.session_params = session;
  return out;
}

inline uint64_t submit(const QueuePtr& queue, const inlay_request& request) {
  uint64_t id = 0;
  inlay_error err;
  EXPECT_EQ(inlay_submit(queue.get(), &request, &id, &err), INLAY_OK) << err.message;
  return id;
}

// What a request has come to.
struct Answer {
  Tokens tokens;
  std::string text, message;
  uint64_t user = 0;
  inlay_finish_reason reason = INLAY_FINISH_NONE;
  inlay_status status = INLAY_OK;
  int32_t n_prompt = 0, n_cached = 0, n_drawn = 0;
  std::vector<float> values;
  int n_ends = 0;
};
using Answers = std::map<uint64_t, Answer>;

// One poll into room for `n_events`; how many there were.
inline size_t poll(inlay_queue* queue, Answers& into, size_t n_events = 8) {
  std::vector<inlay_request_event> events(n_events);
  std::vector<inlay_token_logprob> tokens(8 * n_events);
  std::string text(32 * n_events, '\0');
  size_t n = 0;
  inlay_error err;
  const inlay_status status = inlay_poll(queue, events.data(), n_events, sizeof events[0], tokens.data(), tokens.size(), text.data(), text.size(), &n, &err);
  if (status != INLAY_OK) return 0;
  for (const inlay_request_event& event : std::span(events).first(n)) {
    Answer& own = into[event.request_id];
    own.user = event.user;
    for (int32_t i = 0; i < event.n_tokens; ++i) own.tokens.push_back(tokens[event.first_token + static_cast<size_t>(i)].token);
    const bool ends = event.kind == INLAY_REQUEST_EVENT_END;
    (ends ? own.message : own.text) += text.substr(event.first_byte, event.text_bytes);
    if (!ends) continue;
    ++own.n_ends;
    own.reason = event.finish_reason;
    own.status = event.status;
    own.n_prompt = event.n_prompt;
    own.n_cached = event.n_cached;
    own.n_drawn = event.n_drawn;
    if (event.n_values == 0) continue;
    own.values.resize(event.n_values);
    EXPECT_EQ(inlay_request_take_values(queue, event.request_id, own.values.data(), own.values.size(), nullptr, &err), INLAY_OK) << err.message;
  }
  return n;
}

inline std::string text_of(const Answer& answer) {
  std::ostringstream out;
  for (const int32_t token : answer.tokens) out << token << " ";
  out << "'" << answer.text << "' end " << answer.reason << " " << answer.message << " prompt " << answer.n_prompt << " user " << answer.user;
  for (const float value : answer.values) out << " " << value;
  return out.str();
}

// All requests computed on this thread and collected.
inline Answers answers_of(const EnginePtr& engine, const QueuePtr& queue, const inlay_run_params* params = nullptr) {
  Answers out;
  inlay_run_info info = sized<inlay_run_info>();
  do {
    inlay_error err;
    EXPECT_EQ(inlay_run(engine.get(), params, &info, &err), INLAY_OK) << err.message;
    while (poll(queue.get(), out) > 0) {
    }
  } while (info.n_requests > 0);
  return out;
}

inline void give_thread(const EnginePtr& engine) {
  const inlay_thread_params params = sized<inlay_thread_params>();
  inlay_error err;
  ASSERT_EQ(inlay_engine_set_thread(engine.get(), &params, &err), INLAY_OK) << err.message;
}

// Waits and polls until `n` requests have ended.
inline void collect(inlay_queue* queue, Answers& into, size_t n) {
  const auto n_ended = [&] {
    return std::ranges::count_if(into, [](const auto& entry) { return entry.second.n_ends > 0; });
  };
  while (static_cast<size_t>(n_ended()) < n) {
    inlay_wait_result result = 0;
    inlay_error err;
    ASSERT_EQ(inlay_wait(queue, 60'000'000, &result, &err), INLAY_OK) << err.message;
    ASSERT_EQ(result, INLAY_WAIT_RESULT_READY);
    poll(queue, into);
  }
}

}  // namespace inlay::test
