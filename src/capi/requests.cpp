#include "src/engine/requests.h"

#include <limits>

#include "src/base/host_call.h"
#include "src/base/pulse.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

Status read_queue_params(const inlay_queue_params* given, QueueLimits& limits, RequestQueue::Wake& wake) {
  inlay_queue_params params;
  INLAY_TRY(read_struct(given, "params", params));
  if (params.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
  constexpr int32_t kMost = 1 << 20;
  INLAY_TRY(check_range(params.max_requests, 0, kMost, "params.max_requests"));
  INLAY_TRY(check_range(params.max_unread_tokens, 0, kMost, "params.max_unread_tokens"));
  if (params.max_requests > 0) limits.max_requests = params.max_requests;
  if (params.max_unread_tokens > 0) limits.max_unread_tokens = params.max_unread_tokens;
  if (params.wake) {
    wake = [wake = params.wake, user = params.wake_user] { call_host([&] { wake(user); }); };
  }
  return {};
}

Status read_us(uint64_t given, const char* name, int64_t& out) {
  constexpr uint64_t kMost = uint64_t{1} << 60;
  if (given > kMost) return error(Code::invalid_argument, "%s is %llu, expected at most 2^60", name, static_cast<unsigned long long>(given));
  out = static_cast<int64_t>(given);
  return {};
}

// What is wrong with a struct of the request, by the name that it has there.
Status named(Status status, const char* name) {
  constexpr std::string_view kAlone = "params";
  const std::string_view rest = status.message.starts_with(kAlone) ? std::string_view(status.message).substr(kAlone.size()) : std::string_view();
  if (rest.starts_with('.') || rest.starts_with(':')) status.message = name + std::string(rest);
  return status;
}

Status read_chat(const inlay_chat_params* given, ChatOptions& out) {
  if (given) return named(read_chat_params(given, out), "request.chat");
  out.add_generation_prompt = true;
  return {};
}

bool has_conversation(const inlay_request& request) { return request.conversation || request.conversation_len != 0; }

// What makes no sense with a request of its kind.
Status check_fields(const inlay_request& request) {
  if (request.kind != INLAY_REQUEST_EMBED) {
    if (request.embed) return error(Code::invalid_argument, "request.embed is set, and request.kind is not EMBED");
    if (request.chat && !has_conversation(request)) return error(Code::invalid_argument, "request.chat is set, and request.conversation is not");
    return {};
  }
  const struct {
    const char* name;
    bool is_set;
  } fields[] = {{"conversation", has_conversation(request)}, {"chat", request.chat != nullptr}, {"session_params", request.session_params != nullptr}, {"continues", request.continues != nullptr}};
  for (const auto& field : fields) {
    if (field.is_set) return error(Code::invalid_argument, "request.%s is set, and request.kind is EMBED", field.name);
  }
  return {};
}

Status read_embed(const inlay_embed_params* given, EmbedOptions& out) {
  INLAY_TRY(named(read_embed_params(given, out), "request.embed"));
  if (out.progress) return error(Code::invalid_argument, "request.embed.progress is set: requests tell none");
  return {};
}

// The prompt's tokens, made on the caller's thread.
Result<std::vector<int32_t>> read_prompt(const Engine& engine, const inlay_request& request, const RequestOptions& read, bool is_fresh) {
  const bool tokens = request.tokens || request.n_tokens != 0, text = request.text || request.text_len != 0;
  const bool conversation = has_conversation(request);
  if (tokens + text + conversation != 1)
    return error(Code::invalid_argument, "the request has %d of tokens, text and conversation, expected one", tokens + text + conversation);
  if (tokens) {
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(request.tokens, request.n_tokens, "request.tokens"));
    return std::vector<int32_t>(ids.begin(), ids.end());
  }
  if (conversation) {
    INLAY_ASSIGN(const std::string_view json, read_text(request.conversation, request.conversation_len, "request.conversation"));
    ChatOptions options;
    INLAY_TRY(read_chat(request.chat, options));
    return tokenize_chat(engine, json, options);
  }
  if (!engine.tokenizer()) return error(Code::unsupported, "request.text: the model has no tokenizer");
  INLAY_ASSIGN(const std::string_view characters, read_text(request.text, request.text_len, "request.text"));
  std::vector<int32_t> out;
  if (read.kind == RequestKind::embed) {
    if (Status status = encode_for_embedding(engine, characters, read.embed, out); !status.ok()) {
      status.message = "request.text: " + status.message;
      return status;
    }
    return out;
  }
  INLAY_TRY(engine.tokenizer()->encode(characters, {.add_special = is_fresh}, out));
  return out;
}

