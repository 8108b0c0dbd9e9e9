// The rows of effects.cpp that show what the fields of requests and of who computes them change.
#pragma once

#include "tests/capi/chat_client.h"
#include "tests/capi/effects_sampler.h"
#include "tests/capi/request_client.h"

namespace inlay::test {

// What a request comes to, or the error of its submission.
inline std::string answered(const inlay_request& request, const QueuePtr& queue = new_queue(engine()), const EnginePtr& on = engine()) {
  uint64_t id = 0;
  inlay_error err;
  if (const auto status = inlay_submit(queue.get(), &request, &id, &err); status != INLAY_OK) return failure(status, err);
  return text_of(answers_of(on, queue)[id]);
}

inline inlay_session_params short_session() {
  inlay_session_params out = sized<inlay_session_params>();
  out.max_tokens = 6;
  out.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  return out;
}

// The second of two requests, for a session that the first one left or beside it.
inline std::string continued(bool with) {
  inlay_session_params params = short_session();
  params.flags |= INLAY_SESSION_FOR_REQUESTS;
  const SessionPtr session = new_session(engine(), &params);
  inlay_request request = request_of(kPlain);
  request.continues = session.get();
  answered(request);
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  if (!with) request.session_params = &params, request.continues = nullptr;
  return answered(request);
}

// Of a prompt that somebody without a salt has had before, how many tokens are found.
inline std::string found_with_salt(bool with) {
  const Tokens tokens(100, 50);
  inlay_session_params session = short_session();
  inlay_request request = request_of(tokens, &session);
  const QueuePtr queue = new_queue(engine());
  std::string found;
  for (const uint64_t salt : {0, with ? 7 : 0}) {
    request.cache_salt = salt;
    const uint64_t id = submit(queue, request);
    found = std::to_string(answers_of(engine(), queue)[id].n_cached);
  }
  return found;
}

// The vector of a text, or the error of its submission.
inline EffectRow vector_row(const char* field, Kind kind, std::function<void(inlay_request&, inlay_embed_params&)> set, std::string words = "") {
  return {field, kind, [=](bool with) {
            inlay_embed_params embed = sized<inlay_embed_params>();
            embed.pooling = INLAY_POOLING_MEAN;
            inlay_request request = request_of(kPlain);
            request.kind = INLAY_REQUEST_EMBED;
            request.embed = &embed;
            if (with) set(request, embed);
            return answered(request);
          }, std::move(words)};
}

inline EffectRow request_row(const char* field, Kind kind, std::function<void(inlay_request&)> set, std::string words = "",
                             std::function<void(inlay_request&)> base = {}) {
  return {std::string("inlay_request.") + field, kind, [=](bool with) {
            const inlay_session_params session = short_session();
            inlay_request request = base ? sized<inlay_request>() : request_of(kPlain);
            request.session_params = &session;
            if (base) base(request);
            if (with) set(request);
            return answered(request);
          }, std::move(words)};
}

// Two requests on an engine with room for one: in which order they end.
inline std::string order_of(const std::function<void(inlay_request& first, inlay_request& second)>& set) {
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.max_sessions = 1;
  params.n_threads = 1;
  const EnginePtr own = load(params);
  const QueuePtr queue = new_queue(own);
  const inlay_session_params session = short_session();
  inlay_request first = request_of(kPlain, &session), second = first;
  set(first, second);
  const uint64_t a = submit(queue, first);
  submit(queue, second);
  inlay_run_params step = sized<inlay_run_params>();
  step.flags = INLAY_RUN_ONE_STEP;
  inlay_run_info info = sized<inlay_run_info>();
  Answers answers;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(inlay_run(own.get(), &step, &info, nullptr), INLAY_OK);
    poll(queue.get(), answers);
    for (const auto& [id, answer] : answers)
      if (answer.n_ends > 0) return id == a ? "the first" : "the second";
  }
  return "none";
}

inline EffectRow order_row(const char* field, std::function<void(inlay_request& first, inlay_request& second)> set) {
  return {std::string("inlay_request.") + field, Kind::effect, [=](bool with) {
            return order_of([&](inlay_request& first, inlay_request& second) {
              if (with) set(first, second);
            });
          }};
}

