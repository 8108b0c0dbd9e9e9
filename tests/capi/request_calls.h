// The rows of function_calls.h for requests.
#pragma once

#include "tests/capi/request_client.h"

namespace inlay::test {

// A queue with a request that was computed whole, of `world`'s engine.
template <class World>
QueuePtr queue_of(const World& world) {
  inlay_queue* made = nullptr;
  inlay_error err;
  EXPECT_EQ(CALL(inlay_queue_create, world.engine.get(), nullptr, &made, &err), INLAY_OK) << err.message;
  return QueuePtr(made);
}

template <class World>
uint64_t submitted(const World&, const QueuePtr& queue, std::string& out) {
  inlay_session_params session = sized<inlay_session_params>();
  session.max_tokens = 3;
  inlay_request request = sized<inlay_request>();
  const std::string text = "Stra\u00dfe 1,5";
  request.text = text.data();
  request.text_len = text.size();
  request.session_params = &session;
  uint64_t id = 0;
  inlay_error err;
  const inlay_status status = CALL(inlay_submit, queue.get(), &request, &id, &err);
  out += outcome(status, err) + std::to_string(id > 0);
  return id;
}

template <class World>
std::string run_of(const World& world) {
  inlay_run_info info = sized<inlay_run_info>();
  inlay_error err;
  const inlay_status status = CALL(inlay_run, world.engine.get(), nullptr, &info, &err);
  return outcome(status, err) + bytes_of(info);
}

inline std::string polled(const QueuePtr& queue) {
  std::vector<inlay_request_event> events(4);
  std::vector<inlay_token_logprob> tokens(8);
  std::string text(64, '\0');
  size_t n = 0;
  inlay_error err;
  const inlay_status status =
      CALL(inlay_poll, queue.get(), events.data(), events.size(), sizeof events[0], tokens.data(), tokens.size(), text.data(), text.size(), &n, &err);
  std::string out = outcome(status, err) + std::to_string(n) + bytes_of(tokens) + text;
  for (const inlay_request_event& event : events) out += std::to_string(event.kind) + std::to_string(event.n_tokens) + std::to_string(event.n_prompt);
  return out;
}

// Row: a name and what it observes of a World.
template <class Row, class World>
std::vector<Row> request_rows() {
  return {
      {"inlay_queue_create", [](const World& w) { return std::to_string(queue_of(w) != nullptr); }},
      {"inlay_queue_free", [](const World& w) {
         std::string out;
         QueuePtr queue = queue_of(w);
         submitted(w, queue, out);
         CALL(inlay_queue_free, queue.release());
         return out;
       }},
      {"inlay_submit", [](const World& w) {
         std::string out;
         const QueuePtr queue = queue_of(w);
         submitted(w, queue, out);
         return out;
       }},
      {"inlay_request_cancel", [](const World& w) {
         std::string out;
         const QueuePtr queue = queue_of(w);
         const uint64_t id = submitted(w, queue, out);
         inlay_error err;
         const inlay_status status = CALL(inlay_request_cancel, queue.get(), id, &err);
         return out + outcome(status, err) + polled(queue);
       }},
      {"inlay_request_take_values", [](const World& w) {
         const QueuePtr queue = queue_of(w);
         inlay_embed_params embed = sized<inlay_embed_params>();
         embed.pooling = INLAY_POOLING_MEAN;
         inlay_request request = sized<inlay_request>();
         const std::string text = "Stra\u00dfe 1,5";
         request.kind = INLAY_REQUEST_EMBED;
         request.text = text.data();
         request.text_len = text.size();
         request.embed = &embed;
         uint64_t id = 0;
         inlay_error err;
         EXPECT_EQ(inlay_submit(queue.get(), &request, &id, &err), INLAY_OK) << err.message;
         std::string out = run_of(w);
         std::vector<float> values(4096);
         size_t n = 0;
         const inlay_status status = CALL(inlay_request_take_values, queue.get(), id, values.data(), values.size(), &n, &err);
         return out + outcome(status, err) + std::to_string(n) + bytes_of(values);
       }},
      {"inlay_run", [](const World& w) {
         std::string out;
         const QueuePtr queue = queue_of(w);
         submitted(w, queue, out);
         return out + run_of(w);
       }},
      {"inlay_poll", [](const World& w) {
         std::string out;
         const QueuePtr queue = queue_of(w);
         submitted(w, queue, out);
         out += run_of(w);
         return out + polled(queue);
       }},
      {"inlay_wait", [](const World& w) {
         std::string out;
         const QueuePtr queue = queue_of(w);
         out += run_of(w);
         inlay_wait_result result = 99;
         inlay_error err;
         const inlay_status status = CALL(inlay_wait, queue.get(), int64_t{100}, &result, &err);
         return out + outcome(status, err) + std::to_string(result);
       }},
      {"inlay_queue_wake", [](const World& w) {
         std::string out;
         const QueuePtr queue = queue_of(w);
         out += run_of(w);
         inlay_error err;
         inlay_status status = CALL(inlay_queue_wake, queue.get(), &err);
         out += outcome(status, err);
         inlay_wait_result result = 0;
         status = inlay_wait(queue.get(), -1, &result, &err);
         return out + outcome(status, err) + std::to_string(result);
       }},
      {"inlay_queue_get_handle", [](const World& w) {
         const QueuePtr queue = queue_of(w);
         inlay_wait_kind kind = 0;
         int64_t handle = -1;
         inlay_error err;
         const inlay_status status = CALL(inlay_queue_get_handle, queue.get(), &kind, &handle, &err);
         return outcome(status, err) + std::to_string(kind) + std::to_string(handle > 0);
       }},
      {"inlay_engine_set_thread", [](const World& w) {
         std::string out;
         const QueuePtr queue = queue_of(w);
         const inlay_thread_params params = sized<inlay_thread_params>();
         inlay_error err;
         inlay_status status = CALL(inlay_engine_set_thread, w.engine.get(), &params, &err);
         out += outcome(status, err);
         submitted(w, queue, out);
         inlay_wait_result result = 0;
         EXPECT_EQ(inlay_wait(queue.get(), -1, &result, nullptr), INLAY_OK);
         status = CALL(inlay_engine_set_thread, w.engine.get(), nullptr, &err);
         return out + outcome(status, err);
       }},
  };
}

}  // namespace inlay::test