Status read_options(const inlay_request& request, RequestOptions& out) {
  INLAY_TRY(check_range(request.kind, INLAY_REQUEST_GENERATE, INLAY_REQUEST_EMBED, "request.kind"));
  INLAY_TRY(check_fields(request));
  if (request.reserved != 0) return error(Code::invalid_argument, "request.reserved is not 0");
  INLAY_TRY(check_range(request.priority, 0, kTopLevel, "request.priority"));
  INLAY_TRY(read_us(request.deadline_us, "request.deadline_us", out.deadline_us));
  INLAY_TRY(read_us(request.timeout_us, "request.timeout_us", out.timeout_us));
  out.kind = static_cast<RequestKind>(request.kind);
  out.priority = request.priority;
  out.user = request.user;
  out.cache_salt = request.cache_salt;
  INLAY_TRY(read_embed(request.embed, out.embed));
  INLAY_TRY(named(read_session_params(request.session_params, out.session), "request.session_params"));
  if (out.session.reserve || out.session.for_requests) return error(Code::invalid_argument, "request.session_params.flags has RESERVE or FOR_REQUESTS, which are of sessions");
  return {};
}

inlay_request_event event_of(const RequestEvent& event) {
  inlay_request_event out = {};
  out.request_id = event.request;
  out.number = event.number;
  out.user = event.user;
  out.kind = event.is_end ? INLAY_REQUEST_EVENT_END : INLAY_REQUEST_EVENT_TOKENS;
  out.n_tokens = static_cast<int32_t>(event.n_tokens);
  out.n_top = event.n_top;
  out.first_token = event.first_token;
  out.first_byte = event.first_byte;
  out.text_bytes = event.n_text;
  if (!event.is_end) return out;
  out.finish_reason = static_cast<inlay_finish_reason>(event.end.reason);
  out.status = static_cast<inlay_status>(event.end.status.code);
  out.n_prompt = event.end.n_prompt;
  out.n_cached = event.end.n_cached;
  out.n_drawn = event.end.n_drawn;
  out.queued_us = static_cast<uint64_t>(event.end.queued_us);
  out.prompt_us = static_cast<uint64_t>(event.end.prompt_us);
  out.decode_us = static_cast<uint64_t>(event.end.decode_us);
  out.n_values = event.end.n_values;
  return out;
}

constexpr bool same(RequestQueue::Waited waited, inlay_wait_result result) { return static_cast<int>(waited) == result; }
static_assert(same(RequestQueue::Waited::time_over, INLAY_WAIT_RESULT_TIME_OVER) && same(RequestQueue::Waited::ready, INLAY_WAIT_RESULT_READY) &&
              same(RequestQueue::Waited::woken, INLAY_WAIT_RESULT_WOKEN) && same(RequestQueue::Waited::nobody_computes, INLAY_WAIT_RESULT_NOBODY_COMPUTES));

Result<std::shared_ptr<Engine>> engine_of(const inlay_queue& queue) {
  std::shared_ptr<Engine> engine = queue.queue->engine();
  if (!engine) return error(Code::invalid_state, "the queue's engine was freed");
  return engine;
}