inline std::string made(const inlay_queue_params& params) {
  inlay_queue* out = nullptr;
  inlay_error err;
  const inlay_status status = inlay_queue_create(engine().get(), &params, &out, &err);
  inlay_queue_free(out);
  return status == INLAY_OK ? "made" : failure(status, err);
}

inline EffectRow queue_row(const char* field, Kind kind, std::function<void(inlay_queue_params&)> set, std::string words = "") {
  return {std::string("inlay_queue_params.") + field, kind, [=](bool with) {
            inlay_queue_params params = sized<inlay_queue_params>();
            if (with) set(params);
            if (kind == Kind::refused) return made(params);
            const QueuePtr queue = new_queue(engine(), &params);
            const inlay_session_params session = short_session();
            const inlay_request request = request_of(kPlain, &session);
            std::string out;
            for (int i = 0; i < 2; ++i) {
              uint64_t id = 0;
              out += inlay_status_name(inlay_submit(queue.get(), &request, &id, nullptr));
            }
            inlay_run_info info = sized<inlay_run_info>();
            EXPECT_EQ(inlay_run(engine().get(), nullptr, &info, nullptr), INLAY_OK);
            return out + " " + std::to_string(info.n_tokens);
          }, std::move(words)};
}

inline std::string ran(const inlay_run_params& params) {
  const QueuePtr queue = new_queue(engine());
  inlay_session_params session = short_session();
  session.max_tokens = 40;
  const Tokens prompt(200, 65);
  inlay_request request = request_of(prompt, &session);
  static uint64_t n_calls = 0;
  request.cache_salt = ++n_calls + (uint64_t{1} << 32);  // a prompt that is found again is short
  inlay_run_info info = sized<inlay_run_info>();
  inlay_error err;
  inlay_status status = inlay_run(engine().get(), nullptr, &info, &err);  // what the call before has left of its step
  if (status != INLAY_OK) return failure(status, err);
  submit(queue, request);
  status = inlay_run(engine().get(), &params, &info, &err);
  if (status != INLAY_OK) return failure(status, err);
  return std::to_string(info.n_tokens) + " tokens, " + std::to_string(info.n_requests) + " left, flags " + std::to_string(info.flags);
}

inline EffectRow run_row(const char* field, Kind kind, std::function<void(inlay_run_params&)> set, std::string words = "",
                         std::function<void(inlay_run_params&)> base = {}) {
  return {field[0] == 'I' ? field : std::string("inlay_run_params.") + field, kind, [=](bool with) {
            inlay_run_params params = sized<inlay_run_params>();
            if (base) base(params);
            if (with) set(params);
            return ran(params);
          }, std::move(words)};
}

inline EffectRow thread_row(const char* field, std::function<void(inlay_thread_params&)> set, std::string words) {
  return {std::string("inlay_thread_params.") + field, Kind::refused, [=](bool with) {
            inlay_thread_params params = sized<inlay_thread_params>();
            if (with) set(params);
            inlay_error err;
            const inlay_status status = inlay_engine_set_thread(engine().get(), &params, &err);
            inlay_engine_set_thread(engine().get(), nullptr, nullptr);
            return status == INLAY_OK ? "fine" : failure(status, err);
          }, std::move(words)};
}

// Tokens that are computed for a prompt that was computed before.
inline std::string computed_again(const inlay_load_params& params) {
  const EnginePtr own = load(params);
  const QueuePtr queue = new_queue(own);
  const inlay_session_params session = short_session();
  const Tokens prompt(100, 65);
  inlay_stats stats = sized<inlay_stats>();
  for (int i = 0; i < 2; ++i) {
    submit(queue, request_of(prompt, &session));
    answers_of(own, queue);
  }
  EXPECT_EQ(inlay_engine_get_stats(own.get(), &stats, nullptr), INLAY_OK);
  return std::to_string(stats.n_prefill_tokens);
}

