// A call of every public function with what it gives as bytes: one row each, which tests run in hosts of all kinds.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/capi/host_state.h"

namespace inlay::test {

// ---- what is observed: bytes

template <class T>
inline std::string bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
inline std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Measured numbers become #, a decimal point stays. A comma in place of the point would stay too.
inline std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const char shown = c >= '0' && c <= '9' ? '#' : c;
    if ((shown != '#' && shown != ' ') || !out.ends_with(shown)) out += shown;
  }
  return out;
}

inline std::string outcome(inlay_status status, const inlay_error& err) {
  return "[" + std::to_string(status) + " " + err.message + "]";
}

// A text that the library writes into a buffer of the caller.
template <class Write>
inline std::string text_of(Write write) {
  std::string buf(1 << 18, '\0');
  size_t needed = 0;
  inlay_error err;
  const inlay_status status = write(buf.data(), buf.size(), &needed, &err);
  return buf.substr(0, status == INLAY_OK ? needed : 0) + outcome(status, err);
}

inline inlay_load_params params_of(std::string* log) {
  inlay_load_params out = on(INLAY_DEVICE_CPU);
  out.n_context = 64;
  out.n_threads = 2;
  out.log_level = INLAY_LOG_DEBUG;
  out.log = log_line;
  out.log_user = log;
  out.progress = progress;
  out.progress_user = log;
  return out;
}

struct World {
  explicit World(const std::string& model = kModel, int32_t n_threads = 2, inlay_weight_dtype weights = INLAY_WEIGHT_DEFAULT) {
    const std::string path = model_file(model);
    inlay_load_params params = params_of(&log);
    params.n_threads = n_threads;
    params.weight_dtype = weights;
    inlay_engine* made = nullptr;
    inlay_error err;
    const inlay_status status = CALL(inlay_load, path.c_str(), SIZE_MAX, &params, &made, &err);
    engine.reset(made);
    log += outcome(status, err);
  }
  std::string log;
  EnginePtr engine;
};

inline SessionPtr session_of(const World& world, bool hot) {
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.n_logprobs = 5;
  const inlay_logit_bias bias = {7, 0.1f};
  if (hot) {
    sampler.temperature = 0.7f;
    sampler.top_k = 50;
    sampler.top_p = 0.9f;
    sampler.min_p = 0.01f;
    sampler.repetition_penalty = 1.1f;
    sampler.frequency_penalty = 0.1f;
    sampler.presence_penalty = 0.3f;
    sampler.bias = &bias;
    sampler.n_bias = 1;
  }
  inlay_session_params params = sized<inlay_session_params>();
  params.sampler = &sampler;
  params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
  inlay_session* made = nullptr;
  inlay_error err;
  EXPECT_EQ(CALL(inlay_session_create, world.engine.get(), &params, &made, &err), INLAY_OK) << err.message;
  return SessionPtr(made);
}

inline std::string prefilled(const SessionPtr& session) {
  size_t n_done = 0;
  inlay_error err;
  const inlay_status status = CALL(inlay_prefill, session.get(), kPlain.data(), kPlain.size(), &n_done, &err);
  return outcome(status, err) + std::to_string(n_done);
}

inline std::string logits_of(const SessionPtr& session) {
  std::vector<float> logits(kVocab);
  size_t needed = 0;
  inlay_error err;
  const inlay_status status = CALL(inlay_session_copy_logits, session.get(), logits.data(), logits.size(), &needed, &err);
  return outcome(status, err) + bytes_of(logits);
}

inline std::string stepped(const SessionPtr& session, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) {
    inlay_session* one = session.get();
    inlay_event event = {};
    inlay_error err;
    const inlay_status status = CALL(inlay_decode_step, &one, size_t{1}, &event, sizeof event, &err);
    out += outcome(status, err) + bytes_of(event);
  }
  return out;
}

// Prompt, logits, and draws.
inline std::string generated(const World& world, bool hot, const std::function<std::string(const SessionPtr&)>& then = {}) {
  const SessionPtr session = session_of(world, hot);
  std::string out = prefilled(session) + logits_of(session);
  if (then) out += then(session);
  return out + stepped(session, 4) + logits_of(session);
}