// Of a queue that nobody collects from any more.
void cancel_all(RequestQueue& queue) {
  queue.close(true);
  if (const std::shared_ptr<Engine> engine = queue.engine()) engine->requests().cancel_of(queue);
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_engine::~inlay_engine() {
  if (engine) engine->requests().close();
}

inlay_session::~inlay_session() {
  if (session && session->is_for_requests()) session->engine().requests().cancel_of(*session);
}

inlay_queue::~inlay_queue() {
  if (queue) cancel_all(*queue);
}

inlay_status inlay_queue_create(const inlay_engine* engine, const inlay_queue_params* params, inlay_queue** queue, inlay_error* err) {
  clear(queue);
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(check_not_null(queue, "queue"));
    INLAY_TRY(use.begin(engine, "engine"));
    QueueLimits limits;
    RequestQueue::Wake wake;
    INLAY_TRY(read_queue_params(params, limits, wake));
    auto handle = std::make_unique<inlay_queue>();
    handle->shared = std::make_shared<Shared>();
    handle->queue = engine->engine->requests().add_queue(engine->engine, limits);
    handle->queue->set_wake(std::move(wake));
    *queue = handle.release();
    return {};
  });
}

void inlay_queue_free(inlay_queue* queue) {
  if (!may_be_freed(queue)) return;
  queue->queue->set_wake({});
  queue->queue->close(true);
  free_handle(queue);
}

inlay_status inlay_submit(const inlay_queue* queue, const inlay_request* request, uint64_t* request_id, inlay_error* err) {
  clear(request_id);
  return guarded<inlay_queue>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(queue, "queue"));
    INLAY_TRY(check_not_null(request, "request"));
    INLAY_TRY(check_not_null(request_id, "request_id"));
    INLAY_ASSIGN(const std::shared_ptr<Engine> engine, engine_of(*queue));
    inlay_request given;
    INLAY_TRY(read_struct(request, "request", given));
    RequestOptions options;
    INLAY_TRY(read_options(given, options));
    Use<inlay_session> continued;
    if (given.continues) {
      INLAY_TRY(continued.begin(given.continues, "request.continues"));
      options.continues = given.continues->session;
      options.replaces = given.conversation != nullptr;
      options.has_options = given.session_params != nullptr;
    }
    const Pulse pulse([queue](uint64_t) {
      return queue->users.is_freed() ? error(Code::cancelled, "the queue was freed while text became tokens") : Status{};
    });
    INLAY_ASSIGN(std::vector<int32_t> prompt, read_prompt(*engine, given, options, !options.continues || engine->requests().is_fresh(*options.continues)));
    return engine->requests().submit(queue->queue, std::move(prompt), std::move(options), *request_id);
  });
}

inlay_status inlay_request_cancel(const inlay_queue* queue, uint64_t request_id, inlay_error* err) {
  return guarded<inlay_queue>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(queue, "queue"));
    const std::shared_ptr<Request> request = queue->queue->cancel(request_id);
    const std::shared_ptr<Engine> engine = queue->queue->engine();
    if (request && engine) engine->requests().cancel(*request);
    return {};
  });
}

inlay_status inlay_request_take_values(const inlay_queue* queue, uint64_t request_id, float* values, size_t cap, size_t* needed, inlay_error* err) {
  clear(needed);
  return guarded<inlay_queue>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(queue, "queue"));
    if (cap != 0) INLAY_TRY(check_not_null(values, "values"));
    size_t n = 0;
    const Status status = queue->queue->take_values(request_id, {values, cap}, !values, n);
    if (needed) *needed = n;
    return status;
  });
}

inlay_status inlay_poll(const inlay_queue* queue, inlay_request_event* events, size_t cap_events, size_t event_stride,
                        inlay_token_logprob* tokens, size_t cap_tokens, char* text, size_t cap_text, size_t* n_events, inlay_error* err) {
  clear(n_events);
  return guarded<inlay_queue>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(queue, "queue"));
    INLAY_TRY(check_not_null(n_events, "n_events"));
    if (cap_events != 0) INLAY_TRY(check_not_null(events, "events"));
    INLAY_TRY(check_stride(event_stride, kFirstSize<inlay_request_event>, alignof(inlay_request_event), "event_stride"));
    if (cap_tokens != 0) INLAY_TRY(check_not_null(tokens, "tokens"));
    if (cap_text != 0) INLAY_TRY(check_not_null(text, "text"));
    const std::shared_ptr<Engine> engine = queue->queue->engine();
    if (engine) engine->requests().end_expired();
    const EventRoom room{.n_events = cap_events,
                         .tokens = {reinterpret_cast<TokenLogprob*>(tokens), cap_tokens},
                         .text = {text, cap_text}};
    INLAY_ASSIGN(*n_events, queue->queue->poll(room, [&](size_t i, const RequestEvent& event) {
      write_sized(reinterpret_cast<std::byte*>(events) + i * event_stride, event_stride, event_of(event));
    }));
    if (engine && queue->queue->takes_up_again()) engine->requests().note_polled();
    return {};
  });
}