// Likewise, where others have needed its room in the pool meanwhile.
inline std::string computed_behind_others(inlay_load_params params) {
  params.n_context = 256;
  params.max_sessions = 1;
  inlay_memory_info plan = sized<inlay_memory_info>();
  EXPECT_EQ(inlay_memory_plan(model_file(kModel).c_str(), SIZE_MAX, &params, &plan, nullptr), INLAY_OK);
  params.kv_budget_bytes = plan.kv_bytes / 2;
  const EnginePtr own = load(params);
  const QueuePtr queue = new_queue(own);
  const inlay_session_params session = short_session();
  inlay_stats stats = sized<inlay_stats>();
  while (stats.prefix_cache_host_bytes_taken < plan.prefix_cache_host_bytes) inlay_engine_get_stats(own.get(), &stats, nullptr);  // a thread takes it
  for (const int32_t token : {65, 66, 65}) {
    submit(queue, request_of(Tokens(100, token), &session));
    answers_of(own, queue);
  }
  EXPECT_EQ(inlay_engine_get_stats(own.get(), &stats, nullptr), INLAY_OK);
  return std::to_string(stats.n_prefill_tokens);
}

// An engine computes a request for a part of the time. "fast": the request ended. "slow": no event came for a second, far longer than a thread loses its
// CPU; for ten seconds where the engine has all of the time.
inline std::string slow_thread(uint64_t busy_us, uint64_t period_us) {
  inlay_load_params load_params = on(INLAY_DEVICE_CPU);
  load_params.n_threads = 1;
  const EnginePtr own = load(load_params);
  const QueuePtr queue = new_queue(own);
  inlay_thread_params params = sized<inlay_thread_params>();
  params.busy_us = busy_us;
  params.period_us = period_us;
  EXPECT_EQ(inlay_engine_set_thread(own.get(), &params, nullptr), INLAY_OK);
  inlay_session_params session = short_session();
  session.max_tokens = 20;
  const uint64_t patience_us = busy_us == period_us ? 10'000'000 : 1'000'000;
  submit(queue, request_of(kPlain, &session));
  Answers answers;
  const auto has_ended = [&] { return !answers.empty() && answers.begin()->second.n_ends > 0; };
  for (inlay_wait_result result = INLAY_WAIT_RESULT_READY; result == INLAY_WAIT_RESULT_READY && !has_ended();) {
    EXPECT_EQ(inlay_wait(queue.get(), patience_us, &result, nullptr), INLAY_OK);
    poll(queue.get(), answers);
  }
  return has_ended() ? "fast" : "slow";
}

// A text of at most 40 tokens under a constraint, or why there is none.
inline std::string constrained_text(const inlay_constraint_params& params, const EnginePtr& on = engine(), const Tokens& prompt = kPlain) {
  inlay_constraint* made = nullptr;
  inlay_error err;
  if (const auto status = inlay_constraint_create(on.get(), &params, &made, &err); status != INLAY_OK) return failure(status, err);
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.temperature = 1;
  inlay_session_params session = sized<inlay_session_params>();
  session.max_tokens = 40;
  session.constraint = made;
  session.sampler = &sampler;
  std::string out;
  for (sampler.seed = 1; sampler.seed < 10; ++sampler.seed) out += answered(request_of(prompt, &session), new_queue(on), on).append("\n");
  inlay_constraint_free(made);
  return out;
}

inline EffectRow constraint_row(const char* name, Kind kind, std::function<void(inlay_constraint_params&)> set, std::string words = "",
                                std::function<void(inlay_constraint_params&)> base = {}) {
  return {name[0] == 'I' ? name : std::string("inlay_constraint_params.") + name, kind, [=](bool with) {
            inlay_constraint_params params = sized<inlay_constraint_params>();
            if (base) {
              base(params);
            } else {
              params.text = R"({"type": "object", "properties": {"a": {"type": "string", "maxLength": 4}}, "required": ["a"]})";
              params.text_len = SIZE_MAX;
            }
            if (with) set(params);
            return constrained_text(params);
          }, std::move(words)};
}