inline std::string embedding(const World& world, inlay_pooling pooling) {
  inlay_embed_params params = sized<inlay_embed_params>();
  params.pooling = pooling;
  params.flags = INLAY_EMBED_NORMALIZE;
  std::string told;
  params.progress = progress;
  params.progress_user = &told;
  const inlay_embed_input inputs[] = {{kPlain.data(), kPlain.size(), nullptr, 0}, {nullptr, 0, "Stra\u00dfe 1,5", SIZE_MAX}};
  std::vector<float> out(4096);
  size_t needed = 0;
  inlay_error err;
  const inlay_status status =
      CALL(inlay_embed, world.engine.get(), inputs, size_t{2}, sizeof *inputs, &params, out.data(), out.size(), &needed, &err);
  out.resize(std::min(needed, out.size()));
  return outcome(status, err) + bytes_of(out) + told;
}

inline std::string scored(const World& world, const inlay_engine* against) {
  std::string told;
  inlay_score_params params = sized<inlay_score_params>();
  params.n_logprobs = 3;
  params.progress = progress;
  params.progress_user = &told;
  const Tokens text = kPlain;
  const auto half = static_cast<int32_t>(text.size() / 2), rest = static_cast<int32_t>(text.size()) - half;
  const int32_t lengths[] = {half, rest};
  std::vector<inlay_token_score> scores(text.size());
  std::vector<inlay_token_logprob> top(text.size() * 3);
  inlay_error err;
  const inlay_status status = CALL(inlay_score, world.engine.get(), against, text.data(), text.size(), lengths, size_t{2}, &params,
                                   scores.data(), sizeof(inlay_token_score), top.data(), top.size(), &err);
  return outcome(status, err) + told + bytes_of(scores) + bytes_of(top);
}

inline std::string converted(const std::string& source, inlay_convert_type type) {
  std::string log;
  inlay_convert_params params = sized<inlay_convert_params>();
  params.type = type;
  params.n_threads = 2;
  params.progress = progress;
  params.log = log_line;
  params.progress_user = params.log_user = &log;
  const std::string out = testing::TempDir() + "inlay_host_state_" + std::to_string(::getpid()) + ".gguf";
  inlay_error err;
  const inlay_status status = CALL(inlay_convert, source.c_str(), SIZE_MAX, out.c_str(), SIZE_MAX, &params, &err);
  const std::string bytes = bytes_of(file_bytes(out));
  std::filesystem::remove(out);
  return outcome(status, err) + log + bytes;
}

inline constexpr const char* kText = "Stra\u00dfe 1,5 \u00c4rger\u00a0IS i 3.25 \u0130";
inline constexpr const char* kTalk = R"({"messages": [{"role": "user", "content": "gr\u00fc\u00df 0.1"}], "x": 1.5, "y": 1e-310, "t": [0.1, 2.5e10]})";
inline constexpr const char* kForm =
    "{{ 1/3 }} {{ 0.1 + 0.2 }} {{ y / 2 }} {{ x|round(1) }} {{ 2.675|round(2) }} {{ '%.3f %e %g'|format(x, 0.1, 1/7) }} {{ t|tojson }}"
    " {{ t }} {{ '1.5'|float * 3 }} {{ messages[0].content|upper|title }} {{ 7 // 2 }} {{ 2 ** 0.5 }} {{ strftime_now('%B') }}";

inline std::string rendered(const World& world, const char* form) {
  return text_of([&](char* buf, size_t cap, size_t* needed, inlay_error* err) {
    const inlay_chat_params params = written_by(form);
    return CALL(inlay_chat_render, world.engine.get(), kTalk, SIZE_MAX, &params, buf, cap, needed, err);
  });
}

}  // namespace inlay::test

#include "tests/capi/chat_calls.h"
#include "tests/capi/constraint_calls.h"
#include "tests/capi/state_calls.h"
#include "tests/capi/request_calls.h"