inlay_status inlay_wait(const inlay_queue* queue, int64_t timeout_us, inlay_wait_result* result, inlay_error* err) {
  clear(result);
  return guarded<inlay_queue>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(queue, "queue"));
    INLAY_TRY(check_not_null(result, "result"));
    const uint64_t n_wakes = queue->queue->n_wakes();  // the engine's thread may end behind the check
    if (const std::shared_ptr<Engine> engine = queue->queue->engine()) {
      engine->requests().end_expired();
      if (timeout_us != 0) INLAY_TRY(engine->requests().check_wait(*queue->queue));
    }
    INLAY_ASSIGN(const RequestQueue::Waited waited, queue->queue->wait(timeout_us < 0 ? std::nullopt : std::optional(timeout_us), n_wakes));
    *result = static_cast<inlay_wait_result>(waited);
    return {};
  });
}

inlay_status inlay_queue_wake(const inlay_queue* queue, inlay_error* err) {
  return guarded<inlay_queue>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(queue, "queue"));
    queue->queue->wake_waits();
    return {};
  });
}

inlay_status inlay_queue_get_handle(const inlay_queue* queue, inlay_wait_kind* kind, int64_t* handle, inlay_error* err) {
  clear(kind);
  clear(handle);
  return guarded<inlay_queue>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(queue, "queue"));
    INLAY_TRY(check_not_null(kind, "kind"));
    INLAY_TRY(check_not_null(handle, "handle"));
    INLAY_ASSIGN(*handle, queue->queue->handle());
#ifdef _WIN32
    *kind = INLAY_WAIT_WINDOWS_EVENT;
#else
    *kind = INLAY_WAIT_EVENTFD;
#endif
    return {};
  });
}

inlay_status inlay_run(const inlay_engine* engine, const inlay_run_params* params, inlay_run_info* info, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_out_struct(info, "info"));
    inlay_run_params given;
    INLAY_TRY(read_struct(params, "params", given));
    INLAY_TRY(check_flags(given.flags, INLAY_RUN_ONE_STEP | INLAY_RUN_NO_WAIT, "params.flags"));
    RunBudget budget;
    INLAY_TRY(read_us(given.budget_us, "params.budget_us", budget.us));
    INLAY_TRY(read_us(given.max_step_us, "params.max_step_us", budget.max_step_us));
    INLAY_TRY(read_us(given.host_budget_us, "params.host_budget_us", budget.host_us));
    budget.one_step = (given.flags & INLAY_RUN_ONE_STEP) != 0;
    budget.no_wait = (given.flags & INLAY_RUN_NO_WAIT) != 0;
    INLAY_ASSIGN(const RunResult result, engine->engine->requests().run(budget));
    inlay_run_info out = {};
    if (result.has_work) out.flags |= INLAY_RUN_INFO_HAS_WORK;
    out.n_tokens = result.n_tokens;
    out.n_requests = result.n_requests;
    write_struct(info, out);
    return {};
  });
}

inlay_status inlay_engine_set_thread(const inlay_engine* engine, const inlay_thread_params* params, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    if (!params) return engine->engine->requests().set_thread({});
    inlay_thread_params given;
    INLAY_TRY(read_struct(params, "params", given));
    if (given.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
    ThreadShare share;
    INLAY_TRY(read_us(given.busy_us, "params.busy_us", share.busy_us));
    INLAY_TRY(read_us(given.period_us, "params.period_us", share.period_us));
    INLAY_TRY(read_us(given.max_step_us, "params.max_step_us", share.max_step_us));
    if ((share.busy_us == 0) != (share.period_us == 0)) return error(Code::invalid_argument, "of params.busy_us and params.period_us one is 0");
    if (share.busy_us > share.period_us) return error(Code::invalid_argument, "params.busy_us is more than params.period_us");
    return engine->engine->requests().set_thread(share);
  });
}