// A message of a model whose template writes <think> and <tool_call>.
inline EffectRow message_row(const char* field, Kind kind, std::function<void(inlay_constraint_params&)> set, std::string words = "",
                             std::function<void(inlay_constraint_params&)> base = {}) {
  return {std::string("inlay_constraint_params.") + field, kind, [=](bool with) {
            static const EnginePtr own = load_chat_model({"<tool_call><think>"});
            inlay_constraint_params params = sized<inlay_constraint_params>();
            params.kind = INLAY_CONSTRAINT_MESSAGE;
            params.text = R"({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "boolean"}}}})";
            params.text_len = SIZE_MAX;
            if (base) base(params);
            if (with) set(params);
            return constrained_text(params, own, {72, 105});
          }, std::move(words)};
}

inline std::vector<EffectRow> constraint_effect_rows() {
  using enum Kind;
  using Params = inlay_constraint_params;
  static const int32_t open[] = {72, 257}, far_away[] = {1 << 30};  // <think>
  static const inlay_text two[] = {{"yes", 3}, {"no", 2}}, others[] = {{"left", 4}, {"right", 5}};
  const auto words = [](Params& p) { p.kind = INLAY_CONSTRAINT_CHOICES, p.choices = two, p.n_choices = 2; };
  static constexpr const char* kOwnThoughts = R"x({"name": "own", "reasoning": {"begin": "(", "end": ")"}})x";
  const auto thoughts = [](Params& p) { p.text = R"({"reasoning": {"max_tokens": 2}})", p.text_len = SIZE_MAX; };
  const auto unsupported = [](Params& p) { p.text = R"({"type": "integer", "contains": {}, "unevaluatedItems": false})", p.text_len = SIZE_MAX; };
  return {
      constraint_row("struct_size", refused, [](Params& p) { p.struct_size = 3; }, "struct_size"),
      constraint_row("kind", refused, [](Params& p) { p.kind = 99; }, "params.kind"),
      constraint_row("kind", effect, [](Params& p) { p.kind = INLAY_CONSTRAINT_REGEX; }, "", [](Params& p) { p.text = "{}", p.text_len = 2; }),
      constraint_row("flags", refused, [](Params& p) { p.flags = 1u << 31; }, "params.flags"),
      constraint_row("reserved", refused, [](Params& p) { p.reserved = 1; }, "reserved"),
      constraint_row("text", effect, [](Params& p) { p.text = R"({"type": "boolean"})"; }),
      constraint_row("text_len", effect, [](Params& p) { p.text_len = 2; }, "", [](Params& p) { p.kind = INLAY_CONSTRAINT_REGEX, p.text = "abcd", p.text_len = 3; }),
      constraint_row("choices", effect, [](Params& p) { p.choices = others; }, "", words),
      constraint_row("choices", refused, [](Params& p) { p.choices = nullptr; }, "params.choices", words),
      constraint_row("n_choices", effect, [](Params& p) { p.n_choices = 1; }, "", words),
      constraint_row("n_choices", refused, [](Params& p) { p.n_choices = 1u << 20; }, "n_choices", words),
      constraint_row("INLAY_CONSTRAINT_FLAG_COMPACT", effect, [](Params& p) { p.flags = INLAY_CONSTRAINT_FLAG_COMPACT; }),
      constraint_row("INLAY_CONSTRAINT_FLAG_ESCAPES", effect, [](Params& p) { p.flags = INLAY_CONSTRAINT_FLAG_ESCAPES; }, "",
                     [](Params& p) { p.text = R"({"type": "string", "pattern": "^[\u0001-\u0009]{1,4}$"})", p.text_len = SIZE_MAX; }),
      constraint_row("flags", refused, [](Params& p) { p.flags = INLAY_CONSTRAINT_FLAG_COMPACT; }, "params.kind writes no JSON", words),
      constraint_row("flags", refused, [](Params& p) { p.flags = INLAY_CONSTRAINT_FLAG_ESCAPES; }, "params.kind writes no JSON", words),
      constraint_row("flags", refused, [](Params& p) { p.flags = INLAY_CONSTRAINT_FLAG_LENIENT; }, "params.kind writes no JSON",
                     [](Params& p) { p.kind = INLAY_CONSTRAINT_REGEX, p.text = "abcd", p.text_len = 4; }),
      constraint_row("flags", refused, [](Params& p) { p.flags = INLAY_CONSTRAINT_FLAG_COMPACT; }, "params.kind writes no JSON",
                     [](Params& p) { p.kind = INLAY_CONSTRAINT_GBNF, p.text = "root ::= \"a\"", p.text_len = SIZE_MAX; }),
      message_row("prompt", effect, [](Params& p) { p.prompt = open, p.n_prompt = 2; }),
      message_row("prompt", refused, [](Params& p) { p.prompt = far_away, p.n_prompt = 1; }, "params.prompt"),
      message_row("n_prompt", effect, [](Params& p) { p.n_prompt = 1; }, "", [](Params& p) { p.prompt = open, p.n_prompt = 2; }),
      message_row("n_prompt", refused, [](Params& p) { p.n_prompt = 1; }, "params.prompt"),
      message_row("format", effect, [](Params& p) { p.format = kOwnThoughts, p.format_len = SIZE_MAX; }, "", thoughts),
      message_row("format", refused, [](Params& p) { p.format = "{}", p.format_len = 2; }, "name"),
      message_row("format_len", refused, [](Params& p) { p.format_len = 5; }, "chat format", [](Params& p) { p.format = kOwnThoughts, p.format_len = SIZE_MAX; }),
      message_row("chat_template", effect, [](Params& p) { p.chat_template = "{{ messages[0].content }}", p.template_len = SIZE_MAX; }),
      message_row("template_len", effect, [](Params& p) { p.template_len = 4; }, "", [](Params& p) { p.chat_template = "text<think></think>", p.template_len = 19; }),
      {"INLAY_CONSTRAINT_FLAG_LENIENT", effect, [=](bool with) {
         Params params = sized<Params>();
         unsupported(params);
         params.flags = with ? INLAY_CONSTRAINT_FLAG_LENIENT : 0;
         return constrained_text(params).substr(0, 5) == "INLAY" ? std::string("refused") : std::string("made");
       }},
      {"inlay_session_params.constraint", effect, [=](bool with) {
         Params params = sized<Params>();
         words(params);
         return with ? constrained_text(params) : answered(request_of(kPlain));
       }},
  };
}