namespace inlay::test {

// ---- the table

struct Row {
  std::string name;
  std::function<std::string(const World&)> observe;
  bool slow = false;
};

inline std::vector<Row> table() {
  std::vector<Row> rows = {
      {"inlay_load", [](const World&) {
         std::string out;
         // A file of each kind of block, and weights that change their type while they are loaded.
         for (const char* model : {kModel, "llama-zoo", "chat-spm-llama-f32"}) {
           const World other(model);
           out += without_numbers(other.log);
         }
         const std::string path = model_file(kModel);
         for (const inlay_weight_dtype type : {INLAY_WEIGHT_FP8, INLAY_WEIGHT_Q4_K_M, INLAY_WEIGHT_Q8_0}) {
           World quantized;
           inlay_load_params params = params_of(&quantized.log);
           params.weight_dtype = type;
           inlay_engine* made = nullptr;
           inlay_error err;
           const inlay_status status = CALL(inlay_load, path.c_str(), SIZE_MAX, &params, &made, &err);
           quantized.engine.reset(made);
           out += outcome(status, err) + generated(quantized, false);
         }
         return out;
       }},
      {"inlay_load_memory", [](const World&) {
         World other;
         const inlay_load_params params = params_of(&other.log);
         inlay_engine* made = nullptr;
         inlay_error err;
         const auto& bytes = model_bytes();
         const inlay_status status =
             CALL(inlay_load_memory, static_cast<const void*>(bytes.data()), bytes.size(), &params, &made, &err);
         other.engine.reset(made);
         return outcome(status, err) + generated(other, false) + without_numbers(other.log);
       }},
      {"inlay_load_reader", [](const World&) {
         World other;
         const inlay_load_params params = params_of(&other.log);
         inlay_reader reader = sized<inlay_reader>();
         reader.size = model_bytes().size();
         reader.read = read_model;
         inlay_engine* made = nullptr;
         inlay_error err;
         const inlay_status status = CALL(inlay_load_reader, &reader, &params, &made, &err);
         other.engine.reset(made);
         return outcome(status, err) + generated(other, true) + without_numbers(other.log);
       }},
      {"inlay_prefill", [](const World& w) { return generated(w, false); }},
      {"inlay_decode_step", [](const World& w) { return generated(w, true); }},
      {"inlay_free", [](const World&) {
         World other;
         CALL(inlay_free, other.engine.release());
         return std::string("freed");
       }},
      {"inlay_version_string", [](const World&) { return std::string(CALL(inlay_version_string)); }},
      {"inlay_abi_version", [](const World&) { return bytes_of(CALL(inlay_abi_version)); }},
      {"inlay_status_name", [](const World&) {
         std::string out;
         for (inlay_status status = -1; status < 20; ++status) out += std::string(CALL(inlay_status_name, status)) + " ";
         return out;
       }},
      {"inlay_device_count", [](const World&) { return bytes_of(CALL(inlay_device_count)); }},
      {"inlay_device_get", [](const World&) {
         std::string out;
         inlay_error err;
         for (const int32_t index : {0, 99}) {
           inlay_device_info info = sized<inlay_device_info>();
           const inlay_status status = CALL(inlay_device_get, index, &info, &err);
           info.free_bytes = 0;
           out += outcome(status, err) + bytes_of(info);
         }
         return out;
       }},
      {"inlay_memory_plan", [](const World&) {
         inlay_memory_info info = sized<inlay_memory_info>();
         inlay_error err;
         const inlay_load_params params = on(INLAY_DEVICE_CPU);
         const inlay_status status = CALL(inlay_memory_plan, model_file(kModel).c_str(), SIZE_MAX, &params, &info, &err);
         info.available_bytes = 0;
         return outcome(status, err) + bytes_of(info);
       }},
      {"inlay_engine_get_info", [](const World& w) {
         inlay_engine_info info = sized<inlay_engine_info>();
         inlay_error err;
         const inlay_status status = CALL(inlay_engine_get_info, w.engine.get(), &info, &err);
         return outcome(status, err) + bytes_of(info);
       }},
      {"inlay_meta_count", [](const World& w) {
         size_t n = 0;
         inlay_error err;
         const inlay_status status = CALL(inlay_meta_count, w.engine.get(), &n, &err);
         return outcome(status, err) + bytes_of(n);
       }},
      {"inlay_meta_key", [](const World& w) {
         std::string out;
         for (size_t i = 0; i < 10; ++i)
           out += text_of([&](auto... buf) { return CALL(inlay_meta_key, w.engine.get(), i, buf...); });
         return out;
       }},
      {"inlay_meta_value", [](const World& w) {
         std::string out;
         for (const char* key : {"qwen3.rope.freq_base", "qwen3.attention.layer_norm_rms_epsilon", "tokenizer.ggml.tokens", "no.such"})
           out += text_of([&](auto... buf) { return CALL(inlay_meta_value, w.engine.get(), key, SIZE_MAX, buf...); });
         return out;
       }},
      {"inlay_tokenize", [](const World& w) {
         std::string out;
         for (const char* model : {"chat-spm-llama-f32", kModel}) {
           const World other(model);
           Tokens tokens(256);
           size_t n = 0;
           inlay_error err;
           const auto* engine = model == kModel ? w.engine.get() : other.engine.get();
           const inlay_status status = CALL(inlay_tokenize, engine, kText, SIZE_MAX, 0u, tokens.data(), tokens.size(), &n, &err);
           tokens.resize(n);
           out += outcome(status, err) + bytes_of(tokens);
         }
         return out;
       }},
      {"inlay_detokenize", [](const World& w) {
         Tokens all(kVocab);
         for (int32_t i = 0; i < kVocab; ++i) all[static_cast<size_t>(i)] = i;
         return text_of([&](auto... buf) { return CALL(inlay_detokenize, w.engine.get(), all.data(), all.size(), 1u, buf...); });
       }},
      {"inlay_token_get_info", [](const World&) {
         const World scored("chat-spm-llama-f32");
         std::string out;
         for (int32_t token = 0; token < 300; ++token) {
           inlay_token_info info = sized<inlay_token_info>();
           inlay_error err;
           const inlay_status status = CALL(inlay_token_get_info, scored.engine.get(), token, &info, &err);
           out += outcome(status, err) + bytes_of(info);
         }
         return out;
       }},
      {"inlay_session_create", [](const World& w) {
         std::string out;
         for (const float temperature : {-0.5f, 0.5f}) {
           inlay_sampler_params sampler = sized<inlay_sampler_params>();
           sampler.temperature = temperature;
           inlay_session_params params = sized<inlay_session_params>();
           params.sampler = &sampler;
           inlay_session* made = nullptr;
           inlay_error err;
           const inlay_status status = CALL(inlay_session_create, w.engine.get(), &params, &made, &err);
           const SessionPtr session(made);
           out += outcome(status, err);
         }
         return out;
       }},
      {"inlay_session_free", [](const World& w) {
         CALL(inlay_session_free, session_of(w, true).release());
         return std::string("freed");
       }},
      {"inlay_session_get_info", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           inlay_session_info info = sized<inlay_session_info>();
           inlay_error err;
           const inlay_status status = CALL(inlay_session_get_info, session.get(), &info, &err);
           return outcome(status, err) + bytes_of(info);
         });
       }},
      {"inlay_session_take_text", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           return text_of([&](auto... buf) { return CALL(inlay_session_take_text, session.get(), buf...); });
         });
       }},
      {"inlay_session_fork", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           inlay_session* made = nullptr;
           inlay_error err;
           const inlay_status status = CALL(inlay_session_fork, session.get(), &made, &err);
           const SessionPtr child(made);
           return outcome(status, err) + stepped(child, 3) + logits_of(child);
         });
       }},
      {"inlay_session_truncate", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           inlay_error err;
           const inlay_status status = CALL(inlay_session_truncate, session.get(), size_t{3}, &err);
           return outcome(status, err) + prefilled(session);
         });
       }},
      {"inlay_session_shift", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           inlay_error err;
           const inlay_status status = CALL(inlay_session_shift, session.get(), size_t{1}, size_t{2}, &err);
           return outcome(status, err) + stepped(session, 3) + logits_of(session);
         });
       }},
      {"inlay_session_accept", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           size_t n = 9;
           inlay_error err;
           const inlay_status status = CALL(inlay_session_accept, session.get(), &kPlain[1], size_t{3}, &n, &err);
           return outcome(status, err) + std::to_string(n);
         });
       }},
      {"inlay_session_get_tokens", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           Tokens tokens(64);
           size_t n = 0;
           inlay_error err;
           const inlay_status status = CALL(inlay_session_get_tokens, session.get(), size_t{1}, tokens.data(), tokens.size(), &n, &err);
           return outcome(status, err) + std::to_string(n) + bytes_of(tokens);
         });
       }},
      {"inlay_session_set_sampler", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           std::string out;
           for (const float top_p : {1.5f, 0.3f}) {
             inlay_sampler_params sampler = sized<inlay_sampler_params>();
             sampler.temperature = 1.3f;
             sampler.top_p = top_p;
             inlay_error err;
             const inlay_status status = CALL(inlay_session_set_sampler, session.get(), &sampler, &err);
             out += outcome(status, err);
           }
           return out;
         });
       }},
      {"inlay_session_set_stop", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           const inlay_text stop = {"++", 2};
           inlay_error err;
           const inlay_status status = CALL(inlay_session_set_stop, session.get(), &stop, size_t{1}, &err);
           return outcome(status, err);
         });
       }},
      {"inlay_session_set_stop_tokens", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           inlay_error err;
           const inlay_status status = CALL(inlay_session_set_stop_tokens, session.get(), &kPlainReply[3], size_t{1}, &err);
           return outcome(status, err);
         });
       }},
      {"inlay_session_set_max_tokens", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           inlay_error err;
           return outcome(CALL(inlay_session_set_max_tokens, session.get(), 2, &err), err);
         });
       }},
      {"inlay_session_copy_logits", [](const World& w) { return generated(w, false, logits_of); }},
      {"inlay_session_view_logits", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           inlay_logits view = sized<inlay_logits>();
           inlay_error err;
           const inlay_status status = CALL(inlay_session_view_logits, session.get(), &view, &err);
           return outcome(status, err) + bytes_of(std::vector<float>(view.values, view.values + view.n_values));
         });
       }},
      {"inlay_session_cancel_generation", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           inlay_error err;
           return outcome(CALL(inlay_session_cancel_generation, session.get(), uint64_t{1}, &err), err);
         });
       }},
      {"inlay_session_cancel", [](const World& w) {
         return generated(w, false, [](const SessionPtr& session) {
           CALL(inlay_session_cancel, session.get());
           return std::string();
         });
       }},
      {"inlay_engine_get_stats", [](const World& w) {
         inlay_stats stats = sized<inlay_stats>();
         inlay_error err;
         const inlay_status status = CALL(inlay_engine_get_stats, w.engine.get(), &stats, &err);
         stats.load_seconds = stats.prefill_seconds = stats.decode_seconds = 0;
         return outcome(status, err) + bytes_of(stats);
       }},
      {"inlay_plan_text", [](const World& w) {
         return text_of([&](auto... buf) { return CALL(inlay_plan_text, w.engine.get(), buf...); });
       }},
      {"inlay_log_read", [](const World&) {
         const World other;
         std::string out;
         uint64_t cursor = 0;
         for (bool more = true; more;) {
           inlay_log_level level = 0;
           const std::string line =
               text_of([&](auto... buf) { return CALL(inlay_log_read, other.engine.get(), &cursor, &level, buf...); });
           out += without_numbers(line) + std::to_string(level);
           more = line.ends_with("[0 ]");
         }
         return out;
       }},
      {"inlay_profile_step", [](const World& w) {
         inlay_profile_params params = sized<inlay_profile_params>();
         params.n_repetitions = 1;
         params.n_tokens = 2;
         inlay_error err;
         const inlay_status status = CALL(inlay_profile_step, w.engine.get(), &params, &err);
         return outcome(status, err) + generated(w, false);
       }, true},
      {"inlay_profile_text", [](const World& w) {
         std::string out;
         for (const inlay_profile_form form : {INLAY_PROFILE_KINDS, INLAY_PROFILE_TIMELINE, INLAY_PROFILE_TRACE, 99})
           out += text_of([&](auto... buf) { return CALL(inlay_profile_text, w.engine.get(), form, buf...); });
         return without_numbers(out);
       }, true},
      {"inlay_compare_text", [](const World& w) {
         const World other;
         inlay_load_params params = on(INLAY_DEVICE_REFERENCE);
         params.n_context = 64;
         const EnginePtr reference = load(params);
         std::string out;
         for (const double limit : {0.5, 1e-12, -0.5}) {
           int32_t first = 0;
           out += text_of([&](auto... buf) {
             return CALL(inlay_compare_text, w.engine.get(), reference.get(), kPlain.data(), kPlain.size(), limit, &first, buf...);
           });
           out += bytes_of(first);
         }
         return out;
       }},
      {"inlay_convert", [](const World&) {
         std::string out;
         for (inlay_convert_type type = INLAY_CONVERT_Q8_0; type <= INLAY_CONVERT_F32; ++type)
           out += converted(model_file("llama-f32"), type);
         return out + converted(INLAY_SOURCE_DIR "/examples/model/hf", INLAY_CONVERT_Q8_0);
       }},
      {"inlay_chat_render", [](const World& w) { return rendered(w, kForm) + rendered(w, "{{ 1 / 0 }}") + rendered(w, "{{ 1.5.x"); }},
      {"inlay_chat_tokenize", [](const World& w) {
         Tokens tokens(4096);
         size_t n = 0;
         inlay_error err;
         const inlay_chat_params params = written_by(kForm);
         const inlay_status status = CALL(inlay_chat_tokenize, w.engine.get(), kTalk, SIZE_MAX, &params, tokens.data(), tokens.size(), &n, &err);
         tokens.resize(n);
         return outcome(status, err) + bytes_of(tokens);
       }},
      {"inlay_embed", [](const World& w) { return embedding(w, INLAY_POOLING_MEAN) + embedding(w, INLAY_POOLING_LAST); }},
      {"inlay_score", [](const World& w) {
         inlay_load_params params = on(INLAY_DEVICE_REFERENCE);
         params.n_context = 64;
         const EnginePtr reference = load(params);
         return scored(w, nullptr) + scored(w, reference.get()) + scored(w, w.engine.get());
       }},
      {"inlay_explain", [](const World&) {
         std::string out;
         for (const std::string& path : {model_file("llama-zoo"), std::string(INLAY_SOURCE_DIR "/examples/model/hf"), std::string("none")}) {
           const inlay_load_params params = on(INLAY_DEVICE_CPU);
           for (const inlay_explain_form form : {INLAY_EXPLAIN_TEXT, INLAY_EXPLAIN_JSON}) {
             int32_t n_devices = 0;
             out += text_of([&](auto... buf) { return CALL(inlay_explain, path.c_str(), SIZE_MAX, &params, form, &n_devices, buf...); });
           }
         }
         out = std::regex_replace(out, std::regex("[0-9]+(.)[0-9]+ MiB that are free"), "#$1# MiB that are free");
         return std::regex_replace(out, std::regex("\"free_bytes\": [0-9]+"), "#");
       }},
      {"inlay_decode_slice", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           std::string out;
           int32_t left = 1;
           for (int i = 0; i < 20; ++i) {
             inlay_session* one = session.get();
             inlay_event event = {};
             inlay_error err;
             const inlay_status status = CALL(inlay_decode_slice, &one, size_t{1}, 1, &event, sizeof event, &left, &err);
             out += outcome(status, err) + bytes_of(event) + bytes_of(left);
           }
           while (left > 0) {
             inlay_session* one = session.get();
             inlay_event event = {};
             if (CALL(inlay_decode_slice, &one, size_t{1}, 1 << 20, &event, sizeof event, &left, nullptr) != INLAY_OK) break;
           }
           return out;
         });
       }},
      {"inlay_decode_abandon", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           stepped(session, 1);
           inlay_session* one = session.get();
           inlay_event event = {};
           int32_t left = 0;
           inlay_error err;
           CALL(inlay_decode_slice, &one, size_t{1}, 1, &event, sizeof event, &left, &err);
           const inlay_status status = CALL(inlay_decode_abandon, &one, size_t{1}, &err);
           return outcome(status, err);
         });
       }},
  };
  std::ranges::move(request_rows<Row, World>(), std::back_inserter(rows));
  std::ranges::move(constraint_rows<Row, World>(), std::back_inserter(rows));
  std::ranges::move(state_rows<Row, World>(), std::back_inserter(rows));
  std::ranges::move(chat_rows<Row, World>(), std::back_inserter(rows));
  return rows;
}

// What every row gives with a host's settings.
inline std::map<std::string, std::string> observed(const Host& host, const std::vector<Row>& rows, Report& into) {
  into.host = host;
  report = &into;
  std::map<std::string, std::string> out;
  {
    const World world;
    out["the log of a load"] = without_numbers(world.log);
    for (const Row& row : rows) {
      if (row.slow && !host.full) continue;
      into.called.clear();
      out[row.name] = row.observe(world);
      if (!into.called.contains(row.name)) into.problems.push_back(row.name + " is not called by its row");
    }
  }
  report = nullptr;
  return out;
}

}  // namespace inlay::test