inline std::vector<EffectRow> request_effect_rows() {
  static const inlay_session_params any_session = sized<inlay_session_params>();
  static inlay_session_params reserving = any_session, for_requests = any_session;
  reserving.flags = INLAY_SESSION_RESERVE;
  for_requests.flags = INLAY_SESSION_FOR_REQUESTS;
  std::vector<EffectRow> rows;
  using enum Kind;
  using Request = inlay_request;
  static const std::string talk = R"([{"role": "user", "content": "Hello"}])";
  static const inlay_chat_params chat = sized<inlay_chat_params>();
  static int n_woken = 0, n_others = 0;
  const auto count = [](void* user) { ++*static_cast<int*>(user); };
  const auto text = [](Request& r) { r.text = "abcdef", r.text_len = 3; };
  const auto conversation = [](Request& r) { r.conversation = talk.data(), r.conversation_len = talk.size(); };
  const auto woken = [=](bool with_function, bool with_user) {
    n_woken = n_others = 0;
    inlay_queue_params params = sized<inlay_queue_params>();
    if (with_function) params.wake = count;
    params.wake_user = with_user ? &n_woken : &n_others;
    answered(request_of(kPlain), new_queue(engine(), &params));
    return std::to_string(n_woken > 0) + std::to_string(n_others > 0);
  };
  const auto add = [&](EffectRow row) { rows.push_back(std::move(row)); };
  add(queue_row("struct_size", refused, [](auto& p) { p.struct_size = 3; }, "struct_size"));
  add(queue_row("reserved", refused, [](auto& p) { p.reserved = 1; }, "reserved"));
  add(queue_row("max_requests", effect, [](auto& p) { p.max_requests = 1; }));
  add(queue_row("max_requests", refused, [](auto& p) { p.max_requests = -1; }, "max_requests"));
  add(queue_row("max_unread_tokens", effect, [](auto& p) { p.max_unread_tokens = 2; }));
  add(queue_row("max_unread_tokens", refused, [](auto& p) { p.max_unread_tokens = 1 << 30; }, "max_unread_tokens"));
  add({"inlay_queue_params.wake", effect, [=](bool with) { return woken(with, true); }});
  add({"inlay_queue_params.wake_user", effect, [=](bool with) { return woken(true, with); }});

  add(request_row("struct_size", refused, [](Request& r) { r.struct_size = 3; }, "struct_size"));
  add(request_row("kind", refused, [](Request& r) { r.kind = 5; }, "kind"));
  add(request_row("kind", effect, [](Request& r) { r.kind = INLAY_REQUEST_PREFILL; }));
  add(vector_row("inlay_request.kind", effect, [](Request& r, auto&) { r.kind = INLAY_REQUEST_PREFILL, r.embed = nullptr; }));
  add(vector_row("inlay_request.kind", refused, [](Request& r, auto&) { r.kind = INLAY_REQUEST_GENERATE; }, "request.embed is set, and request.kind is not EMBED"));
  add(vector_row("inlay_request.embed", effect, [](Request&, auto& embed) { embed.pooling = INLAY_POOLING_LAST; }));
  add(vector_row("inlay_request.embed", effect, [](Request&, auto& embed) { embed.flags = INLAY_EMBED_NORMALIZE; }));
  add(vector_row("inlay_request.embed", refused, [](Request& r, auto&) { r.embed = nullptr; }, "the model names no pooling"));
  add(vector_row("inlay_request.embed", refused, [](Request&, auto& embed) { embed.struct_size = 3; }, "request.embed"));
  add(vector_row("inlay_request.embed", refused, [](Request&, auto& embed) { embed.flags = 4; }, "request.embed.flags"));
  add(vector_row("inlay_request.embed", refused, [](Request&, auto& embed) { embed.progress = [](void*, uint64_t, uint64_t) { return 0; }; }, "request.embed.progress"));
  add(vector_row("inlay_request.session_params", refused, [](Request& r, auto&) { r.session_params = &any_session; }, "request.session_params"));
  add(vector_row("inlay_request.chat", refused, [](Request& r, auto&) { r.chat = &chat; }, "request.chat"));
  add(vector_row("inlay_request.conversation", refused, [](Request& r, auto&) { r.conversation = "[]"; }, "request.conversation is set"));
  add(vector_row("inlay_request.conversation_len", refused, [](Request& r, auto&) { r.conversation_len = SIZE_MAX; }, "request.conversation is set"));
  add({"inlay_request.continues", refused, [](bool with) {
         inlay_session_params params = sized<inlay_session_params>();
         params.flags = INLAY_SESSION_FOR_REQUESTS;
         const SessionPtr session = new_session(engine(), &params);
         inlay_request request = request_of(kPlain);
         request.kind = with ? INLAY_REQUEST_EMBED : INLAY_REQUEST_PREFILL;
         request.continues = session.get();
         return answered(request);
       }, "request.continues is set, and request.kind is EMBED"});
  add({"inlay_request.continues", effect, [](bool with) { return continued(with); }});
  add({"inlay_request.continues", refused, [](bool with) {
         const SessionPtr stepping = new_session(engine());
         inlay_request request = request_of(kPlain);
         if (with) request.continues = stepping.get();
         return answered(request);
       }, "INLAY_SESSION_FOR_REQUESTS"});
  add(request_row("tokens", effect, [](Request& r) { r.tokens = kPlain.data() + 1; }, "", [](Request& r) { r.tokens = kPlain.data(), r.n_tokens = 2; }));
  add(request_row("n_tokens", effect, [](Request& r) { r.n_tokens = 2; }));
  add(request_row("text", effect, [](Request& r) { r.text = "xyz"; }, "", text));
  add(request_row("text", refused, text, "2 of tokens, text and conversation"));
  add(request_row("text_len", effect, [](Request& r) { r.text_len = SIZE_MAX; }, "", text));
  add(request_row("conversation", effect, [](Request& r) { r.conversation = R"([{"role": "user", "content": "H2llo"}])"; }, "", conversation));
  add(request_row("conversation_len", refused, [](Request& r) { r.conversation_len = 5; }, "conversation: line 1", conversation));
  add(request_row("chat", effect, [](Request& r) { r.chat = &chat; }, "", conversation));
  add(request_row("chat", refused, [](Request& r) { r.chat = &chat; }, "request.chat is set, and request.conversation is not"));
  add(request_row("session_params", refused, [](Request& r) { r.session_params = &reserving; }, "request.session_params.flags"));
  add(request_row("session_params", refused, [](Request& r) { r.session_params = &for_requests; }, "request.session_params.flags"));
  add(request_row("session_params", effect, [](Request& r) { r.session_params = nullptr; }));
  add(request_row("reserved", refused, [](Request& r) { r.reserved = 1; }, "reserved"));
  add(request_row("priority", refused, [](Request& r) { r.priority = 8; }, "priority"));
  add(request_row("timeout_us", effect, [](Request& r) { r.timeout_us = 1; }));
  add(request_row("timeout_us", refused, [](Request& r) { r.timeout_us = UINT64_MAX; }, "timeout_us"));
  add(request_row("deadline_us", refused, [](Request& r) { r.deadline_us = UINT64_MAX; }, "deadline_us"));
  add({"inlay_request.cache_salt", effect, [](bool with) { return found_with_salt(with); }});
  add(request_row("user", effect, [](Request& r) { r.user = 7; }));
  add(order_row("priority", [](Request&, Request& second) { second.priority = 3; }));
  add(order_row("deadline_us", [](Request& first, Request& second) { first.deadline_us = 1'000'000, second.deadline_us = 1'000; }));

  add(run_row("struct_size", refused, [](auto& p) { p.struct_size = 3; }, "struct_size"));
  add(run_row("flags", refused, [](auto& p) { p.flags = 1u << 31; }, "flags"));
  add(run_row("INLAY_RUN_ONE_STEP", effect, [](auto& p) { p.flags = INLAY_RUN_ONE_STEP; }));
  add(run_row("INLAY_RUN_NO_WAIT", neutral, [](auto& p) { p.flags = INLAY_RUN_NO_WAIT; }, "The CPU computes as without the flag"));
  add(run_row("budget_us", effect, [](auto& p) { p.budget_us = 1; }));
  add(run_row("budget_us", refused, [](auto& p) { p.budget_us = UINT64_MAX; }, "budget_us"));
  add(run_row("host_budget_us", effect, [](auto& p) { p.host_budget_us = 1; }));
  add(run_row("host_budget_us", effect, [](auto& p) { p.host_budget_us = 1; }, "", [](auto& p) { p.flags = INLAY_RUN_NO_WAIT; }));
  add(run_row("host_budget_us", neutral, [](auto& p) { p.host_budget_us = 1'000'000; }, "the smaller of the two counts", [](auto& p) { p.budget_us = 1; }));
  add(run_row("host_budget_us", refused, [](auto& p) { p.host_budget_us = UINT64_MAX; }, "host_budget_us"));
  add(run_row("max_step_us", effect, [](auto& p) { p.max_step_us = 1; }, "", [](auto& p) { p.flags = INLAY_RUN_ONE_STEP; }));
  add(run_row("max_step_us", refused, [](auto& p) { p.max_step_us = UINT64_MAX; }, "max_step_us"));

  add(thread_row("struct_size", [](auto& p) { p.struct_size = 3; }, "struct_size"));
  add(thread_row("reserved", [](auto& p) { p.reserved = 1; }, "reserved"));
  add(thread_row("busy_us", [](auto& p) { p.busy_us = 5; }, "busy_us"));
  add(thread_row("period_us", [](auto& p) { p.period_us = 5; }, "period_us"));
  add(thread_row("max_step_us", [](auto& p) { p.max_step_us = UINT64_MAX; }, "max_step_us"));
  static constexpr uint64_t kPeriodUs = 600'000'000;  // of which nobody sees the end
  add({"inlay_thread_params.busy_us", effect, [](bool with) { return slow_thread(with ? kPeriodUs : 1, kPeriodUs); }});
  add({"inlay_thread_params.period_us", effect, [](bool with) { return slow_thread(1, with ? kPeriodUs : 1); }});
  return rows;
}

}  // namespace inlay::test
